import type { ParseArgsConfig } from "node:util";
import { ApiError } from "../api-error.ts";
import type { Client } from "../create-client.ts";
import type { Output } from "./output.ts";
import type { Settings } from "./settings.ts";
import { UsageError } from "./usage-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface Context {
  readonly client: Client;
  readonly settings: Settings;
  readonly env: Environment;
  readonly out: Output;
  /** The words after the command. */
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
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
export function required(value: string | boolean | undefined, name: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new UsageError(`${name} is missing`);
}

export const text = (value: string | boolean | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;
