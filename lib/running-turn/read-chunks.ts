/** Reads the chunks of a turn: how far it has come, and its open parts. */

import { setImmediate } from "node:timers/promises";
import type { SteeringMessage } from "@platform/agent/conversation";
import type { UIMessageChunk } from "ai";

/** Characters that are parsed before the event loop gets to other requests. */
const CHARS_PER_BATCH = 512 * 1024;

export async function parseChunks(chunks: readonly string[]): Promise<UIMessageChunk[]> {
  const parsed: UIMessageChunk[] = [];
  let chars = 0;
  for (const chunk of chunks) {
    parsed.push(JSON.parse(chunk));
    chars += chunk.length;
    if (chars < CHARS_PER_BATCH) continue;
    chars = 0;
    await setImmediate();
  }
  return parsed;
}

/** The progress of a turn's stream, and the open parts of its last step. */
export interface StreamProgress {
  /** Whether the stream has its `start` chunk. */
  readonly started: boolean;
  /** The number of model calls that have started to stream. */
  readonly steps: number;
  /** How often the last of them has started. */
  readonly attempts: number;
  /** Texts and reasoning that have not ended. */
  readonly openTexts: readonly { readonly type: "text" | "reasoning"; readonly id: string }[];
  /** Tool calls whose input is incomplete. */
  readonly openInputs: readonly { readonly toolCallId: string; readonly toolName: string }[];
  /** Tool calls without a result. */
  readonly openCalls: readonly { readonly toolCallId: string; readonly toolName: string }[];
  /** The approvals that the last step has requested, each with its call and its answer, if it has one. */
  readonly approvals: ReadonlyMap<string, { toolCallId: string; approved?: boolean }>;
  /** Ids of the tool calls that have a result in the last step. */
  readonly outputs: ReadonlySet<string>;
  readonly stepFinished: boolean;
  /** Ids of the compactions that are shown. */
  readonly compactions: ReadonlySet<number>;
  /** Ids of the steering messages that are shown. They come before a step, so no reset drops them. */
  readonly steering: ReadonlySet<string>;
}

/** Reads the progress from a turn's chunks, after a crash or before the turn is ended. */
export function readProgress(chunks: readonly UIMessageChunk[]): StreamProgress {
  let started = false;
  let steps = 0;
  let attempts = 0;
  let stepFinished = true;
  const compactions = new Set<number>();
  const steering = new Set<string>();
  /** Those that are part of the last step. */
  const inStep = new Set<number>();
  const openTexts = new Map<string, { type: "text" | "reasoning"; id: string }>();
  const openInputs = new Map<string, { toolCallId: string; toolName: string }>();
  const openCalls = new Map<string, { toolCallId: string; toolName: string }>();
  const outputs = new Set<string>();
  const approvals = new Map<string, { toolCallId: string; approved?: boolean }>();
  const clear = () => {
    for (const open of [openTexts, openInputs, openCalls, outputs, approvals]) open.clear();
  };
  for (const chunk of chunks) {
    switch (chunk.type) {
      case "start":
        started = true;
        break;
      case "start-step":
        steps++;
        attempts = 1;
        stepFinished = false;
        clear();
        inStep.clear();
        break;
      case "reset-step":
        attempts++;
        stepFinished = false;
        clear();
        for (const id of inStep) compactions.delete(id);
        break;
      case "data-compaction":
        compactions.add(Number(chunk.id));
        if (!stepFinished) inStep.add(Number(chunk.id));
        break;
      case "steering-message":
        steering.add(chunk.id);
        break;
      case "finish-step":
        stepFinished = true;
        break;
      case "text-start":
        openTexts.set(`text ${chunk.id}`, { type: "text", id: chunk.id });
        break;
      case "reasoning-start":
        openTexts.set(`reasoning ${chunk.id}`, { type: "reasoning", id: chunk.id });
        break;
      case "text-end":
        openTexts.delete(`text ${chunk.id}`);
        break;
      case "reasoning-end":
        openTexts.delete(`reasoning ${chunk.id}`);
        break;
      case "tool-input-start":
        openInputs.set(chunk.toolCallId, chunk);
        break;
      case "tool-input-available":
        openInputs.delete(chunk.toolCallId);
        openCalls.set(chunk.toolCallId, chunk);
        break;
      case "tool-input-error":
        openInputs.delete(chunk.toolCallId);
        break;
      case "tool-approval-request":
        approvals.set(chunk.approvalId, { toolCallId: chunk.toolCallId });
        break;
      case "tool-approval-response": {
        const asked = approvals.get(chunk.approvalId);
        if (asked) asked.approved = chunk.approved;
        break;
      }
      case "tool-output-available":
      case "tool-output-error":
      case "tool-output-denied":
        if ("preliminary" in chunk && chunk.preliminary) break;
        openCalls.delete(chunk.toolCallId);
        outputs.add(chunk.toolCallId);
        break;
    }
  }
  return {
    started,
    steps,
    attempts,
    stepFinished,
    compactions,
    steering,
    outputs,
    approvals,
    openTexts: [...openTexts.values()],
    openInputs: [...openInputs.values()],
    openCalls: [...openCalls.values()],
  };
}

/** Returns the chunks that close open parts, which makes the message of a cut turn valid. */
export function closeOpenParts(progress: StreamProgress, reason: string): UIMessageChunk[] {
  return [
    ...progress.openTexts.map(({ type, id }) => ({ type: `${type}-end` as const, id })),
    ...progress.openInputs.map(({ toolCallId, toolName }) => ({
      type: "tool-input-error" as const,
      toolCallId,
      toolName,
      input: {},
      errorText: reason,
    })),
    ...closeCalls(progress, progress.openCalls, reason),
    ...(progress.stepFinished ? [] : [{ type: "finish-step" as const }]),
  ];
}

/** Returns the chunks that close open calls of the last step. One that a person has yet to approve is denied. */
export const closeCalls = (
  { approvals }: Pick<StreamProgress, "approvals">,
  calls: StreamProgress["openCalls"],
  reason: string,
): UIMessageChunk[] =>
  calls.flatMap(({ toolCallId }): UIMessageChunk[] => {
    const [approvalId, asked] =
      [...approvals].find(([, call]) => call.toolCallId === toolCallId) ?? [];
    if (!approvalId || asked?.approved) {
      return [{ type: "tool-output-error", toolCallId, errorText: reason }];
    }
    const denied: UIMessageChunk = { type: "tool-output-denied", toolCallId };
    return asked?.approved === false
      ? [denied]
      : [{ type: "tool-approval-response", approvalId, approved: false, reason }, denied];
  });

/** Returns the chunks of the messages that the stream does not show yet. */
export const steeringChunks = (
  steering: readonly SteeringMessage[],
  known: ReadonlySet<string> = new Set(),
): UIMessageChunk[] =>
  steering
    .filter(({ id }) => !known.has(id))
    .map(({ id, parts }) => ({ type: "steering-message", id, parts }));
