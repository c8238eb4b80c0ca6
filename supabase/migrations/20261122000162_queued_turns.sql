-- Messages that wait until the active turn of their chat has ended (`onBusy` of POST /api/chat). The
-- server that ends a turn begins the next one; what a server leaves behind that dies, any other begins.

create table public.queued_turns (
  turn_id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  chat_id uuid not null references public.chats (id) on delete cascade,
  message_id text not null,
  position bigint generated always as identity,
  goes_first boolean not null,
  claim jsonb not null,
  credential text not null check (credential in ('key', 'bearer')),
  begun_at timestamptz,
  created_at timestamptz not null default now(),
  unique (chat_id, message_id)
);
create index queued_turns_account on public.queued_turns (account_id);
comment on table public.queued_turns is
  'Turns that wait for their chat. Their messages are stored in the chat when they begin.';
comment on column public.queued_turns.goes_first is
  'Has interrupted the active turn, and goes before all that waited then.';
comment on column public.queued_turns.claim is 'Arguments of claim_turn_within.';
comment on column public.queued_turns.credential is
  'The form of the credential that the sandbox of the run gets.';
comment on column public.queued_turns.begun_at is
  'When the chat was claimed for it. The row stays until its run was started.';

alter table public.queued_turns enable row level security;
revoke all on table public.queued_turns from anon, authenticated;
grant all on table public.queued_turns to service_role;

create function public.busy_chat(p_chat public.chats) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(
    (select jsonb_build_object('outcome', 'active', 'turn_id', t.id, 'run_id', t.run_id,
        'message_id', t.message_id)
      from public.active_turn(p_chat) t
      where t.id is not null and public.active_stream_id(p_chat) is not null),
    jsonb_build_object('outcome', 'waiting'))
$$;
comment on function public.busy_chat is
  'Why a chat in which turns wait cannot be claimed: {outcome: active (turn_id, run_id, message_id) | waiting}.';

create function public.claim_or_queue_turn(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_turn_id uuid,
  p_message_id text, p_parts jsonb, p_parts_before jsonb, p_assistant_message_id text,
  p_title text, p_default_model_id text, p_context_limit integer, p_history jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_max_active integer, p_caller_key_id uuid,
  p_on_busy text, p_max_queued integer, p_credential text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
  v_answer jsonb;
  v_queued uuid;
begin
  -- In the order of claim_turn_within: the account, then the chat.
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for update;
  select turn_id into v_queued from public.queued_turns
  where chat_id = v_chat.id and message_id = p_message_id and begun_at is null;
  if found then
    return jsonb_build_object('outcome', 'queued', 'turn_id', v_queued);
  end if;
  v_answer := case
    when exists (select from public.queued_turns q where q.chat_id = v_chat.id and q.begun_at is null)
    then public.busy_chat(v_chat)
    else public.claim_turn_within(p_account_id, p_session_id, p_chat_id, p_turn_id,
      p_message_id, p_parts, p_parts_before, p_assistant_message_id, p_title, p_default_model_id,
      p_context_limit, p_history, p_key_hash, p_key_prefix, p_key_name, p_key_expires_at,
      p_max_active, p_caller_key_id) end;
  if v_answer ->> 'outcome' not in ('active', 'waiting') or p_on_busy = 'reject'
    or p_parts_before is not null or v_answer ->> 'message_id' = p_message_id then
    return v_answer;
  end if;
  if p_max_queued <= (select count(*) from public.queued_turns where chat_id = p_chat_id) then
    return jsonb_build_object('outcome', 'queue_full');
  end if;
  insert into public.queued_turns
    (turn_id, account_id, chat_id, message_id, goes_first, credential, claim)
  values (p_turn_id, p_account_id, p_chat_id, p_message_id, p_on_busy = 'interrupt', p_credential,
    jsonb_build_object('session_id', p_session_id, 'parts', p_parts,
      'assistant_message_id', p_assistant_message_id, 'title', p_title,
      'default_model_id', p_default_model_id, 'context_limit', p_context_limit,
      'history', p_history, 'key_hash', p_key_hash, 'key_prefix', p_key_prefix,
      'key_name', p_key_name, 'caller_key_id', p_caller_key_id));
  if p_on_busy = 'interrupt' then
    update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
    where id = (v_answer ->> 'turn_id')::uuid and finished_at is null;
  end if;
  return v_answer || jsonb_build_object('outcome', 'queued', 'turn_id', p_turn_id,
    'active_turn_id', v_answer -> 'turn_id');
end
$$;
comment on function public.claim_or_queue_turn is
  'claim_turn_within. A chat that is busy, or in which turns wait, queues the turn unless p_on_busy is reject, and stops the active one if it is interrupt: also {outcome: queued (turn_id, active_turn_id, run_id) | queue_full | waiting}.';

create function public.claim_queued_turn(p_row public.queued_turns, p_max_active integer)
returns text
language sql volatile set search_path = '' as $$
  select public.claim_turn_within(
    p_account_id => p_row.account_id,
    p_session_id => (p_row.claim ->> 'session_id')::uuid,
    p_chat_id => p_row.chat_id,
    p_turn_id => p_row.turn_id,
    p_message_id => p_row.message_id,
    p_parts => p_row.claim -> 'parts',
    p_parts_before => null,
    p_assistant_message_id => p_row.claim ->> 'assistant_message_id',
    p_title => p_row.claim ->> 'title',
    p_default_model_id => p_row.claim ->> 'default_model_id',
    p_context_limit => (p_row.claim ->> 'context_limit')::integer,
    p_history => nullif(p_row.claim -> 'history', 'null'),
    p_key_hash => p_row.claim ->> 'key_hash',
    p_key_prefix => p_row.claim ->> 'key_prefix',
    p_key_name => p_row.claim ->> 'key_name',
    p_key_expires_at => now() + interval '24 hours',
    p_max_active => p_max_active,
    p_caller_key_id => (p_row.claim ->> 'caller_key_id')::uuid) ->> 'outcome'
$$;
comment on function public.claim_queued_turn is
  'Claims its chat for a turn that waited, and returns the outcome of claim_turn_within.';

create function public.resume_queued_turn(p_row public.queued_turns) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  update public.chats set claimed_at = clock_timestamp()
  where id = p_row.chat_id and active_stream_id = 'pending:' || p_row.turn_id
    and exists (select from public.turns t where t.id = p_row.turn_id and t.finished_at is null);
  return found;
end
$$;
comment on function public.resume_queued_turn is
  'Renews the claim of a turn whose run was not started, because its server has died; false when it needs none any more.';

create function public.begin_queued_turn(
  p_chat_id uuid, p_max_active integer, p_stale_seconds integer
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
      v_outcome := public.claim_queued_turn(v_row, p_max_active);
    elsif v_row.begun_at > now() - make_interval(secs => p_stale_seconds) then
      return null;
    else
      v_outcome := case when public.resume_queued_turn(v_row) then 'claimed' end;
    end if;
    if v_outcome = 'claimed' then
      update public.queued_turns set begun_at = now() where turn_id = v_row.turn_id;
      return jsonb_build_object('turn_id', v_row.turn_id, 'credential', v_row.credential);
    end if;
    if v_outcome in ('active', 'too_many_turns') then
      return null;
    end if;
    -- It has been started, or can never be: for example, the sandbox is gone.
    delete from public.queued_turns where turn_id = v_row.turn_id;
  end loop;
end
$$;
comment on function public.begin_queued_turn is
  'Claims a chat that is free for the first turn that waits in it: {turn_id, credential}, whose run is then to be started; null when there is none to begin. A turn whose run was not started within p_stale_seconds is begun again.';

create function public.settle_queued_turn(p_turn_id uuid) returns void
language sql volatile set search_path = '' as $$
  delete from public.queued_turns where turn_id = p_turn_id
$$;
comment on function public.settle_queued_turn is 'Notes that the run of a turn that waited was started.';

create function public.chats_to_begin(p_limit integer, p_stale_seconds integer) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(distinct q.chat_id), '{}') from (
    select q.chat_id from public.queued_turns q join public.chats c on c.id = q.chat_id
    where q.begun_at < now() - make_interval(secs => p_stale_seconds)
      or (q.begun_at is null and public.active_stream_id(c) is null)
    limit p_limit
  ) q
$$;
comment on function public.chats_to_begin is
  'Chats that are free although turns wait in them, because the server died that was to begin these.';

create function public.queued_turn_state(p_account_id uuid, p_turn_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select case
    when t.run_id is not null then jsonb_build_object('state', 'started', 'run_id', t.run_id)
    when t.finished_at is null and (t.id is not null or q.turn_id is not null)
      then jsonb_build_object('state', 'waiting')
    else jsonb_build_object('state', 'gone') end
  from (select p_turn_id as id, p_account_id as account_id) asked
  left join public.turns t on t.id = asked.id and t.account_id = asked.account_id
  left join public.queued_turns q on q.turn_id = asked.id and q.account_id = asked.account_id
$$;
comment on function public.queued_turn_state is
  'What became of a turn that was queued: {state: waiting | started (run_id) | gone}.';

create or replace function public.finish_turn_with_event(
  p_turn_id uuid, p_status text, p_error text, p_parts jsonb, p_metadata jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- A statement of its own, so that the next one sees what it has queued.
  v_answer constant jsonb := public.finish_turn(
    p_turn_id, p_status, p_error, p_parts, p_metadata);
begin
  return v_answer || (
    select jsonb_build_object(
      'webhooks_due', public.has_due_webhooks(t.account_id),
      'awaited_chat_id', (
        select q.chat_id from public.queued_turns q where q.chat_id = t.chat_id limit 1))
    from (select 1) one left join public.turns t on t.id = p_turn_id);
end
$$;
comment on function public.finish_turn_with_event is
  'finish_turn, whether a delivery is due, and the chat if turns wait in it: {finished, webhooks_due, awaited_chat_id}.';

create or replace function public.request_stop(p_account_id uuid, p_chat_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_found jsonb;
begin
  -- First, so that none of them begins when the active one ends.
  delete from public.queued_turns
  where chat_id = p_chat_id and account_id = p_account_id and begun_at is null;
  v_found := public.find_active_turn(p_account_id, p_chat_id);
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
