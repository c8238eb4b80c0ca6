/** Carries out one command. */
import type { UIMessage } from "ai";
import { z } from "zod";
import { branch as branchShape } from "../../../lib/sessions/session.ts";
import {
  asClientHolds,
  type Entry,
  type StoredMessage,
} from "../../support/harness/conversation.ts";
import type { Cluster, Node } from "./cluster.ts";
import type { Effect } from "./faults.ts";
import type { Chat, Model } from "./model.ts";
import type { Command } from "./plan.ts";
import { attempt, callerAt, expectOneOf, queue, readChat, send, talkAt } from "./requests.ts";
import { letProceed } from "./script.ts";

/** Returns what came of it, for the history that a failure prints. */
export async function execute(model: Model, command: Command): Promise<string> {
  if (!("chat" in command)) return strike(model, command);
  const { cluster } = model;
  const chat = model.chat(command.chat);
  const node = await cluster.pick(command.server);
  switch (command.name) {
    case "post":
      return send(model, node, chat, model.write(chat, command.turn));
    case "queue":
      return queue(model, node, chat, model.write(chat, command.turn), command.onBusy);
    case "race": {
      const first = model.write(chat, command.turn);
      const second = command.same ? first : model.write(chat, command.turn);
      const other = await cluster.pick(command.server + 1);
      const both = [send(model, node, chat, first), send(model, other, chat, second)];
      return (await Promise.all(both)).join(" and ");
    }
    case "edit":
      return branch(model, node, chat, () => model.write(chat, command.turn));
    case "regenerate":
      return branch(model, node, chat, ({ id, parts }) => ({ id, parts }));
    case "switch":
      return switchBranch(model, node, chat);
    case "retry":
      return chat.newest ? send(model, node, chat, chat.newest) : "nothing to send";
    case "resume":
      return resume(model, node, chat, command.from);
    case "answer":
      return answer(model, node, chat);
    case "stop":
      return stop(model, node, chat);
    case "proceed":
      for (const turn of chat.turns) await letProceed(cluster.workspace, chat.conversation, turn);
      return "";
    case "delete":
      return remove(model, node, chat, command.what);
    default:
      model.hasFailures = true;
      return strikeNode(cluster, node, command);
  }
}

async function resume(model: Model, node: Node, chat: Chat, from: number): Promise<string> {
  const stream = await attempt(() => talkAt(model, node, chat).resume({ startIndex: from }));
  if (stream?.status === 200) model.readers.push(stream);
  return expectOneOf(chat, stream, [200, 204]);
}

/** Sends a message in place of the newest of the user that the chat shows. */
async function branch(
  model: Model,
  node: Node,
  chat: Chat,
  entryFor: (shown: StoredMessage) => Entry,
): Promise<string> {
  const messages = (await readChat(model, node, chat))?.messages ?? [];
  const place = messages.findLastIndex(({ role }) => role === "user");
  const shown = messages[place];
  if (!shown) return "nothing to replace";
  return send(model, node, chat, entryFor(shown), messages[place - 1]?.id ?? "");
}

const branchesView = z.object({ branches: z.array(branchShape) });

async function switchBranch(model: Model, node: Node, chat: Chat): Promise<string> {
  const { sessionId, chatId } = chat.conversation;
  const path = `/api/sessions/${sessionId}/chats/${chatId}`;
  const listed = await attempt(() => callerAt(model, node).get(`${path}/branches`));
  expectOneOf(chat, listed, [200]);
  const branches = listed?.status === 200 ? branchesView.parse(listed.body).branches : [];
  const [message_id] = branches[0]?.sibling_ids ?? [];
  if (message_id === undefined) return "no branches";
  const body = { message_id };
  const chosen = await attempt(() =>
    callerAt(model, node).request("PUT", `${path}/branch`, { body }),
  );
  return expectOneOf(chat, chosen, [200, 409]);
}

const stopView = z.object({ stopped: z.boolean() });

async function stop(model: Model, node: Node, chat: Chat): Promise<string> {
  const [turn] = await model.cluster.workspace.sql`
    select id from turns where chat_id = ${chat.conversation.chatId} and finished_at is null`;
  const answered = await attempt(() => talkAt(model, node, chat).stop());
  const told = expectOneOf(chat, answered, [200]);
  const isStopped = answered?.status === 200 && stopView.parse(answered.body).stopped;
  if (turn && isStopped && !model.hasFailures) model.stopped.add(String(turn.id));
  return told;
}

async function answer(model: Model, node: Node, chat: Chat): Promise<string> {
  const newest = (await readChat(model, node, chat))?.messages.at(-1);
  if (newest?.role !== "assistant" || !hasOpenQuestion(newest)) return "no question";
  const { id, parts } = withAnswer(asClientHolds(newest));
  return send(model, node, chat, { id, role: "assistant", parts });
}

async function remove(model: Model, node: Node, chat: Chat, what: string): Promise<string> {
  // The last one stays, so that there is something to simulate.
  if (!model.chats.some((other) => other !== chat && other.state === "there")) return "kept";
  const { sessionId, chatId } = chat.conversation;
  const session = `/api/sessions/${sessionId}`;
  const path = what === "chat" ? `${session}/chats/${chatId}` : session;
  const answered = await attempt(() => callerAt(model, node).delete(path));
  const target = what === "chat" ? chat : chat.session;
  const ended = new Set([target, chat]);
  for (const one of ended) if (one.state === "there") one.state = "unsure";
  const told = expectOneOf(target, answered, [200, 204]);
  if (answered && answered.status !== 503) for (const one of ended) one.state = "deleted";
  return told;
}

type Strike = Exclude<Command, { readonly chat: number }>;
const effects: Readonly<Record<string, Effect>> = {
  "crash at": "crash",
  "drain at": "drain",
  "cut at": "cut",
  "stall at": "stall",
};

async function strike(model: Model, command: Strike): Promise<string> {
  model.hasFailures = true;
  if ("point" in command) {
    const { name, point, phase } = command;
    model.cluster.faults.arm({ point, phase, effect: effects[name] ?? "cut" });
  } else if (command.name === "crash database") await model.cluster.crashDatabase();
  else await letAMinutePass(model);
  return "";
}

async function strikeNode(cluster: Cluster, node: Node, command: Command): Promise<string> {
  switch (command.name) {
    case "crash":
      await cluster.crash(node);
      break;
    case "fence":
      await cluster.fence(node);
      break;
    case "drain":
      await cluster.drain(node);
      break;
    case "lose notifications":
      node.line.losesNotifications = true;
      break;
    case "slow down":
      node.line.isSlow = true;
      break;
  }
  return "";
}

/** Claims whose request has died are void after a minute, which nobody waits for here. */
export async function letAMinutePass({ cluster, accountId }: Model): Promise<void> {
  await cluster.workspace.sql`
    update chats set claimed_at = claimed_at - interval '1 minute'
    where account_id = ${accountId} and active_stream_id like 'pending:%'`;
}

type Part = UIMessage["parts"][number];

const isOpen = (part: Part): boolean =>
  part.type === "tool-ask_user_question" && part.state === "input-available";

const hasOpenQuestion = ({ parts }: { readonly parts: readonly unknown[] }): boolean =>
  (parts as Part[]).some(isOpen);

/** The message as a client holds it once its question, if it has one, is answered. */
export const withAnswer = (asked: UIMessage): UIMessage => ({
  ...asked,
  parts: asked.parts.map((part) =>
    isOpen(part)
      ? ({ ...part, state: "output-available", output: { declined: true } } as Part)
      : part,
  ),
});
