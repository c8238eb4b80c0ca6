import { setImmediate } from "node:timers/promises";
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";

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
