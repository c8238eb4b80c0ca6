/** A chat with a sandbox, over HTTP. */

import type { TurnOptions } from "@platform/endpoint/contract/run-options";
import type { UIMessage } from "ai";
import { z } from "zod";
import { chat, message } from "../../../lib/sessions/session.ts";
import { createSession } from "../fixtures/sessions.ts";
import { type Answer, type Client, dataOf } from "./clients.ts";
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

export class Conversation {
  readonly sessionId: string;
  readonly chatId: string;
  readonly #caller: Client;

  constructor(caller: Client, sessionId: string, chatId: string) {
    this.#caller = caller;
    this.sessionId = sessionId;
    this.chatId = chatId;
  }

  /** Sends messages; a text becomes a user message with a new id. */
  send(
    messages: string | readonly Entry[],
    more: {
      readonly context?: { readonly contextLimit: number };
      readonly onBusy?: "enqueue" | "steer" | "interrupt";
      readonly parentId?: string;
      readonly trigger?: "regenerate-message";
      readonly messageId?: string;
      readonly client_tools?: readonly object[];
    } & TurnOptions = {},
  ): Promise<TurnStream> {
    const { sessionId, chatId } = this;
    const isText = typeof messages === "string";
    const entries = isText ? [{ id: crypto.randomUUID(), content: messages }] : messages;
    const body = JSON.stringify({ sessionId, chatId, ...more, messages: entries });
    return openStream(this.#caller, "/api/chat", { method: "POST", body });
  }

  resume(
    from: { startIndex?: number; lastEventId?: number; runId?: string } = {},
  ): Promise<TurnStream> {
    const { startIndex = 0, lastEventId, runId } = from;
    const named = runId === undefined ? "" : `&runId=${encodeURIComponent(runId)}`;
    const query = `?startIndex=${startIndex}${named}`;
    const headers = { ...(lastEventId !== undefined && { "last-event-id": String(lastEventId) }) };
    return openStream(this.#caller, `/api/chat/${this.chatId}/stream${query}`, { headers });
  }

  stop(): Promise<Answer> {
    return this.#caller.post(`/api/chat/${this.chatId}/stop`);
  }

  async read(): Promise<ChatView> {
    const path = `/api/sessions/${this.sessionId}/chats/${this.chatId}`;
    const answer = await this.#caller.get(path);
    if (answer.status !== 200) throw new Error(`GET chat: ${answer.status} ${answer.text}`);
    return view.parse(answer.body);
  }

  /** Returns the newest assistant message as it is stored, in the form a client holds it. */
  async answer(): Promise<UIMessage> {
    const { messages } = await this.read();
    const newest = messages.findLast(({ role }) => role === "assistant");
    if (!newest) throw new Error("The chat has no answer");
    return asClientHolds(newest);
  }

  /** Returns the same chat through another client, such as one of another server process. */
  through(caller: Client): Conversation {
    return new Conversation(caller, this.sessionId, this.chatId);
  }
}

export async function openConversation(caller: Client): Promise<Conversation> {
  const { session, chat: first } = await createSession(caller);
  await provision(caller, session.id);
  return new Conversation(caller, session.id, first.id);
}

const provision = (caller: Client, sessionId: string) =>
  dataOf(caller.api.POST("/api/sandbox", { body: { sessionId } }));

/**
 * Starts a turn whose command runs longer than any test; only a stop ends it. Resolves once the
 * command is running; `stream` resolves with all frames when it has ended.
 */
export async function startEndlessTurn(
  caller: Client,
  { sessionId, chatId }: { sessionId: string; chatId: string },
): Promise<{ stream: Promise<string> }> {
  await provision(caller, sessionId);
  const turn = await new Conversation(caller, sessionId, chatId).send("run: sleep 100");
  await turn.until(({ type }) => type === "tool-input-available");
  return { stream: turn.ended.then(() => turn.text) };
}

/** One more chat in the same session, with the same sandbox. */
export async function openChat({ sessionId }: Conversation, caller: Client): Promise<Conversation> {
  const params = { path: { sessionId } };
  const made = dataOf(caller.api.POST("/api/sessions/{sessionId}/chats", { params, body: {} }));
  return new Conversation(caller, sessionId, (await made).chat.id);
}

/** A stored message without what only the server knows of it. */
export function asClientHolds({ createdAt: _, ...kept }: StoredMessage): UIMessage {
  return kept as UIMessage;
}

async function openStream(caller: Client, path: string, init: RequestInit): Promise<TurnStream> {
  const leave = new AbortController();
  const headers = { ...caller.headers, "content-type": "application/json", ...init.headers };
  const response = await fetch(caller.url + path, { ...init, signal: leave.signal, headers });
  return new TurnStream(response, leave);
}
