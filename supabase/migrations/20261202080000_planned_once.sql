-- PostgreSQL inlines no function with a subquery: these were planned anew with each call, once for each
-- active turn of the account when a turn starts.

create or replace function public.is_waiting(p_turn_id uuid) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from public.required_actions a where a.turn_id = p_turn_id and a.wakes_at > now());
end
$$;
comment on function public.is_waiting is 'Returns whether a turn waits for its client.';

create or replace function public.open_approvals(p_turn_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_agg(jsonb_build_object('id', a.id, 'tool_call_id', a.tool_call_id, 'tool', a.tool,
      'category', a.category, 'input', a.input, 'effect', a.effect, 'sources', a.sources,
      'expires_at', public.iso_date(a.expires_at)) order by a.requested_at, a.id)
    from public.approvals a
    where a.turn_id = p_turn_id and a.state = 'requested' and a.expires_at > now());
end
$$;
comment on function public.open_approvals is 'The calls of a turn that wait for an answer; null for none.';

create or replace function public.strictest_policy(p_policies text[]) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return (
    select p from unnest(p_policies) p
    order by array_position(array['deny', 'ask', 'ask_when_untrusted', 'auto'], p) limit 1);
end
$$;
comment on function public.strictest_policy is 'The strictest of some policies, any of which may be null.';

-- What starts and ends a turn finds its rows by their primary keys, whatever the planner knows of the
-- tables, and asks nothing whose answer it does not need.

create or replace function public.count_chat_bytes() returns trigger
language plpgsql set search_path = '' as $$
declare
  v_added jsonb;
  v_chat_id uuid;
  v_bytes bigint;
begin
  if tg_op = 'INSERT' then
    select jsonb_object_agg(sums.chat_id, sums.bytes) into v_added
    from (select chat_id, sum(bytes) as bytes from new_rows group by chat_id) sums;
  elsif tg_op = 'DELETE' then
    select jsonb_object_agg(sums.chat_id, sums.bytes) into v_added
    from (select chat_id, -sum(bytes) as bytes from old_rows group by chat_id) sums;
  else
    select jsonb_object_agg(sums.chat_id, sums.bytes) into v_added
    from (
      select chat_id, sum(bytes) as bytes
      from (select chat_id, bytes from new_rows union all select chat_id, -bytes from old_rows) rows
      group by chat_id) sums;
  end if;
  for v_chat_id, v_bytes in
    select a.key::uuid, a.value::bigint from jsonb_each_text(v_added) a where a.value <> '0'
  loop
    -- Without effect for a chat that is being deleted.
    update public.chats set message_bytes = greatest(0, message_bytes + v_bytes) where id = v_chat_id;
  end loop;
  return null;
end
$$;

create or replace function public.narrowest_limits(p_limits jsonb[]) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  if array_remove(p_limits, null) = '{}' then
    return null;
  end if;
  return (
    select jsonb_object_agg(narrowest.name, narrowest.value)
    from (
      select l.key as name, min(l.value::numeric) as value
      from unnest(p_limits) as given, jsonb_each_text(given) as l
      group by l.key) narrowest);
end
$$;

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

create or replace function public.close_turn(p_turn_id uuid, p_status text, p_error text) returns void
language plpgsql set search_path = '' as $$
begin
  update public.api_keys set revoked_at = now()
  where id = (select key_id from public.turns where id = p_turn_id) and revoked_at is null;
  update public.turns set status = p_status, error = p_error, history = null, mcp_tools = null,
    finished_at = now()
  where id = p_turn_id and finished_at is null;
  update public.approvals set state = 'cancelled', answered_at = clock_timestamp()
  where turn_id = p_turn_id and state = 'requested' and category <> 'delivery';
  delete from public.tool_runs where turn_id = p_turn_id;
  update public.steering_messages set parts = null where turn_id = p_turn_id;
  -- Each turn leaves one dead key behind and clears away a few old ones.
  delete from public.api_keys where id in (
    select id from public.api_keys
    where scope = 'run' and revoked_at < now() - interval '1 day'
    order by revoked_at limit 10 for update skip locked);
end
$$;

-- A query for a null was planned anew with each call, because such a plan is cheaper than the one that is kept.

create or replace function public.active_turn(p_chat public.chats) returns public.turns
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

create or replace function public.applied_template_version(
  p_account_id uuid, p_template_id uuid, p_version integer
) returns public.agent_template_versions
language plpgsql stable set search_path = '' as $$
declare
  v_template public.agent_templates;
  v_version public.agent_template_versions;
begin
  if p_template_id is null then
    return null;
  end if;
  select * into v_template from public.agent_templates where id = p_template_id;
  if found and public.can_see_agent_template(p_account_id, v_template) then
    select * into v_version from public.agent_template_versions v
    where v.template_id = p_template_id and (
      v.version = coalesce(p_version, 1)
      or (p_version is null and v_template.account_id = p_account_id))
    order by v.version desc
    limit 1;
  end if;
  return v_version;
end
$$;
