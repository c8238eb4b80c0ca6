import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Sql } from "postgres";

/**
 * Applies `<folder>/migrations/*.sql` in the order of their names, then `<folder>/seed.sql`. Each file
 * is applied once, in a transaction, and recorded where the Supabase CLI records it.
 *
 * @throws Error with the name of the file whose SQL failed; earlier files stay applied
 */
export async function applyMigrations(sql: Sql, folder: string): Promise<void> {
  const directory = join(folder, "migrations");
  const files = existsSync(directory)
    ? readdirSync(directory)
        .filter((name) => /^\d+_.+\.sql$/.test(name))
        .sort()
    : [];

  const connection = await sql.reserve();
  // Servers that start concurrently on one database must not apply the same file.
  const lock = 7_306_411_208;
  await connection`select pg_advisory_lock(${lock})`;
  try {
    const rows = await connection<{ version: string }[]>`
      select version from supabase_migrations.schema_migrations`;
    const applied = new Set(rows.map((row) => row.version));
    for (const file of files) {
      const [version = "", name = ""] = file.replace(/\.sql$/, "").split(/_(.*)/s);
      if (applied.has(version)) continue;
      const text = readFileSync(join(directory, file), "utf8");
      await inTransaction(connection, `migrations/${file}`, async () => {
        await connection.unsafe(text).simple();
        await connection`
          insert into supabase_migrations.schema_migrations (version, name, statements)
          values (${version}, ${name}, ${[text]})`;
      });
    }
    await seed(connection, folder);
  } finally {
    await connection`select pg_advisory_unlock(${lock})`;
    connection.release();
  }
}

async function seed(connection: Sql, folder: string): Promise<void> {
  const file = join(folder, "seed.sql");
  if (!existsSync(file)) return;
  const path = "supabase/seed.sql";
  const done = await connection`
    select from supabase_migrations.seed_files where path = ${path}`;
  if (done.length > 0) return;
  const text = readFileSync(file, "utf8");
  await inTransaction(connection, "seed.sql", async () => {
    await connection.unsafe(text).simple();
    await connection`
      insert into supabase_migrations.seed_files (path, hash)
      values (${path}, ${createHash("sha256").update(text).digest("hex")})`;
  });
}

async function inTransaction(
  connection: Sql,
  file: string,
  work: () => Promise<void>,
): Promise<void> {
  await connection`begin`;
  try {
    await work();
    await connection`commit`;
  } catch (error) {
    await connection`rollback`;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`supabase/${file} failed: ${reason}`, { cause: error });
  }
}
