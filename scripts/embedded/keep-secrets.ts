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

/** The secrets of the embedded parts: made once, kept in `<dataDir>/secrets.json` (mode 0600). */
export function keepSecrets(dataDir: string): EmbeddedSecrets {
  const file = join(dataDir, "secrets.json");
  const kept = readIfThere(file);
  if (kept !== undefined) return secretsSchema.parse(JSON.parse(kept));

  const secret = () => randomBytes(32).toString("base64url");
  const made: EmbeddedSecrets = {
    postgresPassword: secret(),
    jwtSecret: secret(),
    apiKeySecret: secret(),
    publishableKey: `sb_publishable_${secret()}`,
    secretKey: `sb_secret_${secret()}`,
  };
  // Written beside and linked into place: a crash half-way must not leave half a file,
  // whose loss would make the database's password unknown.
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600, flush: true });
  linkSync(draft, file);
  unlinkSync(draft);
  return made;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
