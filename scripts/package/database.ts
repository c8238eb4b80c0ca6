import { join } from "node:path";
import type { Sql } from "postgres";
import { MISSING_RIGHTS, type MissingRight } from "../../lib/platform/database/missing-rights.ts";
import { detectPooling } from "../../packages/world-postgres/src/connection.ts";
import { describeRefusal, TRANSACTION_MODE } from "../../packages/world-postgres/src/outage.ts";
import { dataDirOf, openDataDir } from "../data-dir.ts";
import { applyMigrations } from "../embedded/apply-migrations.ts";
import { connectPostgres } from "../embedded/connect-postgres.ts";
import { type EmbeddedSecrets, keepSecrets } from "../embedded/keep-secrets.ts";
import { pendingMigrations } from "../embedded/list-migrations.ts";
import { startLite } from "../embedded/start-lite.ts";
import { projectRoot } from "../project-root.ts";

const folder = join(projectRoot, "supabase");

const TIMEOUT_MS = 15_000;

type Settings = Readonly<Record<string, string | undefined>>;

/** @throws Error that says which settings select a database */
export function databaseUrl(settings: Settings): string {
  if (settings.DATABASE_URL) return settings.DATABASE_URL;
  throw new Error(
    "Set DATABASE_URL, to PostgreSQL by a direct or session-mode connection. With a hosted Supabase " +
      "project set SUPABASE_URL, SUPABASE_SECRET_KEY and API_KEY_SECRET too.",
  );
}

/** Returns the URL whose connections keep their sessions. */
export const directUrl = (settings: Settings): string =>
  settings.DIRECT_DATABASE_URL || databaseUrl(settings);

/**
 * Returns the secrets in `DATA_DIR`, with which a PostgreSQL of one's own is served.
 * @throws DataDirUnusable
 */
export function ownSecrets(dataDir: string): EmbeddedSecrets {
  openDataDir(dataDir);
  return keepSecrets(dataDir);
}

/**
 * `bin/migrate`: applies the migrations that the database lacks, and the seed of the catalog.
 * Several may run at once. A PostgreSQL outside of Supabase also gets the tables of its REST and
 * auth server, for which its login must be a superuser or have the rights of deploy/roles.sql.
 *
 * @returns the exit code
 */
export async function migrate(settings: Settings): Promise<number> {
  const pending = await withDatabase(settings, async (sql) => {
    await requireRights(sql, settings);
    return pendingMigrations(sql, folder);
  });
  if (settings.SUPABASE_URL) await withDatabase(settings, (sql) => applyMigrations(sql, folder));
  else await prepareOwn(settings);
  console.log(`Applied migrations: ${pending.length}. The database is up to date.`);
  return 0;
}

/** @throws Error with the command to run, when the database lacks a migration */
export async function requireMigrations(settings: Settings): Promise<void> {
  const [first, ...more] = await withDatabase(settings, async (sql) => {
    const pending = await pendingMigrations(sql, folder);
    if (pending.length > 0) await requireRights(sql, settings);
    return pending;
  });
  if (first === undefined) return;
  throw new Error(
    `The database lacks the migration ${first.file}${more.length > 0 ? ` and ${more.length} more` : ""}. ` +
      "Run bin/migrate, or start with bin/server --migrate.",
  );
}

/** @throws Error with each right that the login lacks, and the statement that gives it */
async function requireRights(sql: Sql, { SUPABASE_URL }: Settings): Promise<void> {
  const rows = await sql.unsafe<MissingRight[]>(MISSING_RIGHTS);
  // A project of Supabase has its roles.
  const missing = rows.filter(
    ({ need, remedy }) => !SUPABASE_URL && need !== "engine" && !/bin\/migrate/.test(remedy),
  );
  if (missing.length === 0) return;
  const lines = missing.map(({ right, remedy }) => `  ${right}: ${remedy};`);
  throw new Error(`its login lacks rights, which deploy/roles.sql gives:\n${lines.join("\n")}`);
}

/** The REST and auth server migrates the database that it is to serve. */
async function prepareOwn(settings: Settings): Promise<void> {
  const dataDir = dataDirOf(process.env);
  const lite = startLite({ output: "inherit", name: "the output above" });
  try {
    await lite.serve({
      databaseUrl: databaseUrl(settings),
      directDatabaseUrl: settings.DIRECT_DATABASE_URL,
      dataDir,
      secrets: ownSecrets(dataDir),
      siteUrl: "http://localhost:3000",
    });
  } finally {
    await lite.stop();
  }
}

async function withDatabase<Result>(
  settings: Settings,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const url = directUrl(settings);
  const name = settings.DIRECT_DATABASE_URL ? "DIRECT_DATABASE_URL" : "DATABASE_URL";
  try {
    const pooling = await detectPooling(url, TIMEOUT_MS);
    if (pooling === "transaction")
      throw new Error(`${TRANSACTION_MODE.detail}. ${TRANSACTION_MODE.remedy}`);
    const sql = connectPostgres(url, { max: 1, connect_timeout: TIMEOUT_MS / 1_000 });
    try {
      return await work(sql);
    } finally {
      await sql.end({ timeout: 1 });
    }
  } catch (error) {
    // Only the reason: the URL contains a password.
    const refusal = describeRefusal(Object(error));
    const reason = refusal ? `${refusal.detail}. ${refusal.remedy}` : Object(error).message;
    throw new Error(`The database of ${name}: ${reason}`, { cause: error });
  }
}
