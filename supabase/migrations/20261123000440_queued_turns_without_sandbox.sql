-- A message that was accepted while its chat was busy is stored although the sandbox is gone: its turn
-- begins, and ends before its first model call with the reason. Before, it was dropped.

create or replace function public.claim_turn(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_turn_id uuid,
  p_message_id text, p_parts jsonb, p_parts_before jsonb, p_assistant_message_id text,
  p_title text, p_default_model_id text, p_context_limit integer, p_history jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_caller_key_id uuid
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_session public.sessions;
  v_chat public.chats;
  v_active public.turns;
  v_refusal text;
begin
  select * into v_session from public.sessions
  where id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('outcome', 'session_missing');
  end if;
  -- The row lock makes simultaneous claims one after another.
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for update;
  if not found then
    return jsonb_build_object('outcome', 'chat_missing');
  end if;
  if v_session.sandbox_state is null
    and not exists (select from public.queued_turns q where q.turn_id = p_turn_id)
  then
    return jsonb_build_object('outcome', 'sandbox_missing');
  end if;

  if v_chat.active_stream_id is not null then
    v_active := public.active_turn(v_chat);
    if public.active_stream_id(v_chat) is not null then
      return jsonb_build_object('outcome', 'active', 'turn_id', v_active.id,
        'run_id', v_active.run_id, 'message_id', v_active.message_id);
    end if;
    -- The request that made this claim died before it started a run.
    perform public.close_turn(v_active.id, 'failed', 'The turn was never started');
  end if;

  v_refusal := public.store_turn_message(p_chat_id, p_message_id, p_parts, p_parts_before);
  if v_refusal is not null then
    return jsonb_build_object('outcome', v_refusal);
  end if;
  insert into public.turns (id, account_id, session_id, chat_id, message_id, assistant_message_id,
    model_id, context_limit, history, key_id, artist_id, caller_key_id)
  values (p_turn_id, p_account_id, p_session_id, p_chat_id, p_message_id, p_assistant_message_id,
    coalesce(nullif(v_chat.model_id, ''), p_default_model_id), p_context_limit, p_history,
    public.create_run_key(p_account_id, p_key_hash, p_key_prefix, p_key_name, p_key_expires_at),
    v_session.artist_id, p_caller_key_id);
  update public.chats set
    active_stream_id = 'pending:' || p_turn_id,
    claimed_at = clock_timestamp(),
    title = case when title = '' then coalesce(p_title, '') else title end,
    updated_at = now()
  where id = p_chat_id;
  return jsonb_build_object('outcome', 'claimed');
end
$$;
