-- A claim returns its turn, with which the process that made it starts the first model call. The functions
-- get an argument with a default, so servers of the version before call them as they did.

drop function public.claim_turn(jsonb, text, integer, integer, bigint, bigint);
drop function public.load_turn(uuid, text);

create function public.turn_state(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'load', p_turn.loads,
    'account_id', p_turn.account_id,
    'session_id', p_turn.session_id,
    'chat_id', p_turn.chat_id,
    'message_id', p_turn.message_id,
    'assistant_message_id', p_turn.assistant_message_id,
    'model_id', p_turn.model_id,
    'instructions', p_turn.instructions,
    'context_limit', p_turn.context_limit,
    'headless', p_turn.headless,
    'has_key', p_turn.key_id is not null,
    'has_budget', public.has_budget(p_turn.account_id),
    'created_at', public.iso_date(p_turn.created_at),
    'stop_requested', p_turn.stop_requested_at is not null,
    'artist_id', s.artist_id,
    'sandbox_state', s.sandbox_state)
  from public.sessions s where s.id = p_turn.session_id
$$;
comment on function public.turn_state is 'A turn as its run continues with it, without its history and steps.';

create function public.history_of_turn(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  -- The messages that the chat shows up to and with the one that is answered.
  select coalesce(p_turn.history, (
    select coalesce(jsonb_agg(
      jsonb_build_object('id', m.id, 'role', m.role, 'parts', m.parts)
      order by m.created_at, m.id), '[]')
    from public.messages m
    join public.messages newest
      on newest.chat_id = m.chat_id and newest.id = p_turn.message_id
    where m.chat_id = p_turn.chat_id and m.on_path
      and (m.created_at, m.id) <= (newest.created_at, newest.id)))
$$;
comment on function public.history_of_turn is 'The conversation that the model of a turn gets: [{id, role, parts}].';

create function public.claim_turn(
  p_claim jsonb, p_on_busy text, p_max_active integer, p_max_queued integer,
  p_max_account_bytes bigint, p_max_chat_bytes bigint, p_with_turn boolean default false
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_claim public.turn_claim := jsonb_populate_record(null::public.turn_claim, p_claim);
  v_session public.sessions;
  v_chat public.chats;
  v_turn public.turns;
  v_active public.turns;
  v_message public.messages;
  v_queued public.queued_turns;
  v_waited boolean;
  v_others_wait boolean;
  v_busy jsonb;
  v_answer jsonb;
  v_refusal text;
begin
  -- The account before the chat, as everywhere. The locks make simultaneous claims one after another.
  perform pg_advisory_xact_lock(hashtextextended(v_claim.account_id::text, 20261163));
  select * into v_chat from public.chats
  where id = v_claim.chat_id and session_id = v_claim.session_id and account_id = v_claim.account_id
  for update;
  if not found then
    return jsonb_build_object('outcome',
      public.missing_of_chat(v_claim.account_id, v_claim.session_id) || '_missing');
  end if;
  select * into v_session from public.sessions where id = v_chat.session_id;
  v_active := public.active_turn(v_chat);
  v_waited := exists (select from public.queued_turns where turn_id = v_claim.turn_id);

  if not v_waited then
    -- The same message may have been sent before.
    select * into v_queued from public.queued_turns
    where chat_id = v_chat.id and message_id = v_claim.message_id and begun_at is null;
    if v_claim.parts_before is null then
      select * into v_message from public.messages
      where chat_id = v_chat.id and id = v_claim.message_id and role = 'user';
      if (v_queued.claim).parts <> v_claim.parts
        or (v_message.id is not null and not public.is_same_content(v_message, v_claim.parts))
      then
        return jsonb_build_object('outcome', 'content_differs');
      end if;
      -- With a parent the client asks for another answer.
      if v_message.id is not null and v_claim.parent_id is null then
        v_answer := public.answer_of_message(v_message, v_claim.replaces_answer);
        if v_answer ->> 'outcome' = 'answered' then
          return v_answer;
        elsif v_answer is null then
          v_claim.parent_id := public.parent_of_message(v_message);
        end if;
      end if;
    end if;
    if v_claim.parent_id <> '' and not exists (
      select from public.messages m where m.chat_id = v_chat.id and m.id = v_claim.parent_id)
    then
      return jsonb_build_object('outcome', 'parent_missing');
    end if;
    if exists (
      select from public.messages m
      where m.chat_id = v_chat.id and m.id = v_claim.message_id
        and v_claim.parent_id <> public.parent_of_message(m))
    then
      return jsonb_build_object('outcome', 'parent_differs');
    end if;
  end if;

  -- A chat is busy while a turn is active, and while others wait that go first.
  v_others_wait := not v_waited and exists (
    select from public.queued_turns where chat_id = v_chat.id and begun_at is null);
  -- The turn of a message that has waited ends with the reason instead.
  if v_session.sandbox_state is null and not v_others_wait and not v_waited then
    return jsonb_build_object('outcome', 'sandbox_missing');
  end if;
  if public.active_stream_id(v_chat) is not null and v_active.id is not null then
    v_busy := jsonb_build_object('outcome', 'active', 'turn_id', v_active.id,
      'run_id', v_active.run_id, 'message_id', v_active.message_id);
  elsif public.active_stream_id(v_chat) is not null or v_others_wait then
    v_busy := jsonb_build_object('outcome', 'waiting');
  end if;

  if v_busy is not null then
    if v_queued.turn_id is not null then
      -- It stays queued. The first repetition with interrupt moves it before the others.
      v_answer := jsonb_build_object('outcome', 'queued', 'turn_id', v_queued.turn_id);
      if p_on_busy <> 'interrupt' or v_queued.goes_first then
        return v_answer;
      end if;
      update public.queued_turns set goes_first = true, position = default
      where turn_id = v_queued.turn_id;
    else
      if v_waited or p_on_busy = 'reject' or v_claim.parts_before is not null
        or v_busy ->> 'message_id' = v_claim.message_id
      then
        return v_busy;
      end if;
      if p_max_queued <= (select count(*) from public.queued_turns where chat_id = v_chat.id) then
        return jsonb_build_object('outcome', 'queue_full');
      end if;
      insert into public.queued_turns (turn_id, account_id, chat_id, message_id, goes_first, claim)
      values (v_claim.turn_id, v_claim.account_id, v_chat.id, v_claim.message_id,
        p_on_busy = 'interrupt', v_claim);
      v_answer := jsonb_build_object('outcome', 'queued', 'turn_id', v_claim.turn_id);
    end if;
    if p_on_busy = 'interrupt' then
      update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
      where id = (v_busy ->> 'turn_id')::uuid and finished_at is null;
    end if;
    v_answer := v_busy || v_answer || jsonb_build_object('active_turn_id', v_busy -> 'turn_id');
  else
    if v_chat.active_stream_id is not null then
      -- The request that made this claim died before it started a run.
      perform public.close_turn(v_active.id, 'failed', 'The turn was never started');
    end if;
    -- A user's message, or the answer to a question that an assistant's message still has.
    if v_claim.parts_before is null then
      insert into public.messages (chat_id, id, role, parts, parent_id)
      values (v_chat.id, v_claim.message_id, 'user', v_claim.parts, public.leaf_of_chat(v_chat.id))
      on conflict (chat_id, id) do nothing;
      if not found and not exists (
        select from public.messages m
        where m.chat_id = v_chat.id and m.id = v_claim.message_id and m.role = 'user'
          and public.is_same_content(m, v_claim.parts))
      then
        return jsonb_build_object('outcome', 'id_taken');
      end if;
    else
      update public.messages set parts = v_claim.parts
      where chat_id = v_chat.id and id = v_claim.message_id and role = 'assistant'
        and parts = v_claim.parts_before;
      if not found then
        return jsonb_build_object('outcome', 'answer_stale');
      end if;
    end if;
    -- A message that is answered is shown.
    if v_claim.parent_id is not null then
      update public.messages set parent_id = v_claim.parent_id
      where chat_id = v_chat.id and id = v_claim.message_id
        and parent_id is distinct from v_claim.parent_id;
      perform public.show_path(v_chat.id, v_claim.message_id, false);
    elsif exists (
      select from public.messages
      where chat_id = v_chat.id and id = v_claim.message_id and not on_path)
    then
      perform public.show_path(v_chat.id, v_claim.message_id, true);
    end if;

    insert into public.turns (id, account_id, session_id, chat_id, message_id,
      assistant_message_id, model_id, context_limit, history, key_id, artist_id, caller_key_id)
    values (v_claim.turn_id, v_claim.account_id, v_chat.session_id, v_chat.id, v_claim.message_id,
      v_claim.assistant_message_id, coalesce(nullif(v_chat.model_id, ''), v_claim.default_model_id),
      v_claim.context_limit, v_claim.history,
      public.create_run_key(v_claim.account_id, v_claim.key_hash, v_claim.key_prefix,
        v_claim.key_name, v_claim.key_expires_at),
      v_session.artist_id, v_claim.caller_key_id)
    returning * into v_turn;
    update public.chats set
      active_stream_id = 'pending:' || v_claim.turn_id,
      claimed_at = clock_timestamp(),
      title = case when title = '' then coalesce(v_claim.title, '') else title end,
      updated_at = now()
    where id = v_chat.id;

    if not v_waited and public.is_budget_reached(v_claim.account_id) then
      raise exception using errcode = 'PT403', message = 'budget_reached';
    end if;
    if p_max_active > 0 and public.count_active_turns(v_claim.account_id) > p_max_active then
      raise exception using errcode = 'PT403', message = 'too_many_turns';
    end if;
    v_answer := jsonb_build_object('outcome', 'claimed');
    if p_with_turn then
      v_turn.instructions := public.chat_instructions(v_turn.account_id, v_turn.chat_id);
      v_answer := v_answer || jsonb_build_object('turn',
        public.turn_state(v_turn) || jsonb_build_object('history', public.history_of_turn(v_turn)));
    end if;
  end if;

  -- A message that waited, or was stored before, takes no more room.
  if not v_waited and v_queued.turn_id is null then
    v_refusal := public.message_quota_reached(
      v_claim.account_id, v_chat.id, p_max_account_bytes, p_max_chat_bytes);
    if v_refusal is not null then
      raise exception using errcode = 'PT403', message = v_refusal;
    end if;
  end if;
  return v_answer;
exception when sqlstate 'PT403' then
  -- Nothing has changed.
  return jsonb_build_object('outcome', sqlerrm);
end
$$;
comment on function public.claim_turn is 'Claims a chat for a new turn and stores the message that the turn answers. p_claim has the fields of turn_claim, as JSON because not every REST server passes on records. With p_with_turn a claim returns the turn, as load_turn will. While the chat is busy it queues the turn, unless p_on_busy is reject, and with interrupt stops the active one: {outcome: claimed (turn) | queued (turn_id, active_turn_id, run_id) | active (turn_id, run_id, message_id) | waiting | queue_full}. For a message that was sent before also {outcome: answered (turn_id, run_id, message_id) | content_differs}. All other outcomes change nothing: session_missing | chat_missing | sandbox_missing | id_taken | answer_stale | parent_missing | parent_differs | budget_reached | too_many_turns | messages_full | chat_full. A turn that waited is not checked again, except for p_max_active. A limit of 0 is none.';

create function public.load_turn(p_turn_id uuid, p_run_id text, p_has_history boolean default false)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
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
  -- A headless turn knows its run before the run starts.
  if v_turn.status = 'queued' then
    update public.turns
    set loads = loads + 1, reserved_usd = 0, run_id = p_run_id, status = 'running',
      instructions = public.chat_instructions(account_id, chat_id)
    where id = p_turn_id returning * into v_turn;
    update public.api_keys set run_id = p_run_id where id = v_turn.key_id;
  else
    update public.turns set loads = loads + 1, reserved_usd = 0
    where id = p_turn_id returning * into v_turn;
  end if;

  return public.turn_state(v_turn) || jsonb_build_object(
    'outcome', 'active',
    'history', case when p_has_history then '[]' else public.history_of_turn(v_turn) end,
    'steps', (
      select coalesce(jsonb_agg(s.result order by s.index), '[]')
      from public.turn_steps s where s.turn_id = p_turn_id));
end
$$;
comment on function public.load_turn is 'Turns a claim into the run''s and answers all that the run continues with, at its start and after each crash, without the history if the process has it from the claim: {outcome: lost | finished | active, …}.';
