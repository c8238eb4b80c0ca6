/**
 * Queries of an account's rows as values, so that the pipeline can run them in the round trip that
 * authenticates. Use cases call a `Reader` and do not depend on whether that has happened.
 */
import type { z } from "zod";
import { call } from "./query.ts";

export interface AccountQuery<T> {
  /** A SQL function that `authenticate_and_read` knows (supabase/schemas/15_keys.sql). */
  readonly name: "list_sessions" | "list_agent_templates" | "list_task_runs" | "catalog_search";
  /** Its arguments without the account. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Whether the function takes the account; the catalog belongs to no account. */
  readonly takesAccount: boolean;
  readonly schema: z.ZodType<T>;
}

/** @throws DatabaseUnavailable; Error when the call itself is wrong. */
export type Reader = <T>(query: AccountQuery<T>) => Promise<T>;

export interface Prefetched {
  readonly query: AccountQuery<unknown>;
  /** The database's answer; undefined when nothing was read. */
  readonly answer: unknown;
}

/** @param accountId null for a caller without a credential */
export function createReader(accountId: string | null, prefetched: Prefetched | null): Reader {
  return async (query) => {
    if (prefetched && prefetched.answer !== undefined && isSame(prefetched.query, query)) {
      return query.schema.parse(prefetched.answer);
    }
    const account = query.takesAccount ? { p_account_id: accountId } : {};
    return call(query.name, { ...account, ...query.args }, query.schema);
  };
}

const isSame = (one: AccountQuery<unknown>, other: AccountQuery<unknown>): boolean =>
  one.name === other.name && JSON.stringify(one.args) === JSON.stringify(other.args);
