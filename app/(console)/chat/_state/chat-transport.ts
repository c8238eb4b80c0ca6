/** The transport between the AI SDK's chat and the package `client`, which resumes a turn whose connection breaks. */
import type { ChatTransport, UIMessage, UIMessageChunk } from "ai";
import type { Connection } from "@/packages/client/src/connection.ts";
import { resumeTurn, streamTurn, type TurnEvent } from "@/packages/client/src/stream-turn.ts";

export interface ChatTransportOptions {
  readonly sessionId: string;
  readonly connection: Connection;
  /**
   * Called when the last chunks of the turn can no longer be read, because it ended long ago: the stored
   * message must be loaded. Awaited before the stream ends.
   */
  readonly onMissedEnd: () => Promise<void>;
  /** Returns the token budget of a turn that is sent; null for none. */
  readonly contextLimit?: () => number | null;
}

/** The request metadata of a message that was sent already, whose running turn is only read. */
export const joinsRunningTurn = { joinsRunningTurn: true };

export function createChatTransport(options: ChatTransportOptions): ChatTransport<UIMessage> {
  const { sessionId, connection, onMissedEnd, contextLimit = () => null } = options;

  /** Resolves to the chunks of a turn once there is one, or to null without any. @throws ApiError */
  async function open(
    read: (signal: AbortSignal) => AsyncGenerator<TurnEvent, void>,
    abortSignal: AbortSignal | undefined,
  ): Promise<ReadableStream<UIMessageChunk> | null> {
    const left = new AbortController();
    const events = read(AbortSignal.any([left.signal, ...(abortSignal ? [abortSignal] : [])]));
    const first = await events.next();
    if (first.done) {
      await onMissedEnd();
      return null;
    }
    let next: typeof first | null = first;
    return new ReadableStream({
      async pull(controller) {
        const { value, done } = next ?? (await events.next());
        next = null;
        // The service of this origin made the chunks with the same SDK.
        if (value?.type === "chunk") return controller.enqueue(value.chunk as UIMessageChunk);
        if (!done) await onMissedEnd();
        controller.close();
      },
      cancel: () => left.abort(),
    });
  }

  const join = (chatId: string, abortSignal: AbortSignal | undefined) =>
    open((signal) => resumeTurn(connection, { sessionId, chatId, signal }), abortSignal);

  return {
    // A resumed stream starts with the first chunk of the turn.
    resumeStreamIsReplay: true,

    async sendMessages({ chatId, messages, metadata, body, abortSignal }) {
      const newest = messages.at(-1);
      if (!newest) throw new Error("There is no message to send");
      const { id, role, parts } = newest;
      const limit = contextLimit();
      const more = { ...(limit !== null && { context: { contextLimit: limit } }), ...body };
      const turn = { sessionId, chatId, message: { id, role, parts }, more };
      const stream = await (metadata === joinsRunningTurn
        ? join(chatId, abortSignal)
        : open((signal) => streamTurn(connection, { ...turn, signal }), abortSignal));
      return stream ?? new ReadableStream({ start: (controller) => controller.close() });
    },

    reconnectToStream: ({ chatId, abortSignal }) => join(chatId, abortSignal),
  };
}
