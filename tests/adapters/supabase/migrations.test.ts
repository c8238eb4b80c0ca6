import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { afterEach, beforeEach, expect, test } from "vitest";
import { applyMigrations } from "../../../scripts/embedded/apply-migrations.ts";
import { setting, sql } from "../../support/harness/stack.ts";

let folder: string;
let name: string;
let database: Sql;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "migrations-"));
  mkdirSync(join(folder, "migrations"));
  name = `migrations_${crypto.randomUUID().replaceAll("-", "")}`;
  await sql.unsafe(`create database ${name}`);
  const url = new URL(setting("DATABASE_URL"));
  url.pathname = `/${name}`;
  database = postgres(url.href, { onnotice: () => {} });
  const tables = readFileSync("scripts/embedded/bootstrap.sql", "utf8");
  await database.unsafe(tables.slice(tables.indexOf("create schema supabase_migrations"))).simple();
});

afterEach(async () => {
  await database.end();
  await sql.unsafe(`drop database ${name} with (force)`);
  rmSync(folder, { recursive: true, force: true });
});

function write(file: string, text: string): void {
  writeFileSync(join(folder, file), text);
}

async function versions(): Promise<string[]> {
  const rows = await database<{ version: string }[]>`
    select version from supabase_migrations.schema_migrations order by version`;
  return rows.map((row) => row.version);
}

test("files are applied in the order of their names, each once, and the seed after them", async () => {
  write("migrations/2_second.sql", "insert into steps values ('second');");
  write(
    "migrations/1_first.sql",
    "create table steps (name text); insert into steps values ('first');",
  );
  write("seed.sql", "insert into steps values ('seed');");
  await applyMigrations(database, folder);
  await applyMigrations(database, folder);
  write("migrations/3_third.sql", "insert into steps values ('third');");
  await applyMigrations(database, folder);
  const steps = await database`select name from steps`;
  expect(steps.map((row) => row.name)).toEqual(["first", "second", "seed", "third"]);
  expect(await versions()).toEqual(["1", "2", "3"]);
});

test("a file that fails leaves nothing behind, is named, and can be mended", async () => {
  write("migrations/1_good.sql", "create table good ();");
  write("migrations/2_bad.sql", "create table half (); select 1 / 0; create table other ();");
  await expect(applyMigrations(database, folder)).rejects.toThrow(
    "supabase/migrations/2_bad.sql failed: division by zero",
  );
  expect(await versions()).toEqual(["1"]);
  expect(await database`select from pg_class where relname = 'half'`).toHaveLength(0);
  write("migrations/2_bad.sql", "create table half ();");
  await applyMigrations(database, folder);
  expect(await versions()).toEqual(["1", "2"]);
});

test("servers that start at once on one database apply each file once", async () => {
  write("migrations/1_count.sql", "create table counted (n int); select pg_sleep(0.05);");
  write("migrations/2_add.sql", "insert into counted values (1);");
  await Promise.all(Array.from({ length: 5 }, () => applyMigrations(database, folder)));
  expect(await database`select n from counted`).toHaveLength(1);
});
