/**
 * The invariants of the database and of clients' reads, whatever has failed.
 * This file is long because it has every invariant.
 */
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { textOf } from "../../support/fakes/openai.ts";
import type { Frame } from "../../support/harness/turn-stream.ts";
import { violationsInApprovals } from "./approvals.ts";
import type { Node } from "./cluster.ts";
import type { Chat, Model } from "./model.ts";
import { readChat } from "./requests.ts";

export async function expectInvariants(model: Model, node: Node): Promise<void> {
  const violations = [
    ...model.takeDown(),
    ...(await violationsInDatabase(model)),
    ...(await violationsInUsage(model)),
    ...(await violationsOfBudget(model)),
    ...(await violationsOfLimits(model)),
    ...(await violationsInLogs(model)),
    ...(await violationsInContext(model)),
    ...(await violationsInApprovals(model)),
  ];
  const inChats = model.chats.flatMap((chat) => [
    violationsInEffects(model, chat),
    violationsInView(model, node, chat),
  ]);
  for (const found of await Promise.all(inChats)) violations.push(...found);
  expect(violations).toEqual([]);
}

/** One statement, and so one moment. */
async function violationsInDatabase({ cluster, accountId }: Model): Promise<string[]> {
  const rows = await cluster.workspace.sql`
    with turn as (
      select t.*, c.active_stream_id as claim from turns t join chats c on c.id = t.chat_id
      where t.account_id = ${accountId})
    select 'more than one live run in chat ' || chat_id as what from turn
    where finished_at is null group by chat_id having count(*) > 1
    union all
    select 'the claim of a chat names no live run: ' || c.active_stream_id from chats c
    where c.account_id = ${accountId} and c.active_stream_id is not null
      and not exists (select from turn t
        where t.chat_id = c.id and t.finished_at is null
          and ((t.run_id is null and c.active_stream_id = 'pending:' || t.id)
            or (t.run_id = c.active_stream_id and exists (
              select from engine.runs r where r.run_id = t.run_id and r.status = 'running'))))
    union all
    select 'a live run has no claim: turn ' || id from turn
    where finished_at is null and claim is distinct from coalesce(run_id, 'pending:' || id)
    union all
    select 'a run ended without message and error: turn ' || t.id from turn t
    where finished_at is not null and error is null and not exists (select from messages m
      where m.chat_id = t.chat_id and m.id = t.assistant_message_id and m.role = 'assistant')
    union all
    select 'a shown message does not follow the one before it: ' || id from (
      select m.id, m.parent_id,
        coalesce(lag(m.id) over (partition by m.chat_id order by m.created_at, m.id), '') as before
      from messages m join chats c on c.id = m.chat_id
      where c.account_id = ${accountId} and m.on_path) shown
    where parent_id <> before
    union all
    select 'a live run answers a message that is not shown: turn ' || t.id
    from turn t join messages m on m.chat_id = t.chat_id and m.id = t.message_id
    where t.finished_at is null and not m.on_path
    union all
    select 'a run has no valid output, or one that it did not complete with: turn ' || id from turn
    where (status = 'completed' and output_schema is not null)
      <> (output is not null and jsonb_typeof(output -> 'n') is not distinct from 'number')
    union all
    select 'a credential outlives its run: ' || k.name from api_keys k
    where k.account_id = ${accountId} and k.scope = 'run' and k.revoked_at is null
      and not exists (select from turn t where t.key_id = k.id and t.finished_at is null)
    union all
    select 'a turn goes on without the key that started it: turn ' || t.id from turn t
    join api_keys k on k.id = t.caller_key_id
    where t.finished_at is null and t.stop_requested_at is null and k.revoked_at <= now()
    union all
    select 'a message waits for a key that is revoked: ' || q.message_id from queued_turns q
    join api_keys k on k.id = (q.claim).caller_key_id
    where q.account_id = ${accountId} and q.begun_at is null and k.revoked_at <= now()
    union all
    select 'a message waits although a turn has taken it: ' || q.message_id from queued_turns q
    join steering_messages s on s.chat_id = q.chat_id and s.message_id = q.message_id
    join turn t on t.id = s.turn_id
    where q.begun_at is null and t.status in ('running', 'completed')
    union all
    select 'a turn has ended and not cleared what it has taken: ' || t.id from turn t
    join steering_messages s on s.turn_id = t.id
    where t.finished_at is not null and s.parts is not null
    union all
    select 'an invitation outlives the right of its sender: ' || i.id
    from organization_invitations i join accounts a on a.email = i.email
    where a.id = ${accountId} and i.status = 'pending' and not exists (
      select from organization_accounts m where m.organization_id = i.organization_id
        and m.account_id = i.invited_by and m.role = 'owner')
    union all
    select 'a tool has a record although its turn has ended: turn ' || t.id
    from turn t join tool_runs r on r.turn_id = t.id where t.finished_at is not null`;
  return rows.map(({ what }) => String(what));
}

/**
 * Each answer that was recorded is one that the model server has completed, and every step that has an
 * answer is recorded. Answers that were lost with their process are not.
 */
async function violationsInUsage({ cluster, accountId, chats }: Model): Promise<string[]> {
  const { sql, model } = cluster.workspace;
  const entries = await sql`
    select e.step, e.input_tokens::int, e.output_tokens::int, t.chat_id,
      m.parts #>> '{0,text}' as text
    from usage_entries e
    join turns t on t.id::text = e.source
    left join messages m on m.chat_id = t.chat_id and m.id = t.message_id and m.role = 'user'
    where e.account_id = ${accountId} and not e.estimated and e.tool = 0`;
  const unexplained = new Map<string, string[]>();
  const keyOf = (input: unknown, output: unknown) => `${input} ${output}`;
  const violations = entries.flatMap(({ step, input_tokens, output_tokens, chat_id, text }) => {
    // The turn that follows an answered question has no text.
    const name = /^\[script:([\w-]+)\]$/.exec(String(text))?.[1];
    const chat = chats.find(({ conversation }) => conversation.chatId === chat_id);
    if (name === undefined || !chat) return [];
    // A message that steers a turn names the script of its next calls.
    const reported =
      unexplained.get(String(chat_id)) ??
      chat.turns
        .flatMap((turn) => model.callsOf(turn.name))
        .flatMap(({ usage }) =>
          usage ? [keyOf(usage.prompt_tokens, usage.completion_tokens)] : [],
        );
    unexplained.set(String(chat_id), reported);
    const place = reported.indexOf(keyOf(input_tokens, output_tokens));
    if (place < 0) return [`step ${step} of ${name} has a usage that no answer had`];
    reported.splice(place, 1);
    return [];
  });
  const unrecorded = await sql`
    select t.id from turns t join run_traces r on r.turn_id = t.id
    cross join jsonb_array_elements(r.steps) as s
    where t.account_id = ${accountId} and s ->> 'finish_reason' not in ('interrupted', 'error')
      and not exists (select from usage_entries e
        where e.account_id = t.account_id and e.source = t.id::text and not e.estimated
          and e.step = (s ->> 'index')::int and e.tool = 0)`;
  const unsummed = await sql`
    select from (select sum(calls) as calls from usage_days where account_id = ${accountId}) d,
      (select count(*) as calls from usage_entries where account_id = ${accountId} and is_summed) e
    where coalesce(d.calls, 0) <> e.calls`;
  violations.push(...unrecorded.map(({ id }) => `a step of turn ${id} has no usage`));
  return [...violations, ...unsummed.map(() => "the sums of usage differ from its entries")];
}

/** When the budget is spent, each active turn may end the call that it has in flight, and makes no other. */
async function violationsOfBudget({ cluster, accountId, budget }: Model): Promise<string[]> {
  if (budget === null) return [];
  const rows = await cluster.workspace.sql`
    select source, count(*) from (
      select e.source, e.created_at, coalesce(sum(e.cost_usd) over (
        order by e.created_at, e.source, e.step, e.call
        rows between unbounded preceding and 1 preceding), 0) as spent
      from usage_entries e where e.account_id = ${accountId}) entry
    where created_at > ${budget.since}::timestamptz and spent >= ${budget.usd}
    group by source having count(*) > 1`;
  return rows.map(({ source, count }) => `turn ${source} made ${count} calls over the budget`);
}

/**
 * Every request fits, starts with a message of the user, and has the result of each tool call. It has no
 * other summary than one that is recorded, and no part of a conversation is condensed twice.
 */
async function violationsInContext(model: Model): Promise<string[]> {
  const { contextLimits, chats, cluster, accountId } = model;
  // Before the database is read: a summary is recorded before it is sent.
  const requests = chats.flatMap(({ turns }) =>
    turns.flatMap(({ name }) =>
      cluster.workspace.model.callsOf(name).filter(({ tools }) => tools.length > 0),
    ),
  );
  const compactions = await cluster.workspace.sql`
    select c.kind, c.state #>> '{summary,text}' as summary,
      (select count(*) from compactions other
        where other.chat_id = c.chat_id and other.turn_id = c.turn_id and other.kind = c.kind
          and c.kind = 'summarized' and other.state #> '{summary,to}' = c.state #> '{summary,to}') as same
    from compactions c where c.account_id = ${accountId}`;
  // A message that steers a turn has the limit of the turn.
  const steering = await cluster.workspace.sql`
    select s.message_id as id from steering_messages s join turns t on t.id = s.turn_id
    where t.account_id = ${accountId}`;
  const limits = new Map(contextLimits);
  for (const { id } of steering) limits.delete(id);
  const found = requests.flatMap(({ script = "", messages, usage }) => {
    const called = messages.flatMap(({ tool_calls = [] }) =>
      tool_calls.map((call) => Object(call).id),
    );
    const answered = messages.flatMap((message) => Object(message).tool_call_id ?? []);
    const [, after] = textOf(messages[1]?.content).split("was condensed to save context:\n\n");
    const summary = after?.split("\n</summary>")[0];
    return [
      ...((usage?.prompt_tokens ?? 0) > (limits.get(script) ?? Number.POSITIVE_INFINITY)
        ? [`a request of ${script} has ${usage?.prompt_tokens} tokens`]
        : []),
      ...(messages[1]?.role === "user" ? [] : [`a request of ${script} starts with an answer`]),
      ...(isDeepStrictEqual(called, answered) ? [] : [`${script}: ${called} has ${answered}`]),
      ...(summary === undefined || compactions.some((one) => one.summary === summary)
        ? []
        : [`${script} has a summary that is not recorded: ${summary}`]),
    ];
  });
  return [
    ...found,
    ...compactions.filter(({ same }) => Number(same) > 1).map(() => "a part was condensed twice"),
  ];
}

/** A turn makes no call once it has cost as much as it may, so only its last call exceeds that. */
async function violationsOfLimits({ cluster, accountId }: Model): Promise<string[]> {
  const rows = await cluster.workspace.sql`
    select source, count(*) from (
      select e.source, (t.options #>> '{limits,max_cost_usd}')::numeric as allowed,
        coalesce(sum(e.cost_usd) over (
          partition by e.source order by e.created_at, e.step, e.call
          rows between unbounded preceding and 1 preceding), 0) as spent
      from usage_entries e join turns t on t.id::text = e.source
      where e.account_id = ${accountId}) entry
    where spent >= allowed group by source`;
  return rows.map(({ source, count }) => `turn ${source} made ${count} calls over its limit`);
}

/** The chunk log of each turn, by run: dense, unchanged, and with all that clients have read. */
async function violationsInLogs(model: Model): Promise<string[]> {
  const logs = await readLogs(model);
  return [...logs].flatMap(([runId, frames]) => {
    const gaps = frames.filter((frame, place) => frame.id !== place);
    return [
      ...gaps.map(({ id }) => `${runId}: the log has a gap before ${id}`),
      ...frames.flatMap((frame) => model.compare(runId, frame)),
      ...(model.length(runId) > frames.length ? [`${runId}: read, but not in the log`] : []),
    ];
  });
}

export async function readLogs({ cluster, accountId }: Model): Promise<Map<string, Frame[]>> {
  const rows = await cluster.workspace.sql`
    select t.run_id, c.first_index, c.count, c.data
    from turns t join engine.chunks c on c.stream = t.id
    where t.account_id = ${accountId} and t.run_id is not null order by t.id, c.first_index`;
  const logs = new Map<string, Frame[]>();
  for (const { run_id, first_index, count, data } of rows) {
    const texts = Number(count) === 0 ? [] : String(data).split("\n");
    const frames = texts.map((text, place) => ({
      id: Number(first_index) + place,
      chunk: JSON.parse(text),
    }));
    logs.set(String(run_id), [...(logs.get(String(run_id)) ?? []), ...frames]);
  }
  return logs;
}

/** Each command leaves the id of its call in the file `effects`. */
async function violationsInEffects({ cluster }: Model, { conversation }: Chat): Promise<string[]> {
  const text = await cluster.workspace.readSandboxFile(conversation.sessionId, "effects");
  const ids = text.split("\n").filter(Boolean);
  const twice = ids.filter((id, place) => ids.indexOf(id) !== place);
  return twice.map((id) => `the tool call ${id} has run twice`);
}

async function violationsInView(model: Model, node: Node, chat: Chat): Promise<string[]> {
  const view = await readChat(model, node, chat);
  if (!view) return [];
  const users = view.messages.filter(({ role }) => role === "user");
  const ids = users.map(({ id }) => id);
  const { chatId } = chat.conversation;
  const { sql } = model.cluster.workspace;
  const stored = await sql`
    select id, false as waits from messages where chat_id = ${chatId}
    union all select message_id, false from steering_messages where chat_id = ${chatId}
    union all select message_id, true from queued_turns where chat_id = ${chatId}`;
  const keptIds = stored.map(({ id }) => String(id));
  const storedIds = stored.flatMap(({ id, waits }) => (waits ? [] : [String(id)]));
  // An answer counts for the messages that have steered it, unless one of its turns was cut short.
  const answers = await sql`
    select id from (
      select t.message_id as id from turns t
      join messages m on m.chat_id = t.chat_id and m.id = t.message_id
      where t.chat_id = ${chatId} and m.role = 'user' and t.status = 'completed'
      union all
      select part ->> 'id' from messages m cross join jsonb_array_elements(m.parts) as part
      where m.chat_id = ${chatId} and part ->> 'type' = 'steering-message' and not exists (
        select from turns t where t.chat_id = m.chat_id and t.assistant_message_id = m.id
          and t.status in ('failed', 'cancelled'))) answer
    group by id having count(*) > 1`;
  const again = answers.map(({ id }) => String(id));
  return [
    ...again.filter((id) => !chat.regenerated.has(id)).map((id) => `${id} was answered twice`),
    ...users
      .filter(({ id, parts }) => !isDeepStrictEqual(parts, partsOf(id)))
      .map(({ id }) => `${id} was overwritten`),
    ...ids.filter((id, place) => ids.indexOf(id) !== place).map((id) => `${id} is stored twice`),
    ...[...chat.steered].filter((id) => !keptIds.includes(id)).map((id) => `${id} was lost`),
    ...ids.filter((id) => !chat.sent.has(id)).map((id) => `${id} was never sent`),
    ...[...chat.accepted]
      .filter((id) => !storedIds.includes(id))
      .map((id) => `${id} was accepted and is not stored`),
  ];
}

/** The parts of a user message as `Model.write` makes it. */
const partsOf = (id: string) => [{ type: "text", text: `[script:${id}]` }];
