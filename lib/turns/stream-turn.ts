import { setTimeout } from "node:timers/promises";
import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import { queueRefused } from "@platform/endpoint/contract/queue-refused";
import { drain } from "@platform/kit/drain";
import { isQueueRefusal } from "@platform/kit/fair-queue";
import { UI_MESSAGE_STREAM_HEADERS, type UIMessageChunk } from "ai";
import { awaitsApproval } from "../approvals/store.ts";
import type { ChunkBatch, ReadEnd, TurnAddress } from "../engine/port.ts";
import type { Parts } from "../parts.ts";
import type { Database } from "../platform/database/port.ts";
import { queuedTurnState } from "./store/queued-turns.ts";

/** A comment after this much silence keeps proxies from closing the connection. */
const HEARTBEAT_MS = 15_000;
/** More characters are encoded and sent in several writes. */
const MAX_WRITE_CHARS = 256 * 1024;

/** How often a turn that waits is looked up. Its first chunk ends the wait earlier. */
const POLL_MS = 1_000;

const dropped: readonly UIMessageChunk[] = [
  { type: "error", errorText: "The message was dropped before its turn: send it again" },
  { type: "finish", finishReason: "error" },
];

type Reading = AsyncGenerator<ChunkBatch, ReadEnd>;

/** A turn that waits for its chat, without a run yet; its stream starts at its first chunk. */
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

interface RunningTurn extends TurnAddress {
  readonly runId: string;
  /** The chunk to start at, in place of the request's. */
  readonly from?: number;
  /** For a turn that has just started: its reading from index 0, whose first batch has been taken. */
  readonly opened?: {
    readonly first: ChunkBatch;
    readonly rest: Reading;
    /** Ends the reading. */
    readonly stop: () => void;
  };
}

export type StreamedTurn = RunningTurn | QueuedTurn | EndedTurn;

export interface StreamRequest {
  readonly accountId: string;
  readonly startIndex: number;
  readonly signal: AbortSignal;
}

/** `location` is the path of the turn's chat, for a client that has chosen its id. */
type FoundTurn = StreamedTurn | { readonly turn: StreamedTurn; readonly location: string };

/**
 * Streams the turn that `find` returns, or returns its response or error. The stream's slot is taken
 * before the call of `find`, which may start the turn, and is released when the stream ends. Errors: 429
 * when the account has too many streams open; as `find`.
 */
export async function streamTurn(
  app: Parts<"db" | "engine" | "queues">,
  { accountId, startIndex, signal }: StreamRequest,
  find: () => Promise<FoundTurn | Response | AppError>,
): Promise<Response | AppError> {
  let release: () => void;
  try {
    release = await app.queues.streams.acquire(accountId);
  } catch (error) {
    if (isQueueRefusal(error)) return queueRefused(error);
    throw error;
  }
  try {
    const found = await find();
    if (!isAppError(found) && !(found instanceof Response)) {
      if (!("turn" in found)) {
        return await streamResponse(app, found, startIndex, signal, release);
      }
      const response = await streamResponse(app, found.turn, startIndex, signal, release);
      response.headers.set("location", found.location);
      return response;
    }
    release();
    return found;
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Streams the turn's chunks from `startIndex` as Server-Sent Events, each once, then `[DONE]`. Without
 * `[DONE]` the turn continues, and the client should resume it.
 * @param onEnd called when the stream has ended or its client has disconnected
 */
export async function streamResponse(
  { db, engine }: Parts<"db" | "engine">,
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
  const headers = new Headers(UI_MESSAGE_STREAM_HEADERS);
  const respond = (reading: Reading) =>
    new Response(eventStream(reading, disconnected, onEnd), { headers });
  if ("accountId" in turn) {
    return respond(readQueuedTurn({ db, engine }, turn, disconnected.signal));
  }
  if (turn.runId !== null) headers.set("x-workflow-run-id", turn.runId);
  const setTail = (index: number) => headers.set("x-workflow-stream-tail-index", String(index));
  if ("chunks" in turn) {
    setTail(turn.chunks.length - 1);
    return respond(readEndedTurn(turn, startIndex));
  }
  if (turn.opened) {
    const { firstIndex, chunks } = turn.opened.first;
    setTail(firstIndex + chunks.length - 1);
    const { opened } = turn;
    return respond(untilItWaits(db, turn, continueReading(opened), () => opened.stop(), false));
  }
  const from = turn.from ?? startIndex;
  if (turn.from !== undefined) headers.set("x-workflow-stream-start-index", String(from));
  const tail = await engine.tailIndex(turn);
  setTail(tail);
  const stopped = new AbortController();
  const reading = engine.read(turn, from, AbortSignal.any([disconnected.signal, stopped.signal]));
  const mayWait = from > tail && turn.from === undefined;
  return respond(untilItWaits(db, turn, reading, () => stopped.abort(), mayWait));
}

/** How long the look after a request for an approval waits: first, and at most. */
const FIRST_POLL_MS = 20;

/**
 * Ends a reading while its turn waits for an approval: a connection is not kept for it.
 * @param stop ends the reading
 * @param mayWait whether the turn may wait already, because it has no chunk to read
 */
async function* untilItWaits(
  db: Database,
  { turnId }: TurnAddress,
  reading: Reading,
  stop: () => void,
  mayWait: boolean,
): Reading {
  let polls = mayWait;
  try {
    for (;;) {
      const next = reading.next();
      for (let delay = FIRST_POLL_MS; polls; delay = Math.min(2 * delay, POLL_MS)) {
        const pause = new AbortController();
        const paused = setTimeout(delay, false, { signal: pause.signal }).catch(() => false);
        if (await Promise.race([next.then(() => true), paused])) {
          pause.abort();
          break;
        }
        if (!(await awaitsApproval(db, turnId))) continue;
        stop();
        await next;
        return "ended";
      }
      const { value, done } = await next;
      if (done) return value;
      yield value;
      polls = value.chunks.at(-1)?.startsWith(APPROVAL_REQUEST) ?? false;
    }
  } finally {
    // Also where its reader leaves.
    stop();
  }
}

const APPROVAL_REQUEST = `{"type":"tool-approval-request"`;

async function* continueReading({ first, rest }: NonNullable<RunningTurn["opened"]>): Reading {
  yield first;
  return yield* rest;
}

async function* readEndedTurn({ chunks }: EndedTurn, startIndex: number): Reading {
  yield { firstIndex: startIndex, chunks: chunks.slice(startIndex) };
  return "ended";
}

function eventStream(
  reading: Reading,
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
      const { value, done } = await reading.next().catch((error: unknown) => {
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
      return reading.return("moved").then(() => {});
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

/** Lines end at them for some readers of events, and in JSON they only stand in texts. */
const SEPARATORS = /[\u2028\u2029]/g;
const escaped = (separator: string) => (separator === "\u2028" ? "\\u2028" : "\\u2029");

function toEvents({ firstIndex, chunks }: ChunkBatch): string {
  let text = "";
  for (const [place, chunk] of chunks.entries()) {
    text += `id: ${firstIndex + place}\ndata: ${chunk.replace(SEPARATORS, escaped)}\n\n`;
  }
  return text;
}

/** Yields the chunks of a turn that waits, once it has started or another one has taken its message. */
async function* readQueuedTurn(
  { db, engine }: Parts<"db" | "engine">,
  { accountId, turnId }: QueuedTurn,
  signal: AbortSignal,
): Reading {
  while (!signal.aborted && !drain().hasBegun) {
    const found = await queuedTurnState(db, accountId, turnId);
    if (found.state === "started") {
      const turn = { turnId: found.turn_id, runId: found.run_id };
      const stopped = new AbortController();
      const reading = engine.read(turn, 0, AbortSignal.any([signal, stopped.signal]));
      return yield* untilItWaits(db, turn, reading, () => stopped.abort(), false);
    }
    if (found.state === "gone") {
      yield { firstIndex: 0, chunks: dropped.map((chunk) => JSON.stringify(chunk)) };
      return "ended";
    }
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(POLL_MS)]);
    for await (const _ of engine.read({ turnId, runId: null }, 0, timeout)) break;
  }
  return "moved";
}
