-- The rows of an account that is deleted are deleted in batches first.

create function public.delete_account_rows(p_account_id uuid, p_batch integer) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_table text;
  v_count integer;
  v_total integer;
  -- Each has tens of rows: messages, turns and traces.
  v_sessions constant uuid[] := array(
    select s.id from public.sessions s
    where s.account_id = p_account_id and s.sandbox_state is null and not exists (
      select from public.turns t where t.session_id = s.id and t.finished_at is null)
    limit greatest(1, p_batch / 20));
begin
  -- Chats before their sessions, as a turn locks them that starts now: the other order deadlocks.
  perform from public.chats where session_id = any (v_sessions) order by id for update;
  delete from public.sessions s
  where s.id = any (v_sessions) and s.sandbox_state is null and not exists (
    select from public.turns t where t.session_id = s.id and t.finished_at is null);
  get diagnostics v_total = row_count;
  -- Before the entries, which would be summed again.
  delete from public.usage_days where account_id = p_account_id;
  foreach v_table in array array['usage_entries', 'requests', 'account_words', 'webhook_deliveries', 'trigger_events']
  loop
    execute format('delete from public.%1$I where ctid = any (array(
      select ctid from public.%1$I where account_id = $1 limit $2))', v_table)
    using p_account_id, p_batch;
    get diagnostics v_count = row_count;
    v_total := v_total + v_count;
  end loop;
  return v_total >= p_batch / 20;
end
$$;
comment on function public.delete_account_rows is 'Deletes at most p_batch rows of each kind of which an account may have very many, and fewer sessions, without the ones that have a sandbox or an active turn. Returns whether there may be many more.';
