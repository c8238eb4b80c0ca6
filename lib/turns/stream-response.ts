/** A turn's chunks as Server-Sent Events. Spec: Events; decisions, section 5. */

import { UI_MESSAGE_STREAM_HEADERS } from "ai";
import type { ChunkBatch, TurnAddress } from "../engine/port.ts";
import { services } from "../platform/services.ts";

/** A comment line after this much silence keeps proxies from closing the connection. */
const HEARTBEAT_MS = 15_000;
/** Characters that are encoded in one go. */
const PIECE_CHARS = 256 * 1024;

/**
 * Answers with the turn's chunks from `startIndex` on, each once, then `[DONE]`.
 * @param onEnd called when the stream has ended or its client has gone
 */
export async function streamResponse(
  turn: TurnAddress & { readonly runId: string },
  startIndex: number,
  signal: AbortSignal,
  onEnd: () => void,
): Promise<Response> {
  const gone = new AbortController();
  gone.signal.addEventListener("abort", onEnd, { once: true });
  // A client that left before its answer was made: nobody will read or cancel the stream.
  if (signal.aborted) gone.abort();
  else signal.addEventListener("abort", () => gone.abort(), { once: true });
  const tailIndex = await services().engine.tailIndex(turn);
  const batches = services().engine.read(turn, startIndex, gone.signal)[Symbol.asyncIterator]();
  return new Response(frames(batches, gone, onEnd), {
    headers: {
      ...UI_MESSAGE_STREAM_HEADERS,
      "x-workflow-run-id": turn.runId,
      "x-workflow-stream-tail-index": String(tailIndex),
    },
  });
}

function frames(
  batches: AsyncIterator<ChunkBatch>,
  gone: AbortController,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const comment = encoder.encode(": \n\n");
  let heartbeat: NodeJS.Timeout | undefined;
  const end = () => {
    clearInterval(heartbeat);
    onEnd();
  };
  /** Of the last batch, what was not sent yet. */
  let rest: ChunkBatch = { firstIndex: 0, chunks: [] };
  return new ReadableStream({
    start(controller) {
      // The headers leave with the first bytes, and the first chunk may be long in coming.
      controller.enqueue(comment);
      if (gone.signal.aborted) return;
      heartbeat = setInterval(() => controller.enqueue(comment), HEARTBEAT_MS);
      gone.signal.addEventListener("abort", () => clearInterval(heartbeat), { once: true });
    },
    async pull(controller) {
      if (rest.chunks.length > 0) return send(controller);
      const { value, done } = await batches.next().catch((error: unknown) => {
        end();
        throw error;
      });
      heartbeat?.refresh();
      if (!done) {
        rest = value;
        return send(controller);
      }
      end();
      if (!gone.signal.aborted) controller.enqueue(encoder.encode("data: [DONE]\n\n"));
      controller.close();
    },
    cancel() {
      clearInterval(heartbeat);
      gone.abort();
    },
  });

  function send(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { firstIndex, chunks } = rest;
    const count = countPiece(chunks);
    controller.enqueue(encoder.encode(toFrames({ firstIndex, chunks: chunks.slice(0, count) })));
    rest = { firstIndex: firstIndex + count, chunks: chunks.slice(count) };
  }
}

/** How many chunks make a piece: a long turn that is resumed comes in pieces, not in one. */
function countPiece(chunks: readonly string[]): number {
  let chars = 0;
  const end = chunks.findIndex((chunk) => {
    chars += chunk.length;
    return chars > PIECE_CHARS;
  });
  return end < 0 ? chunks.length : end + 1;
}

function toFrames({ firstIndex, chunks }: ChunkBatch): string {
  let text = "";
  for (const [place, chunk] of chunks.entries()) {
    text += `id: ${firstIndex + place}\ndata: ${chunk}\n\n`;
  }
  return text;
}
