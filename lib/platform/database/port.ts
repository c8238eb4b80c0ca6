/** The one way to the database: calls of the SQL functions in supabase/schemas. */
import type { functions } from "./functions.ts";

export type FunctionName = keyof typeof functions;

/** Returns the name of an argument in its definition: `p_account_id` for `accountId`. */
export const sqlName = (argument: string): string =>
  `p_${argument.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;

/** The form in which a value of a SQL type is passed; every argument may be null. */
type Passed<T> = T extends `${infer Item}[]`
  ? readonly Passed<Item>[]
  : T extends "integer" | "bigint" | "numeric" | "double precision"
    ? number
    : T extends "boolean"
      ? boolean
      : T extends "timestamp with time zone"
        ? string | Date
        : T extends "text" | "uuid" | "date"
          ? string
          : unknown;

/** The arguments of a function by name, as its definition declares them: `accountId` for `p_account_id`. */
export type Arguments<N extends FunctionName> = {
  readonly [K in keyof (typeof functions)[N]["args"]]: Passed<
    (typeof functions)[N]["args"][K]
  > | null;
};

type Returned<T> = T extends `${string}[]`
  ? string[]
  : T extends "integer" | "bigint" | "numeric"
    ? number
    : T extends "boolean"
      ? boolean
      : T extends "text" | "uuid"
        ? string | null
        : T extends "nothing"
          ? null
          : unknown;

/** The result of a function as its definition declares it; `unknown` for JSON and rows, which have a schema. */
export type Result<N extends FunctionName> = Returned<(typeof functions)[N]["returns"]>;

/** The answer of the database, in the terms of its REST API. */
export interface Answer {
  readonly data: unknown;
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  readonly error: {
    readonly code?: string;
    readonly message: string;
    readonly details?: string | null;
    readonly hint?: string | null;
  } | null;
}

export interface Database {
  /**
   * Calls a function in one transaction. A set of rows has at most 1,000; for longer texts, a function
   * returns pages (`get_chat_body_page`), so a slow reader holds no connection.
   */
  call(name: FunctionName, args: Readonly<Record<string, unknown>>): Promise<Answer>;
  /** Closes its connections. */
  close(): Promise<void>;
}
