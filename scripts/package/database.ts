import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { dataDirOf, openDataDir } from "../data-dir.ts";
import { applyMigrations } from "../embedded/apply-migrations.ts";
import { type EmbeddedSecrets, keepSecrets } from "../embedded/keep-secrets.ts";
import { pendingMigrations } from "../embedded/list-migrations.ts";
import { startLite } from "../embedded/start-lite.ts";
import { projectRoot } from "../project-root.ts";

const folder = join(projectRoot, "supabase");

type Settings = Readonly<Record<string, string | undefined>>;

/** @throws Error that says which settings select a database */
export function databaseUrl(settings: Settings): string {
  if (settings.DATABASE_URL) return settings.DATABASE_URL;
  throw new Error(
    "Set DATABASE_URL, to PostgreSQL by a direct or session-mode connection. With a hosted Supabase " +
      "project set SUPABASE_URL, SUPABASE_SECRET_KEY and API_KEY_SECRET too.",
  );
}

/**
 * Returns the secrets in `DATA_DIR`, with which a PostgreSQL of one's own is served.
 * @throws DataDirUnusable
 */
export function ownSecrets(dataDir: string): EmbeddedSecrets {
  openDataDir(dataDir);
  return keepSecrets(dataDir);
}

/**
 * `bin/migrate`: applies the migrations that the database lacks, and the seed of the catalog. Several
 * may run at once. A PostgreSQL that is no Supabase project also gets the roles and the tables of its
 * REST and auth server, for which its login must be a superuser.
 *
 * @returns the exit code
 */
export async function migrate(settings: Settings): Promise<number> {
  const url = databaseUrl(settings);
  const pending = await withDatabase(url, (sql) => pendingMigrations(sql, folder));
  if (settings.SUPABASE_URL) await withDatabase(url, (sql) => applyMigrations(sql, folder));
  else await prepareOwn(url);
  console.log(`Applied ${pending.length} migrations. The database is up to date.`);
  return 0;
}

/** @throws Error with the command to run, when the database lacks a migration */
export async function requireMigrations(settings: Settings): Promise<void> {
  const url = databaseUrl(settings);
  const [first, ...more] = await withDatabase(url, (sql) => pendingMigrations(sql, folder));
  if (first === undefined) return;
  throw new Error(
    `The database lacks the migration ${first.file}${more.length > 0 ? ` and ${more.length} more` : ""}. ` +
      "Run bin/migrate, or start with bin/server --migrate.",
  );
}

/** The REST and auth server migrates the database that it is to serve. */
async function prepareOwn(url: string): Promise<void> {
  const dataDir = dataDirOf(process.env);
  const lite = startLite({ output: "inherit", name: "the output above" });
  try {
    await lite.serve({
      databaseUrl: url,
      dataDir,
      secrets: ownSecrets(dataDir),
      siteUrl: "http://localhost:3000",
    });
  } finally {
    await lite.stop();
  }
}

async function withDatabase<Result>(
  url: string,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const sql = postgres(url, { max: 1, connect_timeout: 15, onnotice: () => {} });
  try {
    return await work(sql);
  } catch (error) {
    // Only the reason: the URL contains a password.
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The database of DATABASE_URL: ${reason}`, { cause: error });
  } finally {
    await sql.end({ timeout: 1 });
  }
}
