import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";

/**
 * Creates what the durable engine needs in the database at `databaseUrl`. Safe to call at every
 * start and from several processes at once.
 */
export async function prepareEngine(databaseUrl: string): Promise<void> {
  const schema = await readFile(
    join(process.cwd(), "lib/engine/adapters/postgres/schema.sql"),
    "utf8",
  );
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // Several statements in one message are one transaction.
    await client.query(`select pg_advisory_xact_lock(hashtext('engine.prepare'));\n${schema}`);
  } finally {
    await client.end();
  }
}
