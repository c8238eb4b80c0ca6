/** The console's chat transport over HTTP, without a browser. */
import type { UIMessage, UIMessageChunk } from "ai";
import { expect } from "vitest";
import { createChatTransport } from "@/app/(console)/chat/_state/chat-transport.ts";
import type { ConnectionState } from "@/app/(console)/chat/_state/live-chat.ts";
import { createConnection } from "@/packages/client/src/connection.ts";
import type { Conversation } from "./conversation.ts";
import { assemble } from "./turn-stream.ts";

/** Creates a transport that connects through `origin`, and records what it reports. */
export function openTransport(
  /** `headers`: the credential of the caller, which a restart may change. */
  { origin, headers }: { origin: string; headers: () => Readonly<Record<string, string>> },
  { sessionId }: Conversation,
  /** `answer`: the answer of a service in trouble to a path; null: the service answers itself. */
  more: { waitForRetry?: () => Promise<void>; answer?: (path: string) => Response | null } = {},
) {
  const reported = { missedEnds: 0, connections: [] as ConnectionState[] };
  const connection = createConnection({
    ...{ baseUrl: origin, retryForMs: Number.POSITIVE_INFINITY },
    fetch: async (request) => {
      const answer = more.answer?.(new URL(request.url).pathname);
      if (answer) return answer;
      const sent = { ...headers(), "accept-encoding": "identity", connection: "close" };
      for (const [name, value] of Object.entries(sent)) request.headers.set(name, value);
      const response = await fetch(request);
      reported.connections.push("live");
      return response;
    },
    onRetry: () => void reported.connections.push("lost"),
    // Another event is let in, so that a server that is away is not asked without a pause.
    waitForRetry: more.waitForRetry ?? (() => new Promise((resolve) => setImmediate(resolve))),
  });
  const transport = createChatTransport({
    ...{ sessionId, connection },
    onMissedEnd: async () => void reported.missedEnds++,
  });
  return { transport, reported };
}

export const userMessage = (text: string): UIMessage => ({
  id: crypto.randomUUID(),
  role: "user",
  parts: [{ type: "text", text }],
});

export function sendThrough(
  { transport }: ReturnType<typeof openTransport>,
  { chatId }: Conversation,
  message: UIMessage,
  abortSignal?: AbortSignal,
) {
  return transport.sendMessages({
    trigger: "submit-message",
    chatId,
    messageId: undefined,
    messages: [message],
    abortSignal,
  });
}

export async function collect(
  stream: ReadableStream<UIMessageChunk>,
  onChunk: (chunk: UIMessageChunk, index: number) => void | Promise<void> = () => {},
): Promise<UIMessageChunk[]> {
  const chunks: UIMessageChunk[] = [];
  for await (const chunk of stream) {
    chunks.push(chunk);
    await onChunk(chunk, chunks.length - 1);
  }
  return chunks;
}

/** Expects one whole turn, equal to what is stored. */
export async function expectCompleteTurn(
  chunks: readonly UIMessageChunk[],
  conversation: Conversation,
): Promise<void> {
  expect(chunks[0]?.type).toBe("start");
  expect(chunks.at(-1)?.type).toBe("finish");
  expect(chunks.filter(({ type }) => type === "start")).toHaveLength(1);
  expect(await assemble(chunks)).toEqual(await conversation.answer());
}
