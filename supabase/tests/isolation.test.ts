/**
 * Another account's objects answer like missing ones: every function that is given an account is called with
 * the rows of another one. Its arguments follow from their names and types. A new function fails as long as these do not
 * find the rows of their owner. This file is long because it names every exception.
 */
import { expect, test } from "vitest";
import { sql } from "../../tests/support/harness/stack.ts";
import { claimOf } from "./open-chat.ts";
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
import { type Argument, rolledBack, type Transaction } from "./transaction.ts";

type Arguments = Readonly<Record<string, Argument>>;

/** The rows whose ids an argument can be, by its name. */
const kinds: Readonly<Record<string, readonly (keyof Rows)[]>> = {
  session_id: ["session", "emptySession"],
  chat_id: ["chat"],
  turn_id: ["turn"],
  run_id: ["run", "taskRun", "finishedTaskRun"],
  template_id: ["template"],
  task_id: ["task"],
  trigger_id: ["trigger"],
  webhook_id: ["webhook"],
  server_id: ["mcpServer"],
  artist_id: ["artist", "formerArtist"],
  organization_id: ["organization"],
  approval_id: ["approval"],
  effect_id: ["generationEffect"],
  path: ["workspaceFile"],
  id: [
    ...(["turn", "template", "key", "sentInvitation", "receivedInvitation", "artist"] as const),
    ...(["webhook", "delivery", "mcpServer", "task", "compaction", "address", "rule"] as const),
    ...(["proposal", "dueProposal", "trigger", "pendingTrigger"] as const),
  ],
};
const texts: readonly (keyof Rows)[] = ["taskRun", "finishedTaskRun"];

/** Other arguments, by their name or their type. */
const values: Arguments = {
  integer: 9,
  bigint: 9,
  numeric: 1,
  boolean: true,
  text: "taken",
  jsonb: [],
  "text[]": [],
  "timestamp with time zone": null,
  after_at: "9999-12-31T23:59:59Z",
  after_id: "ffffffff-ffff-ffff-ffff-ffffffffffff",
  load: 0,
  step: 1,
  index: 0,
  version: 1,
  request_index: 0,
  max_active: 0,
  message_id: "own",
  call_id: "own",
  connector: "own",
  sandbox: "own",
  content_id: null,
  answered_by: null,
  answered_key_id: null,
  api_key_id: null,
  named_id: noRows().chat,
  firing_id: noRows().firing,
};
const unfiltered = { artist_id: null, archived: null, pinned: null, text: null };

/** Arguments that only one function has, or has in another meaning. */
const given: Readonly<Record<string, (rows: Rows, account: string) => Arguments>> = {
  active_chats: ({ chat }) => ({ ids: [chat] }),
  answer_approvals: ({ approval: id }) => ({ chat_id: null, answers: [{ id, approved: true }] }),
  begin_title: () => ({ title: "" }),
  change_workspace_file: () => ({ text: null, run_id: null, expected: null, conflict_of: null }),
  claim_turn: ({ session, chat }, account) => ({
    claim: { ...claimOf({ account, session, chat }), message_id: "m2", parent_id: "" },
    on_busy: "enqueue",
  }),
  delete_chats: ({ chat }) => ({ ids: [chat] }),
  delete_media: ({ file: name }, account) => ({ caller: account, name }),
  end_compaction: () => ({ leaf_id: "own", base_id: null, compaction: null }),
  end_memory_proposal: ({ dueProposal: id }) => ({ id, lease_id: id, artist_id: null, usage: [] }),
  end_title: () => ({ former: "" }),
  export_rows: () => ({ kind: "templates", after: "" }),
  list_account_chats: () => unfiltered,
  list_approvals: () => ({ state: null }),
  list_artists: () => ({ organization_id: null }),
  list_requests: () => ({ status_class: null, route: null, credential: null }),
  list_runs: () => ({ ...unfiltered, status: null, kind: null, chat_id: null }),
  list_workspace_files: () => ({ prefix: null }),
  record_row_sources: ({ session: key }) => ({ kind: "chats", rows: [{ key, version: null }] }),
  note_media_check: ({ file: name }) => ({ name, bytes: null }),
  refuse_member_change: (_, member_id) => ({ member_id }),
  remove_organization_member: (_, member_id) => ({ member_id }),
  search_workspace: () => ({ text: "own" }),
  sees_member: (_, member_id) => ({ member_id }),
  set_organization_role: (_, member_id) => ({ member_id, role: "member" }),
  take_invitation: () => ({ status: "declined" }),
  take_mcp_authorization: ({ mcpServer: state_hash }) => ({ state_hash }),
  use_mcp_tool: () => ({ tool: "own", sha256: "own" }),
};

/** What a function needs besides the rows of `createRows`. */
const arrange: Readonly<Record<string, (t: Transaction, rows: Rows, owner: string) => unknown>> = {
  begin_title: (t, _, owner) => t.sql`delete from model_jobs where account_id = ${owner}`,
  discard_run_media: (t, { file, taskRun }) =>
    t.sql`update media_files set run_id = ${taskRun} where name = ${file}`,
  finish_tool: (t, { turn: turn_id }) => t.call("start_tools", { turn_id, call_ids: ["own"] }),
  record_row_sources: (t, { session }) =>
    t.sql`update sessions set untrusted = '[{"kind": "web", "name": "a"}]' where id = ${session}`,
  take_steering_messages: (t, { chat, turn }) =>
    t.sql`update queued_turns set steers = ${turn} where chat_id = ${chat}`,
  take_task_job: (t, { taskRun: run_id }, account_id) =>
    t.call("queue_task_job", { account_id, run_id, job: {} }),
  use_approved_call: (t, { turn: turn_id }) =>
    t.call("start_tools", { turn_id, call_ids: ["own"] }),
};

/** Functions that look up no row by an id of a caller's, or whose rows another test has. */
const elsewhere: readonly string[] = [
  // Rights between accounts, and the credentials themselves: supabase/tests/identity.test.ts.
  "access_verdicts",
  "admit_account",
  "authenticate_bearer",
  "authenticate_email",
  "authenticate_key",
  // They create or count the account's own rows only.
  "delete_account",
  "leave_organizations",
  "crash_lost_task_runs",
  "create_agent_template",
  "require_key_room",
  "add_delivery_address",
  "recipient_fault",
  "recipient_faults",
  "resubscribe_address",
  "unsubscribe_address",
  "create_organization",
  "find_or_create_artist",
  "create_session",
  "has_organization_room",
  "is_limited",
  "create_webhook",
  "enqueue_webhook_event",
  "has_due_webhooks",
  "is_sandbox_space_full",
  "provision_run",
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
  "list_connections",
  "start_connection",
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
  "restore_skill",
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
  "found_agent_template",
];

interface SqlFunction {
  readonly name: string;
  readonly args: Readonly<Record<string, string>>;
}

const functions = await sql<SqlFunction[]>`
  select p.proname as name,
    (select json_object_agg(substr(p.proargnames[a.position], 3), format_type(a.type, null) order by a.position)
      from unnest(p.proargtypes) with ordinality as a(type, position)
      where a.position <= p.pronargs - p.pronargdefaults
        or p.proargnames[a.position] = 'p_account_id') as args
  from pg_proc p
  where p.pronamespace = 'public'::regnamespace and p.proargnames && array['p_account_id', 'p_claim']
    and p.proname not like 'probe%' and p.proname <> all (${elsewhere})
  order by 1`;

/** The arguments of a function, once for each kind of rows that its ids can have. */
function argumentsOf({ name, args }: SqlFunction, rows: Rows, account: string): Arguments[] {
  const own: Arguments = { account_id: account, ...given[name]?.(rows, account) };
  let all: Arguments[] = [{}];
  for (const [arg, type] of Object.entries(args)) {
    const ids = arg === "id" && type === "text" ? texts : kinds[arg];
    const other = arg in values ? values[arg] : values[type];
    const choices = arg in own ? [own[arg]] : (ids?.map((kind) => rows[kind]) ?? [other]);
    all = all.flatMap((before) =>
      choices.map((value) => {
        if (value === undefined) throw new Error(`${name} needs a value for ${arg}`);
        return { ...before, [arg]: value };
      }),
    );
  }
  return all;
}

/** Calls a function, and returns its answer without new ids, and how many rows of each table it has written. */
async function outcome(t: Transaction, name: string, args: Arguments, rows: Rows) {
  const known: readonly string[] = Object.values(rows);
  const written = async () =>
    Object.fromEntries(
      (
        await t.sql`select relname, n_tup_ins + n_tup_upd + n_tup_del as rows
          from pg_stat_xact_user_tables where schemaname = 'public'`
      ).map(({ relname, rows }) => [String(relname), Number(rows)]),
    );
  const before = await written();
  const answer = JSON.stringify((await t.call(name, args)) ?? null).replace(
    /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g,
    (id) => (known.includes(id) ? id : "new"),
  );
  const after = Object.entries(await written());
  const changes = after.filter(([table, rows]) => rows !== (before[table] ?? 0));
  return { answer, changes: changes.map(([table, rows]) => [table, rows - (before[table] ?? 0)]) };
}

test.each(functions)("$name", async (called) => {
  await rolledBack(async (transaction) => {
    // Public templates of other tests come and go.
    await transaction.sql`set transaction isolation level repeatable read`;
    const attempt = async (account: string, rows: Rows) => {
      const outcomes = [];
      for (const args of argumentsOf(called, rows, account)) {
        outcomes.push(await transaction.undone((t) => outcome(t, called.name, args, rows)));
      }
      return outcomes;
    };
    const stranger = await transaction.account();
    const missing = await attempt(stranger, noRows());
    const owner = await transaction.account();
    const rows = await createRows(transaction, owner);
    await createCompactions(transaction, owner, rows);
    await createWorkspace(transaction, owner, rows);
    await createApprovals(transaction, owner, rows);
    await createMcpServer(transaction, owner, rows);
    await arrange[called.name]?.(transaction, rows, owner);

    const owners = [owner, rows.organization, rows.artist];
    const before = await ownedRows(transaction, owners);
    expect(await attempt(stranger, rows)).toEqual(missing);
    if (missing.some(({ changes }) => changes.length > 0)) {
      for (const args of argumentsOf(called, rows, stranger)) {
        await transaction.call(called.name, args);
        expect(await ownedRows(transaction, owners)).toEqual(before);
      }
    }
    // A refusal of the product is PT4xx; every other error would be a mistake of this test.
    for (const { answer } of missing) expect(answer).not.toMatch(/^"raised (?!PT4)/);
    expect(await attempt(owner, rows)).not.toEqual(missing);
  });
});
