/**
 * One durable step of a turn: run the tools the last answer asked for, then make the next model
 * call and stream it. The order makes a repeated step exact: the calls come from a step that is
 * committed, so each of them was recorded under its id or never started.
 */

import type { ToolModelMessage, UIMessageChunk } from "ai";
import { callModel } from "../agent/call-model.ts";
import type { StepResult } from "../agent/step-result.ts";
import { isAnsweredByClient } from "../agent/tools/index.ts";
import { storableJson } from "../agent/tools/make-storable.ts";
import type { TurnLog } from "../engine/port.ts";
import type { RunCredentialForm } from "../identity/keys/derive-run-credential.ts";
import { processWide } from "../platform/process-wide.ts";
import { services } from "../platform/services.ts";
import { finishStream, parseChunks, writeLastChunks } from "./finish-stream.ts";
import { readProgress } from "./read-progress.ts";
import { runToolCalls } from "./run-tool-calls.ts";
import { partsBefore, turnMetadata } from "./turn-metadata.ts";
import { type ActiveTurn, completeStep, loadTurn, type TurnEnd } from "./turn-store.ts";

export interface ModelStep {
  readonly turnId: string;
  readonly runId: string;
  readonly credential?: RunCredentialForm;
  /** Counts the model calls of the turn from 0. */
  readonly index: number;
  /** Counts from 1; more than 1 after a crash or a failure of the infrastructure. */
  readonly attempt: number;
}

/** Characters of a turn's stream after which no further model call is made. */
const MAX_TURN_CHARS = 32 * 1024 * 1024;

interface RunningTurn {
  readonly turn: ActiveTurn;
  readonly steps: StepResult[];
  readonly log: TurnLog;
}

/** Turns in progress in this process, so that only the first step loads its turn. */
const runningTurns = () => processWide("running turns", () => new Map<string, RunningTurn>());

/** For a turn that ends outside of its steps. */
export function forgetTurn(turnId: string): void {
  runningTurns().delete(turnId);
}

export async function runModelStep(step: ModelStep): Promise<{ done: boolean }> {
  const stop = new AbortController();
  const forget = services().engine.onStop(step.turnId, () => stop.abort());
  try {
    const done = await runStep(step, stop);
    if (done) runningTurns().delete(step.turnId);
    return { done };
  } catch (error) {
    // Whatever this process knows of the turn may be stale now.
    runningTurns().delete(step.turnId);
    throw error;
  } finally {
    forget();
    // A stop that came while this step was being stored is the next one's to see.
    const kept = runningTurns().get(step.turnId);
    if (stop.signal.aborted && kept) {
      runningTurns().set(step.turnId, { ...kept, turn: { ...kept.turn, stop_requested: true } });
    }
  }
}

async function runStep(step: ModelStep, stop: AbortController): Promise<boolean> {
  const { turnId, index } = step;
  const current = await open(step);
  if (!current) return true;
  const { turn, steps, log } = current;
  // The step was done; only its report to the engine was lost.
  if (steps.length > index) return false;
  if (turn.stop_requested) stop.abort();

  const previous = steps[index - 1];
  const progress = step.attempt > 1 ? readProgress(await parseChunks(log.committed())) : undefined;
  const begun = (progress?.steps ?? index) > index;
  const write = (...chunks: UIMessageChunk[]) => log.append(chunks.map(storableJson));
  const finish = (end: TurnEnd, error: string | null, finishReason: string, answer?: StepResult) =>
    finishStream(log, {
      turnId,
      messageId: turn.assistant_message_id,
      end,
      error,
      metadata: turnMetadata(turn, answer ? [...steps, answer] : steps, finishReason),
      partsBefore: partsBefore(turn),
      openQuestions: openQuestions(answer ?? previous),
    });

  const results: ToolModelMessage[] = [];
  if (previous) {
    const result = await runToolCalls({
      ...step,
      turn,
      calls: previous.calls.filter((call) => !isAnsweredByClient(call.name)),
      signal: stop.signal,
      write: (chunk) => {
        if (!begun && !progress?.outputs.has(chunk.toolCallId)) write(chunk);
      },
    });
    if (result) results.push(result);
    if (!begun && !stop.signal.aborted && !progress?.stepFinished) write({ type: "finish-step" });
  }
  if (stop.signal.aborted) {
    await finish("cancelled", null, "interrupted");
    return true;
  }
  if (previous && openQuestions(previous).size > 0) {
    await finish("completed", null, "tool-calls");
    return true;
  }

  if (isTooLong(log.committed())) {
    await finish("failed", "The turn reached its limit of output", "error");
    return true;
  }

  if (index === 0 && !progress?.started) {
    write({ type: "start", messageId: turn.assistant_message_id });
  }
  write(begun ? { type: "reset-step" } : { type: "start-step" });
  const answer = await callModel({
    runId: step.runId,
    turn,
    steps,
    results,
    signal: stop.signal,
    write,
  });

  if (stop.signal.aborted) {
    await finish("cancelled", null, "interrupted");
    return true;
  }
  if (answer === "failed") {
    await finish("failed", "The model failed to answer", "error");
    return true;
  }
  if (answer === "busy") {
    await finish("failed", "Too many model calls are waiting: try again later", "error");
    return true;
  }
  if (!answer.hasInvalidCall && answer.calls.every((call) => isAnsweredByClient(call.name))) {
    await finish("completed", null, answer.finishReason, answer);
    return true;
  }
  // The chunks first: a step that is stored must not be missing any of them.
  await log.flushed();
  const { stopRequested } = await completeStep(turnId, index, answer);
  steps.push(answer);
  runningTurns().set(turnId, { ...current, turn: { ...turn, stop_requested: stopRequested } });
  return false;
}

/** @returns null when the turn is not this run's any more, or has ended. */
async function open({ turnId, runId, index, attempt }: ModelStep): Promise<RunningTurn | null> {
  const known = runningTurns().get(turnId);
  if (known && attempt === 1 && known.steps.length === index) return known;
  const turn = await loadTurn(turnId, runId);
  const log = await services().engine.openLog(turnId, runId, index === 0 && attempt === 1);
  if (turn.outcome === "active") {
    const opened = { turn, steps: [...turn.steps], log };
    runningTurns().set(turnId, opened);
    return opened;
  }
  if (turn.outcome === "finished") await writeLastChunks(log, turn.error, turn.metadata);
  else await log.close([]);
  return null;
}

/** All of it is parsed, assembled and stored as one message. */
function isTooLong(chunks: readonly string[]): boolean {
  return chunks.reduce((chars, chunk) => chars + chunk.length, 0) > MAX_TURN_CHARS;
}

function openQuestions(step: StepResult | undefined): ReadonlySet<string> {
  const calls = step?.calls ?? [];
  return new Set(calls.filter((call) => isAnsweredByClient(call.name)).map((call) => call.id));
}
