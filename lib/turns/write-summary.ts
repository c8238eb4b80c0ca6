/** Condenses a part of a conversation with the model for summaries, and measures its calls. */

import type { Unit } from "../agent/conversation.ts";
import { meterModel } from "../agent/models/meter-model.ts";
import { shareModel } from "../agent/models/share-model.ts";
import { summarize } from "../agent/summarize.ts";
import type { App } from "../app.ts";
import { config } from "../platform/config.ts";
import { toUsageEntry, type UsageEntry } from "./measure-step.ts";
import type { TurnState } from "./store/turns.ts";

/** The `tool` of summaries in usage entries, where 0 is the step's own call and a subagent's counts from 1. */
const SUMMARY_CALLS = -1;

export interface SummaryRequest {
  readonly turn: TurnState;
  /** The units that the summary condenses, together with the last summary. */
  readonly units: readonly Unit[];
  /** Of the model's context, in tokens. */
  readonly budget: number;
  readonly signal: AbortSignal;
  /**
   * Called before each model call with its cost, if that is known, and with the reservation that it replaces;
   * absent without a budget. If it rejects, the summary fails with the same error.
   */
  readonly reserve:
    | ((estimateUsd: number | null, releasedUsd: number) => Promise<void>)
    | undefined;
  /** Where the calls are recorded: the step, and the number of the first call. */
  readonly step: number;
  readonly firstCall: number;
}

/**
 * Resolves with a summary, or with an extract of the conversation if the model writes none.
 * @param usage gets an entry for each model call, also if the summary fails
 * @throws the reason of `signal`, a refusal of the budget or of the queue
 */
export async function writeSummary(
  app: Pick<App, "models" | "queues">,
  { turn, units, budget, signal, reserve, step, firstCall }: SummaryRequest,
  usage: UsageEntry[],
): Promise<string> {
  let reserved = 0;
  const meter = meterModel(app.models, config().SUMMARY_MODEL ?? turn.model_id, {
    ...(reserve && {
      reserve: async (estimateUsd) => {
        await reserve(estimateUsd, reserved);
        reserved = estimateUsd ?? 0;
      },
    }),
    onUse: async (use) => {
      const place = { step, tool: SUMMARY_CALLS, call: firstCall + usage.length };
      usage.push({ ...toUsageEntry(place, use), reserved_usd: reserved });
      reserved = 0;
    },
  });
  const model = shareModel(app.queues.modelCalls, meter.model, turn.account_id);
  const earlier = turn.compaction?.state.summary?.text;
  try {
    return await summarize({ model, units, earlier, budget, signal });
  } finally {
    await meter.uses();
  }
}
