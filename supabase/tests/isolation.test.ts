/**
 * Another account's objects answer like missing ones, function by function: the API tests prove the
 * same of the endpoints, and these prove it of every function below them. This file is long because
 * it names every function.
 */
import { expect, test } from "vitest";
import { z } from "zod";
import { sql } from "../../tests/support/harness/stack.ts";
import { lookups, page } from "./lookups.ts";
import { claimOf, claimTurn } from "./open-chat.ts";
import {
  createApprovals,
  createCompactions,
  createMcpServer,
  createRows,
  createWorkspace,
  noRows,
  ownedRows,
  type Rows,
} from "./rows.ts";
import { rolledBack, type Transaction } from "./transaction.ts";

type Attempt = (transaction: Transaction, account: string, rows: Rows) => Promise<unknown>;

const attempts: Readonly<Record<string, Attempt>> = {
  ...Object.fromEntries(
    Object.entries(lookups).map(([name, args]): [string, Attempt] => [
      name,
      (t, account_id, rows) => t.call(name, { account_id, ...args(rows, account_id) }),
    ]),
  ),
  claim_turn: (t, account, { session, chat }) =>
    claimTurn(
      t,
      { ...claimOf({ account, session, chat }), message_id: "m2", parent_id: "" },
      { on_busy: "enqueue" },
    ),
  take_steering_messages: async (t, account_id, { turn }) => {
    await t.sql`update queued_turns q set steers = t.id from turns t
      where t.id = ${turn} and q.chat_id = t.chat_id`;
    return t.call("take_steering_messages", { account_id, turn_id: turn, load: 0, step: 1 });
  },
  open_chat: async (t, account_id, { chat }) => {
    const given = { account_id, chat_id: chat, named_id: noRows().chat, model_id: "auto" };
    return z.object({ is_new: z.boolean() }).parse(await t.call("open_chat", given)).is_new;
  },
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
  discard_run_media: async (t, account_id, { taskRun }) => {
    const files = [{ name: noRows().file, bytes: 1 }];
    const run = { account_id, run_id: taskRun };
    await t.call("reserve_media", { ...run, files, limit_bytes: 0 });
    return t.call("discard_run_media", { ...run, kept: [] });
  },
  mark_turn_untrusted: async (t, account_id, { turn }) => {
    await t.call("mark_turn_untrusted", { account_id, turn_id: turn, sources: [{ kind: "web" }] });
    const [row] = await t.sql`
      select count(*)::int as marked from turns
      where account_id = ${account_id} and untrusted <> '[]'`;
    return row?.marked;
  },
  meet_rows: async (t, account_id, { turn, session }) => {
    await t.sql`update sessions set untrusted = '[{"kind": "web", "name": "a"}]' where id = ${session}`;
    const rows = [{ key: session, version: null }];
    await t.call("meet_rows", { account_id, turn_id: turn, kind: "chats", rows });
    await t.sql`update sessions set untrusted = '[]' where id = ${session}`;
    const [row] = await t.sql`
      select count(*)::int as marked from turns
      where account_id = ${account_id} and untrusted <> '[]'`;
    return row?.marked;
  },
  use_approved_call: async (t, account_id, { turn: turn_id }) => {
    await t.call("start_tools", { turn_id, call_ids: ["own"] }).catch(() => {});
    return t.call("use_approved_call", { account_id, turn_id, call_id: "own" });
  },
  finish_tool: async (t, account_id, { turn: turn_id }) => {
    await t.call("start_tools", { turn_id, call_ids: ["own"] }).catch(() => {});
    await t.call("finish_tool", { account_id, turn_id, call_id: "own", output: {}, sources: null });
    const [row] = await t.sql`
      select count(*)::int as finished from tool_runs r join turns u on u.id = r.turn_id
      where u.account_id = ${account_id} and r.finished`;
    return row?.finished;
  },
  list_approvals: async (t, account_id) =>
    t.call("list_approvals", { account_id, ...page, state: null }),
  count_waiting: async (t, account_id) => t.call("count_waiting", { account_id }),
  begin_title: async (t, account_id, { chat: chat_id, turn: turn_id }) => {
    await t.sql`delete from model_jobs where account_id = ${account_id}`;
    return t.call("begin_title", { account_id, chat_id, turn_id, title: "", lease_seconds: 60 });
  },
  list_approval_rules: async (t, account_id) =>
    t.call("list_approval_rules", { account_id, ...page }),
  record_turn_skill: async (t, account_id, { turn }) => {
    const skill = { name: "own", source: "built-in" };
    await t.call("record_turn_skill", { account_id, turn_id: turn, skill });
    const [row] = await t.sql`
      select count(*)::int as skills from turn_skills s join turns u on u.id = s.turn_id
      where u.account_id = ${account_id}`;
    return row?.skills;
  },
  end_memory_proposal: async (t, account_id, { dueProposal: id }) => {
    await t.call("end_memory_proposal", {
      ...{ account_id, id, lease_id: id, artist_id: null, text: "taken", diff: "" },
      ...{ may_accept: false, retry_seconds: null, usage: [] },
    });
    const [row] = await t.sql`select count(*)::int as written from memory_proposals
      where account_id = ${account_id} and text = 'taken'`;
    return row?.written;
  },
  take_invitation: async (t, account_id, { receivedInvitation: id }) => {
    await t.call("take_invitation", { account_id, id, status: "declined" });
    const [row] = await t.sql`select status from organization_invitations where id = ${id}`;
    return row?.status === "declined";
  },
  note_media_check: async (t, account_id, { file }) => {
    await t.call("note_media_check", { account_id, name: file, bytes: null });
    const [row] = await t.sql`
      select count(*)::int as removals from removals where owner_id = ${account_id}`;
    return row?.removals;
  },
};

test.each(Object.entries(attempts))("%s", async (_name, attempt) => {
  await rolledBack(async (transaction) => {
    const stranger = await transaction.account();
    const owner = await transaction.account();
    const rows = await createRows(transaction, owner);
    await createCompactions(transaction, owner, rows);
    await createWorkspace(transaction, owner, rows);
    await createApprovals(transaction, owner, rows);
    await createMcpServer(transaction, owner, rows);
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
  export_rows: { kind: "templates", after: "", limit: 10 },
  list_artists: { organization_id: null, ...page },
  list_organizations: page,
  list_invitations: page,
  list_webhooks: page,
  list_mcp_servers: page,
  list_account_chats: { ...page, artist_id: null, archived: null, pinned: null, text: null },
  list_tasks: page,
  list_requests: { ...page, status_class: null, route: null, credential: null, api_key_id: null },
  list_chat_shares: page,
  list_runs: {
    ...page,
    ...{ status: null, kind: null, chat_id: null, artist_id: null, since: null, skill: null },
  },
};

test.each(Object.entries(lists))("%s", async (name, args) => {
  await rolledBack(async (transaction) => {
    // Public templates of other tests come and go.
    await transaction.sql`set transaction isolation level repeatable read`;
    const stranger = await transaction.account();
    const before = await transaction.call(name, { account_id: stranger, ...args });
    const owner = await transaction.account();
    const created = await createRows(transaction, owner);
    await createMcpServer(transaction, owner, created);
    const { session, template: own, taskRun, ...rows } = created;
    const listed = [
      session,
      own,
      taskRun,
      rows.organization,
      rows.receivedInvitation,
      rows.artist,
      rows.webhook,
      rows.mcpServer,
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
  // Rights between accounts, and the credentials themselves: supabase/tests/identity.test.ts.
  "access_verdicts",
  "admit_account",
  "authenticate_bearer",
  "authenticate_email",
  "authenticate_key",
  "create_run_key",
  // They create or count the account's own rows only.
  "count_active_turns",
  "delete_account",
  "delete_account_rows",
  "leave_organizations",
  "crash_lost_task_runs",
  "create_agent_template",
  "create_key",
  "list_keys",
  "require_key_room",
  "add_delivery_address",
  "recipient_fault",
  "recipient_faults",
  "resubscribe_address",
  "unsubscribe_address",
  "create_organization",
  "find_or_create_artist",
  "create_session",
  "get_account",
  "has_organization_room",
  "is_limited",
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
  "facts_of_turn",
  "organization_of_run",
  // Of ids at a vendor: tests/adapters/connectors/conformance.test.ts.
  "record_connector_link",
  "recorded_connections",
  "refused_connections",
  "forget_connections",
  "record_connector_notice",
  "end_event_check",
  "send_test_event",
  "take_event_check",
  "triggers_of_source",
  // Functions of a share, which everyone with its link may read: tests/api/chats-share.test.ts.
  "continue_share",
  // Takes a slug, and no id: tests/adapters/connectors/conformance.test.ts.
  "remove_connections",
  "delete_connector_triggers",
  "list_connections",
  "start_connection",
  "update_account",
  // Of names: tests/api/mcp-servers.test.ts.
  "create_mcp_server",
  "mcp_tools_of_turn",
  "missing_mcp_servers",
  // Of names, and of organizations: tests/api/skills.test.ts.
  "delete_skill",
  "enable_skill",
  "find_skill",
  "get_skill",
  "known_skills",
  "list_skill_versions",
  "list_skills",
  "load_skill",
  "put_skill",
  "restore_skill",
  "skill_owner",
  "skills_of_turn",
  // The account is a part of the key: supabase/tests/idempotency.test.ts.
  "begin_idempotent",
  "end_idempotent",
  "extend_idempotent",
  "find_stored_hash",
  // Called by the functions above, for rows that these have found.
  "has_generation_authority",
  "chats_with_text",
  "corrected_search",
  "is_word_used",
  "search_of_message",
  "search_of_title",
  "search_query_of_account",
  // Of one account, for all: supabase/tests/usage-days.test.ts.
  "sum_usage",
  "may_connect",
  "may_steer",
  "check_budget",
  "memory_of_workspace",
  "approval_policies",
  "agent_template_rows",
  "artist_row",
  "can_see_agent_template",
  "can_see_template_version",
  "seen_template_versions",
  "used_template_version",
  "template_model",
  "template_state",
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
