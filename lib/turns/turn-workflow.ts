/**
 * The durable loop of a turn: a step makes one model call, or several quick ones. The SDK stores only
 * the ids that it passes to these functions; the content of a turn stays in the product's own tables.
 */
import { createHook, getStepMetadata, getWorkflowMetadata, type Hook } from "workflow";
import { retryOutage } from "../engine/retry-outage.ts";
import {
  nameFirstStep,
  nameStep,
  nameWorkflow,
  TURN_WORKFLOW,
  wakeToken,
} from "../engine/workflow-names.ts";
import type { RunCredentialForm } from "../identity/keys/derive-run-credential.ts";
import { currentApp } from "../platform/current-app.ts";
import { endTurn } from "./end-turn.ts";
import { runModelSteps } from "./run-model-step.ts";
import { isWaiting } from "./store/turns.ts";

// Permanent names, stored with every run: see `workflow-names.ts`.
const modelStep = nameStep("step//./lib/turns/turn-workflow//modelStep", callModel);
const waitStep = nameStep("step//./lib/turns/turn-workflow//waitStep", mustWait);
const endStep = nameStep("step//./lib/turns/turn-workflow//endStep", endFailedTurn);
nameWorkflow(TURN_WORKFLOW, executeTurn);
nameFirstStep(TURN_WORKFLOW, beginTurn);

const MAX_MODEL_CALLS = 100;
/** A crash counts as an attempt, so a turn that kills its process fails in the end. */
const MAX_ATTEMPTS = 20;

interface TurnInput {
  readonly turnId: string;
  /**
   * The form of the credential with which the sandbox calls the API. Absent in runs that were
   * started by versions that issued keys only.
   */
  readonly credential?: RunCredentialForm;
  /** The trace that the steps belong to; absent where nothing is recorded, and in older runs. */
  readonly traceparent?: string;
}

async function executeTurn(turn: TurnInput): Promise<void> {
  "use workflow";
  // One for the whole run: it takes each wake, also one that comes twice or too late for its wait.
  let wakes: Hook<null> | undefined;
  try {
    for (let index = 0; ; ) {
      const { done, waits, next = index + 1 } = await modelStep(turn, index);
      if (done) return;
      index = next;
      if (!waits) continue;
      wakes ??= createHook<null>({ token: wakeToken(turn.turnId) });
      // The turn may have been woken before the hook was there.
      if (await waitStep(turn)) await wakes;
    }
  } catch {
    await endStep(turn, "The turn failed");
  }
}

async function beginTurn(turn: TurnInput, runId: string): Promise<boolean> {
  "use step";
  const first = { index: 0, attempt: 1, isFirst: true, maxModelCalls: MAX_MODEL_CALLS };
  return (await runModelSteps(currentApp(), { ...turn, runId, ...first })) === null;
}

async function mustWait({ turnId }: TurnInput): Promise<boolean> {
  "use step";
  return retryOutage(getStepMetadata().attempt, () => isWaiting(currentApp().db, turnId));
}
mustWait.maxRetries = MAX_ATTEMPTS;

/** `next` is absent in runs that were started by versions with one model call in each step. */
async function callModel(
  turn: TurnInput,
  index: number,
): Promise<{ done: boolean; next?: number; waits?: boolean }> {
  "use step";
  const { attempt } = getStepMetadata();
  const { workflowRunId } = getWorkflowMetadata();
  const app = currentApp();
  const isFirst = index === 0 && attempt === 1 && !app.engine.executesOwnRuns;
  const at = { runId: workflowRunId, index, attempt, isFirst, maxModelCalls: MAX_MODEL_CALLS };
  const next = await retryOutage(attempt, () => runModelSteps(app, { ...turn, ...at }));
  return next === null ? { done: true } : { done: false, ...next };
}
callModel.maxRetries = MAX_ATTEMPTS;

async function endFailedTurn(turn: TurnInput, reason: string): Promise<void> {
  "use step";
  const { attempt } = getStepMetadata();
  const { workflowRunId } = getWorkflowMetadata();
  await retryOutage(attempt, () =>
    endTurn(currentApp(), { ...turn, runId: workflowRunId, reason }),
  );
}
endFailedTurn.maxRetries = MAX_ATTEMPTS;
