/**
 * What belongs to another account answers as what does not exist, function by function: the API tests
 * prove the same of the endpoints, and these prove it of every function below them. This file is long because it lists them all.
 */
import { expect, test } from "vitest";
import { z } from "zod";
import { sql } from "../../tests/support/harness/stack.ts";
import { claimOf, claimTurn } from "./open-chat.ts";
import { type Attempt, peopleAttempts } from "./people-attempts.ts";
import { createRows, noRows, ownedRows } from "./rows.ts";
import { rolledBack } from "./transaction.ts";

const page = { limit: 10, after_at: null, after_id: null };
const template = { title: "t", description: "d", prompt: "p", tags: [], is_private: false };

const attempts: Readonly<Record<string, Attempt>> = {
  ...peopleAttempts,
  get_session: (t, account_id, { session }) =>
    t.call("get_session", { account_id, session_id: session }),
  update_session: (t, account_id, { session }) =>
    t.call("update_session", { account_id, session_id: session, title: "taken" }),
  delete_session: (t, account_id, { session }) =>
    t.call("delete_session", { account_id, session_id: session }),
  set_sandbox_state: (t, account_id, { session }) =>
    t.call("set_sandbox_state", {
      account_id,
      session_id: session,
      expected: { name: "own" },
      next: { name: "taken" },
    }),
  create_chat: (t, account_id, { session }) =>
    t.call("create_chat", {
      account_id,
      session_id: session,
      chat_id: null,
      title: "taken",
      model_id: "",
      instructions: "taken",
      template_id: null,
    }),
  share_chat: (t, account_id, { session: session_id, chat: chat_id }) =>
    t.call("share_chat", { account_id, session_id, chat_id, messages: [] }),
  get_chat_share: (t, account_id, { session: session_id, chat: chat_id }) =>
    t.call("get_chat_share", { account_id, session_id, chat_id }),
  revoke_chat_share: (t, account_id, { session: session_id, chat: chat_id }) =>
    t.call("revoke_chat_share", { account_id, session_id, chat_id }),
  active_chats: (t, account_id, { chat }) => t.call("active_chats", { account_id, ids: [chat] }),
  delete_chats: (t, account_id, { chat }) => t.call("delete_chats", { account_id, ids: [chat] }),
  list_chats: (t, account_id, { session }) =>
    t.call("list_chats", { account_id, session_id: session, ...page }),
  missing_of_chat: (t, account_id, { session }) =>
    t.call("missing_of_chat", { account_id, session_id: session }),
  get_chat: (t, account_id, { session, chat }) =>
    t.call("get_chat", { account_id, session_id: session, chat_id: chat }),
  get_chat_body_page: (t, account_id, { session, chat }) =>
    t.call("get_chat_body_page", {
      ...{ account_id, session_id: session, chat_id: chat },
      ...{ after_at: null, after_id: null, max_bytes: 1_000 },
    }),
  update_chat: (t, account_id, { session, chat }) =>
    t.call("update_chat", {
      account_id,
      session_id: session,
      chat_id: chat,
      title: "taken",
      model_id: null,
      instructions: "taken",
      template_id: null,
      removes_template: true,
      archived: true,
      pinned: true,
    }),
  assistant_parts: async (t, account_id, { chat }) =>
    t.call("assistant_parts", { account_id, chat_id: chat, message_id: "own" }),
  chat_instructions: (t, account_id, { chat }) =>
    t.call("chat_instructions", { account_id, chat_id: chat }),
  delete_chat: (t, account_id, { session, chat }) =>
    t.call("delete_chat", { account_id, session_id: session, chat_id: chat }),
  claim_turn: (t, account, { session, chat }) =>
    claimTurn(
      t,
      { ...claimOf({ account, session, chat }), message_id: "m2", parent_id: "" },
      { on_busy: "enqueue" },
    ),
  open_chat: async (t, account_id, { chat }) => {
    const given = { account_id, chat_id: chat, named_id: noRows().chat, model_id: "auto" };
    return z.object({ is_new: z.boolean() }).parse(await t.call("open_chat", given)).is_new;
  },
  discard_empty_session: (t, account_id, { emptySession }) =>
    t.call("discard_empty_session", { account_id, session_id: emptySession }),
  list_branches: (t, account_id, { session, chat }) =>
    t.call("list_branches", { account_id, session_id: session, chat_id: chat }),
  choose_branch: (t, account_id, { session, chat }) =>
    t.call("choose_branch", {
      account_id,
      session_id: session,
      chat_id: chat,
      message_id: "m1",
    }),
  list_feedback: (t, account_id, { session, chat }) =>
    t.call("list_feedback", { account_id, session_id: session, chat_id: chat }),
  rate_message: (t, account_id, { session, chat }) =>
    t.call("rate_message", {
      account_id,
      session_id: session,
      chat_id: chat,
      message_id: "own",
      rating: "up",
      comment: null,
    }),
  export_branches: (t, account_id, { chat }) =>
    t.call("export_branches", { account_id, chat_id: chat }),
  queued_turn_state: (t, account_id, { turn }) =>
    t.call("queued_turn_state", { account_id, turn_id: turn }),
  list_queued_messages: (t, account_id, { chat }) =>
    t.call("list_queued_messages", { account_id, chat_id: chat }),
  remove_queued_message: (t, account_id, { chat }) =>
    t.call("remove_queued_message", { account_id, chat_id: chat, message_id: "waiting" }),
  find_active_turn: (t, account_id, { chat }) =>
    t.call("find_active_turn", { account_id, chat_id: chat }),
  request_stop: (t, account_id, { chat }) => t.call("request_stop", { account_id, chat_id: chat }),
  get_run: (t, account_id, { run }) => t.call("get_run", { account_id, run_id: run }),
  get_run_trace: (t, account_id, { run }) => t.call("get_run_trace", { account_id, run_id: run }),
  request_run_stop: (t, account_id, { run }) =>
    t.call("request_run_stop", { account_id, run_id: run }),
  reserve_model_call: (t, account_id, { turn: turn_id }) =>
    t.call("reserve_model_call", {
      ...{ account_id, turn_id, load: 0, released_usd: null },
      ...{ spent_usd: 0, estimate_usd: 1 },
    }),
  complete_model_call: (t, account_id, { turn: turn_id }) =>
    t.call("complete_model_call", {
      ...{ account_id, turn_id, load: 0, index: 0, result: {}, call_ids: [], usage: [] },
    }),
  finish_turn: (t, account_id, { turn: turn_id }) =>
    t.call("finish_turn", {
      ...{ account_id, turn_id, load: 0, status: "completed", error: null, parts: [] },
      ...{ metadata: null, index: null, step: null, usage: [] },
    }),
  record_turn_usage: (t, account_id, { turn: turn_id }) =>
    t.call("record_turn_usage", { account_id, turn_id, calls: [] }),
  revoke_key: (t, account_id, { key: id }) => t.call("revoke_key", { account_id, id }),
  rotate_key: (t, account_id, { key }) =>
    t.call("rotate_key", { account_id, id: key, hash: "h", prefix: "p", grace_seconds: 0, max: 9 }),
  get_agent_template: (t, account_id, { template: id }) =>
    t.call("get_agent_template", { account_id, id }),
  is_visible_template: (t, account_id, { template: template_id }) =>
    t.call("is_visible_template", { account_id, template_id }),
  refuse_agent_template: (t, account_id, { template: id }) =>
    t.call("refuse_agent_template", { account_id, id }),
  update_agent_template: (t, account_id, { template: id }) =>
    t.call("update_agent_template", { account_id, id, ...template, share_emails: null }),
  delete_agent_template: (t, account_id, { template: id }) =>
    t.call("delete_agent_template", { account_id, id }),
  set_agent_template_favorite: (t, account_id, { template: id }) =>
    t.call("set_agent_template_favorite", { account_id, id, is_favourite: true }),
  get_task_run: (t, account_id, { finishedTaskRun: id }) =>
    t.call("get_task_run", { account_id, id }),
  list_artist_task_runs: (t, account_id, { formerArtist: artist_id }) =>
    t.call("list_artist_task_runs", { account_id, artist_id, limit: 10 }),
  get_task: (t, account_id, { task: id }) => t.call("get_task", { account_id, id }),
  list_task_firings: (t, account_id, { task: task_id }) =>
    t.call("list_task_firings", { account_id, task_id, ...page }),
  update_task: (t, account_id, { task: id }) =>
    t.call("update_task", {
      account_id,
      id,
      title: "taken",
      prompt: null,
      template_id: null,
      artist_id: null,
      model_id: null,
      clear: "{}",
      schedule: null,
      timezone: null,
      reschedules: false,
      next_run_at: null,
      expected_updated_at: "2026-01-01",
    }),
  delete_task: (t, account_id, { task: id }) => t.call("delete_task", { account_id, id }),
  fire_task_now: (t, account_id, { task: id, firing: firing_id }) =>
    t.call("fire_task_now", {
      account_id,
      id,
      firing_id,
      lease_seconds: 60,
      idempotency_key: null,
    }),
  queue_task_job: async (t, account_id, { taskRun: run_id }) => {
    await t.call("queue_task_job", { account_id, run_id, job: {} });
    const [row] = await t.sql`
      select count(*)::int as jobs from task_jobs where account_id = ${account_id}`;
    return row?.jobs;
  },
  take_task_job: async (t, account_id, { taskRun: run_id }) => {
    await t.call("queue_task_job", { account_id, run_id, job: {} });
    return t.call("take_task_job", { account_id, run_id });
  },
  record_remote_run: async (t, account_id, { taskRun: id }) => {
    await t.call("record_remote_run", { account_id, id, remote_run_id: "run_taken" });
    const [row] = await t.sql`select count(*)::int as runs from task_runs
      where account_id = ${account_id} and metadata ? 'triggerRunId'`;
    return row?.runs;
  },
  reserve_media: (t, account_id, { taskRun }) =>
    t.call("reserve_media", {
      account_id,
      run_id: taskRun,
      files: [{ name: noRows().file, bytes: 1 }],
      limit_bytes: 0,
    }),
  discard_run_media: async (t, account_id, { taskRun }) => {
    const files = [{ name: noRows().file, bytes: 1 }];
    const run = { account_id, run_id: taskRun };
    await t.call("reserve_media", { ...run, files, limit_bytes: 0 });
    return t.call("discard_run_media", { ...run, kept: [] });
  },
  delete_media: (t, account_id, { file }) =>
    t.call("delete_media", { caller: account_id, account_id, name: file }),
  get_webhook: (t, account_id, { webhook: id }) => t.call("get_webhook", { account_id, id }),
  update_webhook: (t, account_id, { webhook: id }) =>
    t.call("update_webhook", { account_id, id, url: null, events: null, enabled: false }),
  delete_webhook: (t, account_id, { webhook: id }) => t.call("delete_webhook", { account_id, id }),
  rotate_webhook_secret: (t, account_id, { webhook: id }) =>
    t.call("rotate_webhook_secret", { account_id, id, secret: "taken" }),
  test_webhook: (t, account_id, { webhook: id }) => t.call("test_webhook", { account_id, id }),
  list_webhook_deliveries: (t, account_id, { webhook }) =>
    t.call("list_webhook_deliveries", { account_id, webhook_id: webhook, ...page }),
  redeliver_webhook: (t, account_id, { webhook, delivery }) =>
    t.call("redeliver_webhook", { account_id, webhook_id: webhook, id: delivery }),
  set_turn_webhook: async (t, account_id, { turn }) => {
    await t.call("set_turn_webhook", { account_id, turn_id: turn, url: "https://example.com/" });
    const [row] = await t.sql`
      select count(*)::int as told from turns
      where account_id = ${account_id} and webhook_url is not null`;
    return row?.told;
  },
  set_chat_connectors: (t, account_id, { session, chat }) =>
    t.call("set_chat_connectors", {
      account_id,
      session_id: session,
      chat_id: chat,
      connectors: ["taken"],
    }),
  get_chat_connectors: (t, account_id, { session, chat }) =>
    t.call("get_chat_connectors", { account_id, session_id: session, chat_id: chat }),
  has_chat_connector: (t, account_id, { chat }) =>
    t.call("has_chat_connector", { account_id, chat_id: chat, connector: "own" }),
  note_media_check: async (t, account_id, { file }) => {
    await t.call("note_media_check", { account_id, name: file, bytes: null });
    const [row] = await t.sql`
      select count(*)::int as removals from media_removals where account_id = ${account_id}`;
    return row?.removals;
  },
};

test.each(Object.entries(attempts))("%s", async (_name, attempt) => {
  await rolledBack(async (transaction) => {
    const stranger = await transaction.account();
    const owner = await transaction.account();
    const rows = await createRows(transaction, owner);
    const before = await ownedRows(transaction, owner);

    const foreign = await attempt(transaction, stranger, rows);
    expect(foreign).toEqual(await attempt(transaction, stranger, noRows()));
    expect(await ownedRows(transaction, owner)).toEqual(before);
    // A refusal of the product is PT4xx; every other error would be a mistake of this test.
    expect(String(foreign)).not.toMatch(/^raised (?!PT4)/);
    expect(await attempt(transaction, owner, rows)).not.toEqual(foreign);
  });
});

const lists: Readonly<Record<string, Readonly<Record<string, string | number | null>>>> = {
  list_sessions: page,
  list_agent_templates: page,
  list_task_runs: { limit: 10 },
  export_rows: { kind: "templates", after: "", limit: 10 },
  list_artists: { organization_id: null, ...page },
  list_organizations: page,
  list_invitations: page,
  list_webhooks: page,
  list_account_chats: { ...page, artist_id: null, archived: null, pinned: null, text: null },
  list_tasks: page,
  list_requests: { ...page, status_class: null, route: null, credential: null, api_key_id: null },
  list_chat_shares: page,
  list_runs: {
    ...page,
    ...{ status: null, kind: null, chat_id: null, artist_id: null, since: null },
  },
};

test.each(Object.entries(lists))("%s", async (name, args) => {
  await rolledBack(async (transaction) => {
    const stranger = await transaction.account();
    const before = await transaction.call(name, { account_id: stranger, ...args });
    const owner = await transaction.account();
    const { session, template: own, taskRun, ...rows } = await createRows(transaction, owner);
    const listed = [
      session,
      own,
      taskRun,
      rows.organization,
      rows.receivedInvitation,
      rows.artist,
      rows.webhook,
      rows.task,
      rows.request,
      rows.share,
    ];
    expect(await transaction.call(name, { account_id: stranger, ...args })).toEqual(before);
    const answer = JSON.stringify(await transaction.call(name, { account_id: owner, ...args }));
    expect(listed.filter((id) => answer.includes(id))).toHaveLength(1);
  });
});

/** Functions that are given an account and look nothing up by an id of a caller's. */
const withoutLookup = [
  // Who may act for whom, and the credentials themselves: supabase/tests/identity.test.ts.
  "access_verdicts",
  "admit_account",
  "authenticate_bearer",
  "authenticate_email",
  "authenticate_key",
  "create_run_key",
  // What they create or count is the account's own.
  "count_active_turns",
  "delete_account",
  "leave_organizations",
  "media_removals_of",
  "crash_lost_task_runs",
  "create_agent_template",
  "create_key",
  "list_keys",
  "require_key_room",
  "create_organization",
  "create_session",
  "get_account",
  "has_organization_room",
  "create_webhook",
  "enqueue_webhook_event",
  "has_due_webhooks",
  "create_task",
  "is_sandbox_space_full",
  "provision_run",
  "message_quota_reached",
  "is_budget_reached",
  "record_generation",
  "record_usage",
  "report_usage",
  "start_generation",
  "has_budget",
  "unspent_budget",
  "end_media_removal",
  // Of ids at a vendor: tests/adapters/connectors/conformance.test.ts.
  "record_connector_link",
  "refused_connections",
  // Takes a slug, and no id: tests/adapters/connectors/conformance.test.ts.
  "remove_connections",
  "list_connections",
  "start_connection",
  "update_account",
  // The account is a part of the key: supabase/tests/idempotency.test.ts.
  "begin_idempotent",
  "end_idempotent",
  "extend_idempotent",
  // Called by the functions above, for rows that these have found.
  "has_generation_authority",
  "may_connect",
  "agent_template_rows",
  "artist_row",
  "can_see_agent_template",
  "found_agent_template",
];

test("every function that is given an account is in this file", async () => {
  const rows = await sql<{ name: string }[]>`
    select distinct pg_proc.proname as name
    from pg_proc
    join pg_namespace on pg_namespace.oid = pg_proc.pronamespace
    where pg_namespace.nspname = 'public'
      and pg_proc.proargnames && array['p_account_id', 'p_claim']
      and pg_proc.proname not like 'probe%'
    order by 1`;
  const known = [...Object.keys(attempts), ...Object.keys(lists), ...withoutLookup].sort();
  expect(rows.map(({ name }) => name)).toEqual(known);
});
