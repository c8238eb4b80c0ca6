/** SQL functions over connections to PostgreSQL, which takes half the CPU of the REST API. */

import { log } from "@platform/kit/log";
import { observePool } from "@platform/kit/telemetry/metrics";
import { inSpan, sqlSpan } from "@platform/kit/telemetry/spans";
import pg from "pg";
import { Pool } from "../../../packages/world-postgres/src/connection.ts";
import { isOutage } from "../../../packages/world-postgres/src/outage.ts";
import { functions } from "./functions.ts";
import { type Answer, type Database, type FunctionName, sqlName } from "./port.ts";

/** The time after which a silent database counts as unavailable, as over REST. */
const TIMEOUT_MS = 10_000;
const IDLE_MS = 60_000;
/**
 * PostgreSQL itself ends a statement shortly before no one waits for it any more, and a transaction that waits for its
 * client. Poolers refuse most settings in the startup message, so they are set by a statement.
 */
const SESSION = `
  set role service_role;
  set statement_timeout = ${TIMEOUT_MS - 1_000};
  set idle_in_transaction_session_timeout = ${TIMEOUT_MS}`;
/** In front of a call in the same message, and so in its transaction: nothing outlasts it in a session of others. */
const TRANSACTION = `
  set local role service_role;
  set local statement_timeout = ${TIMEOUT_MS - 1_000};`;

interface AnswerRows {
  readonly rows: readonly { readonly answer: string | null }[];
}

export class PostgresDatabase implements Database {
  readonly name = "postgres";
  readonly #pool: Pool;
  readonly #keepsSession: boolean;
  /** Prepared statements by function and names of arguments. */
  readonly #statements = new Map<string, { name: string; text: string }>();

  /**
   * @param url of a login that may act as the service role
   * @param keepsSession whether a connection keeps its session, as it does not through a pooler in transaction mode
   */
  constructor(url: string, maxConnections: number, keepsSession = true) {
    this.#keepsSession = keepsSession;
    const settings = {
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
      idleTimeoutMillis: IDLE_MS,
      application_name: "agent-platform",
      max: maxConnections,
      allowExitOnIdle: true,
    };
    this.#pool = new Pool(url, settings, keepsSession ? SESSION : undefined);
    // Without a listener, an idle connection that breaks would end the process.
    this.#pool.on("error", (error) => log().warn({ err: error }, "database connection"));
    observePool("functions", this.#pool);
  }

  async call(name: FunctionName, args: Readonly<Record<string, unknown>>): Promise<Answer> {
    try {
      const statement = this.#statement(name, args);
      const { rows } = await inSpan(`sql ${name}`, sqlSpan(name), () =>
        this.#query(statement, JSON.stringify(args)),
      );
      if (functions[name].returns === "texts") {
        return { data: rows.map(({ answer }) => answer), status: 200, error: null };
      }
      const text = rows[0]?.answer ?? null;
      return { data: text === null ? null : JSON.parse(text), status: 200, error: null };
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) {
        return { data: null, status: 0, error: { message: String(error) } };
      }
      const { code = "", message, detail = null, hint = null } = error;
      const status = isOutage(error) ? 0 : 400;
      return { data: null, status, error: { code, message, details: detail, hint } };
    }
  }

  async #query(statement: { name: string; text: string }, args: string): Promise<AnswerRows> {
    if (this.#keepsSession) return this.#pool.query({ ...statement, values: [args] });
    const call = statement.text.replace("$1", () => pg.escapeLiteral(args));
    // As one simple message: a prepared statement would be in another session.
    const results: unknown = await this.#pool.query(TRANSACTION + call);
    return (results as AnswerRows[]).at(-1) ?? { rows: [] };
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  #statement(name: FunctionName, args: Readonly<Record<string, unknown>>) {
    // JSON omits undefined arguments, which take the function's default.
    const given = Object.keys(args).filter((key) => args[key] !== undefined);
    const key = `${name} ${given}`;
    let statement = this.#statements.get(key);
    if (!statement) {
      statement = { name: `call_${this.#statements.size}`, text: statementOf(name, given) };
      this.#statements.set(key, statement);
    }
    return statement;
  }
}

/** The limit of hosted Supabase. */
const MAX_ROWS = 1000;

/**
 * Returns the statement with which PostgREST calls a SQL function: PostgreSQL itself parses the
 * arguments from one JSON text, and returns the answer as JSON text in the column `answer`; texts are rows as
 * they are, because a long chat is sent as it comes.
 * @param given the names of the arguments; the others take their defaults
 */
function statementOf(name: FunctionName, given: readonly string[]): string {
  const { returns } = functions[name];
  const types: Readonly<Record<string, string>> = functions[name].args;
  const fields = given.map((key) => `"${key}" ${types[key]}`);
  const args = given.map((key) => `"${sqlName(key)}" := args."${key}"`);
  const call = `public."${name}"(${args.join(", ")})`;
  const source =
    given.length === 0
      ? "(select $1::text) unused"
      : `json_to_record($1::text::json) as args(${fields.join(", ")})`;
  const ofRows: Readonly<Record<string, string>> = {
    nothing: `select null::text as answer from ${source}, lateral ${call} result`,
    row: `select row_to_json(result)::text as answer from ${source}, lateral ${call} result`,
    rows: `select coalesce(json_agg(result), '[]')::text as answer
           from (select result.* from ${source}, lateral ${call} result limit ${MAX_ROWS}) result`,
    texts: `select value as answer from ${source}, lateral ${call} as call(value) limit ${MAX_ROWS}`,
  };
  const ofValue = `select to_json(result.value)::text as answer
                   from ${source}, lateral (select ${call} as value) result`;
  return ofRows[returns] ?? ofValue;
}
