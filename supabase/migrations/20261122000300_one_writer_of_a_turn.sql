-- Only the process that has loaded a turn last records its steps and its end. A process that was paused
-- for longer than its lease may come back between its last chunks, which were still its own, and their
-- record: its successor has begun the step anew by then, and clients have been told so.

alter table public.turns add column loads integer not null default 0;
comment on column public.turns.loads is
  'How often a process has loaded the turn to continue it. Only the newest load records steps and the end.';

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
    update public.turns set loads = loads + 1, run_id = p_run_id, status = 'running',
      instructions = public.chat_instructions(account_id, chat_id)
    where id = p_turn_id returning * into v_turn;
    update public.api_keys set run_id = p_run_id where id = v_turn.key_id;
  else
    update public.turns set loads = loads + 1 where id = p_turn_id returning * into v_turn;
  end if;

  select * into v_session from public.sessions where id = v_turn.session_id;
  return jsonb_build_object(
    'outcome', 'active',
    'load', v_turn.loads,
    'account_id', v_turn.account_id,
    'session_id', v_turn.session_id,
    'chat_id', v_turn.chat_id,
    'message_id', v_turn.message_id,
    'assistant_message_id', v_turn.assistant_message_id,
    'model_id', v_turn.model_id,
    'instructions', v_turn.instructions,
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

create function public.complete_model_call(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_index integer, p_result jsonb,
  p_call_ids text[], p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- What was spent counts, whoever has spent it.
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('superseded', false, 'stop_requested', true, 'known_calls', '[]'::jsonb);
  end if;
  -- Locked, so that nobody loads it before this is committed.
  perform from public.turns where id = p_turn_id and loads = p_load for share;
  if not found then
    return jsonb_build_object('superseded', true, 'stop_requested', false, 'known_calls', '[]'::jsonb);
  end if;
  return public.complete_model_call(p_turn_id, p_index, p_result, p_call_ids)
    || jsonb_build_object('superseded', false);
end
$$;
comment on function public.complete_model_call(uuid, uuid, integer, integer, jsonb, text[], jsonb) is
  'Records the usage of a model call, and, unless the turn was loaded again since this load, its result and the tool calls that start at once: {superseded, stop_requested, known_calls as of start_tools}. A turn that was deleted is to stop.';
comment on function public.complete_model_call(uuid, uuid, integer, jsonb, text[], jsonb) is
  'complete_model_call without a load, which servers of the version before call.';

create function public.finish_turn_with_step(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_status text, p_error text, p_parts jsonb,
  p_metadata jsonb, p_index integer, p_step jsonb, p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  perform from public.accounts where id = p_account_id for key share;
  perform public.lock_chat_of_turn(p_turn_id);
  perform from public.turns where id = p_turn_id and account_id = p_account_id and loads <> p_load
  for update;
  if found then
    perform public.record_turn_usage(p_account_id, p_turn_id, p_usage);
    return jsonb_build_object('superseded', true, 'finished', false, 'webhooks_due', false);
  end if;
  return jsonb_build_object('superseded', false) || public.finish_turn_with_step(
    p_account_id, p_turn_id, p_status, p_error, p_parts, p_metadata, p_index, p_step, p_usage);
end
$$;
comment on function public.finish_turn_with_step(
  uuid, uuid, integer, text, text, jsonb, jsonb, integer, jsonb, jsonb) is
  'finish_turn_with_event, with the last step of the turn, which is null when it made no model call, and what that has used: {superseded, finished, webhooks_due}. Superseded, the turn was loaded again since this load, and only the usage is recorded.';
comment on function public.finish_turn_with_step(
  uuid, uuid, text, text, jsonb, jsonb, integer, jsonb, jsonb) is
  'finish_turn_with_step without a load, which servers of the version before call.';
