/** The end of a simulation: once nothing fails, every turn ends and every chat is free. */
import type { UIMessage } from "ai";
import { expect } from "vitest";
import { asClientHolds, type StoredMessage } from "../../support/harness/conversation.ts";
import { assemble, expectCompleteTurn, type Frame } from "../../support/harness/turn-stream.ts";
import { approveAll } from "./approvals.ts";
import type { Node } from "./cluster.ts";
import { letAMinutePass } from "./commands.ts";
import { expectInvariants, readLogs } from "./invariants.ts";
import type { Chat, Model } from "./model.ts";
import type { TurnPlan } from "./plan.ts";
import { readChat, send, talkAt } from "./requests.ts";
import { isScripted, letProceed, withAnswer } from "./script.ts";
import { setBudget } from "./set-limits.ts";
import { expectFilesStored } from "./stored-files.ts";

const lastTurn: TurnPlan = { tools: [1], end: "text", pause: null };

export async function settle(model: Model): Promise<void> {
  const { cluster } = model;
  cluster.heal();
  await expectStopsDone(model);
  // A chat's waiting message starts when the claim of a request that died expires.
  await letAMinutePass(model);
  await expectAllEnded(model);
  await letAMinutePass(model);
  const node = await cluster.pick(0);
  await expectInvariants(model, node);
  // The last messages are answered, whatever the budget was before.
  await setBudget(model, null);
  const cut = model.readers.length;
  // A message that has steered a turn is not answered again when it is repeated.
  for (const chat of model.chats) {
    for (const id of chat.steered) await send(model, node, chat, { id, content: `[script:${id}]` });
  }
  await expectAllEnded(model);
  const sendLast = async (chat: Chat) => {
    const message = model.write(chat, lastTurn);
    const answered = await send(model, node, chat, message);
    expect(answered, "a message to a chat that is free").toBe(
      chat.accepted.has(message.id) ? "200" : "404",
    );
  };
  await Promise.all(model.chats.map(sendLast));
  await expectAllEnded(model);
  await Promise.all(model.readers.map(({ ended }) => ended));
  // Those before may have been cut by a fault.
  for (const { isDone } of model.readers.slice(cut)) expect(isDone, "[DONE]").toBe(true);
  await expectReadToEnd(model, node);
  await expectFilesStored(model, node);
  await expectInvariants(model, node);
  const logs = await readLogs(model);
  await Promise.all(model.chats.map((chat) => expectStored(model, chat, logs)));
}

/** Every reader that was cut can read the rest of its turn, each chunk once, to its last one. */
async function expectReadToEnd(model: Model, node: Node): Promise<void> {
  const turns = await model.cluster.workspace.sql`
    select run_id, chat_id from turns where account_id = ${model.accountId} and run_id is not null`;
  for (const { run_id, chat_id } of turns) {
    const runId = String(run_id);
    const chat = model.chats.find(({ conversation }) => conversation.chatId === chat_id);
    if (!chat) continue;
    const nexts = model.readers.flatMap((reader) => {
      const last = reader.runId === runId ? reader.frames.at(-1) : undefined;
      return last && last.chunk.type !== "finish" ? [last.id + 1] : [];
    });
    for (const startIndex of new Set(nexts)) {
      const rest = await talkAt(model, node, chat).resume({ runId, startIndex });
      const frames = await rest.ended;
      expect(frames[0]?.id, `the rest of ${runId}`).toBe(startIndex);
      expect(frames.at(-1)?.chunk.type, `the end of ${runId}`).toBe("finish");
      model.readers.push(rest);
    }
  }
}

/** A turn that was stopped ends although nothing lets it proceed. */
async function expectStopsDone({ cluster, stopped }: Model): Promise<void> {
  const running = () => cluster.workspace.sql`
    select id from turns where id = any (${[...stopped]}::uuid[]) and finished_at is null`;
  await expect.poll(running, { message: "turns that do not stop", interval: 20 }).toEqual([]);
}

async function expectAllEnded(model: Model): Promise<void> {
  const { cluster, chats, accountId } = model;
  const { workspace } = cluster;
  for (const { conversation, turns } of chats) {
    for (const turn of turns) await letProceed(workspace, conversation, turn);
  }
  // Runs belong to no account; older ones may be left over from a simulation that failed.
  const running = async () => {
    await approveAll(model);
    return workspace.sql`
    select r.run_id, r.owner, t.message_id, s.status, s.attempt
    from accounts a
    join engine.runs r on r.created_at > a.created_at and r.status = 'running'
    left join turns t on t.run_id = r.run_id
    left join engine.steps s on s.run_id = r.run_id and s.completed_at is null
    where a.id = ${accountId}`;
  };
  const waiting = async () => {
    await approveAll(model);
    return workspace.sql`
    select turn_id, begun_at from queued_turns where account_id = ${accountId}`;
  };
  const message = "turns that never begin";
  await expect.poll(waiting, { message, interval: 20 }).toEqual([]);
  await expect.poll(running, { message: "runs that never end", interval: 20 }).toEqual([]);
}

/** Each message of a chat equals the one that a client assembles from the streams of its turns. */
async function expectStored(
  model: Model,
  chat: Chat,
  logs: ReadonlyMap<string, readonly Frame[]>,
): Promise<void> {
  const { cluster } = model;
  const { chatId } = chat.conversation;
  const view = await readChat(model, await cluster.pick(0), chat);
  if (!view) return;
  // With the messages of other branches.
  const rows = await cluster.workspace.sql<(StoredMessage & { metadata: unknown })[]>`
    select id, role, parts, metadata from messages
    where chat_id = ${chatId} and role = 'assistant' order by created_at, id`;
  const turns = await cluster.workspace.sql`
    select run_id, message_id, assistant_message_id from turns
    where chat_id = ${chatId} and (run_id is not null or message_id = assistant_message_id)
    order by created_at`;
  const assembled = new Map<string, UIMessage>();
  for (const { run_id, message_id, assistant_message_id } of turns) {
    const asked = message_id === assistant_message_id && assembled.get(message_id);
    // The request that stored the answer died before its run started.
    if (asked && run_id === null) assembled.set(message_id, withAnswer(asked));
    if (run_id === null) continue;
    const frames = logs.get(String(run_id)) ?? [];
    expectCompleteTurn(frames);
    const chunks = frames.map(({ chunk }) => chunk);
    const message = await assemble(chunks, asked ? withAnswer(asked) : undefined);
    assembled.set(String(assistant_message_id), message);
  }
  const stored = rows.map(({ metadata, ...row }) =>
    asClientHolds({ ...row, ...(metadata && { metadata }) } as StoredMessage),
  );
  expect(stored).toEqual(stored.map(({ id }) => assembled.get(id)));
  expect(stored).toHaveLength(assembled.size);
  for (const part of stored.flatMap(({ parts }) => parts)) {
    if (part.type === "text") expect(isScripted(part.text), part.text).toBe(true);
  }
  const effects = await cluster.workspace.readSandboxFile(chat.conversation.sessionId, "effects");
  for (const part of stored.flatMap(({ parts }) => parts)) {
    const hasRun = part.type === "tool-bash" && JSON.stringify(part).includes('"exitCode":0');
    if (hasRun) expect(effects, "the effect of a finished tool").toContain(part.toolCallId);
  }
}
