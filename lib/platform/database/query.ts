/** Calls SQL functions, parses their answers, and distinguishes outages from refusals. */
import { setTimeout as delay } from "node:timers/promises";
import { DatabaseUnavailable } from "@platform/kit/database-unavailable";
import { log } from "@platform/kit/log";
import { z } from "zod";
import type { Answer, Arguments, Database, FunctionName, Result } from "./port.ts";
import { isUnavailable } from "./unavailable.ts";

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

/**
 * Calls a SQL function that raises nothing, like `rpc` otherwise.
 * @param schema of a result that is JSON or a row. The definition of the function declares all others.
 */
export function call<N extends FunctionName>(
  db: Database,
  name: N,
  args: Arguments<N>,
): Promise<Result<N>>;
export function call<N extends FunctionName, S extends z.ZodType>(
  db: Database,
  name: N,
  args: Arguments<N>,
  schema: S,
): Promise<z.output<S>>;
export async function call<N extends FunctionName>(
  db: Database,
  name: N,
  args: Arguments<N>,
  schema: z.ZodType = z.unknown(),
): Promise<unknown> {
  const value = await rpc(db, name, args, schema);
  if (isRaised(value)) throw new Error(`${name}: ${value.message}`);
  return value;
}

export function failure(name: string, { error, status }: Pick<Answer, "error" | "status">): Error {
  const text = `${name}: ${error?.message} (${error?.code || status})`;
  return isUnavailable({ error, status }) ? new DatabaseUnavailable(text) : new Error(text);
}
