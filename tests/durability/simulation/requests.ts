/** The requests of a simulation, and the permitted responses to each, whatever has failed. */
import { z } from "zod";
import { message } from "../../../lib/sessions/session.ts";
import type { Answer, Client } from "../../support/harness/clients.ts";
import type { Conversation, Entry } from "../../support/harness/conversation.ts";
import type { TurnStream } from "../../support/harness/turn-stream.ts";
import { clientAt } from "../../support/harness/workspace.ts";
import type { Node } from "./cluster.ts";
import type { Chat, Model, Stored } from "./model.ts";
import { submitting } from "./script.ts";

export const callerAt = (model: Model, node: Node): Client =>
  clientAt(node.server.url, model.caller);

export const talkAt = (model: Model, node: Node, chat: Chat): Conversation =>
  chat.conversation.through(callerAt(model, node));

/** Posts a message, and reads the stream if there is one. */
export async function send(
  model: Model,
  node: Node,
  chat: Chat,
  entry: Entry,
  parentId?: string,
): Promise<string> {
  const more = { ...limitOf(model, entry), ...(parentId !== undefined && { parentId }) };
  const stream = await attempt(() => talkAt(model, node, chat).send([entry], more));
  accept(model, chat, entry, stream);
  return expectOneOf(chat, stream, [200, 409, ...overBudget(model)]);
}

const limitOf = ({ contextLimits }: Model, { id }: Entry) => {
  const contextLimit = contextLimits.get(id);
  return contextLimit === undefined ? {} : { context: { contextLimit } };
};

const overBudget = ({ budget }: Model): readonly number[] => (budget === null ? [] : [402]);

/** Posts a message that may wait. */
export async function queue(
  model: Model,
  node: Node,
  chat: Chat,
  entry: Entry,
  onBusy: "enqueue" | "steer" | "interrupt",
): Promise<string> {
  const more = { ...limitOf(model, entry), onBusy };
  const stream = await attempt(() => talkAt(model, node, chat).send([entry], more));
  if (onBusy === "steer" && stream?.status === 200) chat.steered.add(entry.id);
  accept(model, chat, entry, stream);
  return expectOneOf(chat, stream, [200, 409, 429, ...overBudget(model)]);
}

/** Starts a run that submits outputs. */
export async function submit(model: Model, node: Node, outputs: readonly unknown[], asks: boolean) {
  const name = model.newName();
  model.cluster.workspace.model.script(name, submitting(outputs, asks));
  const output_schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const policy = asks && { approvals: { bash: "ask" } };
  const body = { prompt: `[script:${name}]`, output_schema, ...policy };
  const started = await attempt(() => callerAt(model, node).post("/api/chat/runs", body));
  return expectOneOf({ state: "there" }, started, [202, ...overBudget(model)]);
}

/** Compacts the conversation, which is leased to one request at a time. */
export async function compact(model: Model, node: Node, chat: Chat): Promise<string> {
  const { sessionId, chatId } = chat.conversation;
  const path = `/api/sessions/${sessionId}/chats/${chatId}/compact`;
  const compacted = await attempt(() => callerAt(model, node).post(path));
  return expectOneOf(chat, compacted, [200, 409, ...overBudget(model)]);
}

/** A message that waits has no run yet, and a stop drops it. */
function accept(model: Model, chat: Chat, entry: Entry, stream: TurnStream | undefined): void {
  if (stream?.status !== 200 || stream.runId === "") return;
  model.readers.push(stream);
  if (!chat.runs.includes(stream.runId)) chat.runs.push(stream.runId);
  if (entry.role !== "assistant") chat.accepted.add(entry.id);
}

const chatView = z.object({ isStreaming: z.boolean(), messages: z.array(message) });
export type ChatView = z.output<typeof chatView>;

/** Undefined when the chat could not be read, or has been deleted. */
export async function readChat(
  model: Model,
  node: Node,
  chat: Chat,
): Promise<ChatView | undefined> {
  const { sessionId, chatId } = chat.conversation;
  const path = `/api/sessions/${sessionId}/chats/${chatId}`;
  const answered = await attempt(() => callerAt(model, node).get(path));
  expectOneOf(chat, answered, [200]);
  return answered?.status === 200 ? chatView.parse(answered.body) : undefined;
}

/** Undefined when the server died, or could not be reached. */
export async function attempt<T>(ask: () => Promise<T>): Promise<T | undefined> {
  return ask().catch((error: unknown) => {
    if (error instanceof TypeError) return undefined;
    throw error;
  });
}

/**
 * Any request may find the database unavailable, and only deleted objects are missing.
 * @returns the answer, for the history
 */
export function expectOneOf(
  { state }: Stored,
  answered: Pick<Answer | TurnStream, "status" | "text"> | undefined,
  statuses: readonly number[],
): string {
  if (!answered) return "no answer";
  const { status, text } = answered;
  const allowed = [
    503,
    ...(state === "there" ? [] : [404]),
    ...(state === "deleted" ? [] : statuses),
  ];
  if (!allowed.includes(status)) throw new Error(`The answer was ${status}: ${text}`);
  return String(status);
}
