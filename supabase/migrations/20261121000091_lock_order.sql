-- One order of locks: a chat before its turns. The deletion of a session or a chat locks them in this
-- order, and a turn that ended or began at that moment in the other one: a deadlock.

create function public.lock_chat_of_turn(p_turn_id uuid) returns void
language sql set search_path = '' as $$
  select 1 from public.chats
  where id = (select chat_id from public.turns where id = p_turn_id)
  for update
$$;
comment on function public.lock_chat_of_turn is
  'Locks the chat of a turn for the transaction. To be called before the turn itself is locked.';

create or replace function public.load_turn(p_turn_id uuid, p_run_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_session public.sessions;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns where id = p_turn_id for update;
  if not found or coalesce(v_turn.run_id, p_run_id) <> p_run_id then
    return jsonb_build_object('outcome', 'lost');
  end if;
  if v_turn.finished_at is not null then
    return jsonb_build_object(
      'outcome', case when v_turn.run_id is null then 'lost' else 'finished' end,
      'error', v_turn.error,
      'metadata', (select m.metadata from public.messages m
        where m.chat_id = v_turn.chat_id and m.id = v_turn.assistant_message_id));
  end if;

  update public.chats set active_stream_id = p_run_id
  where id = v_turn.chat_id and active_stream_id in ('pending:' || p_turn_id, p_run_id);
  if not found then
    return jsonb_build_object('outcome', 'lost');
  end if;
  -- A headless turn knows its run before the run has begun.
  if v_turn.status = 'queued' then
    update public.turns set run_id = p_run_id, status = 'running' where id = p_turn_id;
    update public.api_keys set run_id = p_run_id where id = v_turn.key_id;
  end if;

  select * into v_session from public.sessions where id = v_turn.session_id;
  return jsonb_build_object(
    'outcome', 'active',
    'account_id', v_turn.account_id,
    'session_id', v_turn.session_id,
    'chat_id', v_turn.chat_id,
    'message_id', v_turn.message_id,
    'assistant_message_id', v_turn.assistant_message_id,
    'model_id', v_turn.model_id,
    'context_limit', v_turn.context_limit,
    'headless', v_turn.headless,
    'has_key', v_turn.key_id is not null,
    'created_at', public.iso_date(v_turn.created_at),
    'stop_requested', v_turn.stop_requested_at is not null,
    'artist_id', v_session.artist_id,
    'sandbox_state', v_session.sandbox_state,
    'history', coalesce(
      v_turn.history, public.conversation_until(v_turn.chat_id, v_turn.message_id)),
    'steps', (
      select coalesce(jsonb_agg(s.result order by s.index), '[]')
      from public.turn_steps s where s.turn_id = p_turn_id));
end
$$;

create or replace function public.finish_turn(
  p_turn_id uuid, p_status text, p_error text, p_parts jsonb, p_metadata jsonb
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns where id = p_turn_id and finished_at is null for update;
  if not found then
    return jsonb_build_object('finished', false);
  end if;
  insert into public.messages (chat_id, id, role, parts, metadata)
  values (v_turn.chat_id, v_turn.assistant_message_id, 'assistant', p_parts, p_metadata)
  on conflict (chat_id, id) do update set parts = excluded.parts, metadata = excluded.metadata
  where messages.role = 'assistant';
  update public.chats set active_stream_id = null, claimed_at = null,
    last_assistant_message_at = now(), updated_at = now()
  where id = v_turn.chat_id
    and active_stream_id in (v_turn.run_id, 'pending:' || p_turn_id);
  perform public.close_turn(p_turn_id, p_status, p_error);
  return jsonb_build_object('finished', true);
end
$$;

create or replace function public.assign_run(p_turn_id uuid, p_run_id text) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  update public.turns set run_id = coalesce(run_id, p_run_id) where id = p_turn_id
  returning * into v_turn;
  update public.chats set active_stream_id = v_turn.run_id
  where id = v_turn.chat_id and active_stream_id = 'pending:' || v_turn.id;
  update public.api_keys set run_id = v_turn.run_id where id = v_turn.key_id;
  return jsonb_build_object('run_id', v_turn.run_id);
end
$$;

create or replace function public.discard_run(p_turn_id uuid) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns where id = p_turn_id and run_id is null for update;
  if not found then
    return jsonb_build_object('discarded', false);
  end if;
  -- Chats before their session, as everywhere: the other order deadlocks.
  perform 1 from public.chats where session_id = v_turn.session_id order by id for update;
  delete from public.sessions where id = v_turn.session_id;
  delete from public.api_keys where id = v_turn.key_id;
  return jsonb_build_object('discarded', true);
end
$$;
