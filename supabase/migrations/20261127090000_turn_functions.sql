-- What every turn calls is planned once for a connection, not at each call. A turn that the process has from its
-- claim is not loaded again.

create or replace function public.prepare_turn(p_turn public.turns) returns public.turns
language plpgsql volatile set search_path = '' as $$
begin
  p_turn.instructions := public.chat_instructions(p_turn.account_id, p_turn.chat_id);
  p_turn.options := public.chat_options(p_turn.account_id, p_turn.chat_id);
  p_turn.skills := public.skills_of_turn(p_turn.account_id, p_turn.options -> 'skills');
  p_turn.mcp_tools := public.mcp_tools_of_turn(p_turn.account_id, p_turn.options -> 'mcp_servers');
  p_turn.untrusted := public.sources_of_turn(p_turn);
  update public.turns
  set instructions = p_turn.instructions, options = p_turn.options, skills = p_turn.skills,
    mcp_tools = p_turn.mcp_tools, untrusted = p_turn.untrusted,
    (template_id, template_version) = (
      select v.template_id, v.version
      from public.chats c
      cross join public.applied_template_version(c.account_id, c.template_id, c.template_version) v
      where c.id = chat_id)
  where id = p_turn.id returning * into p_turn;
  return p_turn;
end
$$;
comment on function public.prepare_turn is 'Gives a turn what its chat, template, account and skills say at its start, which then stays.';

create or replace function public.begin_turn(p_turn public.turns, p_run_id text) returns public.turns
language plpgsql volatile set search_path = '' as $$
begin
  update public.turns
  set loads = loads + 1, reserved_usd = 0, run_id = p_run_id, status = 'running'
  where id = p_turn.id returning * into p_turn;
  -- Its words will be in the messages and files of the session.
  if p_turn.untrusted <> '[]' then
    update public.sessions s set untrusted = public.with_sources(s.untrusted, p_turn.untrusted)
    where s.id = p_turn.session_id and not s.untrusted @> p_turn.untrusted;
  end if;
  perform public.record_turn_skill(p_turn.account_id, p_turn.id, l.value)
  from jsonb_array_elements(p_turn.skills -> 'loaded') l;
  update public.api_keys set run_id = p_run_id where id = p_turn.key_id;
  return p_turn;
end
$$;
comment on function public.begin_turn is 'Has a turn, which was prepared, begin in a run.';

create or replace function public.begin_claimed_turn(p_turn_id uuid, p_run_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns
  where id = p_turn_id and coalesce(run_id, p_run_id) = p_run_id and status = 'queued'
    and finished_at is null
  for update;
  if not found then
    return null;
  end if;
  update public.chats set active_stream_id = p_run_id
  where id = v_turn.chat_id and active_stream_id in ('pending:' || p_turn_id, p_run_id);
  if not found then
    return null;
  end if;
  v_turn := public.begin_turn(v_turn, p_run_id);
  return jsonb_build_object('load', v_turn.loads,
    'stop_requested', v_turn.stop_requested_at is not null);
end
$$;
comment on function public.begin_claimed_turn is 'Turns a claim that has answered with its turn into the run''s: {load, stop_requested}. Null if the turn does not begin with this: it is to be loaded.';

create or replace function public.is_key_in_force(p_key_id uuid) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return (
    select p_key_id is null or exists (
      select from public.api_keys k
      where k.id = p_key_id
        and (k.revoked_at is null or k.revoked_at > now())
        and (k.expires_at is null or k.expires_at > now())));
end
$$;
comment on function public.is_key_in_force is 'Returns whether the key still authenticates; true for null, the absence of a key.';

create or replace function public.words_of_parts(p_parts jsonb) returns text
language plpgsql immutable set search_path = '' as $$
begin
  -- A longer text may have more words than a tsvector holds.
  return (
    select left(string_agg(piece.value ->> 'text', ' ' order by part.ordinality, piece.ordinality), 100000)
    from jsonb_array_elements(p_parts) with ordinality as part
    cross join jsonb_array_elements(case part.value ->> 'type'
      when 'steering-message' then part.value -> 'parts' else jsonb_build_array(part.value) end)
      with ordinality as piece
    where piece.value ->> 'type' = 'text');
end
$$;
comment on function public.words_of_parts is 'The texts of a message and of those that steered it, at most 100,000 characters; null without any.';

create or replace function public.search_of_parts(p_parts jsonb) returns tsvector
language plpgsql immutable set search_path = '' set client_min_messages = 'warning' as $$
begin
  return (
    select to_tsvector('simple'::regconfig, coalesce(public.words_of_parts(p_parts), '')));
end
$$;
comment on function public.search_of_parts is 'The words of a message for the search. The index messages_words stores it.';

create or replace function public.leaf_of_chat(p_chat_id uuid) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce((
      select m.id from public.messages m
      where m.chat_id = p_chat_id and m.on_path
      order by m.created_at desc, m.id desc
      limit 1), ''));
end
$$;
comment on function public.leaf_of_chat is 'The id of the newest message that a chat shows, which the next one follows; empty without any.';

create or replace function public.message_quota_reached(
  p_account_id uuid, p_chat_id uuid, p_max_account_bytes bigint, p_max_chat_bytes bigint
) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select case
      when p_max_account_bytes > 0 and exists (
        select from public.message_usage u
        where u.account_id = p_account_id and u.bytes > p_max_account_bytes)
      then 'messages_full'
      when p_max_chat_bytes > 0 and exists (
        select from public.chats c where c.id = p_chat_id and c.account_id = p_account_id
          and c.message_bytes > p_max_chat_bytes)
      then 'chat_full' end);
end
$$;
comment on function public.message_quota_reached is 'messages_full | chat_full, when the account or the chat has more bytes of messages than it may have, else null. A limit of 0 is none.';

create or replace function public.chat_instructions(p_account_id uuid, p_chat_id uuid) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select nullif(concat_ws(chr(10) || chr(10),
      (public.applied_template_version(p_account_id, c.template_id, c.template_version)).prompt,
      c.instructions), '')
    from public.chats c
    where c.id = p_chat_id and c.account_id = p_account_id);
end
$$;
comment on function public.chat_instructions is 'The instructions of a chat: the prompt of its template, in the version that applies, then its own text; null for nothing.';

create or replace function public.narrowest_limits(p_limits jsonb[]) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return (
    select jsonb_object_agg(narrowest.name, narrowest.value)
    from (
      select l.key as name, min(l.value::numeric) as value
      from unnest(p_limits) as given, jsonb_each_text(given) as l
      group by l.key) narrowest);
end
$$;
comment on function public.narrowest_limits is 'The least value of each limit among objects such as {max_steps: 10}, any of which may be null; null without any.';

create or replace function public.chat_options(p_account_id uuid, p_chat_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_strip_nulls(
      case when t.account_id = p_account_id then v.options
        else jsonb_build_object('skills', v.options -> 'skills') end || c.options
      || jsonb_build_object(
        'limits', public.narrowest_limits(array[v.options -> 'limits', c.options -> 'limits']),
        'approvals', public.approval_policies(p_account_id, p_chat_id,
          case when t.account_id = p_account_id then v.options else '{}' end || c.options,
          case when t.account_id = p_account_id then v.options -> 'approvals' end,
          case when t.account_id <> p_account_id then v.options -> 'approvals' end))
      || jsonb_build_object('network_policies', (
        select jsonb_agg(p.policy || jsonb_build_object('of', p.name) order by p.name)
        from (values
          ('account', (select a.network from public.accounts a where a.id = p_account_id)),
          ('template', v.options -> 'network'),
          ('chat', c.options -> 'network')) p (name, policy)
        where p.policy ->> 'mode' <> 'open')))
    from public.chats c
    cross join public.applied_template_version(p_account_id, c.template_id, c.template_version) v
    left join public.agent_templates t on t.id = v.template_id
    where c.id = p_chat_id and c.account_id = p_account_id);
end
$$;
comment on function public.chat_options is 'The options of a chat''s turns: each is the chat''s own, or else its template''s, in the version that applies. A template of another account sets skills, limits and network policies only, because models, effort and an outcome can cost more than the account has asked for. Of limits the narrowest applies. network_policies has the policies of the account, the template and the chat that are not open, all of which must allow a host.';

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

  -- Who sends another message has not approved: a turn of a chat that waits for an approval is stopped.
  if v_busy ->> 'outcome' = 'active' and p_on_busy in ('reject', 'steer') and not v_waited
    and v_claim.parts_before is null and not v_active.headless
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
        (turn_id, account_id, chat_id, message_id, goes_first, claim, steers, client_tools)
      values (v_claim.turn_id, v_claim.account_id, v_chat.id, v_claim.message_id,
        p_on_busy = 'interrupt', v_claim,
        case when p_on_busy = 'steer' and public.may_steer(v_claim) then v_active.id end,
        p_claim ->> 'client_tools');
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
      client_tools)
    values (v_claim.turn_id, v_claim.account_id, v_chat.session_id, v_chat.id, v_claim.message_id,
      v_claim.assistant_message_id, coalesce(nullif(v_chat.model_id, ''), v_claim.default_model_id),
      v_claim.context_limit, v_claim.history,
      public.create_run_key(v_claim.account_id, v_claim.key_hash, v_claim.key_prefix,
        v_claim.key_name, v_claim.key_expires_at),
      v_session.artist_id, v_claim.caller_key_id, p_claim ->> 'client_tools')
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
comment on function public.claim_turn is 'Claims a chat for a new turn and stores the message that the turn answers. p_claim has the fields of turn_claim and client_tools, as JSON because not every REST server passes on records. With p_with_turn a claim returns the turn, as load_turn will. While the chat is busy it queues the turn, unless p_on_busy is reject, lets the active one take its message with steer, and stops the active one with interrupt: {outcome: claimed (turn) | queued (turn_id, active_turn_id, run_id, interrupts) | active (turn_id, run_id, message_id) | waiting | queue_full}. For a message that was sent before also {outcome: answered (turn_id, run_id, message_id) | content_differs}. All other outcomes change nothing: session_missing | chat_missing | sandbox_missing | id_taken | answer_stale | parent_missing | parent_differs | budget_reached | too_many_turns | messages_full | chat_full. A turn that waited is not checked again, except for p_max_active. A limit of 0 is none.';

create or replace function public.active_turn(p_chat public.chats) returns public.turns
language plpgsql stable set search_path = '' as $$
begin
  return (
    select t from public.turns t
    where t.chat_id = p_chat.id
      and (t.run_id = p_chat.active_stream_id or 'pending:' || t.id = p_chat.active_stream_id));
end
$$;
comment on function public.active_turn is 'The turn that a chat is claimed by.';

create or replace function public.count_active_turns(p_account_id uuid) returns bigint
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

create or replace function public.answer_of_steering_message(
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

create or replace function public.lock_chat_of_turn(p_turn_id uuid) returns void
language plpgsql set search_path = '' as $$
begin
  perform 1 from public.chats
  where id = (select chat_id from public.turns where id = p_turn_id)
  for update;
end
$$;
comment on function public.lock_chat_of_turn is 'Locks the chat of a turn for the transaction. To be called before the turn itself is locked.';

create or replace function public.turn_state(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
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
      'skills', p_turn.skills,
      'mcp_tools', p_turn.mcp_tools,
      'limit_note', p_turn.limit_note,
      'untrusted', p_turn.untrusted,
      'context_limit', p_turn.context_limit,
      'headless', p_turn.headless,
      'has_key', p_turn.key_id is not null,
      'has_budget', public.has_budget(p_turn.account_id),
      'created_at', public.iso_date(p_turn.created_at),
      'stop_requested', p_turn.stop_requested_at is not null,
      'artist_id', s.artist_id,
      'workspace', jsonb_build_object('artist_id', p_turn.artist_id,
        'memory', public.memory_of_workspace(p_turn.account_id, p_turn.artist_id, p_turn.options,
          p_turn.created_at, 8000)),
      'compaction', public.compaction_of_turn(p_turn),
      'output_schema', p_turn.output_schema,
      'client_tools', p_turn.client_tools,
      'steering', (
        select coalesce(jsonb_agg(jsonb_build_object('step', m.step, 'id', m.message_id,
          'parts', m.parts) order by m.step, m.position), '[]')
        from public.steering_messages m where m.turn_id = p_turn.id),
      'sandbox_state', s.sandbox_state)
    from public.sessions s where s.id = p_turn.session_id);
end
$$;
comment on function public.turn_state is 'A turn as its run continues with it, without its history and steps.';

create or replace function public.compaction_of_turn(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object('id', c.id, 'kind', c.kind, 'state', c.state,
      'isOwn', (c.turn_id = p_turn.id) is true,
      'tokensBefore', c.tokens_before, 'tokensAfter', c.tokens_after)
    from public.compactions c
    where c.chat_id = p_turn.chat_id and c.tool_call_id is null and (
      c.turn_id = p_turn.id
      or exists (
        select from public.messages m
        where p_turn.history is null and m.chat_id = c.chat_id and m.id = c.message_id and m.on_path)
      or exists (
        select from jsonb_array_elements(p_turn.history) h where h ->> 'id' = c.message_id))
    order by c.id desc
    limit 1);
end
$$;
comment on function public.compaction_of_turn is 'The newest compaction that applies to the conversation of a turn: {id, kind, state, isOwn, tokensBefore, tokensAfter}, null for none.';

create or replace function public.history_of_turn(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  -- The messages that the chat shows up to and with the one that is answered.
  return (
    select coalesce(p_turn.history, (
      select coalesce(jsonb_agg(
        jsonb_build_object('id', m.id, 'role', m.role, 'parts', m.parts)
        order by m.created_at, m.id), '[]')
      from public.messages m
      join public.messages newest
        on newest.chat_id = m.chat_id and newest.id = p_turn.message_id
      where m.chat_id = p_turn.chat_id and m.on_path
        and (m.created_at, m.id) <= (newest.created_at, newest.id))));
end
$$;
comment on function public.history_of_turn is 'The conversation that the model of a turn gets: [{id, role, parts}].';

create or replace function public.load_turn(
  p_turn_id uuid, p_run_id text, p_has_history boolean default false, p_ends boolean default false
) returns jsonb
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
  -- A turn that has not begun waits for nothing.
  if v_turn.status <> 'queued' then
    if public.is_waiting(p_turn_id) and not p_ends then
      return jsonb_build_object('outcome', 'waiting');
    end if;
    with woken as (delete from public.required_actions where turn_id = p_turn_id returning *)
    insert into public.tool_runs (turn_id, tool_call_id, finished, output, finished_at)
    select p_turn_id, w.step || ' ' || (c.value ->> 'id'), true,
      '{"value": {"error": "The client has sent no result in time"}}', clock_timestamp()
    from woken w, jsonb_array_elements(w.tool_calls) c
    where v_turn.stop_requested_at is null
    on conflict do nothing;
  end if;

  update public.chats set active_stream_id = p_run_id
  where id = v_turn.chat_id and active_stream_id in ('pending:' || p_turn_id, p_run_id);
  if not found then
    return jsonb_build_object('outcome', 'lost');
  end if;
  -- A headless turn knows its run before the run starts.
  if v_turn.status = 'queued' then
    v_turn := public.begin_turn(public.prepare_turn(v_turn), p_run_id);
  else
    update public.turns set loads = loads + 1, lost_usd = lost_usd + reserved_usd, reserved_usd = 0
    where id = p_turn_id returning * into v_turn;
  end if;

  return public.turn_state(v_turn) || jsonb_build_object(
    'outcome', 'active',
    'has_asked', v_turn.loads > 1
      and exists (select from public.approvals a where a.turn_id = p_turn_id),
    'history', public.history_of_turn(v_turn),
    'steps', (
      select coalesce(jsonb_agg(s.result order by s.index), '[]')
      from public.turn_steps s where s.turn_id = p_turn_id));
end
$$;
comment on function public.load_turn is 'Turns a claim into the run''s and answers all that the run continues with, at its start and after each crash: {outcome: lost | finished | waiting | active, …}. A turn that waits for its client is waiting, unless it is loaded to be ended (p_ends). p_has_history has no effect; servers of the version before name it.';

create or replace function public.run_steps(p_turn_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(public.trace_of_step(t, s.index, s.result, null) order by s.index), '[]')
    from public.turn_steps s join public.turns t on t.id = s.turn_id
    where s.turn_id = p_turn_id);
end
$$;
comment on function public.run_steps is 'The steps of a running turn, as its trace stores them.';

create or replace function public.record_usage(
  p_account_id uuid, p_source text, p_kind text, p_api_key_id uuid, p_artist_id uuid, p_calls jsonb
) returns void
language plpgsql volatile set search_path = '' as $$
begin
  with added as (
    insert into public.usage_entries (account_id, source, kind, api_key_id, artist_id, step, tool, call,
      model_id, input_tokens, cached_input_tokens, output_tokens, images, videos, cost_usd, estimated)
    select p_account_id, p_source, p_kind, p_api_key_id, p_artist_id, c.step, c.tool, c.call,
      left(c.model_id, 200), least(greatest(coalesce(c.input_tokens, 0), 0), 100000000),
      least(greatest(coalesce(c.cached_input_tokens, 0), 0), 100000000),
      least(greatest(coalesce(c.output_tokens, 0), 0), 100000000),
      coalesce(c.images, 0), coalesce(c.videos, 0),
      case when c.cost_usd between 0 and 1000000 then c.cost_usd end, coalesce(c.estimated, false)
    from jsonb_to_recordset(p_calls) as c (
      step integer, tool integer, call integer, model_id text, input_tokens numeric,
      cached_input_tokens numeric,
      output_tokens numeric, images integer, videos integer, cost_usd numeric, estimated boolean)
    on conflict do nothing
    returning cost_usd)
  insert into public.usage_months as m (account_id, month, cost_usd)
  select p_account_id, public.usage_month(), sum(a.cost_usd) from added a
  having sum(a.cost_usd) > 0
  on conflict (account_id, month) do update set cost_usd = m.cost_usd + excluded.cost_usd;
end
$$;
comment on function public.record_usage is 'Records calls [{step, tool, call, model_id, …}] of a turn or a generation, each once, and adds their cost to the month.';

create or replace function public.is_budget_reached(p_account_id uuid) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return (
    select exists (
      select from public.accounts a
      where a.id = p_account_id and a.monthly_budget_usd <= coalesce((
        select m.cost_usd from public.usage_months m
        where m.account_id = a.id and m.month = public.usage_month()), 0)));
end
$$;
comment on function public.is_budget_reached is 'Whether an account has spent its budget of the month. False without a budget.';

create or replace function public.has_budget(p_account_id uuid) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(
      (select a.monthly_budget_usd is not null from public.accounts a where a.id = p_account_id), false));
end
$$;
comment on function public.has_budget is 'Whether an account has a budget.';

create or replace function public.enqueue_webhook_event(
  p_account_id uuid, p_type text, p_data jsonb, p_webhook_url text default null
) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.webhook_deliveries (account_id, webhook_id, url, event_type, data)
  select p_account_id, w.id, w.url, p_type, p_data
  from public.webhooks w
  where w.account_id = p_account_id
    and (w.url = p_webhook_url or (w.enabled and p_type = any (w.events)))
  union all
  select p_account_id, null, p_webhook_url, p_type, p_data
  where p_webhook_url is not null and not exists (
    select from public.webhooks w where w.account_id = p_account_id and w.url = p_webhook_url);
end
$$;
comment on function public.enqueue_webhook_event is 'Queues an event for the webhooks of an account that want it, and for p_webhook_url: once, through the webhook that has this URL, if there is one. To be called in the transaction that makes the event true. p_data has ids and states, and no content but the output of a run with a schema.';

create or replace function public.turn_event(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'run_id', p_turn.run_id,
      'kind', p_turn.kind,
      'status', p_turn.status,
      'session_id', p_turn.session_id,
      'chat_id', p_turn.chat_id,
      'artist_id', p_turn.artist_id,
      'created_at', public.iso_date(p_turn.created_at),
      'finished_at', public.iso_date(p_turn.finished_at)));
end
$$;
comment on function public.turn_event is 'What the events of a turn have in common.';

create or replace function public.has_due_webhooks(p_account_id uuid) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return (
    select exists (
      select from public.webhook_deliveries
      where account_id = p_account_id and due_at <= clock_timestamp()));
end
$$;
comment on function public.has_due_webhooks is 'Whether a worker is to be woken for an account, after a statement that may have queued an event.';
