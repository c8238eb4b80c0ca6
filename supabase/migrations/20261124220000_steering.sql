-- Steering: a running turn takes messages from the queue before its next model call.

alter table public.queued_turns add column steers uuid;
comment on column public.queued_turns.steers is 'The turn that takes the message before its next model call, while it runs; null for none.';

create table public.steering_messages (
  chat_id uuid not null references public.chats (id) on delete cascade,
  message_id text not null,
  turn_id uuid not null references public.turns (id) on delete cascade,
  queued_turn_id uuid not null unique,
  step integer not null check (step >= 0),
  position bigint not null,
  parts jsonb,
  sent_digest text not null,
  primary key (chat_id, message_id)
);

create index steering_messages_turn on public.steering_messages (turn_id);
alter table public.steering_messages enable row level security;
comment on table public.steering_messages is 'Messages that running turns have taken from the queue. The answer of the turn contains them as parts, so they are not in messages.';
comment on column public.steering_messages.queued_turn_id is 'The turn that waited with the message, under which its sender finds the stream.';
comment on column public.steering_messages.step is 'The model call before which the message was taken.';
comment on column public.steering_messages.parts is 'Null once the turn has ended.';
comment on column public.steering_messages.sent_digest is 'The digest_of_parts of what was sent. The parts may name files that were stored since.';

create function public.may_steer(p_claim public.turn_claim) returns boolean
language sql immutable set search_path = '' as $$
  select p_claim.parent_id is null and p_claim.replaces_answer is null
$$;
comment on function public.may_steer is 'Returns false for a message that starts a branch, which no running turn can take.';

create function public.answer_of_steering_message(
  p_chat_id uuid, p_message_id text, p_parts jsonb
) returns jsonb
language sql stable set search_path = '' as $$
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
  where s.chat_id = p_chat_id and s.message_id = p_message_id
$$;
comment on function public.answer_of_steering_message is 'The response to a message that a running turn has taken and that is sent again, as an outcome of claim_turn. Null if no turn has taken it, or if it is to be answered again.';

create function public.take_steering_messages(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_step integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_taken jsonb;
begin
  -- Most model calls find none, and take no lock.
  if not exists (
    select from public.queued_turns q join public.turns t on t.chat_id = q.chat_id
    where t.id = p_turn_id and q.steers = p_turn_id)
  then
    return '[]';
  end if;
  -- With the chat, also the loads and the end of the turn wait.
  perform public.lock_chat_of_turn(p_turn_id);
  -- What is left starts a turn, which ends if the key of the message has ended. A row that is locked is
  -- being dropped by a transaction that then needs the chat.
  with waiting as (
    select q.turn_id from public.queued_turns q
    join public.turns t on t.id = q.steers and t.chat_id = q.chat_id
    where t.id = p_turn_id and q.account_id = p_account_id and q.begun_at is null
      and t.account_id = p_account_id and t.loads = p_load
      and t.finished_at is null and t.stop_requested_at is null
      and public.is_key_in_force((q.claim).caller_key_id)
      and not exists (
        select from public.messages m where m.chat_id = q.chat_id and m.id = q.message_id)
    for update of q skip locked),
  taken as (
    delete from public.queued_turns q using waiting where q.turn_id = waiting.turn_id
    returning q.*),
  stored as (
    insert into public.steering_messages as s
      (chat_id, message_id, turn_id, queued_turn_id, step, position, parts, sent_digest)
    select chat_id, message_id, p_turn_id, turn_id, p_step, position, (claim).parts,
      public.digest_of_parts((claim).parts)
    from taken
    -- An earlier turn that took it has failed or was stopped.
    on conflict (chat_id, message_id) do update set turn_id = excluded.turn_id,
      queued_turn_id = excluded.queued_turn_id, step = excluded.step,
      position = excluded.position, parts = excluded.parts
    returning s.message_id, s.position, s.parts)
  select coalesce(jsonb_agg(
    jsonb_build_object('step', p_step, 'id', message_id, 'parts', parts) order by position), '[]')
  into v_taken from stored;
  return v_taken;
end
$$;
comment on function public.take_steering_messages is 'Moves the queued messages that steer a running turn to it, before its model call p_step: [{step, id, parts}]. Takes none for a turn that was stopped or loaded again since this load.';

create function public.store_steering_files(p_turn_id uuid, p_messages jsonb) returns void
language sql volatile set search_path = '' as $$
  update public.steering_messages s set parts = changed.parts
  from jsonb_to_recordset(p_messages) as changed(id text, parts jsonb)
  where s.turn_id = p_turn_id and s.message_id = changed.id and s.parts is not null
$$;
comment on function public.store_steering_files is 'Replaces the parts of messages [{id, parts}] that a running turn has taken, once their files are stored. Without effect when the turn has ended.';

create or replace function public.claim_turn(
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
      if v_message.id is null then
        v_answer := public.answer_of_steering_message(
          v_chat.id, v_claim.message_id, v_claim.parts);
        if v_answer is not null then
          return v_answer;
        end if;
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
      update public.queued_turns set steers = v_active.id
      where turn_id = v_queued.turn_id and p_on_busy = 'steer' and public.may_steer(claim);
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
      insert into public.queued_turns
        (turn_id, account_id, chat_id, message_id, goes_first, claim, steers)
      values (v_claim.turn_id, v_claim.account_id, v_chat.id, v_claim.message_id,
        p_on_busy = 'interrupt', v_claim,
        case when p_on_busy = 'steer' and public.may_steer(v_claim) then v_active.id end);
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
      v_turn.options := public.chat_options(v_turn.account_id, v_turn.chat_id);
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
comment on function public.claim_turn is 'Claims a chat for a new turn and stores the message that the turn answers. p_claim has the fields of turn_claim, as JSON because not every REST server passes on records. With p_with_turn a claim returns the turn, as load_turn will. While the chat is busy it queues the turn, unless p_on_busy is reject, lets the active one take its message with steer, and stops the active one with interrupt: {outcome: claimed (turn) | queued (turn_id, active_turn_id, run_id) | active (turn_id, run_id, message_id) | waiting | queue_full}. For a message that was sent before also {outcome: answered (turn_id, run_id, message_id) | content_differs}. All other outcomes change nothing: session_missing | chat_missing | sandbox_missing | id_taken | answer_stale | parent_missing | parent_differs | budget_reached | too_many_turns | messages_full | chat_full. A turn that waited is not checked again, except for p_max_active. A limit of 0 is none.';

create or replace function public.turn_state(p_turn public.turns) returns jsonb
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
    'options', p_turn.options,
    'context_limit', p_turn.context_limit,
    'headless', p_turn.headless,
    'has_key', p_turn.key_id is not null,
    'has_budget', public.has_budget(p_turn.account_id),
    'created_at', public.iso_date(p_turn.created_at),
    'stop_requested', p_turn.stop_requested_at is not null,
    'artist_id', s.artist_id,
    'compaction', public.compaction_of_turn(p_turn),
    'output_schema', p_turn.output_schema,
    'steering', (
      select coalesce(jsonb_agg(jsonb_build_object('step', m.step, 'id', m.message_id,
        'parts', m.parts) order by m.step, m.position), '[]')
      from public.steering_messages m where m.turn_id = p_turn.id),
    'sandbox_state', s.sandbox_state)
  from public.sessions s where s.id = p_turn.session_id
$$;
comment on function public.turn_state is 'A turn as its run continues with it, without its history and steps.';

create or replace function public.close_turn(p_turn_id uuid, p_status text, p_error text) returns void
language plpgsql set search_path = '' as $$
begin
  update public.api_keys k set revoked_at = now()
  from public.turns t where t.id = p_turn_id and k.id = t.key_id and k.revoked_at is null;
  update public.turns set status = p_status, error = p_error, history = null, finished_at = now()
  where id = p_turn_id and finished_at is null;
  delete from public.turn_steps where turn_id = p_turn_id;
  delete from public.subagent_steps where turn_id = p_turn_id;
  delete from public.tool_runs where turn_id = p_turn_id;
  update public.steering_messages set parts = null where turn_id = p_turn_id;
  -- Each turn leaves one dead key behind and clears away a few old ones.
  delete from public.api_keys where id in (
    select id from public.api_keys
    where scope = 'run' and revoked_at < now() - interval '1 day'
    order by revoked_at limit 10 for update skip locked);
end
$$;
comment on function public.close_turn is 'Ends a turn: revokes its credential and deletes its working rows.';

create or replace function public.queued_turn_state(p_account_id uuid, p_turn_id uuid) returns jsonb
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

create or replace function public.words_of_parts(p_parts jsonb) returns text
language sql immutable set search_path = '' as $$
  -- A longer text may have more words than a tsvector holds.
  select left(string_agg(piece.value ->> 'text', ' ' order by part.ordinality, piece.ordinality), 100000)
  from jsonb_array_elements(p_parts) with ordinality as part
  cross join jsonb_array_elements(case part.value ->> 'type'
    when 'steering-message' then part.value -> 'parts' else jsonb_build_array(part.value) end)
    with ordinality as piece
  where piece.value ->> 'type' = 'text'
$$;
comment on function public.words_of_parts is 'The texts of a message and of those that steered it, at most 100,000 characters; null without any.';
