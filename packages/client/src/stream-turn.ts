/**
 * Turns of a chat. A turn outlives the connection that reads it: when the network or the server fails in
 * mid-stream, the stream is resumed after the last received chunk: none is missing or repeated.
 */
import { toApiError } from "./api-error.ts";
import { type Connection, delay, ignoreNetworkError } from "./connection.ts";
import { readServerEvents } from "./server-events.ts";

/** A part of the AI SDK's UI message stream: `UIMessageChunk` of the package `ai`. */
export interface Chunk {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface StoredMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: readonly { readonly type: string; readonly [field: string]: unknown }[];
  readonly [field: string]: unknown;
}

export type TurnEvent =
  /** The chunk with this index. Indexes count from 0, and each comes once. */
  | { readonly type: "chunk"; readonly index: number; readonly chunk: Chunk }
  /**
   * The last chunks of the turn can no longer be read, because it ended long ago: its stored message,
   * which stands for all of its chunks. Nothing follows.
   */
  | { readonly type: "message"; readonly message: StoredMessage };

export interface ChatAddress {
  readonly sessionId: string;
  readonly chatId: string;
}

export interface TurnOptions extends ChatAddress {
  /**
   * A text, or an entry of `messages` of `POST /api/chat`, for files and answers. The request is repeated
   * with the same `id`, so the message is answered once.
   */
  readonly message: string | { readonly id: string; readonly [field: string]: unknown };
  /**
   * Further fields of the body of `POST /api/chat`, such as `context`. With `onBusy`, a connection that
   * is lost before the first chunk cannot be resumed: the events then end with the newest stored message.
   */
  readonly more?: Readonly<Record<string, unknown>>;
  /** Stops reading. The turn continues, and `resumeTurn` reads it again. */
  readonly signal?: AbortSignal;
}

export interface ResumeOptions extends ChatAddress {
  /** The index of the first chunk to yield. Default: 0. */
  readonly startIndex?: number;
  /** The turn's `x-workflow-run-id`, for a turn that may have ended. Default: the running turn. */
  readonly runId?: string;
  readonly signal?: AbortSignal;
}

/** Before a connection that has brought nothing is followed by another one. */
const PAUSE_MS = 250;
/** The service sends a comment after 15 s of silence, so a longer silence means a dead connection. */
const MAX_SILENCE_MS = 40_000;

/**
 * Sends a message and yields the turn that answers it, to its end. It provisions the session's sandbox
 * where there is none.
 * @throws ApiError when the service refuses the message
 */
export async function* streamTurn(
  connection: Connection,
  options: TurnOptions,
): AsyncGenerator<TurnEvent, void> {
  const { sessionId, chatId, message, more } = options;
  const signal = options.signal ?? new AbortController().signal;
  const post = (path: string, body: unknown) =>
    connection.repeat(
      path,
      { method: "POST", body: JSON.stringify(body), headers: asJson },
      signal,
    );
  const entry =
    typeof message === "string" ? { id: crypto.randomUUID(), content: message } : message;
  const turn = { ...more, sessionId, chatId, messages: [entry] };
  let response = await post("/api/chat", turn);
  if (response.headers.get("x-error-code") === "sandbox_missing") {
    await response.body?.cancel();
    const provisioned = await post("/api/sandbox", { sessionId });
    if (!provisioned.ok) throw await toApiError(provisioned);
    response = await post("/api/chat", turn);
  }
  if (!response.ok) throw await toApiError(response);
  yield* readTurn(connection, options, response, 0, signal);
}

/**
 * Yields a turn of a chat from `startIndex` on, to its end: the one that `runId` names, or else the
 * running one. Yields nothing if there is none.
 * @throws ApiError if the chat does not exist
 */
export async function* resumeTurn(
  connection: Connection,
  options: ResumeOptions,
): AsyncGenerator<TurnEvent, void> {
  const { startIndex = 0, runId = null } = options;
  const signal = options.signal ?? new AbortController().signal;
  const response = await resume(connection, options.chatId, { startIndex, runId }, signal);
  if (response) yield* readTurn(connection, options, response, startIndex, signal);
}

const asJson = { "content-type": "application/json" };

/** Resolves to a turn from chunk `startIndex` on, or to null if there is none. */
async function resume(
  connection: Connection,
  chatId: string,
  { startIndex, runId }: { readonly startIndex: number; readonly runId: string | null },
  signal: AbortSignal,
): Promise<Response | null> {
  const named = runId === null ? "" : `&runId=${encodeURIComponent(runId)}`;
  const path = `/api/chat/${encodeURIComponent(chatId)}/stream?startIndex=${startIndex}${named}`;
  const response = await connection.repeat(path, {}, signal);
  if (response.status === 204 || (runId !== null && response.status === 404)) return null;
  if (!response.ok) throw await toApiError(response);
  return response;
}

/** Yields the turn that `first` is a response of, over as many connections as it takes. */
async function* readTurn(
  connection: Connection,
  address: ChatAddress,
  first: Response,
  startIndex: number,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, void> {
  const runId = first.headers.get("x-workflow-run-id");
  let messageId: unknown;
  // An answer to an approval continues a stream that was read before.
  const from = first.headers.get("x-workflow-stream-start-index");
  let next = from === null ? startIndex : Number(from);
  let response: Response | null = first;
  while (response) {
    const before = next;
    try {
      for await (const { id, data } of readServerEvents(response, MAX_SILENCE_MS)) {
        // Several events may have come at once.
        signal.throwIfAborted();
        if (data === "[DONE]") return;
        const index = Number(id);
        if (index < next) continue;
        if (index !== next) break;
        const chunk: Chunk = JSON.parse(data);
        messageId ??= chunk.messageId;
        next++;
        yield { type: "chunk", index, chunk };
        // It is sent after the turn was stored, so nothing follows it.
        if (chunk.type === "finish") return;
      }
    } catch (error) {
      ignoreNetworkError(error, signal);
    }
    connection.onRetry(1);
    if (next === before) await delay(PAUSE_MS, signal);
    response = await resume(connection, address.chatId, { startIndex: next, runId }, signal);
    if (response && runId === null) {
      // The turn was queued, so this may be another one.
      await response.body?.cancel();
      response = null;
    }
  }
  const message = await readMessage(connection, address, messageId, signal);
  if (message) yield { type: "message", message };
}

/** Resolves to a stored message, the newest of the agent without its id. */
async function readMessage(
  connection: Connection,
  { sessionId, chatId }: ChatAddress,
  messageId: unknown,
  signal: AbortSignal,
): Promise<StoredMessage | undefined> {
  const path = `/api/sessions/${encodeURIComponent(sessionId)}/chats/${encodeURIComponent(chatId)}`;
  const response = await connection.repeat(path, {}, signal);
  if (!response.ok) throw await toApiError(response);
  const { messages }: { messages: StoredMessage[] } = await response.json();
  return messages.findLast(({ id, role }) =>
    messageId === undefined ? role === "assistant" : id === messageId,
  );
}
