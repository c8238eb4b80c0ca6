import { UI_MESSAGE_STREAM_HEADERS } from "ai";
import type { ChunkBatch, ReadEnd, TurnAddress } from "../engine/port.ts";
import { services } from "../platform/services.ts";
import { readQueuedTurn } from "./read-queued-turn.ts";

/** A comment after this much silence keeps proxies from closing the connection. */
const HEARTBEAT_MS = 15_000;
/** More characters are encoded and sent in several writes. */
const MAX_WRITE_CHARS = 256 * 1024;

/** A turn that waits for its chat. Its run is not known yet, and its stream starts with its first chunk. */
interface QueuedTurn {
  readonly accountId: string;
  readonly turnId: string;
}

/** A turn that has ended, with all of its chunks. */
interface EndedTurn {
  /** Null for a stored message whose run is not known. */
  readonly runId: string | null;
  /** UI message chunks as JSON texts, from index 0. */
  readonly chunks: readonly string[];
}

export type StreamedTurn = (TurnAddress & { readonly runId: string }) | QueuedTurn | EndedTurn;

/**
 * Streams the turn's chunks from `startIndex` on as Server-Sent Events, each once, then `[DONE]`. Without
 * `[DONE]` the turn continues, and the client is to resume it.
 * @param onEnd is called when the stream has ended or its client has disconnected.
 */
export async function streamResponse(
  turn: StreamedTurn,
  startIndex: number,
  signal: AbortSignal,
  onEnd: () => void,
): Promise<Response> {
  const disconnected = new AbortController();
  disconnected.signal.addEventListener("abort", onEnd, { once: true });
  // Nothing reads or cancels the stream of a client that disconnected before it was created.
  if (signal.aborted) disconnected.abort();
  else signal.addEventListener("abort", () => disconnected.abort(), { once: true });
  if ("accountId" in turn) {
    const batches = readQueuedTurn(turn.accountId, turn.turnId, disconnected.signal);
    return new Response(eventStream(batches, disconnected, onEnd), {
      headers: UI_MESSAGE_STREAM_HEADERS,
    });
  }
  const isEnded = "chunks" in turn;
  const { engine } = services();
  const tailIndex = isEnded ? turn.chunks.length - 1 : await engine.tailIndex(turn);
  const batches = isEnded
    ? readEndedTurn(turn, startIndex)
    : engine.read(turn, startIndex, disconnected.signal);
  return new Response(eventStream(batches, disconnected, onEnd), {
    headers: {
      ...UI_MESSAGE_STREAM_HEADERS,
      ...(turn.runId !== null && { "x-workflow-run-id": turn.runId }),
      "x-workflow-stream-tail-index": String(tailIndex),
    },
  });
}

async function* readEndedTurn(
  { chunks }: EndedTurn,
  startIndex: number,
): AsyncGenerator<ChunkBatch, ReadEnd> {
  yield { firstIndex: startIndex, chunks: chunks.slice(startIndex) };
  return "ended";
}

function eventStream(
  batches: AsyncGenerator<ChunkBatch, ReadEnd>,
  disconnected: AbortController,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const comment = encoder.encode(": \n\n");
  let heartbeat: NodeJS.Timeout | undefined;
  const end = () => {
    clearInterval(heartbeat);
    onEnd();
  };
  /** The unsent chunks of the last batch. */
  let rest: ChunkBatch = { firstIndex: 0, chunks: [] };
  return new ReadableStream({
    start(controller) {
      // The headers are sent with the first bytes, and the first chunk may take long.
      controller.enqueue(comment);
      if (disconnected.signal.aborted) return;
      heartbeat = setInterval(() => controller.enqueue(comment), HEARTBEAT_MS);
      disconnected.signal.addEventListener("abort", () => clearInterval(heartbeat), { once: true });
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
      const hasEnded = value !== "moved" && !disconnected.signal.aborted;
      if (hasEnded) controller.enqueue(encoder.encode("data: [DONE]\n\n"));
      controller.close();
    },
    cancel() {
      clearInterval(heartbeat);
      disconnected.abort();
    },
  });

  function send(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { firstIndex, chunks } = rest;
    const count = countForOneWrite(chunks);
    controller.enqueue(encoder.encode(toEvents({ firstIndex, chunks: chunks.slice(0, count) })));
    rest = { firstIndex: firstIndex + count, chunks: chunks.slice(count) };
  }
}

/** Returns how many chunks to send in one write, because a long turn that is resumed has many. */
function countForOneWrite(chunks: readonly string[]): number {
  let chars = 0;
  const end = chunks.findIndex((chunk) => {
    chars += chunk.length;
    return chars > MAX_WRITE_CHARS;
  });
  return end < 0 ? chunks.length : end + 1;
}

function toEvents({ firstIndex, chunks }: ChunkBatch): string {
  let text = "";
  for (const [place, chunk] of chunks.entries()) {
    text += `id: ${firstIndex + place}\ndata: ${chunk}\n\n`;
  }
  return text;
}
