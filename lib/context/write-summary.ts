/** Condenses a part of a conversation with the model for summaries, and measures its calls. */

import type { Unit } from "@platform/agent/conversation";
import { factsLine } from "@platform/agent/facts";
import { summarize } from "@platform/agent/summarize";
import { config } from "../platform/config.ts";
import { measureCalls, type UsageEntry } from "../running-turn/measure-step.ts";
import { answeringModels, type ModelCallParts } from "../running-turn/model-call.ts";
import type { TurnState } from "../running-turn/state.ts";

/** The `tool` of the turn's summaries in usage entries. A summary of a subagent has a lower number. */
const SUMMARY_CALLS = -1;

export interface SummaryRequest {
  /** The turn, or the request to compact, for the log. */
  readonly turnId: string;
  readonly turn: TurnState;
  /** The units that the summary condenses, together with the last summary. */
  readonly units: readonly Unit[];
  /** Of the model's context, in tokens. */
  readonly budget: number;
  readonly signal: AbortSignal;
  /**
   * Called before each model call with its cost, if that is known, and the cost of those before it. Absent
   * where nothing limits them. If it rejects, the summary fails with the same error.
   */
  readonly reserve: ((estimateUsd: number | null, spentUsd: number) => Promise<void>) | undefined;
  /** Where the calls are recorded: the step, the place of the subagent, 0 for none, and the first number. */
  readonly step: number;
  readonly place: number;
  readonly firstCall: number;
}

/**
 * Resolves with a summary, or with an extract of the conversation if the model writes none.
 * @param usage gets an entry for each model call, even if the summary fails
 * @throws the reason of `signal`, a refusal of the budget or of the queue
 */
export async function writeSummary(
  app: ModelCallParts,
  { turnId, turn, units, budget, signal, reserve, step, place, firstCall }: SummaryRequest,
  usage: UsageEntry[],
): Promise<string> {
  const first = { step, tool: SUMMARY_CALLS - place, call: firstCall };
  const measure = measureCalls(app, first, reserve, usage);
  const model_id = config().SUMMARY_MODEL ?? turn.model_id;
  const models = answeringModels(app, turnId, { ...turn, model_id }, measure);
  const earlier = turn.compaction?.state.summary?.text;
  try {
    return await summarize({
      models,
      units,
      earlier,
      facts: factsLine(turn.facts),
      budget,
      signal,
    });
  } finally {
    await measure.ended();
  }
}
