/** Parses answers of the database, and distinguishes its outages from its refusals. */
import type { z } from "zod";
import { db } from "./client.ts";
import { type Answer, callDirectly } from "./direct.ts";
import { DatabaseUnavailable, isOutage } from "./unavailable.ts";

/** A rule that a SQL function enforced with `raise … using errcode = 'PT4xx'`. */
export interface Raised {
  readonly kind: "raised";
  /** The HTTP status in the code: 409 for `PT409`. */
  readonly status: number;
  readonly message: string;
  readonly details: string | null;
  readonly hint: string | null;
}

export function isRaised(value: unknown): value is Raised {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "raised";
}

/**
 * Calls a SQL function, one round trip and one transaction.
 * @throws DatabaseUnavailable when it cannot be reached; Error when the call itself is wrong.
 */
export async function rpc<S extends z.ZodType>(
  name: string,
  args: Readonly<Record<string, unknown>>,
  schema: S,
): Promise<z.output<S> | Raised> {
  const direct = await callDirectly(name, args, "json");
  return answer(name, direct ?? (await db().rpc(name, args)), schema);
}

/** Calls a SQL function that raises nothing, like `rpc` otherwise. */
export async function call<S extends z.ZodType>(
  name: string,
  args: Readonly<Record<string, unknown>>,
  schema: S,
): Promise<z.output<S>> {
  const value = await rpc(name, args, schema);
  if (isRaised(value)) throw new Error(`${name}: ${value.message}`);
  return value;
}

/**
 * Returns the rows of a query: `parseAnswer("list keys", await db().from("api_keys").select(…), z.array(row))`.
 * @throws DatabaseUnavailable; Error when the query is wrong or a row does not match the schema.
 */
export function parseAnswer<S extends z.ZodType>(
  what: string,
  result: Answer,
  schema: S,
): z.output<S> {
  const value = answer(what, result, schema);
  if (isRaised(value)) throw new Error(`${what}: ${value.message}`);
  return value;
}

function answer<S extends z.ZodType>(
  what: string,
  { data, error, status }: Answer,
  schema: S,
): z.output<S> | Raised {
  if (!error) return schema.parse(data);
  const code = error.code ?? "";
  const raised = /^PT(4\d\d)$/.exec(code);
  if (raised) {
    return {
      kind: "raised",
      status: Number(raised[1]),
      message: error.message,
      details: error.details ?? null,
      hint: error.hint ?? null,
    };
  }
  const text = `${what}: ${error.message} (${code || status})`;
  if (isOutage(code, status)) throw new DatabaseUnavailable(text);
  throw new Error(text);
}
