-- What a run is listed and billed by: its kind, its artist and the API key that started it.

alter table public.turns
  add column kind text,
  add column artist_id uuid,
  add column caller_key_id uuid,
  -- Not validated, because the rows that are there have null.
  add constraint turns_kind_known check (kind in ('chat', 'headless', 'task')) not valid;
-- Without effect on the rows that are there: these keep null until the retention job fills them in.
alter table public.turns alter column kind set default 'chat';

comment on column public.turns.kind is
  'chat for a message of a conversation, headless for POST /api/chat/runs, task for a scheduled prompt. Null in turns of the version before, until the retention job fills it in.';
comment on column public.turns.artist_id is
  'The artist of the session when the turn began. No foreign key: what was spent outlives the artist.';
comment on column public.turns.caller_key_id is
  'The API key that started the turn; null for a bearer and for a schedule. No foreign key: what was spent outlives the key.';

-- Claim of a chat --------------------------------------------------------------------------------

drop function public.claim_turn(
  uuid, uuid, uuid, uuid, text, jsonb, jsonb, text, text, text, integer, jsonb, text, text, text,
  timestamptz
);

create function public.claim_turn(
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
comment on function public.claim_turn is
  'Claims a chat for a new turn and stores the message that the turn answers, both or neither: {outcome: claimed | active (turn_id, run_id, message_id) | session_missing | chat_missing | sandbox_missing | id_taken | answer_stale}.';

create function public.claim_turn_within(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_turn_id uuid,
  p_message_id text, p_parts jsonb, p_parts_before jsonb, p_assistant_message_id text,
  p_title text, p_default_model_id text, p_context_limit integer, p_history jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_max_active integer, p_caller_key_id uuid
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
    p_key_hash, p_key_prefix, p_key_name, p_key_expires_at, p_caller_key_id);
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
  timestamptz, integer, uuid
) is
  'claim_turn, unless the account would then have more than p_max_active turns: {outcome: too_many_turns} has changed nothing. A limit of 0 is none.';

create or replace function public.claim_turn_within(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_turn_id uuid,
  p_message_id text, p_parts jsonb, p_parts_before jsonb, p_assistant_message_id text,
  p_title text, p_default_model_id text, p_context_limit integer, p_history jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_max_active integer
) returns jsonb
language sql volatile set search_path = '' as $$
  select public.claim_turn_within(
    p_account_id, p_session_id, p_chat_id, p_turn_id,
    p_message_id, p_parts, p_parts_before, p_assistant_message_id,
    p_title, p_default_model_id, p_context_limit, p_history,
    p_key_hash, p_key_prefix, p_key_name, p_key_expires_at, p_max_active, null)
$$;
comment on function public.claim_turn_within(
  uuid, uuid, uuid, uuid, text, jsonb, jsonb, text, text, text, integer, jsonb, text, text, text,
  timestamptz, integer
) is
  'Superseded by claim_turn_within with p_caller_key_id; kept for servers of the version before.';

-- Headless runs ----------------------------------------------------------------------------------

drop function public.provision_run(
  uuid, uuid, uuid, uuid, text, text, text, jsonb, text, text, text, timestamptz
);

create function public.provision_run(
  p_account_id uuid, p_artist_id uuid, p_effect_id uuid, p_turn_id uuid,
  p_assistant_message_id text, p_title text, p_model_id text, p_messages jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_kind text, p_caller_key_id uuid
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
      assistant_message_id, model_id, headless, key_id, kind, artist_id, caller_key_id)
    values (p_turn_id, p_account_id, v_turn.session_id, v_turn.chat_id, p_effect_id,
      p_messages -> -1 ->> 'id', p_assistant_message_id, p_model_id, true,
      public.create_run_key(p_account_id, p_key_hash, p_key_prefix, p_key_name, p_key_expires_at),
      p_kind, p_artist_id, p_caller_key_id);
  end if;
  return jsonb_build_object('turn_id', v_turn.id, 'session_id', v_turn.session_id,
    'chat_id', v_turn.chat_id, 'run_id', v_turn.run_id);
end
$$;
comment on function public.provision_run is
  'Creates session, chat, messages, credential and turn of a headless run, or finds what an earlier attempt at the same effect created: {turn_id, session_id, chat_id, run_id}. p_messages is [{id, role, parts}], the last of which is answered.';

create function public.provision_run_within(
  p_account_id uuid, p_artist_id uuid, p_effect_id uuid, p_turn_id uuid,
  p_assistant_message_id text, p_title text, p_model_id text, p_messages jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_max_active integer, p_kind text, p_caller_key_id uuid
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_answer jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  v_answer := public.provision_run(
    p_account_id, p_artist_id, p_effect_id, p_turn_id,
    p_assistant_message_id, p_title, p_model_id, p_messages,
    p_key_hash, p_key_prefix, p_key_name, p_key_expires_at, p_kind, p_caller_key_id);
  if p_max_active > 0 and v_answer ->> 'turn_id' = p_turn_id::text
    and public.count_active_turns(p_account_id) > p_max_active then
    raise exception using errcode = 'PT429', message = 'Too many active turns';
  end if;
  return v_answer;
exception when sqlstate 'PT429' then
  return jsonb_build_object('refused', 'too_many_turns');
end
$$;
comment on function public.provision_run_within(
  uuid, uuid, uuid, uuid, text, text, text, jsonb, text, text, text, timestamptz, integer, text, uuid
) is
  'provision_run, unless the account would then have more than p_max_active turns: {refused: too_many_turns} has changed nothing. A limit of 0 is none.';

create or replace function public.provision_run_within(
  p_account_id uuid, p_artist_id uuid, p_effect_id uuid, p_turn_id uuid,
  p_assistant_message_id text, p_title text, p_model_id text, p_messages jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_max_active integer
) returns jsonb
language sql volatile set search_path = '' as $$
  -- Null stands for a refusal here.
  select case when answer ? 'turn_id' then answer end
  from public.provision_run_within(
    p_account_id, p_artist_id, p_effect_id, p_turn_id,
    p_assistant_message_id, p_title, p_model_id, p_messages,
    p_key_hash, p_key_prefix, p_key_name, p_key_expires_at, p_max_active, 'headless', null) as answer
$$;
comment on function public.provision_run_within(
  uuid, uuid, uuid, uuid, text, text, text, jsonb, text, text, text, timestamptz, integer
) is
  'Superseded by provision_run_within with p_kind; kept for servers of the version before.';
