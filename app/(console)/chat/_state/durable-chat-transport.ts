/**
 * `useChat`'s way to the API. A turn outlives the connection that reads it: when the network or the
 * server dies in mid-stream, this goes on after the last chunk it got, so that `useChat` sees one
 * unbroken stream with nothing lost and nothing twice. Spec: POST /api/chat, Events; decisions,
 * section 5.
 */
import type { ChatTransport, UIMessage, UIMessageChunk } from "ai";
import { toRefusal } from "./refused.ts";
import { readServerEvents } from "./server-events.ts";

export interface DurableChatTransportOptions {
  readonly sessionId: string;
  /**
   * Fetches a path of the service with the caller's credential. Rejects when there is no answer,
   * as `fetch` does.
   */
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  /**
   * The turn ended while nothing was connected, so its last chunks cannot be had any more: what is
   * stored is the truth now. Awaited before `useChat` sees the stream end.
   */
  readonly onOutrun: () => Promise<void>;
  readonly onConnection: (state: Connection) => void;
  /** Resolves when it is worth trying again; `attempt` counts from 0. Rejects on abort. */
  readonly untilRetry: (attempt: number, signal: AbortSignal) => Promise<void>;
}

/** `lost`: a request had no answer or a stream broke off, and it is being tried again. */
export type Connection = "live" | "lost";

/** The stream sends a comment after 15 s of silence: one that is silent for longer is dead. */
const LONGEST_SILENCE_MS = 40_000;

export function createDurableChatTransport(
  options: DurableChatTransportOptions,
): ChatTransport<UIMessage> {
  const { sessionId, onConnection, onOutrun } = options;

  /** Repeats a request until it has an answer. Every request here may be repeated safely. */
  async function request(path: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
    for (let attempt = 0; ; attempt++) {
      const response = await options
        .fetch(path, { ...init, signal })
        .catch((error: unknown) => failure(error, signal));
      if (response && !isPassing(response, init.method)) {
        onConnection("live");
        return response;
      }
      await response?.body?.cancel();
      onConnection("lost");
      await options.untilRetry(attempt, signal);
    }
  }

  /** @returns the running turn's chunks from `startIndex` on; null when none is running. */
  async function resume(chatId: string, startIndex: number, signal: AbortSignal) {
    const path = `/api/chat/${chatId}/stream?startIndex=${startIndex}`;
    const response = await request(path, { method: "GET" }, signal);
    if (response.status === 204) return null;
    if (!response.ok) throw await toRefusal(response);
    return response;
  }

  async function post(chatId: string, message: UIMessage, signal: AbortSignal): Promise<Response> {
    const send = (path: string, body: unknown) =>
      request(path, { method: "POST", body: JSON.stringify(body) }, signal);
    const entry = { id: message.id, role: message.role, parts: message.parts };
    const turn = { sessionId, chatId, messages: [entry] };
    const response = await send("/api/chat", turn);
    if (response.headers.get("x-error-code") !== "sandbox_missing") return response;
    // A new session has none yet, and one that was stopped has none any more.
    const provisioned = await send("/api/sandbox", { sessionId });
    if (!provisioned.ok) throw await toRefusal(provisioned);
    return send("/api/chat", turn);
  }

  /** All chunks of the turn that `first` begins to answer with, over as many connections as needed. */
  async function* chunks(
    chatId: string,
    first: Response,
    signal: AbortSignal,
  ): AsyncGenerator<UIMessageChunk> {
    const run = first.headers.get("x-workflow-run-id");
    let next = 0;
    let isWhole = false;
    let response: Response | null = first;
    while (response) {
      try {
        for await (const { id, data } of readServerEvents(response, LONGEST_SILENCE_MS)) {
          if (data === "[DONE]") return;
          const index = Number(id);
          if (index < next) continue;
          if (index !== next) break;
          const chunk = parseChunk(data);
          next++;
          isWhole = chunk.type === "finish";
          yield chunk;
        }
      } catch (error) {
        failure(error, signal);
      }
      // The turn was stored before its last chunk was sent: nothing more is to come.
      if (signal.aborted || isWhole) return;
      onConnection("lost");
      response = await resume(chatId, next, signal);
      if (response && response.headers.get("x-workflow-run-id") !== run) {
        // Meanwhile this turn ended and another began.
        await response.body?.cancel();
        response = null;
      }
    }
    await onOutrun();
  }

  return {
    // Whoever resumes reads the turn from its first chunk.
    resumeStreamIsReplay: true,

    async sendMessages({ chatId, messages, abortSignal }) {
      const newest = messages.at(-1);
      if (!newest) throw new Error("There is no message to send");
      const leave = leaveWith(abortSignal);
      const response = await post(chatId, newest, leave.signal);
      if (!response.ok) throw await toRefusal(response);
      return toStream(chunks(chatId, response, leave.signal), leave);
    },

    async reconnectToStream({ chatId, abortSignal }) {
      const leave = leaveWith(abortSignal);
      const response = await resume(chatId, 0, leave.signal);
      if (response) return toStream(chunks(chatId, response, leave.signal), leave);
      await onOutrun();
      return null;
    },
  };
}

/**
 * What a proxy answers while the server restarts, and the server while its database is away. The
 * service's own word on a provider that failed is an answer.
 */
function isPassing({ status, headers }: Response, method: string | undefined): boolean {
  // Too many requests: a reader waits, a person who sends is told.
  if (status === 429) return method === "GET";
  const code = headers.get("x-error-code");
  return status >= 502 && status <= 504 && (code === null || code === "unavailable");
}

/** @returns nothing for a connection that failed; what else is thrown is a bug, or an abort. */
function failure(error: unknown, signal: AbortSignal): undefined {
  const isNetwork = error instanceof TypeError || error instanceof DOMException;
  if (signal.aborted || !isNetwork) throw error;
}

function leaveWith(signal: AbortSignal | undefined): AbortController {
  const leave = new AbortController();
  if (signal?.aborted) leave.abort(signal.reason);
  signal?.addEventListener("abort", () => leave.abort(signal.reason), { once: true });
  return leave;
}

function toStream(
  source: AsyncGenerator<UIMessageChunk>,
  leave: AbortController,
): ReadableStream<UIMessageChunk> {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await source.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      leave.abort();
    },
  });
}

/** The service is of this origin and made the chunk with the same SDK: only its kind is looked at. */
function parseChunk(data: string): UIMessageChunk {
  const chunk: unknown = JSON.parse(data);
  if (isChunk(chunk)) return chunk;
  throw new Error("The stream holds what is no chunk");
}

const isChunk = (value: unknown): value is UIMessageChunk =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
