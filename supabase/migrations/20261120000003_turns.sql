-- Chat turns: the claim on a chat, the progress of the durable run, and its end (specification:
-- POST /api/chat; decisions, section 5). Each function is one transaction that leaves the chat
-- consistent whatever dies before or after it.

create table public.turns (
  -- Chosen before anything is written; also the address of the turn's stream.
  id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  session_id uuid not null references public.sessions (id) on delete cascade,
  chat_id uuid not null references public.chats (id) on delete cascade,
  run_id text unique,
  status text not null default 'queued'
    check (status in ('queued', 'running', 'completed', 'failed', 'cancelled')),
  -- The message that is answered: the user's, or the assistant's whose question was answered.
  message_id text not null,
  -- The message the turn writes.
  assistant_message_id text not null,
  model_id text not null,
  context_limit integer check (context_limit > 0),
  headless boolean not null default false,
  -- The conversation as the client wants it, when it sent one; dropped when the turn ends.
  history jsonb check (jsonb_typeof(history) = 'array'),
  key_id uuid references public.api_keys (id) on delete set null,
  error text,
  stop_requested_at timestamptz,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
create index turns_chat_newest on public.turns (chat_id, created_at desc);
create index turns_session on public.turns (session_id);
create index turns_account on public.turns (account_id, created_at desc);
create index api_keys_dead_run on public.api_keys (revoked_at) where scope = 'run';
create index turns_key on public.turns (key_id) where key_id is not null;

-- What each model call of a running turn answered, in the form the next call is given.
create table public.turn_steps (
  turn_id uuid not null references public.turns (id) on delete cascade,
  index integer not null check (index >= 0),
  result jsonb not null,
  primary key (turn_id, index)
);

-- A tool call is recorded before it starts and when it has ended; one that is only started when
-- its process dies has an unknown outcome and is not run again.
create table public.tool_runs (
  turn_id uuid not null references public.turns (id) on delete cascade,
  tool_call_id text not null,
  finished boolean not null default false,
  output jsonb,
  primary key (turn_id, tool_call_id)
);

alter table public.turns enable row level security;
alter table public.turn_steps enable row level security;
alter table public.tool_runs enable row level security;
revoke all on table public.turns, public.turn_steps, public.tool_runs from anon, authenticated;
grant all on table public.turns, public.turn_steps, public.tool_runs to service_role;

-- Ends a turn that will not go on by itself: its key dies, its working rows go.
create function public.close_turn(p_turn_id uuid, p_status text, p_error text) returns void
language plpgsql set search_path = '' as $$
begin
  update public.api_keys k set revoked_at = now()
  from public.turns t where t.id = p_turn_id and k.id = t.key_id and k.revoked_at is null;
  update public.turns set status = p_status, error = p_error, history = null, finished_at = now()
  where id = p_turn_id and finished_at is null;
  delete from public.turn_steps where turn_id = p_turn_id;
  delete from public.tool_runs where turn_id = p_turn_id;
  -- Each turn leaves one dead key behind and clears away a few old ones.
  delete from public.api_keys where id in (
    select id from public.api_keys
    where scope = 'run' and revoked_at < now() - interval '1 day'
    order by revoked_at limit 10 for update skip locked);
end
$$;

-- The active turn of a chat row: by its run id, or by the turn id inside a pending claim.
create function public.active_turn(p_chat public.chats) returns public.turns
language sql stable as $$
  select t from public.turns t
  where t.chat_id = p_chat.id
    and (t.run_id = p_chat.active_stream_id or 'pending:' || t.id = p_chat.active_stream_id)
$$;

-- Claims a chat for a new turn and stores its user message, together or not at all.
--   p: {account_id, session_id, chat_id, turn_id, message_id, assistant_message_id, title,
--       default_model_id, context_limit, headless, history,
--       message: {id, parts} | null,              a new user turn
--       answer: {id, parts_before, parts} | null, the answer to an open question
--       key: {hash, prefix, name, expires_at} | null}
-- Answers {outcome}: claimed (model_id) | active (turn_id, run_id, message_id) | session_missing
--   | chat_missing | sandbox_missing | id_taken | answer_stale.
create function public.claim_turn(p jsonb) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_turn_id uuid := (p ->> 'turn_id')::uuid;
  v_session public.sessions;
  v_chat public.chats;
  v_active public.turns;
  v_key_id uuid;
begin
  select * into v_session from public.sessions
  where id = (p ->> 'session_id')::uuid and account_id = (p ->> 'account_id')::uuid;
  if not found then
    return jsonb_build_object('outcome', 'session_missing');
  end if;

  -- The row lock makes simultaneous claims one after another.
  select * into v_chat from public.chats
  where id = (p ->> 'chat_id')::uuid and session_id = v_session.id
    and account_id = v_session.account_id
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

  if p -> 'message' <> 'null' then
    insert into public.messages (chat_id, id, role, parts)
    values (v_chat.id, p -> 'message' ->> 'id', 'user', p -> 'message' -> 'parts')
    on conflict (chat_id, id) do update set parts = excluded.parts
    where messages.role = 'user';
    if not found then
      return jsonb_build_object('outcome', 'id_taken');
    end if;
  else
    update public.messages set parts = p -> 'answer' -> 'parts'
    where chat_id = v_chat.id and id = p -> 'answer' ->> 'id' and role = 'assistant'
      and parts = p -> 'answer' -> 'parts_before';
    if not found then
      return jsonb_build_object('outcome', 'answer_stale');
    end if;
  end if;

  if p -> 'key' <> 'null' then
    insert into public.api_keys (account_id, name, hash, prefix, scope, expires_at)
    values (v_chat.account_id, p -> 'key' ->> 'name', p -> 'key' ->> 'hash',
      p -> 'key' ->> 'prefix', 'run', (p -> 'key' ->> 'expires_at')::timestamptz)
    returning id into v_key_id;
  end if;

  insert into public.turns (id, account_id, session_id, chat_id, message_id, assistant_message_id,
    model_id, context_limit, headless, history, key_id)
  values (v_turn_id, v_chat.account_id, v_session.id, v_chat.id, p ->> 'message_id',
    p ->> 'assistant_message_id', coalesce(nullif(v_chat.model_id, ''), p ->> 'default_model_id'),
    (p ->> 'context_limit')::integer, coalesce((p ->> 'headless')::boolean, false),
    nullif(p -> 'history', 'null'), v_key_id);

  update public.chats set
    active_stream_id = 'pending:' || v_turn_id,
    claimed_at = clock_timestamp(),
    title = case when title = '' then coalesce(p ->> 'title', '') else title end,
    updated_at = now()
  where id = v_chat.id;
  return jsonb_build_object('outcome', 'claimed');
end
$$;

-- Gives a claim back when its run could not be started. The message stays.
create function public.abandon_turn(p_turn_id uuid) returns jsonb
language plpgsql set search_path = '' as $$
begin
  update public.chats set active_stream_id = null, claimed_at = null
  where active_stream_id = 'pending:' || p_turn_id;
  perform public.close_turn(p_turn_id, 'failed', 'The turn could not be started');
  return '{}';
end
$$;

-- Turns the claim into the run's, and loads all that the run goes on with: one call, at the start
-- of a run and after each crash. Answers {outcome}: lost | finished | active (…).
create function public.load_turn(p_turn_id uuid, p_run_id text) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_turn public.turns;
  v_chat public.chats;
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
  where id = v_turn.chat_id and active_stream_id in ('pending:' || p_turn_id, p_run_id)
  returning * into v_chat;
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
    'history', coalesce(v_turn.history, (
      select coalesce(jsonb_agg(
        jsonb_build_object('id', m.id, 'role', m.role, 'parts', m.parts)
        order by m.created_at, m.id), '[]')
      from public.messages m
      join public.messages newest on newest.chat_id = m.chat_id and newest.id = v_turn.message_id
      where m.chat_id = v_turn.chat_id
        and (m.created_at, m.id) <= (newest.created_at, newest.id))),
    'steps', (
      select coalesce(jsonb_agg(s.result order by s.index), '[]')
      from public.turn_steps s where s.turn_id = p_turn_id));
end
$$;

-- Records that tool calls are about to start. Answers the calls that were recorded before, with
-- what is known of them: they are not to be run.
create function public.start_tools(p_turn_id uuid, p_call_ids text[]) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_known jsonb;
begin
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', r.tool_call_id, 'finished', r.finished, 'output', r.output)), '[]')
  into v_known from public.tool_runs r
  where r.turn_id = p_turn_id and r.tool_call_id = any (p_call_ids);
  insert into public.tool_runs (turn_id, tool_call_id)
  select p_turn_id, unnest(p_call_ids) on conflict do nothing;
  return v_known;
end
$$;

create function public.finish_tool(p_turn_id uuid, p_call_id text, p_output jsonb) returns jsonb
language sql set search_path = '' as $$
  update public.tool_runs set finished = true, output = p_output
  where turn_id = p_turn_id and tool_call_id = p_call_id;
  select '{}'::jsonb
$$;

-- Stores what a model call answered; answers whether the turn is to stop.
create function public.complete_step(p_turn_id uuid, p_index integer, p_result jsonb) returns jsonb
language plpgsql set search_path = '' as $$
begin
  insert into public.turn_steps (turn_id, index, result) values (p_turn_id, p_index, p_result)
  on conflict do nothing;
  return jsonb_build_object('stop_requested', exists (
    select from public.turns where id = p_turn_id and stop_requested_at is not null));
end
$$;

-- The end of every turn: message stored, claim released, key revoked. Safe to repeat, and it never
-- touches a claim that is not this turn's.
create function public.finish_turn(
  p_turn_id uuid, p_status text, p_error text, p_parts jsonb, p_metadata jsonb
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_turn public.turns;
begin
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

-- The turn a chat is streaming, for whoever may see the chat. A claim without a run that is too
-- old to be honoured counts as none.
create function public.find_active_turn(p_account_id uuid, p_chat_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_chat public.chats;
  v_turn public.turns;
begin
  select * into v_chat from public.chats where id = p_chat_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('outcome', 'chat_missing');
  end if;
  if public.active_stream_id(v_chat) is null then
    return jsonb_build_object('outcome', 'idle');
  end if;
  v_turn := public.active_turn(v_chat);
  return jsonb_build_object('outcome', 'active', 'turn_id', v_turn.id, 'run_id', v_turn.run_id);
end
$$;

-- Asks the turn that is active now to stop; a later turn never sees the request.
create function public.request_stop(p_account_id uuid, p_chat_id uuid) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_found jsonb := public.find_active_turn(p_account_id, p_chat_id);
begin
  if v_found ->> 'outcome' = 'active' then
    update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
    where id = (v_found ->> 'turn_id')::uuid and finished_at is null;
    if not found then
      return jsonb_build_object('outcome', 'idle');
    end if;
  end if;
  return v_found;
end
$$;

-- Asks every active turn of a session to stop; answers which.
create function public.request_session_stop(p_session_id uuid) returns jsonb
language sql set search_path = '' as $$
  with stopped as (
    update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
    where session_id = p_session_id and finished_at is null returning id)
  select coalesce(jsonb_agg(id), '[]') from stopped
$$;
