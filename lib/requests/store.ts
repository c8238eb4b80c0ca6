/**
 * The queries of the request log (supabase/schemas/90_requests.sql).
 * @throws DatabaseUnavailable from every function here.
 */

import {
  type Page,
  type PageRequest,
  pageArguments,
  pageOf,
} from "@platform/endpoint/contract/pagination";
import { rowOf } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { type LoggedRequest, loggedRequest, type RequestFilters } from "./contract.ts";

/** A request as it is stored. */
export type NewRequest = Omit<LoggedRequest, "id"> & { readonly account_id: string };

/** Stores requests of any accounts, without deleted ones. */
export async function insertRequests(db: Database, requests: readonly NewRequest[]): Promise<void> {
  await call(db, "record_requests", { requests });
}

/** Returns a page of the requests that the account's credentials have made, newest first. */
export function selectRequests(
  db: Database,
  accountId: string,
  query: PageRequest & RequestFilters,
): Promise<Page<LoggedRequest>> {
  const args = {
    accountId,
    ...pageArguments(query),
    statusClass: query.status === undefined ? null : Number(query.status[0]),
    route: query.route ?? null,
    credential: query.credential ?? null,
    apiKeyId: query.api_key_id ?? null,
  };
  return call(db, "list_requests", args, pageOf(rowOf(loggedRequest), query));
}
