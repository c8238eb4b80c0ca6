/** Calls SQL functions, parses their answers, and distinguishes outages from refusals. */
import { setTimeout as delay } from "node:timers/promises";
import { DatabaseUnavailable } from "@platform/kit/database-unavailable";
import { log } from "@platform/kit/log";
import type { z } from "zod";
import { type Config, poolSize } from "../config.ts";
import type { Answer, Arguments, Database, FunctionName } from "./port.ts";
import { PostgresDatabase } from "./postgres.ts";
import { createRestDatabase } from "./rest.ts";
import { isUnavailable } from "./unavailable.ts";

/** A call takes about a millisecond. */
const MIN_CONNECTIONS = 2;
/** PostgreSQL has rolled back one of two transactions that were in each other's way: the call can be repeated. */
const ROLLED_BACK = ["40P01", "40001"];
const MAX_ATTEMPTS = 3;
/** Repeated at once, a call can take the rows again before the transaction that waited for them is woken. */
const PAUSE_MS = 50;

/** A rule that a SQL function enforced with `raise … using errcode = 'PT4xx'`. */
export interface Raised {
  readonly kind: "raised";
  /** The HTTP status in the code: 409 for `PT409`. */
  readonly status: number;
  readonly message: string;
}

export function isRaised(value: unknown): value is Raised {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "raised";
}

/**
 * Calls a SQL function in one round trip and one transaction, which is repeated after a deadlock.
 * @throws DatabaseUnavailable when the database cannot do it at present; Error when the call itself is wrong.
 */
export async function rpc<N extends FunctionName, S extends z.ZodType>(
  db: Database,
  name: N,
  args: Arguments<N>,
  schema: S,
): Promise<z.output<S> | Raised> {
  let answer = await db.call(name, args);
  const isRolledBack = () => ROLLED_BACK.includes(answer.error?.code ?? "");
  for (let attempt = 1; isRolledBack() && attempt < MAX_ATTEMPTS; attempt++) {
    log().warn({ function: name }, "deadlock");
    await delay(attempt * PAUSE_MS * (1 + Math.random()));
    answer = await db.call(name, args);
  }
  const { data, error, status } = answer;
  if (!error) return schema.parse(data);
  const code = error.code ?? "";
  const raised = /^PT(4\d\d)$/.exec(code);
  if (raised) return { kind: "raised", status: Number(raised[1]), message: error.message };
  throw failure(name, { error, status });
}

/** Calls a SQL function that raises nothing, like `rpc` otherwise. */
export async function call<N extends FunctionName, S extends z.ZodType>(
  db: Database,
  name: N,
  args: Arguments<N>,
  schema: S,
): Promise<z.output<S>> {
  const value = await rpc(db, name, args, schema);
  if (isRaised(value)) throw new Error(`${name}: ${value.message}`);
  return value;
}

function failure(name: string, { error, status }: Pick<Answer, "error" | "status">): Error {
  const text = `${name}: ${error?.message} (${error?.code || status})`;
  return isUnavailable({ error, status }) ? new DatabaseUnavailable(text) : new Error(text);
}

/** Returns the database of a process, which its first call selects, because it may be unavailable before. */
export function createDatabase(settings: Config): Database {
  let selected: Promise<Database> | undefined;
  const select = () => {
    selected ??= selectDatabase(settings).catch((error: unknown) => {
      selected = undefined;
      throw error;
    });
    return selected;
  };
  return {
    call: async (name, args) => (await select()).call(name, args),
    close: async () => (await selected)?.close(),
  };
}

/**
 * Selects `postgres` if `DATABASE_URL` leads to the database behind `SUPABASE_URL` with a login that may
 * act as the service role, because the durable engine may have a separate database or login. On Vercel an
 * integration may have set it, and each of many instances would open connections.
 */
async function selectDatabase(settings: Config): Promise<Database> {
  const { DATABASE_URL, DIRECT_DATABASE_URL, SUPABASE_URL, SUPABASE_SECRET_KEY, VERCEL } = settings;
  const rest = createRestDatabase(SUPABASE_URL, SUPABASE_SECRET_KEY);
  if (!DATABASE_URL || VERCEL) return rest;
  const keepsSession = DIRECT_DATABASE_URL === undefined;
  const size = poolSize(settings, MIN_CONNECTIONS);
  const postgres = new PostgresDatabase(DATABASE_URL, size, keepsSession);
  const [direct, overRest] = await Promise.all([
    postgres.call("installation_id", {}),
    rest.call("installation_id", {}),
  ]);
  if (!direct.error && !overRest.error && direct.data === overRest.data) return postgres;
  await postgres.close();
  const outage = [direct, overRest].find(isUnavailable);
  if (outage) throw failure("installation_id", outage);
  log().info("SQL functions are called over REST: DATABASE_URL does not lead to them");
  return rest;
}
