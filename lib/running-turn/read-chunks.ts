/** Reads the chunks of a turn: how far it has come, what is open, and the message that they make. */
import { setImmediate } from "node:timers/promises";
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";

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

/** Parts that are assembled before the event loop gets to other requests. */
const PARTS_PER_BATCH = 20;

/**
 * Assembles the stored message with the AI SDK's own stream reader, so it equals the message that a client
 * assembles from the stream. That reader copies the whole message for each chunk; it is fed the chunks of one
 * part at a time, with deltas merged, which keeps the cost linear in the turn.
 * @param chunks all chunks of a turn, in order
 */
export async function assembleParts(
  chunks: readonly UIMessageChunk[],
): Promise<UIMessage["parts"]> {
  const parts: UIMessage["parts"] = [];
  for (const step of splitIntoSteps(chunks)) {
    if (step[0]?.type === "start-step") parts.push({ type: "step-start" });
    for (const [place, chunksOfPart] of splitIntoParts(step).entries()) {
      parts.push(...(await readParts(mergeDeltas(chunksOfPart))));
      if (place % PARTS_PER_BATCH === 0) await setImmediate();
    }
  }
  return parts;
}

function splitIntoSteps(chunks: readonly UIMessageChunk[]): UIMessageChunk[][] {
  const steps: UIMessageChunk[][] = [];
  for (const chunk of chunks) {
    if (chunk.type === "start-step" || steps.length === 0) steps.push([]);
    steps.at(-1)?.push(chunk);
  }
  return steps;
}

/** Groups the chunks by part, in the order in which the parts start. Others are left out. */
function splitIntoParts(step: readonly UIMessageChunk[]): UIMessageChunk[][] {
  let parts: UIMessageChunk[][] = [];
  const open = new Map<string, UIMessageChunk[]>();
  const approvals = new Map<string, string>();
  const begin = (chunk: UIMessageChunk): UIMessageChunk[] => {
    const part = [chunk];
    parts.push(part);
    return part;
  };
  for (const chunk of step) {
    switch (chunk.type) {
      case "start":
      case "start-step":
      case "finish-step":
      case "finish":
      case "message-metadata":
      case "error":
      case "abort":
        break;
      case "reset-step":
        parts = [];
        open.clear();
        break;
      case "text-start":
        open.set(`text ${chunk.id}`, begin(chunk));
        break;
      case "reasoning-start":
        open.set(`reasoning ${chunk.id}`, begin(chunk));
        break;
      default: {
        if (chunk.type === "tool-approval-request") {
          approvals.set(chunk.approvalId, `tool ${chunk.toolCallId}`);
        }
        const key =
          chunk.type === "tool-approval-response" ? approvals.get(chunk.approvalId) : keyOf(chunk);
        const part = key === undefined ? undefined : open.get(key);
        if (part) part.push(chunk);
        else if (key === undefined) begin(chunk);
        else open.set(key, begin(chunk));
      }
    }
  }
  return parts;
}

/** Returns the key that the chunks of one part share, or undefined for a chunk that is a part by itself. */
function keyOf(chunk: UIMessageChunk): string | undefined {
  if ("toolCallId" in chunk) return `tool ${chunk.toolCallId}`;
  if (chunk.type === "text-delta" || chunk.type === "text-end") return `text ${chunk.id}`;
  if (chunk.type === "reasoning-delta" || chunk.type === "reasoning-end") {
    return `reasoning ${chunk.id}`;
  }
  return undefined;
}

/** Merges adjacent deltas of one part. */
function mergeDeltas(chunks: readonly UIMessageChunk[]): UIMessageChunk[] {
  const merged: UIMessageChunk[] = [];
  for (const chunk of chunks) {
    const last = merged.at(-1);
    if (
      (chunk.type === "text-delta" || chunk.type === "reasoning-delta") &&
      last?.type === chunk.type &&
      !last.providerMetadata
    ) {
      merged[merged.length - 1] = { ...chunk, delta: last.delta + chunk.delta };
    } else if (chunk.type === "tool-input-delta" && last?.type === "tool-input-delta") {
      const inputTextDelta = last.inputTextDelta + chunk.inputTextDelta;
      merged[merged.length - 1] = { ...chunk, inputTextDelta };
    } else merged.push(chunk);
  }
  return merged;
}

async function readParts(chunks: readonly UIMessageChunk[]): Promise<UIMessage["parts"]> {
  let parts: UIMessage["parts"] = [];
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) {
    parts = message.parts;
  }
  return parts;
}
