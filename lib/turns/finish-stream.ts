import type { SteeringMessage } from "@platform/agent/conversation";
import type { StepResult, Usage } from "@platform/agent/step-result";
import { count, record } from "@platform/kit/telemetry/metrics";
import { inSpan } from "@platform/kit/telemetry/spans";
import type { UIMessage, UIMessageChunk } from "ai";
import type { TurnLog } from "../engine/port.ts";
import type { Parts } from "../parts.ts";
import { assembleParts } from "../running-turn/assemble-parts.ts";
import type { MeasuredStep } from "../running-turn/measure-step.ts";
import {
  closeOpenParts,
  parseChunks,
  readProgress,
  steeringChunks,
} from "../running-turn/read-chunks.ts";
import type { ActiveTurn, TurnEnd, TurnMetadata } from "../running-turn/state.ts";
import type { LoadedTurnKey } from "../running-turn/turn-key.ts";
import { unblockQueuedTurn } from "./start-workflow.ts";
import { finishTurn } from "./store/turns.ts";

/** The parts of the service that the end of a turn uses. */
export type EndParts = Parts<"db" | "webhookWorker" | "engine">;

export interface Ending extends LoadedTurnKey {
  /** The id of the assistant message that the turn writes. */
  readonly messageId: string;
  readonly end: TurnEnd;
  /** The error text that is stored and shown to the client; null unless the turn failed. */
  readonly error: string | null;
  readonly metadata: TurnMetadata;
  /** The parts that the message had before this turn: an answered question and its step. */
  readonly partsBefore: UIMessage["parts"];
  /** The messages that the turn has taken. */
  readonly steering: readonly SteeringMessage[];
  /** Ids of the tool calls that stay open because the user has yet to answer them. */
  readonly openQuestions: ReadonlySet<string>;
  /** The step that ends the turn; null when the turn ends without a model call. */
  readonly lastStep: MeasuredStep | null;
  /** Parts that end the answer, such as one about the workspace. */
  readonly lastParts?: readonly UIMessageChunk[];
  /** The output that the run has submitted. */
  readonly output?: { readonly value: unknown } | undefined;
}

/**
 * Closes open parts, stores the message and releases the chat, and only then writes the last chunks. A
 * client that sees them can rely on the rest, and a crash at any point can be repeated.
 * @returns whether this call has ended the turn, and not an earlier one
 */
export function finishStream(app: EndParts, log: TurnLog, ending: Ending): Promise<boolean> {
  const attributes = { "app.turn.id": ending.turnId, "app.turn.status": ending.end };
  return inSpan("turn.finish", { attributes }, () => finish(app, log, ending));
}

async function finish(app: EndParts, log: TurnLog, ending: Ending): Promise<boolean> {
  await log.flushed();
  const streamed = await parseChunks(log.committed());
  const progress = readProgress(streamed);
  const reason = ending.end === "cancelled" ? "Stopped" : (ending.error ?? "Not run");
  const closing = closeOpenParts(
    {
      ...progress,
      openCalls: progress.openCalls.filter((call) => !ending.openQuestions.has(call.toolCallId)),
    },
    reason,
  );
  // A turn that is stopped before its first step gets a start too, because clients need a message.
  const start: UIMessageChunk = { type: "start", messageId: ending.messageId };
  const missing = [
    ...(progress.started ? [] : [start]),
    ...closing,
    // The process died, or the turn was stopped, after it took them.
    ...steeringChunks(ending.steering, progress.steering),
    ...(ending.lastParts ?? []),
  ];
  log.append(missing.map((chunk) => JSON.stringify(chunk)));
  await log.flushed();
  const parts = await assembleParts([...streamed, ...missing]);
  const { error } = ending;
  const metadata = error === null ? ending.metadata : { ...ending.metadata, error };
  const { hasEnded, areWebhooksDue, awaitedChatId } = await finishTurn(
    app.db,
    ending,
    ending.end,
    error,
    [...ending.partsBefore, ...parts],
    metadata,
    ending.lastStep,
    ending.output,
  );
  if (hasEnded) measureTurn(ending);
  if (areWebhooksDue) app.webhookWorker.wake();
  // The chat is free: the next turn need not wait for the last chunks.
  if (awaitedChatId !== null) void unblockQueuedTurn(app, awaitedChatId);
  await writeLastChunks(log, error, metadata);
  return hasEnded;
}

/** A process that dies right here leaves the turn out of the metrics. */
function measureTurn({ end, metadata: { modelId, usage, durationMs } }: Ending): void {
  const model = { "gen_ai.request.model": modelId };
  count("agent_platform.turns.ended", 1, { status: end });
  record("agent_platform.turn.duration", durationMs / 1_000, { status: end });
  count("agent_platform.turns.tokens", usage.inputTokens, { ...model, type: "input" });
  count("agent_platform.turns.tokens", usage.outputTokens, { ...model, type: "output" });
}

/** Ends the stream. After a crash that follows the storing of the message, only this remains. */
export async function writeLastChunks(
  log: TurnLog,
  error: string | null,
  metadata: TurnMetadata | null,
): Promise<void> {
  await log.close(lastChunks(error, metadata).map((chunk) => JSON.stringify(chunk)));
}

/** Returns the chunks with which the stream of every turn ends. */
export function lastChunks(error: string | null, metadata: TurnMetadata | null): UIMessageChunk[] {
  return [
    ...(error === null ? [] : [{ type: "error" as const, errorText: error }]),
    {
      type: "finish",
      finishReason: finishReasonOf(metadata?.finishReason),
      ...(metadata ? { messageMetadata: metadata } : {}),
    },
  ];
}

const FINISH_REASONS = [
  "stop",
  "length",
  "content-filter",
  "tool-calls",
  "error",
  "interrupted",
] as const;

function finishReasonOf(text: string | undefined): (typeof FINISH_REASONS)[number] | "other" {
  return FINISH_REASONS.find((reason) => reason === text) ?? "other";
}

/** Returns the metadata of a turn that ends now, summed over its model calls. */
export function turnMetadata(
  turn: ActiveTurn,
  steps: readonly StepResult[],
  finishReason: string,
): TurnMetadata {
  const sum = (count: (usage: Usage) => number) =>
    steps.reduce((total, step) => total + count(step.usage), 0);
  return {
    modelId: steps.at(-1)?.modelId ?? turn.model_id,
    usage: {
      inputTokens: sum((usage) => usage.inputTokens),
      outputTokens: sum((usage) => usage.outputTokens),
      totalTokens: sum((usage) => usage.totalTokens),
    },
    durationMs: Math.max(0, Date.now() - Date.parse(turn.created_at)),
    finishReason,
  };
}

/** Returns the parts that the message had before this turn: a question and its answer. */
export function partsBefore(turn: ActiveTurn) {
  return turn.history.find((message) => message.id === turn.assistant_message_id)?.parts ?? [];
}
