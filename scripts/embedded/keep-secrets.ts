import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const secretsSchema = z.object({
  postgresPassword: z.string().min(32),
  jwtSecret: z.string().min(32),
  apiKeySecret: z.string().min(32),
  publishableKey: z.string().startsWith("sb_publishable_"),
  secretKey: z.string().startsWith("sb_secret_"),
});

export type EmbeddedSecrets = z.output<typeof secretsSchema>;

/**
 * Returns the secrets of the embedded parts, which are created once in `<dataDir>/secrets.json`
 * (mode 0600).
 */
export function keepSecrets(dataDir: string): EmbeddedSecrets {
  const file = join(dataDir, "secrets.json");
  const stored = readIfExists(file);
  if (stored !== undefined) return secretsSchema.parse(JSON.parse(stored));

  const secret = () => randomBytes(32).toString("base64url");
  const created: EmbeddedSecrets = {
    postgresPassword: secret(),
    jwtSecret: secret(),
    apiKeySecret: secret(),
    publishableKey: `sb_publishable_${secret()}`,
    secretKey: `sb_secret_${secret()}`,
  };
  // Written under another name and then linked, so a crash cannot leave a partial file without the
  // password of the database.
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(created, null, 2)}\n`, { mode: 0o600, flush: true });
  linkSync(draft, file);
  unlinkSync(draft);
  return created;
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
