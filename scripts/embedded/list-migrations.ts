import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Sql } from "postgres";

export interface Migration {
  readonly file: string;
  readonly version: string;
  readonly name: string;
}

/**
 * Returns the files of `<folder>/migrations` that are not recorded in the database, in the order in
 * which they are to be applied.
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

function listMigrations(folder: string): Migration[] {
  const directory = join(folder, "migrations");
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((file) => /^\d+_.+\.sql$/.test(file))
    .sort()
    .map((file) => {
      const [version = "", name = ""] = file.replace(/\.sql$/, "").split(/_(.*)/s);
      return { file, version, name };
    });
}
