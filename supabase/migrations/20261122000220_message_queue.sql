-- What waits in a chat can be read, removed, and sent before its time.

create function public.list_queued_messages(p_account_id uuid, p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select case when c.id is null then jsonb_build_object('refused', 'chat')
    else jsonb_build_object('messages', (
      select coalesce(
        jsonb_agg(
          jsonb_build_object('id', q.message_id, 'parts', q.claim -> 'parts',
            'created_at', public.iso_date(q.created_at))
          order by q.goes_first desc, case when q.goes_first then -q.position else q.position end),
        '[]')
      from public.queued_turns q
      where q.chat_id = c.id and q.account_id = c.account_id and q.begun_at is null)) end
  from (select 1) one
  left join public.chats c on c.id = p_chat_id and c.account_id = p_account_id
$$;
comment on function public.list_queued_messages is
  'The messages that wait in a chat, in the order in which their turns begin: {messages}, or {refused: chat}.';

create function public.remove_queued_message(
  p_account_id uuid, p_chat_id uuid, p_message_id text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- As begin_queued_turn, which would find no turn to begin while the first one is being removed.
  perform 1 from public.chats where id = p_chat_id and account_id = p_account_id for update;
  if not found then
    return jsonb_build_object('refused', 'chat');
  end if;
  delete from public.queued_turns
  where chat_id = p_chat_id and account_id = p_account_id and message_id = p_message_id
    and begun_at is null;
  return case when found then jsonb_build_object('removed', true)
    else jsonb_build_object('refused', 'message') end;
end
$$;
comment on function public.remove_queued_message is
  'Drops a message before its turn has begun: {removed}, or {refused: chat | message}.';

create function public.repeat_queued_turn(
  p_chat public.chats, p_turn_id uuid, p_on_busy text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_queued constant jsonb := jsonb_build_object('outcome', 'queued', 'turn_id', p_turn_id);
  v_busy jsonb;
begin
  if p_on_busy <> 'interrupt' then
    return v_queued;
  end if;
  update public.queued_turns set goes_first = true, position = default
  where turn_id = p_turn_id and not goes_first;
  if not found then
    return v_queued;
  end if;
  v_busy := public.busy_chat(p_chat);
  update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
  where id = (v_busy ->> 'turn_id')::uuid and finished_at is null;
  return v_busy || v_queued || jsonb_build_object('active_turn_id', v_busy -> 'turn_id');
end
$$;
comment on function public.repeat_queued_turn is
  'The answer to a message that is sent again while it waits. With interrupt it goes before the others, and the active turn is stopped, once.';

create or replace function public.claim_or_queue_turn(
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
    return public.repeat_queued_turn(v_chat, v_queued, p_on_busy);
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
  'claim_turn_within. A chat that is busy, or in which turns wait, queues the turn unless p_on_busy is reject, and stops the active one if it is interrupt; a message that waits already goes on waiting: also {outcome: queued (turn_id, active_turn_id, run_id) | queue_full | waiting}.';
