-- The claim of a turn and the provision of a headless run take typed arguments, so that the database
-- refuses a wrong one by name, and are made of functions that are named for what they do.
--
-- During a deployment servers of the version before still send one jsonb argument: the functions that
-- take it stay here, pass it on, and are dropped by a migration of the next version.

-- Parts ------------------------------------------------------------------------------------------

create function public.create_run_key(
  p_account_id uuid, p_hash text, p_prefix text, p_name text, p_expires_at timestamptz
) returns uuid
language plpgsql volatile set search_path = '' as $$
declare
  v_id uuid;
begin
  if p_hash is null then
    return null;
  end if;
  insert into public.api_keys (account_id, name, hash, prefix, scope, expires_at)
  values (p_account_id, p_name, p_hash, p_prefix, 'run', p_expires_at)
  returning id into v_id;
  return v_id;
end
$$;
comment on function public.create_run_key is
  'Stores the credential of a run and answers its id; null when the run has none.';

create function public.store_turn_message(
  p_chat_id uuid, p_message_id text, p_parts jsonb, p_parts_before jsonb
) returns text
language plpgsql volatile set search_path = '' as $$
begin
  if p_parts_before is null then
    insert into public.messages (chat_id, id, role, parts)
    values (p_chat_id, p_message_id, 'user', p_parts)
    on conflict (chat_id, id) do update set parts = excluded.parts
    where messages.role = 'user';
    return case when not found then 'id_taken' end;
  end if;
  update public.messages set parts = p_parts
  where chat_id = p_chat_id and id = p_message_id and role = 'assistant'
    and parts = p_parts_before;
  return case when not found then 'answer_stale' end;
end
$$;
comment on function public.store_turn_message is
  'Stores what a turn answers: a user''s message, or with p_parts_before the answer to a question in an assistant''s message that still has those parts. Null, or why it is refused: id_taken | answer_stale.';

create function public.conversation_until(p_chat_id uuid, p_message_id text) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(
    jsonb_build_object('id', m.id, 'role', m.role, 'parts', m.parts)
    order by m.created_at, m.id), '[]')
  from public.messages m
  join public.messages newest on newest.chat_id = m.chat_id and newest.id = p_message_id
  where m.chat_id = p_chat_id
    and (m.created_at, m.id) <= (newest.created_at, newest.id)
$$;
comment on function public.conversation_until is
  'The stored messages of a chat up to and with one of them: [{id, role, parts}].';

-- Claim of a chat --------------------------------------------------------------------------------

create function public.claim_turn(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_turn_id uuid,
  p_message_id text, p_parts jsonb, p_parts_before jsonb, p_assistant_message_id text,
  p_title text, p_default_model_id text, p_context_limit integer, p_history jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz
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
  if v_session.sandbox_state is null then
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
    model_id, context_limit, history, key_id)
  values (p_turn_id, p_account_id, p_session_id, p_chat_id, p_message_id, p_assistant_message_id,
    coalesce(nullif(v_chat.model_id, ''), p_default_model_id), p_context_limit, p_history,
    public.create_run_key(p_account_id, p_key_hash, p_key_prefix, p_key_name, p_key_expires_at));
  update public.chats set
    active_stream_id = 'pending:' || p_turn_id,
    claimed_at = clock_timestamp(),
    title = case when title = '' then coalesce(p_title, '') else title end,
    updated_at = now()
  where id = p_chat_id;
  return jsonb_build_object('outcome', 'claimed');
end
$$;
comment on function public.claim_turn(
  uuid, uuid, uuid, uuid, text, jsonb, jsonb, text, text, text, integer, jsonb, text, text, text,
  timestamptz
) is
  'Claims a chat for a new turn and stores the message that the turn answers, both or neither: {outcome: claimed | active (turn_id, run_id, message_id) | session_missing | chat_missing | sandbox_missing | id_taken | answer_stale}.';

create function public.claim_turn_within(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_turn_id uuid,
  p_message_id text, p_parts jsonb, p_parts_before jsonb, p_assistant_message_id text,
  p_title text, p_default_model_id text, p_context_limit integer, p_history jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_max_active integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_answer jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  v_answer := public.claim_turn(
    p_account_id, p_session_id, p_chat_id, p_turn_id,
    p_message_id, p_parts, p_parts_before, p_assistant_message_id,
    p_title, p_default_model_id, p_context_limit, p_history,
    p_key_hash, p_key_prefix, p_key_name, p_key_expires_at);
  if p_max_active > 0 and v_answer ->> 'outcome' = 'claimed'
    and public.count_active_turns(p_account_id) > p_max_active then
    raise exception using errcode = 'PT429', message = 'Too many active turns';
  end if;
  return v_answer;
exception when sqlstate 'PT429' then
  return jsonb_build_object('outcome', 'too_many_turns');
end
$$;
comment on function public.claim_turn_within(
  uuid, uuid, uuid, uuid, text, jsonb, jsonb, text, text, text, integer, jsonb, text, text, text,
  timestamptz, integer
) is
  'claim_turn, unless the account would then have more than p_max_active turns: {outcome: too_many_turns} has changed nothing. A limit of 0 is none.';

-- Headless runs ----------------------------------------------------------------------------------

create function public.provision_run(
  p_account_id uuid, p_artist_id uuid, p_effect_id uuid, p_turn_id uuid,
  p_assistant_message_id text, p_title text, p_model_id text, p_messages jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_turn public.turns;
begin
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
    -- A microsecond apart, so that they keep their order whatever their ids.
    insert into public.messages (chat_id, id, role, parts, created_at)
    select v_turn.chat_id, m.value ->> 'id', m.value ->> 'role', m.value -> 'parts',
      v_now + m.ordinality * interval '1 microsecond'
    from jsonb_array_elements(p_messages) with ordinality as m;
    insert into public.turns (id, account_id, session_id, chat_id, effect_id, message_id,
      assistant_message_id, model_id, headless, key_id)
    values (p_turn_id, p_account_id, v_turn.session_id, v_turn.chat_id, p_effect_id,
      p_messages -> -1 ->> 'id', p_assistant_message_id, p_model_id, true,
      public.create_run_key(p_account_id, p_key_hash, p_key_prefix, p_key_name, p_key_expires_at));
  end if;
  return jsonb_build_object('turn_id', v_turn.id, 'session_id', v_turn.session_id,
    'chat_id', v_turn.chat_id, 'run_id', v_turn.run_id);
end
$$;
comment on function public.provision_run(
  uuid, uuid, uuid, uuid, text, text, text, jsonb, text, text, text, timestamptz
) is
  'Creates session, chat, messages, credential and turn of a headless run, or finds what an earlier attempt at the same effect created: {turn_id, session_id, chat_id, run_id}. p_messages is [{id, role, parts}], the last of which is answered.';

create function public.provision_run_within(
  p_account_id uuid, p_artist_id uuid, p_effect_id uuid, p_turn_id uuid,
  p_assistant_message_id text, p_title text, p_model_id text, p_messages jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_max_active integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_answer jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  v_answer := public.provision_run(
    p_account_id, p_artist_id, p_effect_id, p_turn_id,
    p_assistant_message_id, p_title, p_model_id, p_messages,
    p_key_hash, p_key_prefix, p_key_name, p_key_expires_at);
  if p_max_active > 0 and v_answer ->> 'turn_id' = p_turn_id::text
    and public.count_active_turns(p_account_id) > p_max_active then
    raise exception using errcode = 'PT429', message = 'Too many active turns';
  end if;
  return v_answer;
exception when sqlstate 'PT429' then
  return null;
end
$$;
comment on function public.provision_run_within(
  uuid, uuid, uuid, uuid, text, text, text, jsonb, text, text, text, timestamptz, integer
) is
  'provision_run, unless the account would then have more than p_max_active turns: null has changed nothing. A limit of 0 is none.';

-- Start of a run ---------------------------------------------------------------------------------

create or replace function public.load_turn(p_turn_id uuid, p_run_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_session public.sessions;
begin
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

-- Superseded -------------------------------------------------------------------------------------

create or replace function public.claim_turn_within(p jsonb, p_max_active integer) returns jsonb
language sql volatile set search_path = '' as $$
  select public.claim_turn_within(
    p_account_id => (p ->> 'account_id')::uuid,
    p_session_id => (p ->> 'session_id')::uuid,
    p_chat_id => (p ->> 'chat_id')::uuid,
    p_turn_id => (p ->> 'turn_id')::uuid,
    p_message_id => p ->> 'message_id',
    p_parts => coalesce(p #> '{message,parts}', p #> '{answer,parts}'),
    p_parts_before => p #> '{answer,parts_before}',
    p_assistant_message_id => p ->> 'assistant_message_id',
    p_title => p ->> 'title',
    p_default_model_id => p ->> 'default_model_id',
    p_context_limit => (p ->> 'context_limit')::integer,
    p_history => nullif(p -> 'history', 'null'),
    p_key_hash => p #>> '{key,hash}',
    p_key_prefix => p #>> '{key,prefix}',
    p_key_name => p #>> '{key,name}',
    p_key_expires_at => (p #>> '{key,expires_at}')::timestamptz,
    p_max_active => claim_turn_within.p_max_active)
$$;
comment on function public.claim_turn_within(jsonb, integer) is
  'Superseded by claim_turn_within with typed arguments; kept for servers of the version before.';

create or replace function public.claim_turn(p jsonb) returns jsonb
language sql volatile set search_path = '' as $$
  select public.claim_turn_within(p, 0)
$$;
comment on function public.claim_turn(jsonb) is
  'Superseded by claim_turn_within with typed arguments; kept for servers of the version before.';

create or replace function public.provision_run_within(p jsonb, p_max_active integer) returns jsonb
language sql volatile set search_path = '' as $$
  select public.provision_run_within(
    p_account_id => (p ->> 'account_id')::uuid,
    p_artist_id => (p ->> 'artist_id')::uuid,
    p_effect_id => (p ->> 'effect_id')::uuid,
    p_turn_id => (p ->> 'turn_id')::uuid,
    p_assistant_message_id => p ->> 'assistant_message_id',
    p_title => p ->> 'title',
    p_model_id => p ->> 'model_id',
    p_messages => p -> 'messages',
    p_key_hash => p #>> '{key,hash}',
    p_key_prefix => p #>> '{key,prefix}',
    p_key_name => p #>> '{key,name}',
    p_key_expires_at => (p #>> '{key,expires_at}')::timestamptz,
    p_max_active => provision_run_within.p_max_active)
$$;
comment on function public.provision_run_within(jsonb, integer) is
  'Superseded by provision_run_within with typed arguments; kept for servers of the version before.';

create or replace function public.provision_run(p jsonb) returns jsonb
language sql volatile set search_path = '' as $$
  select public.provision_run_within(p, 0)
$$;
comment on function public.provision_run(jsonb) is
  'Superseded by provision_run_within with typed arguments; kept for servers of the version before.';
