/**
 * Calls of SQL functions over a connection to PostgreSQL instead of the REST server, which saves its
 * CPU and half of this process's. The statements, the role and the answers are the same.
 */
import pg from "pg";
import { config } from "../config.ts";
import { log } from "../log.ts";
import { poolSize } from "../process-share.ts";
import { processWide } from "../process-wide.ts";
import { inSpan } from "../telemetry/spans.ts";
import { db } from "./client.ts";
import {
  functionStatement,
  type SignatureRow,
  type Signatures,
  signaturesQuery,
  toSignatures,
} from "./function-statement.ts";
import { observePool, sqlSpan } from "./telemetry.ts";
import { DatabaseUnavailable, isOutage } from "./unavailable.ts";

/** The part of a supabase-js result that is used. */
export interface Answer {
  readonly data: unknown;
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly error: {
    readonly code?: string;
    readonly message: string;
    readonly details?: string | null;
    readonly hint?: string | null;
  } | null;
}

type Arguments = Readonly<Record<string, unknown>>;

/** The time after which a silent database counts as unavailable, as over REST. */
const TIMEOUT_MS = 10_000;
/** A call takes about a millisecond. */
const MIN_CONNECTIONS = 2;
const IDLE_MS = 60_000;

/**
 * Calls a function over the direct connection. Resolves to undefined when it must be called over REST,
 * because there is no such connection or the function needs a REST server.
 * @param form `text` for the answer of a function that returns `"text/plain"`
 * @throws DatabaseUnavailable when it cannot be decided which of both it is.
 */
export async function callDirectly(
  name: string,
  args: Arguments,
  form: "json" | "text",
): Promise<Answer | undefined> {
  return (await directCaller())?.call(name, args, form);
}

/**
 * Calls a function that returns a set of texts. Resolves to undefined when the function must be called
 * over REST.
 * @throws DatabaseUnavailable; Error when the call itself is wrong.
 */
export async function textsDirectly(
  name: string,
  args: Arguments,
): Promise<readonly string[] | undefined> {
  return (await directCaller())?.texts(name, args);
}

function directCaller(): Promise<DirectCaller | null> {
  const known = processWide("direct database", () => ({
    caller: undefined as Promise<DirectCaller | null> | undefined,
  }));
  known.caller ??= openCaller().catch((error: unknown) => {
    known.caller = undefined;
    throw error;
  });
  return known.caller;
}

/**
 * Returns null unless `DATABASE_URL` leads to the database behind `SUPABASE_URL` with a login that may
 * act as the service role: the durable engine may have a database or a login of its own. Null on Vercel,
 * too, where an integration may have set it, and where each of many instances would open connections.
 */
async function openCaller(): Promise<DirectCaller | null> {
  const { DATABASE_URL, VERCEL } = config();
  if (!DATABASE_URL || VERCEL) return null;
  const caller = new DirectCaller(DATABASE_URL);
  const [direct, rest] = await Promise.all([
    caller.call("installation_id", {}, "json"),
    db().rpc("installation_id"),
  ]);
  if (direct && !direct.error && !rest.error && direct.data === rest.data) return caller;
  await caller.close();
  for (const answer of [direct, rest]) {
    if (answer?.error && isOutage(answer.error.code ?? "", answer.status)) {
      throw new DatabaseUnavailable(`installation_id: ${answer.error.message}`);
    }
  }
  log().info("SQL functions are called over REST: DATABASE_URL does not lead to them");
  return null;
}

class DirectCaller {
  readonly #pool: pg.Pool;
  #signatures: Promise<Signatures> | undefined;
  /** Prepared statements by function and names of arguments; undefined for REST. */
  readonly #statements = new Map<string, { name: string; text: string } | undefined>();
  #prepared = 0;

  constructor(databaseUrl: string) {
    this.#pool = new pg.Pool({
      connectionString: databaseUrl,
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
      idleTimeoutMillis: IDLE_MS,
      keepAlive: true,
      application_name: "agent-platform",
      max: poolSize(config(), MIN_CONNECTIONS),
      allowExitOnIdle: true,
      onConnect: async (client) => void (await client.query("set role service_role")),
    });
    // Without a listener, an idle connection that breaks would end the process.
    this.#pool.on("error", (error) => log().warn({ err: error }, "database connection"));
    observePool("functions", this.#pool);
  }

  async call(name: string, args: Arguments, form: "json" | "text"): Promise<Answer | undefined> {
    try {
      const statement = await this.#statement(name, args, form);
      if (!statement) return undefined;
      const values = [JSON.stringify(args)];
      const { rows } = await inSpan(`sql ${name}`, sqlSpan(name), () =>
        this.#pool.query<{ answer: string | null }>({ ...statement, values }),
      );
      const answer = rows[0]?.answer ?? null;
      const data = answer === null || form === "text" ? answer : JSON.parse(answer);
      return { data, status: 200, error: null };
    } catch (error) {
      if (error instanceof pg.DatabaseError && error.code === UNDEFINED_FUNCTION) this.#forget();
      return toAnswer(error);
    }
  }

  async texts(name: string, args: Arguments): Promise<readonly string[] | undefined> {
    try {
      const statement = await this.#statement(name, args, "texts");
      if (!statement) return undefined;
      const values = [JSON.stringify(args)];
      const { rows } = await inSpan(`sql ${name}`, sqlSpan(name), () =>
        this.#pool.query<{ answer: string }>({ ...statement, values }),
      );
      return rows.map(({ answer }) => answer);
    } catch (error) {
      if (error instanceof pg.DatabaseError && error.code === UNDEFINED_FUNCTION) this.#forget();
      const answer = toAnswer(error);
      const text = `${name}: ${answer.error?.message}`;
      if (isOutage(answer.error?.code ?? "", answer.status)) throw new DatabaseUnavailable(text);
      throw new Error(text);
    }
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #statement(name: string, args: Arguments, form: "json" | "text" | "texts") {
    // What JSON leaves out takes the function's default.
    const given = Object.keys(args).filter((key) => args[key] !== undefined);
    const key = `${form} ${name} ${given}`;
    if (!this.#statements.has(key)) {
      const found = functionStatement(await this.#load(), name, given, form);
      const statement = found && { name: `call_${++this.#prepared}`, text: found.text };
      this.#statements.set(key, statement);
    }
    return this.#statements.get(key);
  }

  #load(): Promise<Signatures> {
    this.#signatures ??= this.#pool
      .query<SignatureRow>(signaturesQuery)
      .then(({ rows }) => toSignatures(rows));
    this.#signatures.catch(() => this.#forget());
    return this.#signatures;
  }

  /** A migration has changed the functions. */
  #forget(): void {
    this.#signatures = undefined;
    this.#statements.clear();
  }
}

const UNDEFINED_FUNCTION = "42883";

function toAnswer(error: unknown): Answer {
  if (!(error instanceof pg.DatabaseError)) {
    return { data: null, status: 0, error: { message: String(error) } };
  }
  const { code = "", message, detail = null, hint = null } = error;
  return { data: null, status: 400, error: { code, message, details: detail, hint } };
}
