/**
 * The effects of a migration on existing tables, as far as it blocks writes for a time that grows
 * with a table: derived from the catalog of PostgreSQL before and after it.
 */
import type { TransactionSql } from "postgres";

/** Rows that a migration may write in one table without holding their locks for long. */
const MAX_ROWS = 500;

interface Table {
  readonly oid: number;
  readonly name: string;
  readonly file: number;
  /** Rows that this session has written. */
  readonly written: number;
  readonly indexes: readonly string[];
  /** Foreign keys and checks that hold for all rows. */
  readonly valid: readonly string[];
  readonly columns: readonly string[];
  readonly required: readonly string[];
}

/** Runs the migration, and returns its faults. */
export async function lockingChanges(
  sql: TransactionSql,
  migrate: () => PromiseLike<unknown>,
): Promise<string[]> {
  const before = await readTables(sql);
  await migrate();
  const after = new Map((await readTables(sql)).map((table) => [table.oid, table]));
  return before.flatMap((old) => {
    const now = after.get(old.oid);
    if (!now) return [];
    const added = (kind: "indexes" | "valid" | "required") =>
      now[kind].filter((name) => !old[kind].includes(name));
    const required = added("required").filter((name) => old.columns.includes(name));
    return [
      ...(now.file === old.file ? [] : [`rewrites ${old.name}`]),
      ...added("indexes").map((name) => `builds the index ${name} on ${old.name}`),
      ...added("valid").map((name) => `checks all rows of ${old.name} for ${name}`),
      ...required.map((name) => `checks all rows of ${old.name} for ${name} not null`),
      ...(now.written - old.written > MAX_ROWS
        ? [`writes more than ${MAX_ROWS} rows of ${old.name}`]
        : []),
    ];
  });
}

const readTables = (sql: TransactionSql) => sql<Table[]>`
  select c.oid::int, c.oid::regclass::text as name, pg_relation_filenode(c.oid)::int as file,
    coalesce((select (n_tup_ins + n_tup_upd + n_tup_del)::int
      from pg_stat_xact_user_tables where relid = c.oid), 0) as written,
    array(select indexrelid::regclass::text from pg_index where indrelid = c.oid) as indexes,
    array(select conname::text from pg_constraint
      where conrelid = c.oid and contype in ('c', 'f') and convalidated) as valid,
    array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0) as columns,
    array(select attname::text from pg_attribute
      where attrelid = c.oid and attnum > 0 and attnotnull) as required
  from pg_class c
  where c.relkind = 'r' and c.relnamespace in ('public'::regnamespace, to_regnamespace('engine'))`;
