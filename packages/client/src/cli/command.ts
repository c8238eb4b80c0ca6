import type { ParseArgsConfig } from "node:util";
import { ApiError } from "../api-error.ts";
import type { Client } from "../create-client.ts";
import type { Output } from "./output.ts";
import type { Settings } from "./settings.ts";
import { UsageError } from "./usage-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The value of an option; a list for one that may be repeated. */
type Value = string | boolean | (string | boolean)[] | undefined;

export interface Context {
  readonly client: Client;
  readonly settings: Settings;
  readonly env: Environment;
  readonly out: Output;
  /** The words after the command. */
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, Value>>;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface Command {
  /** Such as `run [--wait] PROMPT`. */
  readonly usage: readonly string[];
  readonly about: string;
  readonly options: NonNullable<ParseArgsConfig["options"]>;
  /** Resolves to the exit code. */
  readonly run: (context: Context) => Promise<number>;
}

/** Resolves to the data of a request. @throws ApiError */
export async function take<
  A extends { readonly data?: unknown; readonly error?: unknown; readonly response: Response },
>(asked: Promise<A>): Promise<Exclude<A["data"], undefined>> {
  const { data, error, response } = await asked;
  if (data === undefined) throw new ApiError(response, error);
  return data as Exclude<A["data"], undefined>;
}

/** Returns an argument. @throws UsageError when it is missing */
export function required(value: Value, name: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new UsageError(`${name} is missing`);
}

export const text = (value: Value): string | undefined =>
  typeof value === "string" ? value : undefined;

/** Returns the values of an option that may be repeated; undefined without any. */
export const texts = (value: Value): string[] | undefined =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : undefined;

/** Returns the value of an option that is a number above 0. @throws UsageError for another one */
export function amount(value: Value, name: string): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (number > 0 && Number.isFinite(number)) return number;
  throw new UsageError(`${name} takes a number above 0`);
}

/** Returns the value of an option that has a few. @throws UsageError for another one */
export function oneOf<const T extends string>(
  values: readonly T[],
  value: Value,
  name: string,
): T | undefined {
  if (value === undefined) return undefined;
  const found = values.find((one) => one === value);
  if (found === undefined) throw new UsageError(`${name} takes ${values.join(", ")}`);
  return found;
}
