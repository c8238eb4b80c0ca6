-- Headless runs (specification: POST /api/chat/runs; decisions, section 6): turns that bring their own
-- session, chat and sandbox.

-- What a repeated request is recognized by, when its first attempt died on the way.
alter table public.turns add column effect_id uuid;
create unique index turns_effect on public.turns (effect_id) where effect_id is not null;
create index turns_unstarted on public.turns (created_at)
  where headless and run_id is null and finished_at is null;

-- A request that died after it had provisioned and before it started its run was never answered,
-- and nobody repeated it. What it made is visible to its account as a failed turn.
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

-- Makes all that a headless run starts from, or finds what an earlier attempt at the same effect made.
--   p: {account_id, artist_id, effect_id, turn_id, assistant_message_id, title, model_id,
--       messages: [{id, role, parts}], the last of which is answered,
--       key: {hash, prefix, name, expires_at} | null}
-- Answers {turn_id, session_id, chat_id, run_id}; run_id is null until the run was started.
create function public.provision_run(p jsonb) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_account_id constant uuid := (p ->> 'account_id')::uuid;
  v_at constant timestamptz := clock_timestamp();
  v_turn public.turns;
  v_session_id uuid;
  v_chat_id uuid;
  v_key_id uuid;
begin
  perform public.close_unstarted_runs();

  -- Two attempts at one effect come one after the other.
  perform pg_advisory_xact_lock(hashtextextended(p ->> 'effect_id', 20261120));
  select * into v_turn from public.turns
  where effect_id = (p ->> 'effect_id')::uuid and account_id = v_account_id;
  if found then
    return jsonb_build_object('turn_id', v_turn.id, 'session_id', v_turn.session_id,
      'chat_id', v_turn.chat_id, 'run_id', v_turn.run_id);
  end if;

  insert into public.sessions (account_id, artist_id)
  values (v_account_id, (p ->> 'artist_id')::uuid)
  returning id into v_session_id;
  insert into public.chats (session_id, account_id, title, model_id, active_stream_id, claimed_at)
  values (v_session_id, v_account_id, p ->> 'title', p ->> 'model_id',
    'pending:' || (p ->> 'turn_id'), v_at)
  returning id into v_chat_id;
  -- A microsecond apart, so that they keep their order whatever their ids.
  insert into public.messages (chat_id, id, role, parts, created_at)
  select v_chat_id, m.value ->> 'id', m.value ->> 'role', m.value -> 'parts',
    v_at + m.ordinality * interval '1 microsecond'
  from jsonb_array_elements(p -> 'messages') with ordinality m;
  if p -> 'key' <> 'null' then
    insert into public.api_keys (account_id, name, hash, prefix, scope, expires_at)
    values (v_account_id, p -> 'key' ->> 'name', p -> 'key' ->> 'hash', p -> 'key' ->> 'prefix',
      'run', (p -> 'key' ->> 'expires_at')::timestamptz)
    returning id into v_key_id;
  end if;
  insert into public.turns (id, account_id, session_id, chat_id, effect_id, message_id,
    assistant_message_id, model_id, headless, key_id)
  values ((p ->> 'turn_id')::uuid, v_account_id, v_session_id, v_chat_id,
    (p ->> 'effect_id')::uuid, p -> 'messages' -> -1 ->> 'id', p ->> 'assistant_message_id',
    p ->> 'model_id', true, v_key_id);
  return jsonb_build_object('turn_id', p ->> 'turn_id', 'session_id', v_session_id,
    'chat_id', v_chat_id, 'run_id', null);
end
$$;

-- Takes back what `provision_run` made, for a run that cannot be started; one that has started after
-- all stays. Answers {discarded}.
create function public.discard_run(p_turn_id uuid) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_turn public.turns;
begin
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

-- Gives a turn its run, before the run itself has done anything. When two attempts have started one
-- each, the first to come here is the turn's, and the other ends without having done anything.
-- Answers {run_id}; null when the turn is gone.
create function public.assign_run(p_turn_id uuid, p_run_id text) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_turn public.turns;
begin
  update public.turns set run_id = coalesce(run_id, p_run_id) where id = p_turn_id
  returning * into v_turn;
  update public.chats set active_stream_id = v_turn.run_id
  where id = v_turn.chat_id and active_stream_id = 'pending:' || v_turn.id;
  update public.api_keys set run_id = v_turn.run_id where id = v_turn.key_id;
  return jsonb_build_object('run_id', v_turn.run_id);
end
$$;

-- GET /api/chat/runs/{runId}: the run as its caller sees it, and the turn that it is.
create function public.get_run(p_account_id uuid, p_run_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_turn public.turns;
begin
  select * into v_turn from public.turns where run_id = p_run_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', true);
  end if;
  return jsonb_build_object(
    'missing', false,
    'turnId', v_turn.id,
    'run', jsonb_build_object(
      'runId', v_turn.run_id,
      'status', v_turn.status,
      'chatId', v_turn.chat_id,
      'sessionId', v_turn.session_id,
      'createdAt', public.iso_date(v_turn.created_at),
      'finishedAt', public.iso_date(v_turn.finished_at),
      'error', v_turn.error));
end
$$;
