/**
 * The transport between `useChat` and the API. A turn outlives the connection that reads it: if the
 * network or the server fails in mid-stream, the transport resumes after the last chunk it received,
 * so that `useChat` sees one unbroken stream without missing or repeated chunks.
 */
import type { ChatTransport, UIMessage, UIMessageChunk } from "ai";
import { toChatRequestError } from "./chat-request-error.ts";
import { readServerEvents } from "./server-events.ts";

export interface DurableChatTransportOptions {
  readonly sessionId: string;
  /**
   * Fetches a path of the service with the caller's credential. Rejects if there is no response, as
   * `fetch` does.
   */
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  /**
   * Called when the last chunks of the turn can no longer be read, because it ended long ago, so that
   * the stored message must be loaded. Awaited before the stream ends.
   */
  readonly onMissedEnd: () => Promise<void>;
  readonly onConnection: (state: Connection) => void;
  /** Returns the token budget of a turn that is sent; null for none. */
  readonly contextLimit?: () => number | null;
  /** Resolves when a request should be retried; `attempt` counts from 0. Rejects on abort. */
  readonly waitForRetry: (attempt: number, signal: AbortSignal) => Promise<void>;
}

/** The request metadata of a message that was sent already, whose running turn is only read. */
export const joinsRunningTurn = { joinsRunningTurn: true };

/** `lost`: a request failed or a stream broke off, and it is being retried. */
export type Connection = "live" | "lost";

/** The service sends a comment after 15 s of silence, so that a longer silence means a dead connection. */
const MAX_SILENCE_MS = 40_000;

export function createDurableChatTransport(
  options: DurableChatTransportOptions,
): ChatTransport<UIMessage> {
  const { sessionId, onConnection, onMissedEnd } = options;

  /** Repeats a request until it has a response. Every request here is idempotent. */
  async function request(path: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
    for (let attempt = 0; ; attempt++) {
      const response = await options
        .fetch(path, { ...init, signal })
        .catch((error: unknown) => ignoreNetworkError(error, signal));
      if (response && !isTransient(response, init.method)) {
        onConnection("live");
        return response;
      }
      await response?.body?.cancel();
      onConnection("lost");
      await options.waitForRetry(attempt, signal);
    }
  }

  /**
   * Returns a stream from chunk `startIndex`: of the turn that `runId` names, or else of the running one.
   * Returns null if there is none.
   */
  async function resume(
    chatId: string,
    startIndex: number,
    runId: string | null,
    signal: AbortSignal,
  ) {
    const named = runId === null ? "" : `&runId=${encodeURIComponent(runId)}`;
    const path = `/api/chat/${chatId}/stream?startIndex=${startIndex}${named}`;
    const response = await request(path, { method: "GET" }, signal);
    if (response.status === 204 || (runId !== null && response.status === 404)) return null;
    if (!response.ok) throw await toChatRequestError(response);
    return response;
  }

  async function post(
    chatId: string,
    message: UIMessage,
    more: object | undefined,
    signal: AbortSignal,
  ): Promise<Response> {
    const send = (path: string, body: unknown) =>
      request(path, { method: "POST", body: JSON.stringify(body) }, signal);
    const entry = { id: message.id, role: message.role, parts: message.parts };
    const contextLimit = options.contextLimit?.() ?? null;
    const context = contextLimit === null ? {} : { context: { contextLimit } };
    const turn = { sessionId, chatId, ...context, ...more, messages: [entry] };
    const response = await send("/api/chat", turn);
    if (response.headers.get("x-error-code") !== "sandbox_missing") return response;
    // A new session has no sandbox yet, and a stopped one has none any more.
    const provisioned = await send("/api/sandbox", { sessionId });
    if (!provisioned.ok) throw await toChatRequestError(provisioned);
    return send("/api/chat", turn);
  }

  /** Yields all chunks of the turn that `first` begins with, over as many connections as needed. */
  async function* chunks(
    chatId: string,
    first: Response,
    signal: AbortSignal,
  ): AsyncGenerator<UIMessageChunk> {
    const runId = first.headers.get("x-workflow-run-id");
    let next = 0;
    let isFinished = false;
    let response: Response | null = first;
    while (response) {
      try {
        for await (const { id, data } of readServerEvents(response, MAX_SILENCE_MS)) {
          if (data === "[DONE]") return;
          const index = Number(id);
          if (index < next) continue;
          if (index !== next) break;
          const chunk = parseChunk(data);
          next++;
          isFinished = chunk.type === "finish";
          yield chunk;
        }
      } catch (error) {
        ignoreNetworkError(error, signal);
      }
      // The last chunk is sent after the turn was stored, so that nothing follows it.
      if (signal.aborted || isFinished) return;
      onConnection("lost");
      response = await resume(chatId, next, runId, signal);
      if (response && runId === null) {
        // The turn was queued, so this may be another one.
        await response.body?.cancel();
        response = null;
      }
    }
    await onMissedEnd();
  }

  /** Streams the running turn from its first chunk. Resolves to null if it has ended. */
  async function join(chatId: string, abortSignal: AbortSignal | undefined) {
    const controller = linkedController(abortSignal);
    const response = await resume(chatId, 0, null, controller.signal);
    if (response) return toStream(chunks(chatId, response, controller.signal), controller);
    await onMissedEnd();
    return null;
  }

  return {
    // A resumed stream begins with the first chunk of the turn.
    resumeStreamIsReplay: true,

    async sendMessages({ chatId, messages, metadata, body, abortSignal }) {
      const newest = messages.at(-1);
      if (!newest) throw new Error("There is no message to send");
      if (metadata === joinsRunningTurn) return (await join(chatId, abortSignal)) ?? noChunks();
      const controller = linkedController(abortSignal);
      const response = await post(chatId, newest, body, controller.signal);
      if (!response.ok) throw await toChatRequestError(response);
      return toStream(chunks(chatId, response, controller.signal), controller);
    },

    reconnectToStream: ({ chatId, abortSignal }) => join(chatId, abortSignal),
  };
}

/**
 * Returns true for the responses of a proxy while the server restarts, and of the server while its
 * database is unavailable. An error response about a failed provider is final.
 */
export function isTransient({ status, headers }: Response, method: string | undefined): boolean {
  // Reading waits until the rate limit allows it; sending reports the refusal.
  if (status === 429) return method === "GET";
  const code = headers.get("x-error-code");
  return status >= 502 && status <= 504 && (code === null || code === "unavailable");
}

/** Ignores a failed connection. Rethrows an abort, and anything else because it is a bug. */
function ignoreNetworkError(error: unknown, signal: AbortSignal): undefined {
  const isNetwork = error instanceof TypeError || error instanceof DOMException;
  if (signal.aborted || !isNetwork) throw error;
}

function linkedController(signal: AbortSignal | undefined): AbortController {
  const controller = new AbortController();
  if (signal?.aborted) controller.abort(signal.reason);
  signal?.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
  return controller;
}

function toStream(
  source: AsyncGenerator<UIMessageChunk>,
  connection: AbortController,
): ReadableStream<UIMessageChunk> {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await source.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      connection.abort();
    },
  });
}

const noChunks = (): ReadableStream<UIMessageChunk> =>
  new ReadableStream({ start: (controller) => controller.close() });

/** Checks only the type of a chunk, because the service of this origin made it with the same SDK. */
function parseChunk(data: string): UIMessageChunk {
  const chunk: unknown = JSON.parse(data);
  if (isChunk(chunk)) return chunk;
  throw new Error("The stream contains an invalid chunk");
}

const isChunk = (value: unknown): value is UIMessageChunk =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
