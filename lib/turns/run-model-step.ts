/**
 * A durable step of a turn: it runs the tools that the last answer called, then makes the next model
 * call and streams it, again and again while these are quick. It can be repeated safely, because each
 * answer is committed before its tool calls start: a call is recorded under its id or was never started.
 */
import type { ToolModelMessage, UIMessageChunk } from "ai";
import { callModel } from "../agent/call-model.ts";
import { fileDownloader } from "../agent/download-file.ts";
import { isBudgetRefusal } from "../agent/models/budget-refusal.ts";
import { showFiles } from "../agent/show-files.ts";
import type { StepResult, ToolCall } from "../agent/step-result.ts";
import { isAnsweredByClient } from "../agent/tools/index.ts";
import { storableJson } from "../agent/tools/make-storable.ts";
import type { TurnLog } from "../engine/port.ts";
import type { RunCredentialForm } from "../identity/keys/derive-run-credential.ts";
import { drain } from "../platform/drain.ts";
import { services } from "../platform/services.ts";
import { record, startTimer } from "../platform/telemetry/metrics.ts";
import { continueTrace, inSpan } from "../platform/telemetry/spans.ts";
import { finishStream, parseChunks, writeLastChunks } from "./finish-stream.ts";
import { landFiles } from "./land-files.ts";
import { type MeasuredStep, measureStep } from "./measure-step.ts";
import { openSandbox } from "./open-sandbox.ts";
import { readProgress } from "./read-progress.ts";
import { recordIds, runToolCalls } from "./run-tool-calls.ts";
import { type RunningTurn, runningTurns } from "./running-turns.ts";
import {
  type ActiveTurn,
  completeModelCall,
  loadTurn,
  reserveModelCall,
  storeFileParts,
  type TurnEnd,
} from "./store/turns.ts";
import { partsBefore, turnMetadata } from "./turn-metadata.ts";

export interface ModelSteps {
  readonly turnId: string;
  readonly runId: string;
  readonly credential?: RunCredentialForm;
  /** The model calls of the turn that were committed before this durable step, or more. */
  readonly index: number;
  /** Counts from 1. It is more than 1 after a crash or a failure of the infrastructure. */
  readonly attempt: number;
  /** The limit for the model calls of the turn. */
  readonly maxModelCalls: number;
  /** The trace to continue. */
  readonly traceparent?: string;
}

/**
 * A durable step goes on to further model calls for this long, because each durable step costs several
 * milliseconds of CPU. Short, because platforms limit the time of a step.
 */
const MAX_STEP_MS = 1_000;

/**
 * The stream of a turn is kept in memory while the turn runs, and is parsed, assembled and stored as
 * one message: a turn whose stream gets longer ends.
 */
const MAX_TURN_CHARS = 32 * 1024 * 1024;

/**
 * @returns the index of the next model call; null when the turn has ended, or no longer belongs to this
 * run.
 */
export function runModelSteps(step: ModelSteps): Promise<number | null> {
  const { turnId, runId, index, attempt } = step;
  const attributes = {
    "app.turn.id": turnId,
    "app.run.id": runId,
    "app.step.index": index,
    "app.step.attempt": attempt,
  };
  const measure = startTimer("agent_platform.turn.step.duration");
  return continueTrace(step.traceparent, () =>
    inSpan("turn.step", { isRoot: true, attributes }, () =>
      runningTurns()
        .during(() => runSteps(step))
        .then(
          (next) => {
            measure({ outcome: next === null ? "ended" : "continued" });
            return next;
          },
          (error: unknown) => {
            measure({ outcome: "failed" });
            throw error;
          },
        ),
    ),
  );
}

async function runSteps(step: ModelSteps): Promise<number | null> {
  const deadline = performance.now() + MAX_STEP_MS;
  const stop = new AbortController();
  const stopListening = services().engine.onStop(step.turnId, () => stop.abort());
  let log: TurnLog | undefined;
  try {
    let current = await openTurn(step, stop.signal);
    log = current?.log;
    // The steps that were committed before a failure are not repeated.
    let isRepeated = step.attempt > 1 || (current !== null && current.steps.length > step.index);
    while (current && current.steps.length < step.maxModelCalls) {
      current = await runStep(step, current, isRepeated, stop, deadline);
      isRepeated = false;
      if (!current?.knownCalls) break;
    }
    if (!current) return null;
    // A stop that arrives while this step is being stored takes effect in the next one.
    const stop_requested = current.turn.stop_requested || stop.signal.aborted;
    runningTurns().keep(step.turnId, { ...current, turn: { ...current.turn, stop_requested } });
    return current.steps.length;
  } finally {
    stopListening();
    log?.release();
  }
}

/**
 * Makes one model call. Returns the turn for its next step, or null when it has none.
 * @param deadline when the durable step ends after this model call, as of `performance.now()`
 */
async function runStep(
  { turnId, runId, credential }: ModelSteps,
  { turn, steps, log, knownCalls }: RunningTurn,
  isRepeated: boolean,
  stop: AbortController,
  deadline: number,
): Promise<RunningTurn | null> {
  const index = steps.length;
  if (turn.stop_requested) stop.abort();

  const previous = steps[index - 1];
  const progress = isRepeated ? readProgress(await parseChunks(log.committed())) : undefined;
  const hasBegun = (progress?.steps ?? index) > index;
  const tooLong = new AbortController();
  let chars = log.committed().reduce((sum, chunk) => sum + chunk.length, 0);
  let hasDelta = index > 0 || isRepeated;
  const write = (...chunks: UIMessageChunk[]) => {
    if (!hasDelta && chunks.some(isAnswer)) {
      hasDelta = true;
      const waitedMs = Math.max(0, Date.now() - Date.parse(turn.created_at));
      record("agent_platform.turn.first_delta", waitedMs / 1_000);
    }
    const texts = chunks.map(storableJson);
    for (const text of texts) chars += text.length;
    log.append(texts);
    if (chars > MAX_TURN_CHARS) tooLong.abort();
  };
  const finish = async (
    end: TurnEnd,
    error: string | null,
    finishReason: string,
    answer?: StepResult,
    lastStep: MeasuredStep | null = null,
  ): Promise<null> => {
    await finishStream(log, {
      accountId: turn.account_id,
      turnId,
      load: turn.load,
      messageId: turn.assistant_message_id,
      end,
      error,
      metadata: turnMetadata(turn, answer ? [...steps, answer] : steps, finishReason),
      partsBefore: partsBefore(turn),
      openQuestions: openQuestions(answer ?? previous),
      lastStep,
    });
    return null;
  };

  const results: ToolModelMessage[] = [];
  if (previous) {
    const result = await runToolCalls({
      turnId,
      index,
      turn,
      ...(credential && { credential }),
      calls: ownCalls(previous),
      known: knownCalls,
      signal: stop.signal,
      write: (chunk) => {
        if (!hasBegun && !progress?.outputs.has(chunk.toolCallId)) write(chunk);
      },
    });
    if (result) results.push(result);
    if (!hasBegun && !stop.signal.aborted && !progress?.stepFinished)
      write({ type: "finish-step" });
  }
  if (stop.signal.aborted) return finish("cancelled", null, "interrupted");
  if (previous && openQuestions(previous).size > 0) return finish("completed", null, "tool-calls");
  const hasSandbox = index > 0 || turn.sandbox_state !== null;
  if (!hasSandbox) return finish("failed", "sandbox_missing: Sandbox not initialized", "error");
  const tooLongError = "The turn reached its limit of output";
  if (chars > MAX_TURN_CHARS) return finish("failed", tooLongError, "error");

  if (index === 0 && !progress?.started) {
    write({ type: "start", messageId: turn.assistant_message_id });
  }
  write(hasBegun ? { type: "reset-step" } : { type: "start-step" });
  const key = { accountId: turn.account_id, turnId, load: turn.load };
  let outage: unknown;
  const reserve = async (estimateUsd: number | null, spentUsd: number): Promise<void> => {
    const amounts = { estimateUsd, spentUsd, releasedUsd: null };
    await reserveModelCall(key, amounts).catch((error: unknown) => {
      if (!isBudgetRefusal(error)) outage = error;
      throw error;
    });
  };
  const measure = measureStep(
    index,
    turn.model_id,
    hasBegun ? (progress?.attempts ?? 0) : 0,
    turn.has_budget ? reserve : undefined,
  );
  const answer = await callModel({
    runId,
    turn,
    steps,
    results,
    model: measure.model,
    signal: AbortSignal.any([stop.signal, tooLong.signal, log.failed]),
    write,
  });
  // The model may be silent for long, and what it says could not be written.
  log.failed.throwIfAborted();
  // The step is repeated.
  if (outage !== undefined) throw outage;

  const finishWithout = async (end: TurnEnd, error: string | null, reason: string) =>
    finish(end, error, reason, undefined, await measure.fail(reason));
  if (stop.signal.aborted) return finishWithout("cancelled", null, "interrupted");
  if (tooLong.signal.aborted) return finishWithout("failed", tooLongError, "error");
  if ("error" in answer) return finishWithout("failed", answer.error, "error");
  const measured = await measure.complete(answer);
  if (!answer.hasInvalidCall && answer.calls.every((call) => isAnsweredByClient(call.name))) {
    return finish("completed", null, answer.finishReason, answer, measured);
  }
  // The chunks must be committed before the step is: a repeated step relies on the log.
  await log.flushed();
  const goesOn = !drain().hasBegun && performance.now() < deadline;
  const starting = goesOn ? recordIds(index + 1, ownCalls(answer)) : [];
  const completed = await completeModelCall(key, measured, starting);
  return {
    turn: { ...turn, stop_requested: completed.stopRequested, has_budget: completed.hasBudget },
    steps: [...steps, measured.result],
    log,
    ...(goesOn && { knownCalls: completed.knownCalls }),
  };
}

/** Returns whether a chunk has something of the model's answer. */
const isAnswer = ({ type }: UIMessageChunk): boolean =>
  type === "text-delta" || type === "reasoning-delta" || type === "tool-input-start";

/** Returns null when the turn has ended, or no longer belongs to this run. */
async function openTurn(
  { turnId, runId, index, attempt }: ModelSteps,
  signal: AbortSignal,
): Promise<RunningTurn | null> {
  const kept = runningTurns().take(turnId);
  if (kept && attempt === 1 && kept.steps.length === index) return kept;
  const loaded = await loadTurn(turnId, runId);
  const turn = loaded.outcome === "active" ? await withFiles(turnId, loaded, signal) : loaded;
  const log = await services().engine.openLog(turnId, runId, index === 0 && attempt === 1);
  if (turn.outcome === "active") return { turn, steps: turn.steps, log };
  try {
    if (turn.outcome === "finished") await writeLastChunks(log, turn.error, turn.metadata);
    else await log.close([]);
  } finally {
    log.release();
  }
  return null;
}

/** Returns the turn with the history as the model gets it. */
async function withFiles(
  turnId: string,
  turn: ActiveTurn,
  signal: AbortSignal,
): Promise<ActiveTurn> {
  const hasFiles = turn.history.some(({ parts }) => parts.some(({ type }) => type === "file"));
  if (!hasFiles) return turn;
  const sandbox = openSandbox(turn);
  const fetchFile = fileDownloader(signal);
  const { history, changed } = await landFiles(turn.history, sandbox, fetchFile, signal);
  if (changed.length > 0) await storeFileParts(turnId, changed, history);
  return { ...turn, history: [...(await showFiles(history, sandbox))] };
}

/** Returns the calls that the server runs itself. */
function ownCalls({ calls }: StepResult): ToolCall[] {
  return calls.filter((call) => !isAnsweredByClient(call.name));
}

function openQuestions(step: StepResult | undefined): ReadonlySet<string> {
  const calls = step?.calls ?? [];
  return new Set(calls.filter((call) => isAnsweredByClient(call.name)).map((call) => call.id));
}
