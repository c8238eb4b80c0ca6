/** Carries out one command. */
import { z } from "zod";
import { branch as branchShape } from "../../../lib/sessions/session.ts";
import { client } from "../../support/harness/clients.ts";
import {
  asClientHolds,
  type Entry,
  type StoredMessage,
} from "../../support/harness/conversation.ts";
import { registerSecret } from "../../support/secrets/register.ts";
import { decide, setPolicy } from "./approvals.ts";
import type { Cluster, Node } from "./cluster.ts";
import type { Effect } from "./faults.ts";
import type { Chat, Model } from "./model.ts";
import type { Command } from "./plan.ts";
import {
  attempt,
  callerAt,
  compact,
  expectOneOf,
  queue,
  readChat,
  send,
  submit,
  talkAt,
} from "./requests.ts";
import { hasOpenQuestion, letProceed, withAnswer } from "./script.ts";
import { setBudget, setLimit } from "./set-limits.ts";

/** Returns what came of it, for the history that a failure prints. */
export async function execute(model: Model, command: Command): Promise<string> {
  if (command.name === "set budget") return setBudget(model, command.calls);
  const { cluster } = model;
  if (command.name === "submit") {
    const { server, outputs, asks = false } = command;
    return submit(model, await cluster.pick(server), outputs, asks);
  }
  if (command.name === "decide") {
    const [one, other] = [
      await cluster.pick(command.server),
      await cluster.pick(command.server + 1),
    ];
    return decide(model, one, other, command);
  }
  if (command.name === "set policy") {
    return setPolicy(model, await cluster.pick(command.server), command.policy);
  }
  if (!("chat" in command)) return strike(model, command);
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
      return branch(model, node, chat, ({ id, parts }) => {
        chat.regenerated.add(id);
        return { id, parts };
      });
    case "switch":
      return switchBranch(model, node, chat);
    case "retry":
      return chat.newest ? send(model, node, chat, chat.newest) : "nothing to send";
    case "reuse id":
      return reuseId(model, node, chat);
    case "resume":
      return resume(model, node, chat, command);
    case "answer":
      return answer(model, node, chat);
    case "stop":
      return stop(model, node, chat);
    case "compact":
      return compact(model, node, chat);
    case "set limit":
      return setLimit(model, node, chat, command.calls);
    case "proceed":
      for (const turn of chat.turns) await letProceed(cluster.workspace, chat.conversation, turn);
      return "";
    case "delete":
      return remove(model, node, chat, command.what);
    case "revoke key":
      return revokeKey(model, node);
    case "remove inviter":
    case "demote inviter":
      return endInviter(model, node, await cluster.pick(command.server + 1), command.name);
    default:
      model.hasFailures = true;
      return strikeNode(cluster, node, command);
  }
}

async function resume(
  model: Model,
  node: Node,
  chat: Chat,
  { from, byRun }: { readonly from: number; readonly byRun: boolean },
): Promise<string> {
  const runId = byRun ? chat.runs.at(from % Math.max(1, chat.runs.length)) : undefined;
  const named = runId === undefined ? {} : { runId };
  const stream = await attempt(() =>
    talkAt(model, node, chat).resume({ startIndex: from, ...named }),
  );
  if (stream?.status === 200) model.readers.push(stream);
  return expectOneOf(chat, stream, runId === undefined ? [200, 204] : [200]);
}

/** An id that was stored keeps its content; one whose request was lost may be free. */
async function reuseId(model: Model, node: Node, chat: Chat): Promise<string> {
  if (!chat.newest || !chat.accepted.has(chat.newest.id)) return "nothing to overwrite";
  const entry = { id: chat.newest.id, content: "overwritten" };
  const answered = await attempt(() => talkAt(model, node, chat).send([entry]));
  return expectOneOf(chat, answered, [409]);
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
  chat.steered.clear();
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
  // The last chat stays, or there would be nothing to simulate.
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

/** Creates the next key before it revokes the others, because any of these requests may be lost. */
async function revokeKey(model: Model, node: Node): Promise<string> {
  const keys = () => callerAt(model, node);
  const made = await attempt(() => keys().post("/api/keys", { key_name: "next" }));
  const told = expectOneOf(there, made, [201]);
  if (made?.status !== 201) return told;
  const { id, key } = z.object({ id: z.string(), key: z.string() }).parse(made.body);
  model.caller = client({ key: registerSecret(key, "API key") });
  const listed = await attempt(() => keys().get("/api/keys"));
  expectOneOf(there, listed, [200]);
  if (listed?.status !== 200) return "not listed";
  const ids = keyList.parse(listed.body).keys.map((one) => one.id);
  for (const chat of model.chats) chat.steered.clear();
  for (const old of ids.filter((one) => one !== id)) {
    const revoked = await attempt(() => keys().delete(`/api/keys/${old}`));
    expectOneOf(there, revoked, [200]);
  }
  return "";
}

/** Invites the caller to a new organization, whose inviter loses the right at the same time. */
async function endInviter(model: Model, node: Node, other: Node, how: string): Promise<string> {
  const { sql, createPerson } = model.cluster.workspace;
  const inviter = await createPerson(node.server.url);
  const [sent] = await sql`
    with organization as (
      insert into accounts (kind, name) values ('organization', 'simulated') returning id),
    founder as (insert into accounts (kind) values ('workspace') returning id),
    owners as (
      insert into organization_accounts (organization_id, account_id, role)
      select o.id, a.id, 'owner' from organization o,
        (select id from founder union all select ${inviter.id}::uuid) a),
    invitation as (
      insert into organization_invitations (organization_id, invited_by, email, role, expires_at)
      select o.id, ${inviter.id}, a.email, 'owner', now() + interval '1 day'
      from organization o, accounts a where a.id = ${model.accountId} returning id)
    select o.id as organization, i.id as invitation from organization o, invitation i`;
  const member = `/api/organizations/${sent?.organization}/members/${inviter.id}`;
  const accept = (at: Node) =>
    attempt(() => callerAt(model, at).post(`/api/invitations/${sent?.invitation}/accept`));
  const end = () =>
    attempt(() =>
      how === "remove inviter"
        ? inviter.caller.delete(member)
        : inviter.caller.patch(member, { role: "member" }),
    );
  const [ended, accepted] = await Promise.all([end(), accept(other)]);
  const told = [expectOneOf(there, ended, [200]), expectOneOf(there, accepted, [200, 403, 404])];
  const late = ended?.status === 200 ? await accept(other) : undefined;
  return [...told, expectOneOf(there, late, [404])].join(" and ");
}

const there = { state: "there" } as const;
const keyList = z.object({ keys: z.array(z.object({ id: z.string() })) });

type Strike = Exclude<
  Command,
  { readonly chat: number } | { readonly name: "set budget" | "submit" | "decide" | "set policy" }
>;
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

/** The claim of a request that died expires after a minute, which this skips. */
export async function letAMinutePass({ cluster, accountId }: Model): Promise<void> {
  await cluster.workspace.sql`
    update chats set claimed_at = claimed_at - interval '1 minute'
    where account_id = ${accountId} and active_stream_id like 'pending:%'`;
}
