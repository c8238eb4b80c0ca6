-- The claim of a chat by a turn: by a message, a headless run, and a message that has waited in the queue.

-- Claim -------------------------------------------------------------------------------------------

create function public.claim_turn(
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

  -- Sending another message does not approve the call: a turn of a chat that waits for an approval
  -- is stopped. After a null, unlike after a false, PostgreSQL would still evaluate the rest.
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
      perform public.close_turn(v_active.id, 'failed', 'never_started');
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

create function public.may_steer(p_claim public.turn_claim, p_own jsonb) returns boolean
language sql immutable set search_path = '' as $$
  select p_claim.parent_id is null and p_claim.replaces_answer is null and p_own = '{}'
$$;
comment on function public.may_steer is 'Returns false for a message that starts a branch or has own options, which no running turn can take.';

create function public.with_options(p_own jsonb, p_options jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
declare
  v_added constant jsonb := jsonb_strip_nulls(p_options);
begin
  return jsonb_strip_nulls(p_own || (v_added - 'network') || jsonb_build_object(
    'limits', nullif(
      coalesce(p_own -> 'limits', '{}') || coalesce(v_added -> 'limits', '{}'), '{}'),
    'approvals', public.stricter_policies(p_own -> 'approvals', v_added -> 'approvals'),
    'network_policies', (
      select jsonb_agg(distinct n.value)
      from jsonb_array_elements(coalesce(p_own -> 'network_policies', '[]')
        || coalesce(v_added -> 'network_policies', '[]')
        || coalesce(v_added -> 'network', '[]')) n
      where n.value ->> 'mode' <> 'open')));
end
$$;
comment on function public.with_options is 'The own options of a turn with further ones, of which each replaces the own one, limits one by one. Approvals get stricter, and the network policy {mode, hosts} is added to network_policies. Options that are null do not count.';

create function public.has_options(p_turn public.turns, p_own jsonb) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  v_own constant jsonb := coalesce(p_turn.options -> 'own', '{}');
begin
  return public.with_options(v_own, p_own) = v_own;
end
$$;
comment on function public.has_options is 'Returns whether a turn has started with all of these own options, or with stricter ones.';

create function public.answer_with_options(p_answer jsonb, p_own jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case
    when p_own = '{}' or p_answer ->> 'outcome' not in ('active', 'answered') or exists (
      select from public.turns t
      where t.id = (p_answer ->> 'turn_id')::uuid and public.has_options(t, p_own))
      then p_answer
    else '{"outcome": "options_differ"}' end;
end
$$;
comment on function public.answer_with_options is 'The answer of claim_turn to a message that was sent before, unless its turn lacks some of the options that the message has now.';

create function public.active_turn(p_chat public.chats) returns public.turns
language plpgsql stable set search_path = '' as $$
begin
  if p_chat.active_stream_id is null then
    return null;
  end if;
  return (
    select t from public.turns t
    where t.chat_id = p_chat.id
      and (t.run_id = p_chat.active_stream_id or 'pending:' || t.id = p_chat.active_stream_id));
end
$$;
comment on function public.active_turn is 'The turn that a chat is claimed by.';

create function public.is_waiting(p_turn_id uuid) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from public.required_actions a where a.turn_id = p_turn_id and a.wakes_at > now());
end
$$;
comment on function public.is_waiting is 'Returns whether a turn waits for its client.';

create function public.count_active_turns(p_account_id uuid) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (
    select count(*) from public.turns
    where account_id = p_account_id and finished_at is null and not public.is_waiting(id)
      -- A claim whose request died before it started a run is void after this time.
      and (run_id is not null
        or created_at > now() - case when headless then interval '10 minutes' else interval '60 seconds' end));
end
$$;
comment on function public.count_active_turns is 'The turns of an account that are queued or running, without those that wait for their client, and claims that never became a run.';

create function public.store_file_parts(p_turn_id uuid, p_messages jsonb, p_history jsonb)
returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns
  where id = p_turn_id and finished_at is null for update;
  if not found then
    return;
  end if;
  update public.turns set history = p_history where id = p_turn_id and history is not null;
  -- Of a conversation that the client sent, only the newest message is stored.
  update public.messages m set parts = changed.parts,
    sent_digest = coalesce(m.sent_digest, public.digest_of_parts(m.parts))
  from jsonb_to_recordset(p_messages) as changed(id text, parts jsonb)
  where m.chat_id = v_turn.chat_id and m.id = changed.id and m.role = 'user'
    and (m.id = v_turn.message_id or v_turn.history is null);
end
$$;
comment on function public.store_file_parts is 'Replaces the parts of user messages [{id, parts}] that a running turn has read, and its history where the client sent one. Without effect when the turn has ended.';

create function public.digest_of_parts(p_parts jsonb) returns text
language sql immutable set search_path = '' as $$
  select encode(sha256(convert_to(p_parts::text, 'UTF8')), 'hex')
$$;
comment on function public.digest_of_parts is 'SHA-256 of the parts of a message, in hex.';

create function public.is_same_content(p_message public.messages, p_parts jsonb) returns boolean
language sql stable set search_path = '' as $$
  select case when p_message.sent_digest is null then p_message.parts = p_parts
    else p_message.sent_digest = public.digest_of_parts(p_parts) end
$$;
comment on function public.is_same_content is 'Whether a message was sent with these parts, although the stored parts may name its stored files.';

create function public.parent_of_message(p_message public.messages) returns text
language sql stable set search_path = '' as $$
  select coalesce(p_message.parent_id, (
    select b.id from public.messages b
    where b.chat_id = p_message.chat_id and (b.created_at, b.id) < (p_message.created_at, p_message.id)
    order by b.created_at desc, b.id desc
    limit 1), '')
$$;
comment on function public.parent_of_message is 'The id of the message that a message follows; empty for one that starts the conversation.';

create function public.answer_of_message(
  p_message public.messages, p_replaces_answer text
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_turn public.turns;
  v_answer_id text;
begin
  -- Of several answers the one that the chat shows.
  select t.* into v_turn from public.turns t
  left join public.messages a on a.chat_id = t.chat_id and a.id = t.assistant_message_id
  where t.chat_id = p_message.chat_id and t.message_id = p_message.id
  order by coalesce(a.on_path, false) desc, t.created_at desc
  limit 1;
  if v_turn.id is not null and v_turn.finished_at is null then
    return jsonb_build_object('outcome', 'active');
  end if;
  -- A message whose answer failed or was stopped is answered again.
  if v_turn.status in ('failed', 'cancelled') then
    return null;
  end if;
  select a.id into v_answer_id from public.messages a
  where a.chat_id = p_message.chat_id and a.role = 'assistant' and (
    a.id = v_turn.assistant_message_id
    or (v_turn.id is null and public.parent_of_message(a) = p_message.id))
  order by a.on_path desc, a.created_at desc
  limit 1;
  -- A request for another answer in place of one that is no longer shown is a repeated request.
  if p_replaces_answer is not null and not exists (
    select from public.messages a
    where a.chat_id = p_message.chat_id and a.id = p_replaces_answer and not a.on_path) then
    return null;
  end if;
  return case when v_answer_id is not null then jsonb_build_object(
    'outcome', 'answered', 'turn_id', v_turn.id, 'run_id', v_turn.run_id,
    'message_id', v_answer_id) end;
end
$$;
comment on function public.answer_of_message is 'The response to a user message that is sent again: {outcome: active} while it is being answered, {outcome: answered (turn_id, run_id, message_id)} for its answer, null if it is to be answered again. p_replaces_answer is the id of the answer that a new one is requested for, null for none.';

create function public.answer_of_steering_message(
  p_chat_id uuid, p_message_id text, p_parts jsonb
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select case
      when s.sent_digest <> public.digest_of_parts(p_parts)
        then jsonb_build_object('outcome', 'content_differs')
      when t.finished_at is null
        then jsonb_build_object('outcome', 'active', 'turn_id', t.id, 'run_id', t.run_id,
          'message_id', s.message_id)
      -- A message whose answer failed or was stopped is answered again.
      when t.status = 'completed' and exists (
        select from public.messages a where a.chat_id = t.chat_id and a.id = t.assistant_message_id)
        then jsonb_build_object('outcome', 'answered', 'turn_id', t.id, 'run_id', t.run_id,
          'message_id', t.assistant_message_id) end
    from public.steering_messages s join public.turns t on t.id = s.turn_id
    where s.chat_id = p_chat_id and s.message_id = p_message_id);
end
$$;
comment on function public.answer_of_steering_message is 'The response to a message that a running turn has taken and that is sent again, as an outcome of claim_turn. Null if no turn has taken it, or if it is to be answered again.';

-- Headless runs -----------------------------------------------------------------------------------

create function public.provision_run(
  p_account_id uuid, p_artist_id uuid, p_effect_id uuid, p_turn_id uuid,
  p_assistant_message_id text, p_title text, p_model_id text, p_messages jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_kind text, p_caller_key_id uuid, p_max_active integer, p_max_account_bytes bigint,
  p_setup jsonb default '{}'
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_turn public.turns;
  v_missing text;
begin
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  perform public.close_unstarted_runs();
  -- Two attempts at one effect come one after the other.
  perform pg_advisory_xact_lock(hashtextextended(p_effect_id::text, 20261120));
  select * into v_turn from public.turns
  where effect_id = p_effect_id and account_id = p_account_id;
  if not found then
    v_turn.id := p_turn_id;
    insert into public.sessions (account_id, artist_id) values (p_account_id, p_artist_id)
    returning id into v_turn.session_id;
    insert into public.chats (session_id, account_id, title, model_id, active_stream_id, claimed_at)
    values (v_turn.session_id, p_account_id, p_title, p_model_id, 'pending:' || p_turn_id, v_now)
    returning id into v_turn.chat_id;
    -- A microsecond apart, to keep their order whatever their ids.
    insert into public.messages (chat_id, id, role, parts, created_at)
    select v_turn.chat_id, m.value ->> 'id', m.value ->> 'role', m.value -> 'parts',
      v_now + m.ordinality * interval '1 microsecond'
    from jsonb_array_elements(p_messages) with ordinality as m;
    insert into public.turns (id, account_id, session_id, chat_id, effect_id, message_id,
      assistant_message_id, model_id, headless, key_id, kind, artist_id, caller_key_id)
    values (p_turn_id, p_account_id, v_turn.session_id, v_turn.chat_id, p_effect_id,
      p_messages -> -1 ->> 'id', p_assistant_message_id, p_model_id, true,
      public.create_run_key(p_account_id, p_key_hash, p_key_prefix, p_key_name, p_key_expires_at),
      p_kind, p_artist_id, p_caller_key_id);
    if public.is_budget_reached(p_account_id) then
      raise exception using errcode = 'PT403', message = 'budget_reached';
    end if;
    if p_max_active > 0 and public.count_active_turns(p_account_id) > p_max_active then
      raise exception using errcode = 'PT403', message = 'too_many_turns';
    end if;
    if public.message_quota_reached(p_account_id, null, p_max_account_bytes, 0) is not null then
      raise exception using errcode = 'PT403', message = 'messages_full';
    end if;
  end if;
  if v_turn.run_id is null then
    update public.turns set output_schema = p_setup ->> 'output_schema',
      client_tools = p_setup ->> 'client_tools', webhook_url = p_setup ->> 'webhook_url',
      deliver = p_setup -> 'deliver'
    where id = v_turn.id and p_setup <> '{}';
    perform public.mark_turn_untrusted(p_account_id, v_turn.id, p_setup -> 'untrusted')
    where p_setup ? 'untrusted';
    perform public.set_chat_connectors(p_account_id, v_turn.session_id, v_turn.chat_id,
      array(select jsonb_array_elements_text(p_setup -> 'connectors')))
    where p_setup ? 'connectors';
    v_missing := public.update_chat(p_account_id, v_turn.session_id, v_turn.chat_id, null, null,
      p_setup ->> 'instructions', (p_setup ->> 'template_id')::uuid, false, null, null,
      coalesce(p_setup -> 'options', '{}'), (p_setup ->> 'template_version')::integer,
      p_setup ->> 'default_model_id', (p_setup ->> 'accepts_version')::boolean) ->> 'missing'
    where p_setup <> '{}';
    if v_missing is not null then
      raise exception using errcode = 'PT403', message = v_missing;
    end if;
  end if;
  return jsonb_build_object('turn_id', v_turn.id, 'session_id', v_turn.session_id,
    'chat_id', v_turn.chat_id, 'run_id', v_turn.run_id);
exception when sqlstate 'PT403' then
  return jsonb_build_object('refused', sqlerrm);
end
$$;
comment on function public.provision_run is 'Creates session, chat, messages, credential and turn of a headless run, or finds the rows of an earlier attempt at the same effect: {turn_id, session_id, chat_id, run_id}. p_messages is [{id, role, parts}], the last of which is answered. p_setup has the rest of the request: {output_schema, client_tools, webhook_url, deliver, untrusted, connectors, instructions, template_id, template_version, accepts_version, options, default_model_id}, the last six as in update_chat. {refused: budget_reached | too_many_turns | messages_full | session | chat | template | template_version} has changed nothing. A limit of 0 is none.';

create function public.close_unstarted_runs() returns void
language plpgsql set search_path = '' as $$
declare
  v_id uuid;
begin
  for v_id in
    select id from public.turns
    where headless and run_id is null and finished_at is null
      and created_at < now() - interval '10 minutes'
    order by created_at limit 10 for update skip locked
  loop
    perform public.abandon_turn(v_id);
    update public.turns set effect_id = null where id = v_id;
  end loop;
end
$$;
comment on function public.close_unstarted_runs is 'Closes headless turns whose request died before it started their run. Each call closes at most ten.';

create function public.assign_run(p_turn_id uuid, p_run_id text) returns jsonb
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
comment on function public.assign_run is 'Gives a turn its run; the first of two attempts wins: {run_id}, null when the turn is gone.';

create function public.discard_run(p_turn_id uuid) returns jsonb
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
comment on function public.discard_run is 'Deletes what provision_run created, unless the run has started: {discarded}.';

-- Queued messages ---------------------------------------------------------------------------------

create function public.chats_to_begin(p_limit integer, p_stale_seconds integer) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(distinct q.chat_id), '{}') from (
    select q.chat_id from public.queued_turns q join public.chats c on c.id = q.chat_id
    where q.begun_at < now() - make_interval(secs => p_stale_seconds)
      or (q.begun_at is null and public.active_stream_id(c) is null)
    limit p_limit
  ) q
$$;
comment on function public.chats_to_begin is 'Chats that are free although turns wait in them, because the server died that was to start these.';

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

create function public.dequeue_turn(p_turn_id uuid) returns void
language sql volatile set search_path = '' as $$
  delete from public.queued_turns where turn_id = p_turn_id
$$;
comment on function public.dequeue_turn is 'Notes that the run of a turn that waited was started.';

create function public.queued_turn_state(p_account_id uuid, p_turn_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select case
    when t.run_id is not null
      then jsonb_build_object('state', 'started', 'turn_id', t.id, 'run_id', t.run_id)
    when t.finished_at is null and (t.id is not null or q.turn_id is not null)
      then jsonb_build_object('state', 'waiting')
    else jsonb_build_object('state', 'gone') end
  from (select p_turn_id as id, p_account_id as account_id) asked
  left join public.steering_messages s on s.queued_turn_id = asked.id
  left join public.turns t
    on t.id = coalesce(s.turn_id, asked.id) and t.account_id = asked.account_id
  left join public.queued_turns q on q.turn_id = asked.id and q.account_id = asked.account_id
$$;
comment on function public.queued_turn_state is 'What became of a turn that was queued: {state: waiting | started (turn_id, run_id) | gone}. The turn that took its message stands for it.';

create function public.list_queued_messages(p_account_id uuid, p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select case when c.id is null then jsonb_build_object('refused', 'chat')
    else jsonb_build_object('messages', (
      select coalesce(
        jsonb_agg(
          jsonb_build_object('id', q.message_id, 'parts', (q.claim).parts,
            'created_at', q.created_at)
          order by q.goes_first desc, case when q.goes_first then -q.position else q.position end),
        '[]')
      from public.queued_turns q
      where q.chat_id = c.id and q.account_id = c.account_id and q.begun_at is null)) end
  from (select 1) one
  left join public.chats c on c.id = p_chat_id and c.account_id = p_account_id
$$;
comment on function public.list_queued_messages is 'The messages that wait in a chat, in the order of their turns: {messages}, or {refused: chat}.';

create function public.remove_queued_message(
  p_account_id uuid, p_chat_id uuid, p_message_id text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- As begin_queued_turn, which would find no turn while the first one is being removed.
  perform 1 from public.chats where id = p_chat_id and account_id = p_account_id for update;
  if not found then
    return jsonb_build_object('refused', 'chat');
  end if;
  delete from public.queued_turns
  where chat_id = p_chat_id and account_id = p_account_id and message_id = p_message_id
    and begun_at is null;
  return case when found then jsonb_build_object('removed', true)
    else jsonb_build_object('refused', 'message') end;
end
$$;
comment on function public.remove_queued_message is 'Drops a queued message: {removed}, or {refused: chat | message}.';

create function public.measure_queued_turn() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.bytes := pg_column_size((new.claim).parts)
    + coalesce(pg_column_size((new.claim).history), 0)
    + coalesce(octet_length(new.client_tools), 0) + pg_column_size(new.options);
  return new;
end
$$;
comment on function public.measure_queued_turn is 'Sets the bytes of a turn that waits.';
create trigger measure_queued_turn before insert or update of claim on public.queued_turns
  for each row execute function public.measure_queued_turn();
create trigger count_added_queued_turns after insert on public.queued_turns
  referencing new table as new_rows for each statement execute function public.count_chat_bytes();
create trigger count_changed_queued_turns after update on public.queued_turns
  referencing old table as old_rows new table as new_rows
  for each statement execute function public.count_chat_bytes();
create trigger count_removed_queued_turns after delete on public.queued_turns
  referencing old table as old_rows for each statement execute function public.count_chat_bytes();
