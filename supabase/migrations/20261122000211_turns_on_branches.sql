-- Turns on branches. Whatever changes the path holds the lock of the chat's row.

-- Path -------------------------------------------------------------------------------------------

create function public.leaf_of_chat(p_chat_id uuid) returns text
language sql stable set search_path = '' as $$
  select coalesce((
    select m.id from public.messages m
    where m.chat_id = p_chat_id and m.on_path
    order by m.created_at desc, m.id desc
    limit 1), '')
$$;
comment on function public.leaf_of_chat is
  'The id of the newest message that a chat shows, which the next one follows; empty without any.';

create function public.link_messages(p_chat_id uuid) returns void
language sql volatile set search_path = '' as $$
  update public.messages m set parent_id = linked.parent_id
  from (
    select l.id, l.parent_id as stored,
      coalesce(lag(l.id) over (order by l.created_at, l.id), '') as parent_id
    from public.messages l where l.chat_id = p_chat_id
  ) linked
  where m.chat_id = p_chat_id and m.id = linked.id and linked.stored is null
$$;
comment on function public.link_messages is
  'Stores the parents of messages that have none yet, before the chat gets its first branch.';

create function public.show_path(p_chat_id uuid, p_message_id text, p_goes_on boolean) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_parents jsonb;
  v_children jsonb;
  v_path text[] := '{}';
  v_id text := p_message_id;
begin
  perform public.link_messages(p_chat_id);
  -- Of several children the newest, because the last of equal keys stays.
  select jsonb_object_agg(m.id, m.parent_id),
    jsonb_object_agg(m.parent_id, m.id order by m.created_at, m.id)
  into v_parents, v_children
  from public.messages m where m.chat_id = p_chat_id;
  while v_id <> '' loop
    v_path := v_path || v_id;
    v_id := v_parents ->> v_id;
  end loop;
  v_id := case when p_goes_on then v_children ->> p_message_id end;
  while v_id is not null loop
    v_path := v_path || v_id;
    v_id := v_children ->> v_id;
  end loop;
  update public.messages m set on_path = not m.on_path
  where m.chat_id = p_chat_id and m.on_path <> (m.id in (select unnest(v_path)));
end
$$;
comment on function public.show_path is
  'Makes the path of a chat the one that ends with a message; with p_goes_on the one through it, which goes on with the newest message after each.';

create function public.conflict_of_parent(p_chat_id uuid, p_message_id text, p_parent_id text)
returns text
language sql volatile set search_path = '' as $$
  select public.link_messages(p_chat_id);
  select case
    when p_parent_id <> '' and not exists (
      select from public.messages m where m.chat_id = p_chat_id and m.id = p_parent_id)
    then 'parent_missing'
    when exists (
      select from public.messages m
      where m.chat_id = p_chat_id and m.id = p_message_id and m.parent_id <> p_parent_id)
    then 'parent_differs' end
$$;
comment on function public.conflict_of_parent is
  'Why a message cannot follow p_parent_id: parent_missing | parent_differs, for one that follows another already. Null if it can.';

create function public.branch_at(p_chat_id uuid, p_message_id text, p_parent_id text) returns void
language sql volatile set search_path = '' as $$
  update public.messages set parent_id = p_parent_id
  where chat_id = p_chat_id and id = p_message_id and parent_id is distinct from p_parent_id;
  select public.show_path(p_chat_id, p_message_id, false);
$$;
comment on function public.branch_at is
  'Lets a message follow p_parent_id, and the path of the chat end with it.';

-- Claim and end of a turn ------------------------------------------------------------------------

create or replace function public.store_turn_message(
  p_chat_id uuid, p_message_id text, p_parts jsonb, p_parts_before jsonb
) returns text
language plpgsql volatile set search_path = '' as $$
begin
  if p_parts_before is null then
    insert into public.messages (chat_id, id, role, parts, parent_id)
    values (p_chat_id, p_message_id, 'user', p_parts, public.leaf_of_chat(p_chat_id))
    on conflict (chat_id, id) do update set parts = excluded.parts
    where messages.role = 'user';
    if not found then
      return 'id_taken';
    end if;
  else
    update public.messages set parts = p_parts
    where chat_id = p_chat_id and id = p_message_id and role = 'assistant'
      and parts = p_parts_before;
    if not found then
      return 'answer_stale';
    end if;
  end if;
  -- What is answered is shown.
  if exists (
    select from public.messages
    where chat_id = p_chat_id and id = p_message_id and not on_path) then
    perform public.show_path(p_chat_id, p_message_id, true);
  end if;
  return null;
end
$$;

create or replace function public.conversation_until(p_chat_id uuid, p_message_id text) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(
    jsonb_build_object('id', m.id, 'role', m.role, 'parts', m.parts)
    order by m.created_at, m.id), '[]')
  from public.messages m
  join public.messages newest on newest.chat_id = m.chat_id and newest.id = p_message_id
  where m.chat_id = p_chat_id and m.on_path
    and (m.created_at, m.id) <= (newest.created_at, newest.id)
$$;
comment on function public.conversation_until is
  'The messages that a chat shows up to and with one of them: [{id, role, parts}].';

create or replace function public.finish_turn(
  p_turn_id uuid, p_status text, p_error text, p_parts jsonb, p_metadata jsonb
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns where id = p_turn_id and finished_at is null for update;
  if not found then
    return jsonb_build_object('finished', false);
  end if;
  insert into public.messages (chat_id, id, role, parts, metadata, parent_id)
  values (v_turn.chat_id, v_turn.assistant_message_id, 'assistant', p_parts, p_metadata,
    public.leaf_of_chat(v_turn.chat_id))
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

create function public.claim_turn_on_branch(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_turn_id uuid,
  p_message_id text, p_parts jsonb, p_parts_before jsonb, p_assistant_message_id text,
  p_title text, p_default_model_id text, p_context_limit integer, p_history jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_max_active integer, p_caller_key_id uuid,
  p_on_busy text, p_max_queued integer, p_credential text, p_parent_id text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal text;
  v_answer jsonb;
begin
  if p_parent_id is not null then
    -- In the order of claim_turn_within: the account, then the chat.
    perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
    perform 1 from public.chats
    where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
    for update;
    v_refusal := case when found
      then public.conflict_of_parent(p_chat_id, p_message_id, p_parent_id) end;
    if v_refusal is not null then
      return jsonb_build_object('outcome', v_refusal);
    end if;
  end if;
  v_answer := public.claim_or_queue_turn(p_account_id, p_session_id, p_chat_id, p_turn_id,
    p_message_id, p_parts, p_parts_before, p_assistant_message_id, p_title, p_default_model_id,
    p_context_limit, p_history, p_key_hash, p_key_prefix, p_key_name, p_key_expires_at,
    p_max_active, p_caller_key_id, p_on_busy, p_max_queued, p_credential);
  if p_parent_id is not null and v_answer ->> 'outcome' = 'claimed' then
    perform public.branch_at(p_chat_id, p_message_id, p_parent_id);
  elsif p_parent_id is not null and v_answer ->> 'outcome' = 'queued' then
    update public.queued_turns
    set claim = claim || jsonb_build_object('parent_id', p_parent_id)
    where turn_id = p_turn_id;
  end if;
  return v_answer;
end
$$;
comment on function public.claim_turn_on_branch is
  'claim_or_queue_turn for a message that follows p_parent_id, empty for none, so that it begins a branch or repeats an answer; null for the leaf of the chat. Also {outcome: parent_missing | parent_differs}.';

create or replace function public.claim_queued_turn(
  p_row public.queued_turns, p_max_active integer
) returns text
language plpgsql volatile set search_path = '' as $$
declare
  v_outcome constant text := public.claim_turn_within(
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
    p_caller_key_id => (p_row.claim ->> 'caller_key_id')::uuid) ->> 'outcome';
begin
  if v_outcome = 'claimed' and p_row.claim ? 'parent_id' then
    perform public.branch_at(p_row.chat_id, p_row.message_id, p_row.claim ->> 'parent_id');
  end if;
  return v_outcome;
end
$$;

-- Reading ----------------------------------------------------------------------------------------

create or replace function public.get_chat_body(p_account_id uuid, p_session_id uuid, p_chat_id uuid)
returns public."text/plain"
language plpgsql stable set search_path = '' as $$
declare
  v_chat public.chats;
begin
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
  if not found then
    return public.missing_of_chat(p_account_id, p_session_id);
  end if;
  return (
    select concat(public.chat_body_start(v_chat),
      string_agg(public.message_text(m), ',' order by m.created_at, m.id), ']}')
    from public.messages m where m.chat_id = p_chat_id and m.on_path);
end
$$;

create or replace function public.get_chat_body_pieces(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid
) returns setof text
language sql stable as $$
  select concat(
    case when lag(c.id) over in_order is null then public.chat_body_start(c) else ',' end,
    case when m.id is not null then public.message_text(m) end,
    case when lead(c.id) over in_order is null then ']}' end)
  from public.chats c
  left join public.messages m on m.chat_id = c.id and m.on_path
  where c.id = p_chat_id and c.session_id = p_session_id and c.account_id = p_account_id
  window in_order as (order by m.created_at, m.id)
  order by m.created_at, m.id
$$;

create function public.branches_json(p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(
    jsonb_build_object('message_id', place.message_id, 'sibling_ids', place.sibling_ids)
    order by place.first_at, place.message_id), '[]')
  from (
    select max(m.id) filter (where m.on_path) as message_id,
      jsonb_agg(m.id order by m.created_at, m.id) as sibling_ids,
      min(m.created_at) as first_at
    from public.messages m
    where m.chat_id = p_chat_id and m.parent_id is not null
    group by m.parent_id
    having count(*) > 1
  ) place
  where place.message_id is not null
$$;
comment on function public.branches_json is
  'The messages that a chat shows and that are not the only ones at their place: [{message_id, sibling_ids}], the latter with message_id and oldest first.';

create function public.list_branches(p_account_id uuid, p_session_id uuid, p_chat_id uuid)
returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  perform 1 from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('branches', public.branches_json(p_chat_id));
end
$$;
comment on function public.list_branches is
  '{branches}, as of branches_json | {missing: session | chat}.';

create function public.choose_branch(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_message_id text
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
  perform 1 from public.messages where chat_id = p_chat_id and id = p_message_id;
  if not found then
    return jsonb_build_object('missing', 'message');
  end if;
  if public.active_stream_id(v_chat) is not null
    or exists (select from public.queued_turns q where q.chat_id = p_chat_id) then
    return jsonb_build_object('busy', true);
  end if;
  perform public.show_path(p_chat_id, p_message_id, true);
  return jsonb_build_object('branches', public.branches_json(p_chat_id));
end
$$;
comment on function public.choose_branch is
  'Shows the path through a message: {branches}, as of branches_json | {busy: true} while a turn is active or waits | {missing: session | chat | message}.';
