import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ReservedSql } from "postgres";
import { BASELINE_VERSION, REPLACED_VERSION } from "../../lib/platform/database/schema-version.ts";
import { describeSchema } from "./describe-schema.ts";
import type { Migration } from "./list-migrations.ts";

/** The definitions in the baseline that replace existing ones: functions, triggers and comments. */
const REPLACED =
  /^(?:create function|create trigger|comment on)\b(?:--.*|'(?:[^']|'')*'|\$\$[\s\S]*?\$\$|[^;'$-]|-(?!-))*;/gm;

/** Tables and types, of which the missing ones are created. */
const CREATED = /^create (table|type) (public\.\w+) [^;]*;/gm;

/** A function, by the schema, name and argument types, with the type of its result. */
const FUNCTIONS = `
  select p.oid::regprocedure::text as signature, pg_get_function_result(p.oid) as result
  from pg_proc p where p.pronamespace in ('public'::regnamespace, 'engine'::regnamespace)`;

/** Returns whether the recorded migrations are the history that the baseline has replaced. */
export const isReplaced = (recorded: readonly string[]): boolean =>
  [...recorded].sort().at(-1) === REPLACED_VERSION;

/**
 * Turns a database of the history before the baseline into one of the baseline, and records it. Its data stays:
 * new tables and types are created, and the existing ones change as `<folder>/upgrade.sql` says; functions, triggers and comments are replaced from the schema files.
 * The caller runs it in a transaction.
 *
 * @throws Error if the database has an older history, or if its schema is not equal to the baseline in the end
 */
export async function upgradeToBaseline(
  connection: ReservedSql,
  folder: string,
  baseline: Migration,
  recorded: readonly string[],
): Promise<void> {
  if (!isReplaced(recorded)) {
    throw new Error(
      `the newest migration of the database is ${[...recorded].sort().at(-1)}, and only a database with ` +
        `${REPLACED_VERSION} can be upgraded: update it with the version of the code that has this migration first`,
    );
  }
  const text = baseline.text();
  const expected = await inspectAlone(connection, text);
  for (const [statement, kind = "", name = ""] of text.matchAll(CREATED)) {
    const [found] = await connection`select to_regtype(${name}) is not null as exists`;
    if (found?.exists === true) continue;
    const indexes = text.match(
      new RegExp(`^create (?:unique )?index \\w+ on ${name} [^;]*;`, "gm"),
    );
    const secured = kind === "table" ? `alter table ${name} enable row level security;` : "";
    await connection.unsafe([statement, ...(indexes ?? []), secured].join("\n")).simple();
  }
  const upgrade = join(folder, "upgrade.sql");
  await connection.unsafe(existsSync(upgrade) ? readFileSync(upgrade, "utf8") : "").simple();
  for (const { signature, result } of await connection.unsafe<Signature[]>(FUNCTIONS)) {
    const wanted = expected.results.get(signature);
    if (wanted !== undefined && wanted !== result) {
      await connection.unsafe(`drop function ${signature}`);
    }
  }
  const replaced = (text.match(REPLACED) ?? [])
    .map((statement) => statement.replace(/^create/, "create or replace"))
    .join("\n");
  await connection.unsafe(`set local check_function_bodies = off;\n${replaced}`).simple();

  for (const line of await describeSchema(connection)) {
    const [, column] = /^comment table column (\S+) /.exec(line) ?? [];
    if (column && !expected.lines.has(line))
      await connection.unsafe(`comment on column ${column} is null`);
  }
  const upgraded = new Set(await describeSchema(connection));
  const differences = [
    ...[...upgraded].filter((line) => !expected.lines.has(line)).map((line) => `has "${line}"`),
    ...[...expected.lines].filter((line) => !upgraded.has(line)).map((line) => `lacks "${line}"`),
  ];
  if (differences.length > 0) {
    throw new Error(
      `the schema differs from the expected one in ${differences.length} places: it ${differences[0]}; ` +
        "undo what was changed besides the migrations, and try again",
    );
  }
  await connection`delete from supabase_migrations.schema_migrations`;
  await connection`insert into supabase_migrations.schema_migrations (version, name)
    values (${BASELINE_VERSION}, ${baseline.name})`;
}

interface Signature {
  readonly signature: string;
  readonly result: string;
}

/** Describes the schema that the text creates, and leaves the database as it is. */
async function inspectAlone(connection: ReservedSql, text: string) {
  await connection`savepoint alone`;
  await connection
    .unsafe("alter schema public rename to upgraded; alter schema engine rename to upgraded_engine")
    .simple();
  await connection.unsafe("create schema public").simple();
  await connection.unsafe(text).simple();
  const lines = new Set(await describeSchema(connection));
  const functions = await connection.unsafe<Signature[]>(FUNCTIONS);
  await connection`rollback to savepoint alone`;
  return { lines, results: new Map(functions.map((one) => [one.signature, one.result])) };
}
