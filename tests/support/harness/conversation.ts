/** A chat with a sandbox, talked to over HTTP. */
import type { UIMessage } from "ai";
import { z } from "zod";
import { chat, message } from "../../../lib/sessions/session.ts";
import { createSession } from "../fixtures/sessions.ts";
import type { Answer, Client } from "./clients.ts";
import { TurnStream } from "./turn-stream.ts";

export interface Entry {
  readonly id: string;
  readonly role?: "user" | "assistant";
  readonly content?: string;
  readonly parts?: readonly unknown[];
}

const view = z.object({ chat, isStreaming: z.boolean(), messages: z.array(message) });
type ChatView = z.output<typeof view>;
export type StoredMessage = ChatView["messages"][number];

export interface Conversation {
  readonly sessionId: string;
  readonly chatId: string;
  /** A text is a new user message with an id of its own. */
  send(
    messages: string | readonly Entry[],
    more?: { readonly context?: { readonly contextLimit: number } },
  ): Promise<TurnStream>;
  resume(from?: { startIndex?: number; lastEventId?: number }): Promise<TurnStream>;
  stop(): Promise<Answer>;
  read(): Promise<ChatView>;
  /** The newest assistant message as it is stored, in the form a client holds it. */
  answer(): Promise<UIMessage>;
  /** The same chat through another client, as of another server process. */
  through(caller: Client): Conversation;
}

export async function openConversation(caller: Client): Promise<Conversation> {
  const { session, chat: first } = await createSession(caller);
  const sandbox = await caller.post("/api/sandbox", { sessionId: session.id });
  if (sandbox.status !== 200) throw new Error(`POST /api/sandbox: ${sandbox.text}`);
  return conversationAt(caller, session.id, first.id);
}

/** One more chat in the same session, with the same sandbox. */
export async function openChat({ sessionId }: Conversation, caller: Client): Promise<Conversation> {
  const answer = await caller.post(`/api/sessions/${sessionId}/chats`, {});
  if (answer.status !== 201) throw new Error(`POST chats: ${answer.status} ${answer.text}`);
  return conversationAt(caller, sessionId, z.object({ chat }).parse(answer.body).chat.id);
}

export function conversationAt(caller: Client, sessionId: string, chatId: string): Conversation {
  const read = async (): Promise<ChatView> => {
    const answer = await caller.get(`/api/sessions/${sessionId}/chats/${chatId}`);
    if (answer.status !== 200) throw new Error(`GET chat: ${answer.status} ${answer.text}`);
    return view.parse(answer.body);
  };
  return {
    sessionId,
    chatId,
    read,
    send: (messages, more = {}) =>
      openStream(caller, "POST", "/api/chat", {
        body: {
          sessionId,
          chatId,
          ...more,
          messages:
            typeof messages === "string"
              ? [{ id: crypto.randomUUID(), content: messages }]
              : messages,
        },
      }),
    resume: ({ startIndex, lastEventId } = {}) =>
      openStream(
        caller,
        "GET",
        `/api/chat/${chatId}/stream${startIndex === undefined ? "" : `?startIndex=${startIndex}`}`,
        lastEventId === undefined ? {} : { headers: { "last-event-id": String(lastEventId) } },
      ),
    stop: () => caller.post(`/api/chat/${chatId}/stop`),
    answer: async () => {
      const newest = (await read()).messages.filter(({ role }) => role === "assistant").at(-1);
      if (!newest) throw new Error("The chat has no answer");
      return asClientHolds(newest);
    },
    through: (other) => conversationAt(other, sessionId, chatId),
  };
}

/** A stored message without what only the server knows of it. */
export function asClientHolds({ createdAt: _, ...kept }: StoredMessage): UIMessage {
  return kept as UIMessage;
}

async function openStream(
  caller: Client,
  method: string,
  path: string,
  { body, headers }: { body?: unknown; headers?: Record<string, string> },
): Promise<TurnStream> {
  const leave = new AbortController();
  const response = await fetch(caller.url + path, {
    method,
    signal: leave.signal,
    headers: { ...caller.headers, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return new TurnStream(response, leave);
}
