import type { z } from "zod";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { type UsageQuery, usageReport } from "./contract.ts";

/** Returns the usage of the account. */
export function selectUsage(
  db: Database,
  accountId: string,
  { from, to, group_by, split_by }: UsageQuery,
): Promise<z.output<typeof usageReport>> {
  const range = { p_from: from ?? null, p_to: to ?? null };
  const groups = { p_group_by: group_by, p_split_by: split_by ?? null };
  const args = { p_account_id: accountId, ...range, ...groups };
  return call(db, "report_usage", args, usageReport);
}
