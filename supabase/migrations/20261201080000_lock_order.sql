-- A title or a compaction that is stored locks the chat of its turn before the turn, as everything else does.

create or replace function public.record_compaction(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_message_id text, p_kind text, p_state jsonb,
  p_tokens_before integer, p_tokens_after integer, p_usage jsonb, p_tool_call_id text default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_id bigint;
begin
  -- The account and the chat before the turn, as everywhere: the other order deadlocks.
  perform from public.accounts where id = p_account_id for key share;
  perform public.lock_chat_of_turn(p_turn_id);
  -- Usage counts, even if another process has loaded the turn since.
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('superseded', true);
  end if;
  select * into v_turn from public.turns
  where id = p_turn_id and loads = p_load and finished_at is null for share;
  if not found then
    return jsonb_build_object('superseded', true);
  end if;
  insert into public.compactions
    (account_id, chat_id, turn_id, message_id, kind, state, tokens_before, tokens_after,
      tool_call_id)
  values (p_account_id, v_turn.chat_id, p_turn_id, p_message_id, p_kind, p_state,
    p_tokens_before, p_tokens_after, p_tool_call_id)
  returning id into v_id;
  return jsonb_build_object('superseded', false, 'id', v_id);
end
$$;

create or replace function public.end_title(
  p_account_id uuid, p_chat_id uuid, p_turn_id uuid, p_former text, p_title text, p_usage jsonb
) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  -- The account and the chat before the turn, as everywhere: the other order deadlocks.
  perform from public.accounts where id = p_account_id for key share;
  perform public.lock_chat_of_turn(p_turn_id);
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return false;
  end if;
  delete from public.running_compactions
  where chat_id = p_chat_id and account_id = p_account_id and id = p_turn_id;
  update public.chats set title = p_title, updated_at = now()
  where id = p_chat_id and account_id = p_account_id and title = p_former and p_title <> '';
  return found;
end
$$;
