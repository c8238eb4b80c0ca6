-- Compactions of the conversation of a chat, and titles: the jobs of model_jobs.

create function public.compaction_of_turn(p_turn public.turns) returns jsonb
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

create function public.record_compaction(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_message_id text, p_kind text, p_state jsonb,
  p_tokens_before integer, p_tokens_after integer, p_usage jsonb, p_tool_call_id text default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_id bigint;
begin
  -- The account and the chat before the turn, as everywhere: the other order deadlocks.
  perform from public.accounts where id = p_account_id for key share;
  perform public.lock_chat_of_turn(p_turn_id);
  -- Usage counts, even if another process has loaded the turn since.
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('superseded', true);
  end if;
  select * into v_turn from public.turns
  where id = p_turn_id and loads = p_load and finished_at is null for share;
  if not found then
    return jsonb_build_object('superseded', true);
  end if;
  insert into public.compactions
    (account_id, chat_id, turn_id, message_id, kind, state, tokens_before, tokens_after,
      tool_call_id)
  values (p_account_id, v_turn.chat_id, p_turn_id, p_message_id, p_kind, p_state,
    p_tokens_before, p_tokens_after, p_tool_call_id)
  returning id into v_id;
  return jsonb_build_object('superseded', false, 'id', v_id);
end
$$;
comment on function public.record_compaction is 'Records a compaction, which every later model call of the chat uses, and what its summary has used: {superseded, id}. Superseded, the turn has ended or was loaded again since this load, and only the usage is recorded.';

create function public.is_chat_busy(p_chat public.chats) returns boolean
language sql stable set search_path = '' as $$
  select public.active_stream_id(p_chat) is not null
    or exists (select from public.queued_turns q where q.chat_id = p_chat.id)
$$;
comment on function public.is_chat_busy is 'Returns whether a turn of the chat is active or waits.';

create function public.next_turn_of_chat(p_chat public.chats, p_default_model_id text)
returns public.turns
language plpgsql stable set search_path = '' as $$
declare
  v_turn public.turns;
begin
  v_turn.account_id := p_chat.account_id;
  v_turn.session_id := p_chat.session_id;
  v_turn.chat_id := p_chat.id;
  v_turn.message_id := public.leaf_of_chat(p_chat.id);
  v_turn.assistant_message_id := '';
  v_turn.model_id := coalesce(nullif(p_chat.model_id, ''), p_default_model_id);
  v_turn.instructions := public.chat_instructions(p_chat.account_id, p_chat.id);
  v_turn.options := public.chat_options(p_chat.account_id, p_chat.id);
  v_turn.skills := public.skills_of_turn(p_chat.account_id, v_turn.options -> 'skills');
  v_turn.untrusted := '[]';
  v_turn.mcp_tools := public.mcp_tools_of_turn(p_chat.account_id, v_turn.options -> 'mcp_servers');
  v_turn.headless := false;
  v_turn.loads := 0;
  v_turn.created_at := now();
  v_turn.artist_id := (
    select s.artist_id from public.sessions s
    where s.id = p_chat.session_id and public.may_act_for(p_chat.account_id, s.artist_id));
  v_turn.facts := public.facts_of_turn(v_turn.account_id, v_turn.artist_id);
  return v_turn;
end
$$;
comment on function public.next_turn_of_chat is 'The turn that a message would start now in a chat, without that message: it answers the newest one. It is not stored.';

create function public.get_chat_context(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_default_model_id text
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_chat public.chats;
  v_turn public.turns;
begin
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  v_turn := public.next_turn_of_chat(v_chat, p_default_model_id);
  return jsonb_build_object('turn',
    public.turn_state(v_turn) || jsonb_build_object('history', public.history_of_turn(v_turn)));
end
$$;
comment on function public.get_chat_context is 'The conversation of a chat as its next turn continues it: {turn: turn_state with history} | {missing: session | chat}.';

create function public.begin_compaction(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_id uuid, p_default_model_id text,
  p_lease_seconds integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
begin
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for update;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  if public.is_chat_busy(v_chat) then
    return jsonb_build_object('refused', 'busy');
  end if;
  if public.is_budget_reached(p_account_id) then
    return jsonb_build_object('refused', 'budget_reached');
  end if;
  insert into public.model_jobs as r (chat_id, account_id, id, lease_until)
  values (p_chat_id, p_account_id, p_id, clock_timestamp() + make_interval(secs => p_lease_seconds))
  on conflict (chat_id) do update
  set id = excluded.id, reserved_usd = 0, lease_until = excluded.lease_until
  where r.lease_until < clock_timestamp();
  if not found then
    return jsonb_build_object('refused', 'compacting');
  end if;
  return public.get_chat_context(p_account_id, p_session_id, p_chat_id, p_default_model_id);
end
$$;
comment on function public.begin_compaction is 'Leases the compaction of a chat to a request, with the id p_id, and returns its conversation as in get_chat_context | {refused: busy, while a turn is active or waits | budget_reached | compacting, while another request has the lease} | {missing: session | chat}. end_compaction ends the lease.';

create function public.end_compaction(
  p_account_id uuid, p_chat_id uuid, p_id uuid, p_leaf_id text, p_base_id bigint,
  p_compaction jsonb, p_api_key_id uuid, p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
  v_turn public.turns;
begin
  perform from public.accounts where id = p_account_id for key share;
  if not found then
    return jsonb_build_object('refused', 'chat');
  end if;
  select * into v_chat from public.chats
  where id = p_chat_id and account_id = p_account_id for update;
  -- Usage counts, even if the lease or the chat is lost.
  perform public.record_usage(p_account_id, p_id::text, 'chat', p_api_key_id,
    (select s.artist_id from public.sessions s where s.id = v_chat.session_id), p_usage);
  if v_chat.id is null then
    return jsonb_build_object('refused', 'chat');
  end if;
  delete from public.model_jobs where chat_id = v_chat.id and id = p_id;
  if not found then
    return jsonb_build_object('refused', 'changed');
  end if;
  if p_compaction ->> 'kind' is null then
    return jsonb_build_object('recorded', false);
  end if;
  if public.is_chat_busy(v_chat) then
    return jsonb_build_object('refused', 'busy');
  end if;
  -- A turn may have started and ended since, or another branch may be shown.
  v_turn := public.next_turn_of_chat(v_chat, '');
  if v_turn.message_id <> p_leaf_id
    or (public.compaction_of_turn(v_turn) ->> 'id')::bigint is distinct from p_base_id
  then
    return jsonb_build_object('refused', 'changed');
  end if;
  insert into public.compactions
    (account_id, chat_id, message_id, kind, state, tokens_before, tokens_after)
  select p_account_id, p_chat_id, c.message_id, c.kind, c.state, c.tokens_before, c.tokens_after
  from jsonb_to_record(p_compaction) as c (
    message_id text, kind text, state jsonb, tokens_before integer, tokens_after integer);
  return jsonb_build_object('recorded', true);
end
$$;
comment on function public.end_compaction is 'Ends the lease of begin_compaction, records what its model calls have used, and the compaction {message_id, kind, state, tokens_before, tokens_after} that was made, null for none: {recorded} | {refused: chat, which is deleted | busy, while a turn is active or waits | changed, when the lease is lost, or the chat is no longer the one with the newest message p_leaf_id and the compaction p_base_id (null for none)}. Refused, only the usage is recorded.';

create function public.begin_title(
  p_account_id uuid, p_chat_id uuid, p_turn_id uuid, p_title text, p_lease_seconds integer
) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  perform from public.chats
  where id = p_chat_id and account_id = p_account_id and title = p_title for update;
  if not found or public.is_budget_reached(p_account_id) or exists (
    select from public.turns t
    where t.chat_id = p_chat_id and t.id <> p_turn_id and t.status = 'completed')
  then
    return false;
  end if;
  insert into public.model_jobs (chat_id, account_id, id, lease_until)
  values (p_chat_id, p_account_id, p_turn_id,
    clock_timestamp() + make_interval(secs => p_lease_seconds))
  on conflict do nothing;
  return found;
end
$$;
comment on function public.begin_title is 'Leases a chat, as begin_compaction does, to the turn that has given its first answer and is to give it a title in place of p_title, which is the start of its first message. False if it has another title or answer, if its budget is spent, or while it is leased. end_title ends the lease.';

create function public.end_title(
  p_account_id uuid, p_chat_id uuid, p_turn_id uuid, p_former text, p_title text, p_usage jsonb
) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  -- The account and the chat before the turn, as everywhere: the other order deadlocks.
  perform from public.accounts where id = p_account_id for key share;
  perform public.lock_chat_of_turn(p_turn_id);
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return false;
  end if;
  delete from public.model_jobs
  where chat_id = p_chat_id and account_id = p_account_id and id = p_turn_id;
  update public.chats set title = p_title, updated_at = now()
  where id = p_chat_id and account_id = p_account_id and title = p_former and p_title <> '';
  return found;
end
$$;
comment on function public.end_title is 'Records what the model calls for a title have used, ends the lease of begin_title, and replaces the title p_former, if the chat still has it and there is a new one. Returns whether it has.';
