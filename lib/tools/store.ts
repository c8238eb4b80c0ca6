/** The queries of tool calls and of subagents. */

import type { StepResult } from "@platform/agent/step-result";
import { type UntrustedSource, untrustedSource } from "@platform/endpoint/contract/approvals";
import { z } from "zod";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import type { MeasuredStep } from "../running-turn/measure-step.ts";
import { compaction, type KnownCall, knownCalls, stored } from "../running-turn/state.ts";
import { type LoadedTurnKey, refuseSuperseded, type TurnKey } from "../running-turn/turn-key.ts";
/**
 * Records calls that are about to start, under ids that are unique in the turn.
 * @returns the calls that were recorded before and must not run again.
 */
export function startTools(
  db: Database,
  turnId: string,
  callIds: readonly string[],
): Promise<KnownCall[]> {
  return call(db, "start_tools", { turnId, callIds }, knownCalls);
}

const toolEnd = z.object({
  untrusted: z.array(untrustedSource),
  has_budget: z.boolean(),
  has_steering: z.boolean(),
});
export type ToolEnd = z.output<typeof toolEnd>;

/**
 * Records the output of a call.
 * @param sources the untrusted content of the output
 * @returns all that the turn has sources, whether its account has a budget, and whether messages wait to steer
 * it; null if it is gone
 */
export function finishTool(
  db: Database,
  { accountId, turnId }: TurnKey,
  callId: string,
  output: unknown,
  sources: readonly UntrustedSource[] = [],
): Promise<ToolEnd | null> {
  const args = {
    turnId,
    callId,
    // Wrapped, because the embedded REST server cannot pass a bare JSON string.
    output: { value: output },
    accountId,
    sources: sources.length > 0 ? sources : null,
  };
  return call(db, "finish_tool", args, toolEnd.nullable());
}

/** Returns the calls that have an output. */
export function findFinishedTools(
  db: Database,
  turnId: string,
  callIds: readonly string[],
): Promise<string[]> {
  return call(db, "finished_tools", { turnId, callIds });
}

/** Returns the output of a recorded call, which `finishTool` has wrapped. */
export function recordedOutput(known: KnownCall): unknown {
  return z.object({ value: z.unknown() }).parse(known.output).value;
}

/** Loads the state of a subagent; nothing if its turn was deleted. */
export async function loadSubagent(db: Database, { accountId, turnId }: TurnKey, callId: string) {
  const args = { accountId, turnId, toolCallId: callId };
  const schema = z.object({
    steps: z.array(stored<StepResult>()),
    compaction: compaction.nullable(),
  });
  return (
    (await call(db, "load_subagent", args, schema.nullable())) ?? { steps: [], compaction: null }
  );
}

/**
 * Stores the result of a model call of a subagent, and its usage.
 * @throws if the turn was loaded again; only the usage is recorded then.
 */
export async function completeSubagentCall(
  db: Database,
  { accountId, turnId, load }: LoadedTurnKey,
  callId: string,
  { index, result, usage }: MeasuredStep,
): Promise<{ hasBudget: boolean }> {
  const args = { accountId, turnId, load, toolCallId: callId, index, result, usage };
  const { superseded, has_budget } = await call(
    db,
    "complete_subagent_call",
    args,
    z.object({ superseded: z.boolean(), has_budget: z.boolean().default(false) }),
  );
  refuseSuperseded(superseded, turnId);
  return { hasBudget: has_budget };
}
