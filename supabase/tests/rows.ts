import { randomUUID } from "node:crypto";
import { sql } from "../../tests/support/harness/stack.ts";
import type { Transaction } from "./transaction.ts";

/** The ids of one row of every kind that belongs to an account, as `noRows` has them. */
export type Rows = ReturnType<typeof noRows>;

/** Ids of the same form that no row has. */
export const noRows = () => ({
  session: randomUUID(),
  emptySession: randomUUID(),
  chat: randomUUID(),
  turn: randomUUID(),
  run: randomUUID(),
  template: randomUUID(),
  key: randomUUID(),
  taskRun: `run_${randomUUID().replaceAll("-", "")}`,
  /** Of the finished task run. */
  generationEffect: randomUUID(),
  finishedTaskRun: `run_${randomUUID().replaceAll("-", "")}`,
  /** The artist that the finished task run was for, deleted since. */
  formerArtist: randomUUID(),
  file: `${randomUUID().replaceAll("-", "")}.png`,
  organization: randomUUID(),
  artist: randomUUID(),
  sentInvitation: randomUUID(),
  receivedInvitation: randomUUID(),
  webhook: randomUUID(),
  mcpServer: randomUUID(),
  delivery: randomUUID(),
  task: randomUUID(),
  firing: randomUUID(),
  request: randomUUID(),
  share: randomUUID(),
  compaction: randomUUID(),
  /** A file in the workspace of the artist. */
  workspaceFile: `${randomUUID()}.txt`,
  /** Proposals for the artist's memory: one to decide, and one that is leased under its own id. */
  proposal: randomUUID(),
  dueProposal: randomUUID(),
  address: randomUUID(),
  approval: randomUUID(),
  rule: randomUUID(),
  trigger: randomUUID(),
  pendingTrigger: randomUUID(),
});

/** Creates a session with a provisioned sandbox, and an idle chat in it. */
export async function createChat(
  { sql }: Transaction,
  account: string,
  ids: Pick<Rows, "session" | "chat">,
): Promise<void> {
  await sql`insert into sessions (id, account_id, title, sandbox_state)
    values (${ids.session}, ${account}, 'own', '{"name": "own"}')`;
  await sql`insert into chats (id, session_id, account_id)
    values (${ids.chat}, ${ids.session}, ${account})`;
}

const insertQueuedTurn = async ({ sql }: Transaction, account: string, chat: string) =>
  void (await sql`
    insert into queued_turns (turn_id, account_id, chat_id, message_id, goes_first, claim)
    select gen_random_uuid(), ${account}, ${chat}, 'waiting', false,
      jsonb_populate_record(null::turn_claim, '{"parts": [], "credential": "key"}')`);

/** Creates one row of every kind; the chat is streaming its turn. */
export async function createRows(transaction: Transaction, account: string): Promise<Rows> {
  const { sql } = transaction;
  const ids = noRows();
  await createChat(transaction, account, ids);
  await sql`insert into sessions (id, account_id) values (${ids.emptySession}, ${account})`;
  await sql`update chats set active_stream_id = ${ids.run}, instructions = 'own' where id = ${ids.chat}`;
  await sql`insert into chat_connectors (chat_id, account_id, connectors)
    values (${ids.chat}, ${account}, '{own}')`;
  await sql`insert into messages (chat_id, id, role, parts) values (${ids.chat}, 'm1', 'user', '[]')`;
  await sql`insert into messages (chat_id, id, role, parts)
    values (${ids.chat}, 'own', 'assistant', '[]')`;
  await sql`insert into message_feedback (account_id, chat_id, message_id, rating)
    values (${account}, ${ids.chat}, 'own', 'down')`;
  await sql`insert into chat_shares (id, account_id, chat_id, title, message_count)
    values (${ids.share}, ${account}, ${ids.chat}, 'own', 1)`;
  await sql`insert into shared_messages (share_id, position, account_id, role, parts)
    values (${ids.share}, 0, ${account}, 'user', '[]')`;
  await sql`insert into turns (id, account_id, session_id, chat_id, run_id, status, message_id,
      assistant_message_id, model_id)
    values (${ids.turn}, ${account}, ${ids.session}, ${ids.chat}, ${ids.run}, 'running', 'm1', 'a1',
      'auto')`;
  await insertQueuedTurn(transaction, account, ids.chat);
  await sql`insert into agent_templates (id, account_id, title, description, prompt, tags, is_private)
    values (${ids.template}, ${account}, 'own', 'own', 'own', '{}', true)`;
  await sql`insert into api_keys (id, account_id, name, hash, prefix)
    values (${ids.key}, ${account}, 'own', ${randomUUID()}, 'ap_own')`;
  await sql`insert into task_runs (id, account_id, status, task_identifier, tags, lease_until)
    values (${ids.taskRun}, ${account}, 'EXECUTING', 'own', array['account:' || ${account}::text],
      now() + interval '1 hour')`;
  await sql`insert into task_runs (id, account_id, status, task_identifier, tags, artist_id,
      effect_id)
    values (${ids.finishedTaskRun}, ${account}, 'COMPLETED', 'own',
      array['account:' || ${account}::text], ${ids.formerArtist}, ${ids.generationEffect})`;
  await sql`insert into media_files (account_id, name, run_id, bytes)
    values (${account}, ${ids.file}, ${ids.finishedTaskRun}, 10)`;
  await createMembership(transaction, account, ids);
  await sql`insert into webhooks (id, account_id, url, events, secret)
    values (${ids.webhook}, ${account}, 'https://hooks.example.com/', '{}', 'sealed')`;
  await sql`insert into webhook_deliveries
      (id, account_id, webhook_id, url, event_type, data, status, due_at, finished_at)
    values (${ids.delivery}, ${account}, ${ids.webhook}, 'https://hooks.example.com/', 'own', '{}',
      'failed', null, now())`;
  await sql`insert into scheduled_prompts (id, account_id, title, prompt, schedule, timezone, enabled)
    values (${ids.task}, ${account}, 'own', 'own', '* * * * *', 'UTC', false)`;
  await sql`insert into scheduled_firings (id, account_id, task_id, task_run_id)
    values (${ids.firing}, ${account}, ${ids.task}, ${ids.finishedTaskRun})`;
  await sql`insert into requests (id, account_id, method, route, status, duration_ms, credential,
      request_id, created_at)
    values (${ids.request}, ${account}, 'GET', '/own', 200, 1, 'bearer', 'own', now())`;
  return ids;
}

/** Creates compactions, a file of the share, a delivery, an address and triggers. No version before the baseline has these tables. */
export async function createCompactions(
  { sql }: Transaction,
  account: string,
  ids: Rows,
): Promise<void> {
  await sql`insert into compactions
      (account_id, chat_id, turn_id, message_id, kind, state, tokens_before, tokens_after)
    values (${account}, ${ids.chat}, ${ids.turn}, 'own', 'cleared', '{}', 2, 1)`;
  await sql`insert into shared_files (share_id, position, account_id, content)
    values (${ids.share}, 0, ${account}, 'own')`;
  await sql`insert into delivery_addresses (id, account_id, address)
    values (${ids.address}, ${account}, 'own@example.com')`;
  await sql`insert into deliveries (account_id, turn_id, run_id, kind, recipient, entry)
    values (${account}, ${ids.turn}, ${ids.run}, 'email', 'own@example.com', '{}')`;
  await sql`insert into task_triggers (id, account_id, task_id, kind, secret, secret_in_url)
    values (${ids.trigger}, ${account}, ${ids.task}, 'webhook', 'own', false)`;
  await sql`insert into task_triggers (id, account_id, task_id, kind, connector, event, config)
    values (${ids.pendingTrigger}, ${account}, ${ids.task}, 'connector', 'own', 'OWN', '{}')`;
  await sql`insert into trigger_events (id, account_id, trigger_id, event_id, size, sha256)
    values (${ids.firing}, ${account}, ${ids.trigger}, 'own', 2, 'own')`;
  await sql`insert into model_jobs (chat_id, account_id, id, lease_until)
    values (${ids.chat}, ${account}, ${ids.compaction}, now() + interval '1 hour')`;
}

/** An approval that waits, and a remembered one. */
export async function createApprovals({ sql }: Transaction, account: string, ids: Rows) {
  await sql`insert into approvals (id, account_id, turn_id, call_id, tool_call_id, tool, category,
      input, effect, fields, sources, resume_index, expires_at)
    values (${ids.approval}, ${account}, ${ids.turn}, '1 own', 'own', 'bash', 'bash', '{}', '[]', '{}',
      '[]', 1, now() + interval '1 day')`;
  await sql`insert into approval_rules (id, account_id, chat_id, tool, fields, approval_id)
    values (${ids.rule}, ${account}, ${ids.chat}, 'bash', '{}', ${ids.approval})`;
}

/** Creates a file in the workspace of the artist, with two versions, and proposals for its memory. No version before the baseline has these tables. */
export async function createWorkspace({ sql }: Transaction, account: string, ids: Rows) {
  await sql`insert into workspaces (id) values (${ids.artist})`;
  const [content] = await sql`
    insert into workspace_contents (workspace_id, sha256, bytes, is_stored, text)
    values (${ids.artist}, repeat('0', 64), 3, true, 'own') returning id`;
  const [file] = await sql`
    insert into workspace_files (workspace_id, path, version, content_id, updated_at)
    values (${ids.artist}, ${ids.workspaceFile}, 2, ${String(content?.id)}, now()) returning id`;
  await sql`insert into workspace_versions (file_id, number, content_id, account_id)
    select ${String(file?.id)}, n, ${String(content?.id)}, ${account} from generate_series(1, 2) n`;
  const [memory] = await sql`
    insert into workspace_files (workspace_id, path, version, content_id, updated_at)
    values (${ids.artist}, 'MEMORY.md', 2, ${String(content?.id)}, now()) returning id`;
  await sql`insert into memory_proposals (id, file_id, base_version, account_id, state, text, lease_id)
    values
      (${ids.proposal}, ${String(memory?.id)}, 2, ${account}, 'proposed', 'own', null),
      (${ids.dueProposal}, ${String(memory?.id)}, 1, ${account}, 'due', null, ${ids.dueProposal})`;
}

/** Creates an MCP server with a tool and an authorization. */
export async function createMcpServer({ sql }: Transaction, account: string, ids: Rows) {
  await sql`insert into mcp_servers (id, account_id, name, url, auth_type, enabled, secret)
    values (${ids.mcpServer}, ${account}, 'own', 'https://mcp.example.com/', 'oauth', true, 'sealed')`;
  await sql`insert into mcp_authorizations (server_id, state_hash, url, sealed)
    values (${ids.mcpServer}, ${ids.mcpServer}, 'https://mcp.example.com/', 'sealed')`;
  await sql`insert into mcp_tools (server_id, name, definition, sha256)
    values (${ids.mcpServer}, 'own', '{}', 'own')`;
}

/** Creates an artist and an organization of the account's, and an invitation from it and to it. */
async function createMembership({ sql }: Transaction, account: string, ids: Rows): Promise<void> {
  const other = randomUUID();
  for (const id of [ids.organization, other]) {
    await sql`insert into accounts (id, kind, name) values (${id}, 'organization', 'own')`;
  }
  await sql`insert into organization_accounts (organization_id, account_id, role)
    values (${ids.organization}, ${account}, 'owner')`;
  await sql`insert into accounts (id, kind, name) values (${ids.artist}, 'artist', 'own')`;
  await sql`insert into organization_accounts (organization_id, account_id)
    values (${account}, ${ids.artist})`;
  await sql`insert into organization_invitations (id, organization_id, email, role, expires_at)
    values (${ids.sentInvitation}, ${ids.organization}, 'a@example.com', 'member', now() + interval '1 day')`;
  const [inviter] =
    await sql`insert into accounts (email) values (${`${other}@example.com`}) returning id`;
  await sql`insert into organization_accounts (organization_id, account_id, role)
    values (${other}, ${String(inviter?.id)}, 'owner')`;
  await sql`insert into organization_invitations
      (id, organization_id, invited_by, email, role, expires_at)
    select ${ids.receivedInvitation}, ${other}, ${String(inviter?.id)}, email, 'member',
      now() + interval '1 day'
    from accounts where id = ${account}`;
}

/** The tables whose rows name the account, organization or artist that they belong to, with that column. */
const owned = await sql<{ table: string; column: string }[]>`
  select c.table_name as table, c.column_name as column
  from information_schema.columns c join information_schema.tables using (table_schema, table_name)
  where table_schema = 'public' and table_type = 'BASE TABLE'
    and (c.column_name in ('account_id', 'owner_id', 'organization_id', 'workspace_id')
      or (c.table_name in ('accounts', 'workspaces') and c.column_name = 'id'))`;

/** Everything that an account, its organization and its artist own, to compare before and after. */
export async function ownedRows({ sql }: Transaction, ids: readonly string[]): Promise<unknown> {
  const rows = owned.map(
    ({ table, column }) =>
      `select '${table}' as name, to_jsonb(r)::text as row from ${table} r where ${column} = any ($1)`,
  );
  return sql.unsafe(`${rows.join(" union all ")} order by 1, 2`, [[...ids]]);
}
