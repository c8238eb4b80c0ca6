import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Sql } from "postgres";
import { BASELINE_VERSION } from "../../lib/platform/database/schema-version.ts";

export interface Migration {
  /** The name of the file, such as `20261129000000_baseline.sql`. */
  readonly file: string;
  readonly version: string;
  readonly name: string;
  /** Reads its SQL. */
  text(): string;
}

/**
 * Returns the migrations that are not recorded in the database, in the order in which they are to be
 * applied: the baseline, which consists of the files in `<folder>/schemas`, and the files in `<folder>/migrations`.
 */
export async function pendingMigrations(sql: Sql, folder: string): Promise<Migration[]> {
  const applied = await recordedVersions(sql);
  return listMigrations(folder).filter(({ version }) => !applied.includes(version));
}

/** Returns the versions of the migrations that are recorded in the database. */
export async function recordedVersions(sql: Sql): Promise<string[]> {
  const [record] = await sql`
    select to_regclass('supabase_migrations.schema_migrations') is not null as exists`;
  if (record?.exists !== true) return [];
  const rows = await sql<{ version: string }[]>`
    select version from supabase_migrations.schema_migrations`;
  return rows.map((row) => row.version);
}

/** Returns all migrations of a folder such as `supabase`. */
export function listMigrations(folder: string): Migration[] {
  const directory = join(folder, "migrations");
  const files = existsSync(directory) ? readdirSync(directory) : [];
  const later = files
    .filter((file) => /^\d+_.+\.sql$/.test(file))
    .sort()
    .map((file) => {
      const [version = "", name = ""] = file.replace(/\.sql$/, "").split(/_(.*)/s);
      return { file, version, name, text: () => readFileSync(join(directory, file), "utf8") };
    })
    // `npm run baseline` writes it for the Supabase CLI.
    .filter(({ version }) => version !== BASELINE_VERSION);
  const baseline = {
    file: `${BASELINE_VERSION}_baseline.sql`,
    version: BASELINE_VERSION,
    name: "baseline",
    text: () => readSchemas(folder),
  };
  return existsSync(join(folder, "schemas")) ? [baseline, ...later] : later;
}

function readSchemas(folder: string): string {
  const directory = join(folder, "schemas");
  const files = readdirSync(directory).sort();
  return files.map((file) => readFileSync(join(directory, file), "utf8")).join("\n");
}
