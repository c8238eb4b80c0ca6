/** Makes the request of a step fit into the context of its model, and shows how. */
import type { FailedCall } from "@platform/agent/call-model";
import type { ContextState } from "@platform/agent/context";
import { describeFailure } from "@platform/agent/describe-failure";
import { budgetRefusalIn } from "@platform/agent/models/budget-refusal";
import { isQueueRefusal } from "@platform/kit/fair-queue";
import type { UIMessageChunk } from "ai";
import type { Decision, Step } from "../running-turn/step.ts";
import { type ContextParts, fitContext } from "./fit-context.ts";

export async function context(step: Step<ContextParts>): Promise<Decision> {
  await refuseStepOn(step, async () => {
    step.context = step.current.call?.context ?? (await fitStep(step, 0, undefined));
  });
  // A repeated step keeps the chunks before it.
  if (!step.answer && !step.isRestarted) showCompaction(step);
  return undefined;
}

/** Records a refusal of the request, or of the summary that it needs, as the answer of the step. */
export async function refuseStepOn(step: Step<unknown>, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isRefused = isQueueRefusal(error) || budgetRefusalIn(error) !== undefined;
    if (!step.stop.aborted && !isRefused) throw error;
    step.answer = { error: describeFailure(error) };
  }
}

/** As `fitContext`, and notes the compaction that was made. */
export async function fitStep(
  step: Step<ContextParts>,
  pass: number,
  rejected: FailedCall["exceeded"],
): Promise<ContextState> {
  const { turn, steps } = step.current;
  const { added: results, reservation } = step;
  const { signal } = reservation;
  const { turnId } = step.at;
  const request = { turnId, turn, steps, results, reservation, signal, pass, rejected };
  const { state, made } = await fitContext(step.app, request);
  if (made) step.change({ compaction: made });
  return state;
}

/** Shows how this turn has compacted the conversation, if the stream does not say so yet. */
export function showCompaction(step: Step<unknown>): UIMessageChunk | undefined {
  const { compaction } = step.current.turn;
  if (!compaction?.isOwn || step.shownCompactions.has(compaction.id)) return undefined;
  step.shownCompactions.add(compaction.id);
  const { id, kind, tokensBefore: tokens_before, tokensAfter: tokens_after } = compaction;
  const data = { kind, tokens_before, tokens_after };
  const chunk: UIMessageChunk = { type: "data-compaction", id: String(id), data };
  step.write(chunk);
  return chunk;
}
