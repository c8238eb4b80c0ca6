import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { projectRoot } from "../../../scripts/project-root.ts";
import { setting, sql } from "./stack.ts";

/** Creates an empty database beside the shared server's, which must not take over runs that die in a test. */
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
export async function createEngineDatabase(schema?: string) {
  const database = await createDatabase();
  const file = join(projectRoot, "supabase/schemas/99_engine.sql");
  await run(database.url, schema ?? (await readFile(file, "utf8")));
  return database;
}

/** Creates a database that is like a new Supabase project, without migrations. */
export async function createProject() {
  const database = await createDatabase();
  const text = await readFile(join(projectRoot, "scripts/embedded/bootstrap.sql"), "utf8");
  // Roles belong to the server, not to a database.
  await run(database.url, text.replaceAll(/^create role .*$/gm, ""));
  return database;
}

async function run(url: string, text: string): Promise<void> {
  const connection = postgres(url, { max: 1, onnotice: () => {} });
  await connection.unsafe(text).simple();
  await connection.end();
}
