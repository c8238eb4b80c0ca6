/** How the work of a turn may end it: with an output that its schema requires, and with a judged outcome. */
import type { Outcome } from "@platform/endpoint/contract/run-options";
import { hasStopped } from "../running-turn/calls.ts";
import { CANCELLED, type Decision, failed, type Step } from "../running-turn/step.ts";
import {
  feedbackOf,
  type GivenVerdict,
  type JudgeParts,
  judgeTurn,
  outcomeChunkOf,
  verdictsIn,
} from "./judge-turn.ts";
import { OUTPUT_REQUEST, repeatsOutput, submissionIn } from "./output.ts";

/** Ends a turn that has submitted a valid output, unless that is judged. */
export function output(step: Step<unknown>): Decision {
  const { previous, results } = step;
  const { turn, steps } = step.current;
  const { outcome } = turn.options;
  if (!turn.output_schema || !previous) return undefined;
  const earlier = outcome ? verdictsOf(step).earlier.length : 0;
  const submitted = submissionIn(turn.output_schema, steps, results, earlier);
  if (submitted && "error" in submitted) return failed(submitted.error);
  step.output = submitted?.output;
  if (submitted && !outcome) {
    return { end: "completed", finishReason: previous.finishReason, output: submitted.output };
  }
  if (hasStopped(previous)) step.added.push(OUTPUT_REQUEST);
  return undefined;
}

/** Judges finished work, and ends the turn or lists the missing parts. */
export async function outcome(step: Step<JudgeParts>): Promise<Decision> {
  const { previous, output } = step;
  const { turn, steps } = step.current;
  const { outcome } = turn.options;
  const isDone = output || (!turn.output_schema && previous && hasStopped(previous));
  if (!outcome || !previous || !isDone) return undefined;
  const { earlier, own } = verdictsOf(step);
  const given = own ?? (await judge(step, outcome, earlier));
  if (!given) return CANCELLED;
  const { verdict, iteration } = given.verdict;
  const isLastTry = iteration >= outcome.max_iterations || repeatsOutput(steps);
  if (verdict !== "unsatisfied" || isLastTry) {
    return { end: "completed", finishReason: previous.finishReason, output };
  }
  step.added.push(feedbackOf(given.verdict));
  return undefined;
}

/** Judges the work, and shows the verdict. Returns null if the turn is stopped. */
async function judge(
  step: Step<JudgeParts>,
  outcome: Outcome,
  earlier: readonly GivenVerdict[],
): Promise<GivenVerdict | null> {
  step.maySteer = true;
  const { output } = step;
  const { turn, steps, log } = step.current;
  const { turnId } = step.at;
  const signal = AbortSignal.any([step.stop, log.failed]);
  const work = { turnId, turn, steps, earlier, output, signal };
  const verdict = await judgeTurn(step.app, outcome, work).catch((error: unknown) => {
    if (step.stop.aborted) return null;
    throw error;
  });
  if (!verdict) return null;
  const given = { index: step.index, verdict };
  step.write(outcomeChunkOf(turnId, given));
  // It is durable before anything follows from it.
  await log.flushed();
  return given;
}

/** Returns the verdict that was given before this step, if it is repeated, and those before earlier ones. */
function verdictsOf({ current, index }: Step<unknown>) {
  const verdicts = verdictsIn(current.log.committed());
  return {
    earlier: verdicts.filter((verdict) => verdict.index < index),
    own: verdicts.find((verdict) => verdict.index === index),
  };
}
