import type { z } from "zod";
import { call } from "../platform/database/query.ts";
import { type UsageQuery, usageReport } from "./contract.ts";

/** Returns what the account has used. */
export function selectUsage(
  accountId: string,
  { from, to, group_by }: UsageQuery,
): Promise<z.output<typeof usageReport>> {
  const range = { p_from: from ?? null, p_to: to ?? null };
  const args = { p_account_id: accountId, ...range, p_group_by: group_by };
  return call("usage_report", args, usageReport);
}
