import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { keepSecrets } from "./keep-secrets.ts";
import { postgresUrl } from "./postgres-url.ts";

/** Returns the URL of the PostgreSQL that another process runs on `dataDir`; undefined without one. */
export function findRunning(dataDir: string): string | undefined {
  const file = join(dataDir, "postgres", "postmaster.pid");
  if (!existsSync(file)) return undefined;
  const port = Number(readFileSync(file, "utf8").split("\n")[3]);
  if (!(port > 0)) return undefined;
  return postgresUrl(keepSecrets(dataDir).postgresPassword, port);
}
