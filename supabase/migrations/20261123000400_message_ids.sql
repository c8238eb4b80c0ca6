-- An id identifies one message permanently: a message that is sent again is never overwritten, and its
-- answer is repeated instead of being generated again.

alter table public.messages add column sent_digest text;
comment on column public.messages.sent_digest is
  'SHA-256 of the parts as they were sent, of a message whose parts were replaced when its files were stored; else null.';

create function public.digest_of_parts(p_parts jsonb) returns text
language sql immutable set search_path = '' as $$
  select encode(sha256(convert_to(p_parts::text, 'UTF8')), 'hex')
$$;
comment on function public.digest_of_parts is 'SHA-256 of the parts of a message, in hex.';

create function public.parent_of_message(p_message public.messages) returns text
language sql stable set search_path = '' as $$
  select coalesce(p_message.parent_id, (
    select b.id from public.messages b
    where b.chat_id = p_message.chat_id and (b.created_at, b.id) < (p_message.created_at, p_message.id)
    order by b.created_at desc, b.id desc
    limit 1), '')
$$;
comment on function public.parent_of_message is
  'The id of the message that a message follows; empty for one that starts the conversation.';

create or replace function public.conflict_of_parent(
  p_chat_id uuid, p_message_id text, p_parent_id text
) returns text
language sql stable set search_path = '' as $$
  select case
    when p_parent_id <> '' and not exists (
      select from public.messages m where m.chat_id = p_chat_id and m.id = p_parent_id)
    then 'parent_missing'
    when exists (
      select from public.messages m
      where m.chat_id = p_chat_id and m.id = p_message_id
        and p_parent_id <> public.parent_of_message(m))
    then 'parent_differs' end
$$;

create or replace function public.store_file_parts(p_turn_id uuid, p_messages jsonb, p_history jsonb)
returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns
  where id = p_turn_id and finished_at is null for update;
  if not found then
    return;
  end if;
  update public.turns set history = p_history where id = p_turn_id and history is not null;
  -- Of a conversation that the client sent, only the newest message is stored.
  update public.messages m set parts = changed.parts,
    sent_digest = coalesce(m.sent_digest, public.digest_of_parts(m.parts))
  from jsonb_to_recordset(p_messages) as changed(id text, parts jsonb)
  where m.chat_id = v_turn.chat_id and m.id = changed.id and m.role = 'user'
    and (m.id = v_turn.message_id or v_turn.history is null);
end
$$;

create function public.is_same_content(p_message public.messages, p_parts jsonb) returns boolean
language sql stable set search_path = '' as $$
  select case when p_message.sent_digest is null then p_message.parts = p_parts
    else p_message.sent_digest = public.digest_of_parts(p_parts) end
$$;
comment on function public.is_same_content is
  'Whether a message was sent with these parts, although those that are stored may name its stored files.';

create or replace function public.store_turn_message(
  p_chat_id uuid, p_message_id text, p_parts jsonb, p_parts_before jsonb
) returns text
language plpgsql volatile set search_path = '' as $$
begin
  if p_parts_before is null then
    insert into public.messages (chat_id, id, role, parts, parent_id)
    values (p_chat_id, p_message_id, 'user', p_parts, public.leaf_of_chat(p_chat_id))
    on conflict (chat_id, id) do nothing;
    if not found and not exists (
      select from public.messages m
      where m.chat_id = p_chat_id and m.id = p_message_id and m.role = 'user'
        and public.is_same_content(m, p_parts)) then
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

create function public.answer_of_message(
  p_message public.messages, p_replaces_answer text
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_turn public.turns;
  v_answer_id text;
begin
  -- Of several answers the one that the chat shows.
  select t.* into v_turn from public.turns t
  left join public.messages a on a.chat_id = t.chat_id and a.id = t.assistant_message_id
  where t.chat_id = p_message.chat_id and t.message_id = p_message.id
  order by coalesce(a.on_path, false) desc, t.created_at desc
  limit 1;
  if v_turn.id is not null and v_turn.finished_at is null then
    return jsonb_build_object('outcome', 'active');
  end if;
  -- A message whose answer failed or was stopped is answered again.
  if v_turn.status in ('failed', 'cancelled') then
    return null;
  end if;
  select a.id into v_answer_id from public.messages a
  where a.chat_id = p_message.chat_id and a.role = 'assistant' and (
    a.id = v_turn.assistant_message_id
    or (v_turn.id is null and public.parent_of_message(a) = p_message.id))
  order by a.on_path desc, a.created_at desc
  limit 1;
  -- A request for another answer in place of one that is no longer shown is a repeated request.
  if p_replaces_answer is not null and not exists (
    select from public.messages a
    where a.chat_id = p_message.chat_id and a.id = p_replaces_answer and not a.on_path) then
    return null;
  end if;
  return case when v_answer_id is not null then jsonb_build_object(
    'outcome', 'answered', 'turn_id', v_turn.id, 'run_id', v_turn.run_id,
    'message_id', v_answer_id) end;
end
$$;
comment on function public.answer_of_message is
  'What a user message that is sent again gets: {outcome: active} while it is being answered, {outcome: answered (turn_id, run_id, message_id)} for its answer, null if it is to be answered again. p_replaces_answer is the id of the answer that a new one is requested for, null for none.';

create function public.repeat_message(
  p_chat_id uuid, p_message_id text, p_parts jsonb, p_replaces_answer text
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_message public.messages;
begin
  if exists (
    select from public.queued_turns q
    where q.chat_id = p_chat_id and q.message_id = p_message_id and q.begun_at is null
      and q.claim -> 'parts' <> p_parts) then
    return jsonb_build_object('outcome', 'content_differs');
  end if;
  select * into v_message from public.messages
  where chat_id = p_chat_id and id = p_message_id and role = 'user';
  if not found then
    return jsonb_build_object('outcome', 'new');
  elsif not public.is_same_content(v_message, p_parts) then
    return jsonb_build_object('outcome', 'content_differs');
  end if;
  return coalesce(public.answer_of_message(v_message, p_replaces_answer),
    jsonb_build_object('outcome', 'again', 'parent_id', public.parent_of_message(v_message)));
end
$$;
comment on function public.repeat_message is
  'What becomes of a user message, by its id: {outcome: new | content_differs | active | answered | again (parent_id)}; answered as of answer_of_message.';

create function public.claim_turn_once(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_turn_id uuid,
  p_message_id text, p_parts jsonb, p_parts_before jsonb, p_assistant_message_id text,
  p_title text, p_default_model_id text, p_context_limit integer, p_history jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_max_active integer, p_caller_key_id uuid,
  p_on_busy text, p_max_queued integer, p_credential text, p_parent_id text,
  p_replaces_answer text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_repeated jsonb;
begin
  -- In the order of claim_turn_within: the account, then the chat.
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  perform 1 from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for update;
  if found and p_parts_before is null then
    v_repeated := public.repeat_message(p_chat_id, p_message_id, p_parts, p_replaces_answer);
    -- With a parent the client asks for another answer.
    if v_repeated ->> 'outcome' = 'content_differs'
      or (v_repeated ->> 'outcome' = 'answered' and p_parent_id is null) then
      return v_repeated;
    end if;
  end if;
  return public.claim_turn_on_branch(p_account_id, p_session_id, p_chat_id, p_turn_id,
    p_message_id, p_parts, p_parts_before, p_assistant_message_id, p_title, p_default_model_id,
    p_context_limit, p_history, p_key_hash, p_key_prefix, p_key_name, p_key_expires_at,
    p_max_active, p_caller_key_id, p_on_busy, p_max_queued, p_credential,
    coalesce(p_parent_id, v_repeated ->> 'parent_id'));
end
$$;
comment on function public.claim_turn_once is
  'claim_turn_on_branch for a message that may have been sent before: also {outcome: content_differs}, and {outcome: answered (turn_id, run_id, message_id)}, unless a parent or p_replaces_answer asks for another answer. One whose answer failed or was stopped is answered on a branch.';
