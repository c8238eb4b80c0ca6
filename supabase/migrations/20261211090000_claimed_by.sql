-- The process that has claimed a chat, so that another one starts the run as soon as that process is known to be dead.

alter table public.turns add column claimed_by uuid;
comment on column public.turns.claimed_by is 'The process that has claimed the chat and is to start the run, as in engine.instances. Null where nothing tells whether it is alive.';
grant usage on schema engine to service_role;
grant select on engine.instances to service_role;

create or replace function public.claim_turn(
  p_claim jsonb, p_on_busy text, p_max_active integer, p_max_queued integer,
  p_max_account_bytes bigint, p_max_chat_bytes bigint, p_with_turn boolean default false
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_claim public.turn_claim := jsonb_populate_record(null::public.turn_claim, p_claim);
  v_own jsonb := public.with_options('{}', coalesce(p_claim -> 'options', '{}'));
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
      if public.with_options(v_queued.options, v_own) <> v_queued.options then
        return jsonb_build_object('outcome', 'options_differ');
      end if;
      if v_message.id is null then
        v_answer := public.answer_of_steering_message(
          v_chat.id, v_claim.message_id, v_claim.parts);
        if v_answer is not null then
          return public.answer_with_options(v_answer, v_own);
        end if;
      end if;
      -- With a parent the client asks for another answer.
      if v_message.id is not null and v_claim.parent_id is null then
        v_answer := public.answer_of_message(v_message, v_claim.replaces_answer);
        if v_answer ->> 'outcome' = 'answered' then
          return public.answer_with_options(v_answer, v_own);
        elsif v_answer is null then
          v_claim.parent_id := public.parent_of_message(v_message);
        end if;
      end if;
    end if;
    if v_claim.parent_id is not null then
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

  -- Who sends another message has not approved: a turn of a chat that waits for an approval is stopped.
  -- After a null, unlike after a false, PostgreSQL would still evaluate the rest.
  if v_busy is not null and v_busy ->> 'outcome' = 'active' and p_on_busy in ('reject', 'steer')
    and not v_waited and v_claim.parts_before is null and not v_active.headless
    and v_busy ->> 'message_id' <> v_claim.message_id
    and public.open_approvals(v_active.id) is not null
  then
    p_on_busy := 'interrupt';
  end if;

  if v_busy is not null then
    if v_queued.turn_id is not null then
      -- It stays queued. The first repetition with interrupt moves it before the others.
      v_answer := jsonb_build_object('outcome', 'queued', 'turn_id', v_queued.turn_id);
      update public.queued_turns set steers = v_active.id
      where turn_id = v_queued.turn_id and p_on_busy = 'steer' and public.may_steer(claim, options);
      if p_on_busy <> 'interrupt' or v_queued.goes_first then
        return v_answer;
      end if;
      update public.queued_turns set goes_first = true, position = default
      where turn_id = v_queued.turn_id;
    else
      if not v_waited and v_busy ->> 'message_id' = v_claim.message_id then
        return public.answer_with_options(v_busy, v_own);
      end if;
      if v_waited or p_on_busy = 'reject' or v_claim.parts_before is not null then
        return v_busy;
      end if;
      if p_max_queued <= (select count(*) from public.queued_turns where chat_id = v_chat.id) then
        return jsonb_build_object('outcome', 'queue_full');
      end if;
      insert into public.queued_turns
        (turn_id, account_id, chat_id, message_id, goes_first, claim, steers, client_tools, options)
      values (v_claim.turn_id, v_claim.account_id, v_chat.id, v_claim.message_id,
        p_on_busy = 'interrupt', v_claim,
        case when p_on_busy = 'steer' and public.may_steer(v_claim, v_own) then v_active.id end,
        p_claim ->> 'client_tools', v_own);
      v_answer := jsonb_build_object('outcome', 'queued', 'turn_id', v_claim.turn_id);
    end if;
    if p_on_busy = 'interrupt' then
      update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
      where id = (v_busy ->> 'turn_id')::uuid and finished_at is null;
    end if;
    v_answer := v_busy || v_answer || jsonb_build_object('active_turn_id', v_busy -> 'turn_id',
      'interrupts', p_on_busy = 'interrupt');
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
      -- The turn continues the one that has asked.
      v_own := public.with_options(coalesce((
        select t.options -> 'own' from public.turns t
        where t.chat_id = v_chat.id and t.assistant_message_id = v_claim.message_id
        order by t.created_at desc limit 1), '{}'), v_own);
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
      assistant_message_id, model_id, context_limit, history, key_id, artist_id, caller_key_id,
      client_tools, claimed_by, options)
    values (v_claim.turn_id, v_claim.account_id, v_chat.session_id, v_chat.id, v_claim.message_id,
      v_claim.assistant_message_id,
      coalesce(v_own ->> 'model', nullif(v_chat.model_id, ''), v_claim.default_model_id),
      v_claim.context_limit, v_claim.history,
      public.create_run_key(v_claim.account_id, v_claim.key_hash, v_claim.key_prefix,
        v_claim.key_name, v_claim.key_expires_at),
      v_session.artist_id, v_claim.caller_key_id, p_claim ->> 'client_tools',
      (select i.id from engine.instances i where i.id = (p_claim ->> 'claimed_by')::uuid),
      case when v_own = '{}' then '{}' else jsonb_build_object('own', v_own) end)
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
      v_turn := public.prepare_turn(v_turn);
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
comment on function public.claim_turn is 'Claims a chat for a new turn and stores the message that the turn answers. p_claim has the fields of turn_claim, client_tools, claimed_by, and as options {model, …} those of runOptions for this turn only, as JSON because not every REST server passes on records. With p_with_turn a claim returns the turn, as load_turn will. While the chat is busy it queues the turn, unless p_on_busy is reject, lets the active one take its message with steer, and stops the active one with interrupt: {outcome: claimed (turn) | queued (turn_id, active_turn_id, run_id, interrupts) | active (turn_id, run_id, message_id) | waiting | queue_full}. For a message that was sent before also {outcome: answered (turn_id, run_id, message_id) | content_differs | options_differ, where its turn has not all of the options}. All other outcomes change nothing: session_missing | chat_missing | sandbox_missing | id_taken | answer_stale | parent_missing | parent_differs | budget_reached | too_many_turns | messages_full | chat_full. A turn that waited is not checked again, except for p_max_active. A limit of 0 is none.';

drop function public.begin_queued_turn(uuid, integer, integer);
create function public.begin_queued_turn(
  p_chat_id uuid, p_max_active integer, p_stale_seconds integer, p_claimed_by uuid default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_row public.queued_turns;
  v_outcome text;
begin
  perform pg_advisory_xact_lock(hashtextextended(account_id::text, 20261163))
  from public.chats where id = p_chat_id;
  perform 1 from public.chats where id = p_chat_id for update;
  loop
    select * into v_row from public.queued_turns
    where chat_id = p_chat_id
    order by begun_at is null, goes_first desc,
      case when goes_first then -position else position end
    limit 1 for update;
    if not found then
      return null;
    end if;
    if v_row.begun_at is null then
      v_row.claim.key_expires_at := now() + interval '24 hours';
      v_outcome := public.claim_turn(
        to_jsonb(v_row.claim) || jsonb_build_object(
          'client_tools', v_row.client_tools, 'options', v_row.options,
          'claimed_by', p_claimed_by),
        'reject', p_max_active, 0, 0, 0) ->> 'outcome';
    elsif v_row.begun_at > now() - make_interval(secs => p_stale_seconds) then
      return null;
    else
      -- Its server has died before it started the run.
      update public.chats set claimed_at = clock_timestamp()
      where id = p_chat_id and active_stream_id = 'pending:' || v_row.turn_id
        and exists (
          select from public.turns t where t.id = v_row.turn_id and t.finished_at is null);
      v_outcome := case when found then 'claimed' end;
    end if;
    if v_outcome = 'claimed' then
      update public.queued_turns set begun_at = now() where turn_id = v_row.turn_id;
      return jsonb_build_object('turn_id', v_row.turn_id, 'credential', (v_row.claim).credential);
    end if;
    if v_outcome in ('active', 'waiting', 'too_many_turns') then
      return null;
    end if;
    -- It has been started, or its message can no longer be stored.
    delete from public.queued_turns where turn_id = v_row.turn_id;
  end loop;
end
$$;
comment on function public.begin_queued_turn is 'Claims a free chat for the first turn that waits in it: {turn_id, credential}, whose run must then be started; null when there is none. A turn whose run was not started within p_stale_seconds is returned again.';

create function public.take_over_claim(p_claimed_by uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn_id uuid;
  v_credential text;
begin
  select t.id, case when k.prefix like 'rt\_%' then 'bearer' else 'key' end
  into v_turn_id, v_credential
  from public.turns t
  join public.chats c on c.id = t.chat_id and public.active_stream_id(c) = 'pending:' || t.id
  left join public.api_keys k on k.id = t.key_id
  where t.claimed_by is not null and t.run_id is null and t.finished_at is null
    and not exists (select from engine.instances i where i.id = t.claimed_by)
  limit 1;
  if not found then
    return null;
  end if;
  perform public.lock_chat_of_turn(v_turn_id);
  -- Another process may have taken it over since.
  update public.turns t set claimed_by = p_claimed_by
  where t.id = v_turn_id and t.run_id is null and t.finished_at is null
    and not exists (select from engine.instances i where i.id = t.claimed_by);
  if not found then
    return null;
  end if;
  update public.chats c set claimed_at = clock_timestamp()
  from public.turns t
  where t.id = v_turn_id and c.id = t.chat_id and c.active_stream_id = 'pending:' || t.id;
  return jsonb_build_object('turn_id', v_turn_id, 'credential', v_credential);
end
$$;
comment on function public.take_over_claim is 'Takes over one turn whose process has died between its claim and its run: {turn_id, credential}, whose run must then be started; null when there is none. A claim that is void stays.';
