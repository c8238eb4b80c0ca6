import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { startEmbedded } from "./embedded/start-embedded.ts";

export const projectRoot = resolve(import.meta.dirname, "..");

export type Parts = {
  /** Settings the application process needs besides those it was given. */
  env: Record<string, string>;
  embedded: boolean;
  /** Resolves with a reason when a part ends without `stop()`; never when nothing is embedded. */
  died: Promise<string>;
  stop(): Promise<void>;
};

/**
 * Starts the embedded parts, unless `given` names a Supabase project, and makes the durable engine's
 * tables.
 */
export async function startParts(options: {
  dataDir: string;
  publicUrl: string;
  given: Readonly<Record<string, string | undefined>>;
}): Promise<Parts> {
  const parts = options.given.SUPABASE_URL
    ? hostedParts()
    : await embeddedParts(options.dataDir, options.publicUrl, options.given);
  const databaseUrl = parts.env.DATABASE_URL ?? options.given.DATABASE_URL;
  try {
    if (databaseUrl) await prepareEngine(databaseUrl);
  } catch (error) {
    await parts.stop();
    throw error;
  }
  return parts;
}

function hostedParts(): Parts {
  return {
    env: {},
    embedded: false,
    died: new Promise(() => {}),
    stop: async () => {},
  };
}

async function embeddedParts(
  dataDir: string,
  publicUrl: string,
  given: Readonly<Record<string, string | undefined>>,
): Promise<Parts> {
  const embedded = await startEmbedded({
    dataDir,
    siteUrl: publicUrl,
    mail: { smtpUrl: given.SMTP_URL, from: given.MAIL_FROM },
  });
  return {
    env: {
      EMBEDDED_SUPABASE: "true",
      DATABASE_URL: embedded.databaseUrl,
      SUPABASE_URL: embedded.supabaseUrl,
      SUPABASE_SECRET_KEY: embedded.supabaseSecretKey,
      SUPABASE_PUBLISHABLE_KEY: embedded.supabasePublishableKey,
      SUPABASE_JWT_SECRET: embedded.supabaseJwtSecret,
      SUPABASE_JWT_ISSUER: embedded.supabaseJwtIssuer,
      API_KEY_SECRET: given.API_KEY_SECRET || embedded.apiKeySecret,
    },
    embedded: true,
    died: embedded.died,
    stop: embedded.stop,
  };
}

const prepareModuleSchema = z.object({
  prepareEngine: z.custom<(databaseUrl: string) => Promise<void>>(
    (value) => typeof value === "function",
  ),
});

async function prepareEngine(databaseUrl: string): Promise<void> {
  const file = join(projectRoot, "lib", "engine", "adapters", "postgres", "prepare.ts");
  if (!existsSync(file)) return;
  const loaded: unknown = await import(pathToFileURL(file).href);
  await prepareModuleSchema.parse(loaded).prepareEngine(databaseUrl);
}
