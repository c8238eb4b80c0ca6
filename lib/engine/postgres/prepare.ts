import { readFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";

/**
 * Creates what the durable engine needs in the database at `databaseUrl`. Safe to call at every
 * start and from several processes at once.
 */
export async function prepareEngine(databaseUrl: string): Promise<void> {
  const schema = await readFile(join(process.cwd(), "lib/engine/postgres/schema.sql"), "utf8");
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql.begin(async (transaction) => {
      await transaction`select pg_advisory_xact_lock(hashtext('engine.prepare'))`;
      await transaction.unsafe(schema);
    });
  } finally {
    await sql.end();
  }
}
