-- Takes the rows of a database with the newest migration before the baseline to the baseline, whose new tables and types
-- exist by then: see scripts/embedded/upgrade-to-baseline.ts.

insert into public.removals (kind, owner_id, name, removed_at)
select 'media', account_id, name, removed_at from public.media_removals
union all
select 'content', workspace_id, content_id::text, removed_at from public.workspace_removals;
insert into public.removals (kind, owner_id, state)
select 'sandbox', session_id, sandbox from public.sandbox_removals;
drop table public.media_removals, public.workspace_removals, public.sandbox_removals;
alter table public.memory_proposals drop column reserved_usd;
update public.messages m set account_id = c.account_id
from public.chats c where c.id = m.chat_id and m.account_id is null;
drop index public.messages_without_account;
alter table public.messages alter column account_id set not null;
-- Its jobs have ended with the servers.
drop table public.running_compactions;

drop function public.add_accounts_of_messages(integer), public.due_media_removals(integer),
  public.due_sandbox_removals(integer),
  public.due_workspace_removals(integer), public.end_media_removal(uuid, text),
  public.end_sandbox_removal(uuid), public.end_workspace_removal(uuid),
  public.finish_tool(uuid, text, jsonb, uuid, jsonb), public.is_foreign_skill(uuid, text),
  public.list_artist_task_runs(uuid, uuid, integer), public.list_task_runs(uuid, integer), public.load_turn(uuid, text, boolean, boolean), public.loaded_skills(uuid),
  public.media_removals_of(uuid, integer), public.reserve_compaction_call(uuid, uuid, numeric),
  public.reserve_memory_call(uuid, uuid, uuid, numeric),
  public.reserve_model_call(uuid, uuid, integer, numeric, numeric, numeric, integer),
  public.set_turn_client_tools(uuid, uuid, text),
  public.set_turn_deliver(uuid, uuid, jsonb, integer),
  public.set_turn_output_schema(uuid, uuid, text),
  public.set_turn_webhook(uuid, uuid, text), public.strictest_policy(text[]),
  public.take_signup_rate(text, integer);
