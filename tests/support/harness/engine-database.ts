import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { projectRoot } from "../../../scripts/project-root.ts";
import { setting, sql } from "./stack.ts";

/**
 * Creates an empty database beside that of the shared server, which must not take over what dies in
 * a test.
 */
export async function createDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await sql.unsafe(`create database ${name}`);
  const url = new URL(setting("DATABASE_URL"));
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => void (await sql.unsafe(`drop database ${name} with (force)`)),
  };
}

/** Creates a database that has the durable engine's tables only. */
export async function createEngineDatabase() {
  const database = await createDatabase();
  const folder = join(projectRoot, "supabase/migrations");
  const files = (await readdir(folder)).filter((file) => file.includes("_engine")).sort();
  const connection = postgres(database.url, { max: 1, onnotice: () => {} });
  for (const file of files) {
    await connection.unsafe(await readFile(join(folder, file), "utf8")).simple();
  }
  await connection.end();
  return database;
}
