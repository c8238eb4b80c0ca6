/**
 * The stored message is what a client assembles from the stream, so the AI SDK's own reader
 * assembles it. That reader copies the whole message for each chunk; feeding it one step at a time,
 * with runs of deltas merged, keeps the cost in proportion to the turn.
 */
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";

/** @param chunks all chunks of a turn, in order. */
export async function assembleParts(
  chunks: readonly UIMessageChunk[],
): Promise<UIMessage["parts"]> {
  const parts: UIMessage["parts"] = [];
  for (const step of splitIntoSteps(chunks)) parts.push(...(await readParts(mergeDeltas(step))));
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

function mergeDeltas(chunks: readonly UIMessageChunk[]): UIMessageChunk[] {
  const merged: UIMessageChunk[] = [];
  for (const chunk of chunks) {
    const last = merged.at(-1);
    if (
      (chunk.type === "text-delta" || chunk.type === "reasoning-delta") &&
      last?.type === chunk.type &&
      last.id === chunk.id &&
      !last.providerMetadata
    ) {
      merged[merged.length - 1] = { ...chunk, delta: last.delta + chunk.delta };
    } else if (
      chunk.type === "tool-input-delta" &&
      last?.type === "tool-input-delta" &&
      last.toolCallId === chunk.toolCallId
    ) {
      const inputTextDelta = last.inputTextDelta + chunk.inputTextDelta;
      merged[merged.length - 1] = { ...chunk, inputTextDelta };
    } else merged.push(chunk);
  }
  return merged;
}

async function readParts(chunks: readonly UIMessageChunk[]): Promise<UIMessage["parts"]> {
  let parts: UIMessage["parts"] = [];
  // The reader tells of no change for a step without parts; the step's start is part of the message.
  if (chunks.some((chunk) => chunk.type === "start-step")) parts = [{ type: "step-start" }];
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
