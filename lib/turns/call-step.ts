/** Calls the model, with a smaller request while that is rejected as too long. */
import { type ContextParts, callWithinContext } from "../context/fit-context.ts";
import { fitStep, refuseStepOn, showCompaction } from "../context/system.ts";
import { ModelCall } from "../running-turn/model-call.ts";
import { reservesCalls } from "../running-turn/state.ts";
import type { Decision, Step } from "../running-turn/step.ts";
import { openSandbox } from "../running-turn/turn-sandbox.ts";

export async function modelCall(step: Step<ContextParts>): Promise<Decision> {
  if (step.answer) return undefined;
  let isOpen = false;
  await refuseStepOn(step, async () => {
    const { answer } = await callWithinContext(
      async (pass, rejected) => (pass === 0 ? step.context : fitStep(step, pass, rejected)),
      async (context) => {
        if (!isOpen) step.write({ type: step.isRestarted ? "reset-step" : "start-step" });
        isOpen = true;
        step.context = context;
        return { answer: await callOnce(step) };
      },
    );
    step.answer = answer;
  });
  return undefined;
}

async function callOnce(step: Step<ContextParts>) {
  // A compaction of this step is reset with it.
  const shown = showCompaction(step);
  const { call: started, ...current } = step.current;
  // The call that was started before the step is made once.
  step.current = current;
  const { turn, steps, log } = current;
  const call =
    started ??
    new ModelCall(step.app, {
      turnId: step.at.turnId,
      turn,
      context: step.context,
      steps,
      results: step.added,
      sandbox: openSandbox(step.app, turn),
      measure: step.measure,
      earlierAttempts: step.isRestarted ? (step.progress?.attempts ?? 0) : 0,
      reserve: reservesCalls(turn) ? step.reservation.reserve : undefined,
    });
  step.measure = call.measure;
  const answer = await call.stream(
    (chunk) => {
      step.write(chunk);
      if (chunk.type === "reset-step" && shown) step.write(shown);
    },
    AbortSignal.any([step.stop, step.tooLong, log.failed]),
  );
  // The model may be silent for long, and its answer could not be written.
  log.failed.throwIfAborted();
  // The step is repeated.
  if (step.reservation.failure !== undefined) throw step.reservation.failure;
  return answer;
}
