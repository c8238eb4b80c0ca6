-- Abandoning a turn whose run was started after all, although the caller never learned of it, closed it
-- under its run. It also looked for the claim among all chats.
create or replace function public.abandon_turn(p_turn_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns
  where id = p_turn_id and run_id is null and finished_at is null for update;
  if found then
    update public.chats set active_stream_id = null, claimed_at = null
    where id = v_turn.chat_id and active_stream_id = 'pending:' || p_turn_id;
    perform public.close_turn(p_turn_id, 'failed', 'The turn could not be started');
  end if;
  return '{}';
end
$$;
comment on function public.abandon_turn is
  'Releases the claim of a turn and ends it, unless its run has begun. The message stays.';
