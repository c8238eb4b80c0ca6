/** The queries that several parts of a turn make. */

import { type UntrustedSource, untrustedSource } from "@platform/endpoint/contract/approvals";
import { z } from "zod";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import type { UsageEntry } from "./measure-step.ts";
import type { TurnKey } from "./turn-key.ts";
/** Records untrusted content that the turn has met outside of its tools. Returns all of the turn. */
export function markUntrusted(
  db: Database,
  { accountId, turnId }: TurnKey,
  met: readonly UntrustedSource[],
): Promise<UntrustedSource[]> {
  const args = { p_account_id: accountId, p_turn_id: turnId, p_sources: met };
  return call(db, "mark_turn_untrusted", args, z.array(untrustedSource));
}

/** Records model calls, each once, which the end of no step records: calls of subagents. */
export async function recordUsage(
  db: Database,
  { accountId, turnId }: TurnKey,
  usage: readonly UsageEntry[],
): Promise<void> {
  const args = { p_account_id: accountId, p_turn_id: turnId, p_calls: usage };
  await call(db, "record_turn_usage", args, z.boolean());
}
