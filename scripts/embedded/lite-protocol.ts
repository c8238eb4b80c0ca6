import { z } from "zod";

export const liteSettingsSchema = z.object({
  databaseUrl: z.string(),
  /** Empty unless `databaseUrl` leads through a pooler in transaction mode. */
  directDatabaseUrl: z.string(),
  jwtSecret: z.string(),
  issuer: z.string(),
  publishableKey: z.string(),
  secretKey: z.string(),
  siteUrl: z.string(),
  mail: z.object({ dataDir: z.string(), smtpUrl: z.string().nullable(), from: z.string() }),
});
export type LiteSettings = z.output<typeof liteSettingsSchema>;

export const liteAnswerSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("serving"), url: z.string() }),
  z.object({
    kind: z.literal("failed"),
    reason: z.string(),
    /** The fields of the database's or the driver's error, if it is one. */
    cause: z
      .object({ code: z.string(), message: z.string(), severity: z.string().optional() })
      .optional(),
  }),
]);
export type LiteAnswer = z.output<typeof liteAnswerSchema>;
