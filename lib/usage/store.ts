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
  const range = { from: from ?? null, to: to ?? null };
  const groups = { groupBy: group_by, splitBy: split_by ?? null };
  return call(db, "report_usage", { accountId, ...range, ...groups }, usageReport);
}
