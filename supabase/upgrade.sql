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

-- Functions that are gone, or have other arguments.
do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid from pg_proc p where p.pronamespace = 'public'::regnamespace and p.proname in (
      'add_accounts_of_messages', 'due_media_removals', 'due_sandbox_removals', 'due_workspace_removals',
      'end_media_removal', 'end_sandbox_removal', 'end_workspace_removal', 'finish_tool', 'has_text',
      'is_foreign_skill', 'list_artist_task_runs', 'list_task_runs', 'load_turn', 'loaded_skills',
      'media_removals_of', 'meet_rows', 'message_text', 'reserve_compaction_call', 'reserve_memory_call',
      'reserve_model_call', 'set_turn_client_tools', 'set_turn_deliver', 'set_turn_output_schema',
      'set_turn_webhook', 'strictest_policy', 'sweep_deleted_identities', 'sweep_invitations',
      'sweep_requests', 'sweep_rows', 'sweep_run_traces', 'sweep_trigger_events',
      'sweep_webhook_deliveries', 'take_signup_rate')
  loop
    execute format('drop function %s', v_function);
  end loop;
end
$$;
