/** Commits the answer of a step, after which the turn continues, or ends with it. */

import type { StepResult } from "@platform/agent/step-result";
import { drain } from "@platform/kit/drain";
import { decideOn, type EffectParts, effectOf } from "../approvals/effects.ts";
import { TOO_LONG } from "../budgets/limits.ts";
import { NOT_SUBMITTED } from "../outcome/output.ts";
import type { Parts } from "../parts.ts";
import { hasStopped, ownCalls, recordIdOf } from "../running-turn/calls.ts";
import type { MeasuredStep } from "../running-turn/measure-step.ts";
import {
  CANCELLED,
  type Continue,
  type Decision,
  type End,
  failed,
  type Step,
} from "../running-turn/step.ts";
import { completeModelCall } from "./store/turns.ts";

export async function commit(step: Step<EffectParts & Parts<"db">>): Promise<Decision> {
  const { answer, measure } = step;
  const { turn, steps } = step.current;
  if (!answer) throw new Error("The model was not called");
  const isRefused = "error" in answer;
  const endWithout = async (decision: End): Promise<End> => {
    const sent = isRefused ? answer.sent : answer;
    const lastStep = (await measure?.fail(decision.finishReason, sent)) ?? null;
    return { ...decision, lastStep };
  };
  if (step.stop.aborted) return endWithout(CANCELLED);
  if (step.tooLong.aborted) return endWithout(TOO_LONG);
  if (isRefused) return endWithout(failed(answer.error));
  if (!measure) throw new Error("A call has an answer and no measure");
  const measured = await measure.complete(answer);
  const isLast = turn.headless
    ? hasStopped(answer)
    : !answer.hasInvalidCall && ownCalls(answer).length === 0;
  // A model that has stopped is asked once for its output, and the work of a turn with an outcome is judged.
  const hasMoreWork = turn.output_schema
    ? !steps.some(hasStopped)
    : turn.options.outcome !== undefined && hasStopped(answer);
  if (!isLast || hasMoreWork) return { next: await commitAnswer(step, answer, measured) };
  const end: End = turn.output_schema
    ? failed(NOT_SUBMITTED)
    : { end: "completed", finishReason: answer.finishReason };
  return { ...end, finishReason: answer.finishReason, lastStep: measured, answer: measured.result };
}

async function commitAnswer(
  step: Step<EffectParts & Parts<"db">>,
  answer: StepResult,
  measured: MeasuredStep,
): Promise<Continue["next"]> {
  const { turn, steps, log, workspaceUse } = step.current;
  // The chunks must be committed before the step is: a repeated step relies on the log.
  await log.flushed();
  // Calls that are asked for have not started.
  const calls = ownCalls(answer);
  const mayRun = await Promise.all(
    calls.map(async (call) => {
      const asked = await effectOf(step.app, call, turn);
      return asked === null || decideOn(asked, turn).decision === "run";
    }),
  );
  const continues =
    !drain().hasBegun && performance.now() < step.deadline && mayRun.every((may) => may);
  const starting = continues ? calls.map((call) => recordIdOf(step.index + 1, call)) : [];
  const completed = await completeModelCall(step.app.db, step.key, measured, starting);
  step.reservation.end();
  return {
    turn: { ...turn, stop_requested: completed.stopRequested, has_budget: completed.hasBudget },
    steps: [...steps, measured.result],
    log,
    workspaceUse,
    ...(continues && { knownCalls: completed.knownCalls }),
  };
}
