import { randomUUID } from "node:crypto";
import postgres, { type ParameterOrJSON, type TransactionSql } from "postgres";
import { sql } from "../../tests/support/harness/stack.ts";

export type Argument = ParameterOrJSON<never>;

/** One transaction with the database, in which SQL functions are called by name. */
export class Transaction {
  readonly sql: TransactionSql;

  constructor(transaction: TransactionSql) {
    this.sql = transaction;
  }

  /** @returns the function's answer, or `raised <SQLSTATE>`; a call that raises changes nothing. */
  async call(name: string, args: Readonly<Record<string, Argument>>): Promise<unknown> {
    const names = Object.keys(args).map((key, index) => `p_${key} => $${index + 1}`);
    const text = `select public.${name}(${names.join(", ")}) as answer`;
    try {
      const rows = await this.sql.savepoint((savepoint) =>
        savepoint.unsafe(text, Object.values(args)),
      );
      return rows[0]?.answer;
    } catch (error) {
      if (error instanceof postgres.PostgresError) return `raised ${error.code}`;
      throw error;
    }
  }

  /** @returns the result of work whose changes are undone. */
  async undone<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    let result: { readonly value: T } | undefined;
    const done = new Error("undone");
    try {
      await this.sql.savepoint(async (savepoint) => {
        result = { value: await work(new Transaction(savepoint)) };
        throw done;
      });
    } catch (error) {
      if (error !== done) throw error;
    }
    if (!result) throw done;
    return result.value;
  }

  /** @returns how many rows of a table the work reads. */
  async rowsRead(table: string, work: () => Promise<unknown>): Promise<number> {
    const count = async () => {
      const [row] = await this
        .sql`select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as rows
        from pg_stat_xact_user_tables where relname = ${table}`;
      return Number(row?.rows);
    };
    const before = await count();
    await work();
    return (await count()) - before;
  }

  /** @returns the id of a new personal account. */
  async account(id: string = randomUUID()): Promise<string> {
    await this.sql`insert into accounts (id, email) values (${id}, ${`${id}@example.com`})`;
    return id;
  }
}

/** Runs `work` in a transaction that is rolled back, because other tests read the same database. */
export async function rolledBack(work: (transaction: Transaction) => Promise<void>): Promise<void> {
  const done = new Error("rolled back");
  try {
    await sql.begin(async (transaction) => {
      await work(new Transaction(transaction));
      throw done;
    });
  } catch (error) {
    if (error !== done) throw error;
  }
}
