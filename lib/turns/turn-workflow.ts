/**
 * The durable loop of a chat turn: one step for each model call. Kept in plain functions, so that
 * the Workflow SDK knows nothing but ids and how to go on.
 */
import { getStepMetadata, getWorkflowMetadata, RetryableError } from "workflow";
import type { RunCredentialForm } from "../identity/keys/derive-run-credential.ts";
import { isDatabaseUnavailable } from "../platform/database/unavailable.ts";
import { endTurn } from "./end-turn.ts";
import { forgetTurn, runModelStep } from "./run-model-step.ts";

/** Decisions, section 5. */
const MAX_MODEL_CALLS = 100;
/** A crash counts as an attempt; past this a turn that kills its process is given up. */
const MAX_ATTEMPTS = 20;
/** So that the attempts outlast a database that is away for minutes. */
const LONGEST_PAUSE_MS = 15_000;

export interface TurnInput {
  readonly turnId: string;
  /**
   * How the sandbox's calls back authenticate: as the caller did, with what was issued for this turn.
   * Absent in runs that an earlier version has started, which had keys.
   */
  readonly credential?: RunCredentialForm;
}

export async function turnWorkflow(turn: TurnInput): Promise<void> {
  "use workflow";
  try {
    for (let index = 0; index < MAX_MODEL_CALLS; index++) {
      const { done } = await modelStep(turn, index);
      if (done) return;
    }
    await endStep(turn, "The turn reached its limit of model calls");
  } catch {
    await endStep(turn, "The turn failed");
  }
}

async function modelStep(turn: TurnInput, index: number): Promise<{ done: boolean }> {
  "use step";
  const { attempt } = getStepMetadata();
  const { workflowRunId } = getWorkflowMetadata();
  return patiently(attempt, () => runModelStep({ ...turn, runId: workflowRunId, index, attempt }));
}
modelStep.maxRetries = MAX_ATTEMPTS;

async function endStep(turn: TurnInput, reason: string): Promise<void> {
  "use step";
  const { attempt } = getStepMetadata();
  const { workflowRunId } = getWorkflowMetadata();
  await patiently(attempt, () => endTurn({ turnId: turn.turnId, runId: workflowRunId, reason }));
  forgetTurn(turn.turnId);
}
endStep.maxRetries = MAX_ATTEMPTS;

/** A step that meets an outage is tried again after 1, 2, 4, … seconds. */
async function patiently<T>(attempt: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    const retryAfter = Math.min(1_000 * 2 ** (attempt - 1), LONGEST_PAUSE_MS);
    throw new RetryableError(error.message, { retryAfter });
  }
}
