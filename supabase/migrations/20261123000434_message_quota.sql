-- The quota of messages, and chats that are read in pages.

create function public.message_quota_reached(
  p_account_id uuid, p_chat_id uuid, p_max_account_bytes bigint, p_max_chat_bytes bigint
) returns text
language sql stable set search_path = '' as $$
  select case
    when p_max_account_bytes > 0 and exists (
      select from public.message_usage u
      where u.account_id = p_account_id and u.bytes > p_max_account_bytes)
    then 'messages_full'
    when p_max_chat_bytes > 0 and exists (
      select from public.chats c where c.id = p_chat_id and c.account_id = p_account_id
        and c.message_bytes > p_max_chat_bytes)
    then 'chat_full' end
$$;
comment on function public.message_quota_reached is
  'messages_full | chat_full, when the account or the chat has more bytes of messages than it may have, else null. A limit of 0 is none.';

create function public.claim_turn_within_quota(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_turn_id uuid,
  p_message_id text, p_parts jsonb, p_parts_before jsonb, p_assistant_message_id text,
  p_title text, p_default_model_id text, p_context_limit integer, p_history jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_max_active integer, p_caller_key_id uuid,
  p_on_busy text, p_max_queued integer, p_credential text, p_parent_id text,
  p_replaces_answer text, p_max_account_bytes bigint, p_max_chat_bytes bigint
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_answer jsonb;
  v_full text;
begin
  v_answer := public.claim_turn_once(p_account_id, p_session_id, p_chat_id, p_turn_id,
    p_message_id, p_parts, p_parts_before, p_assistant_message_id, p_title, p_default_model_id,
    p_context_limit, p_history, p_key_hash, p_key_prefix, p_key_name, p_key_expires_at,
    p_max_active, p_caller_key_id, p_on_busy, p_max_queued, p_credential, p_parent_id,
    p_replaces_answer);
  -- A message that was stored by an earlier attempt takes no more room.
  if v_answer ->> 'outcome' = 'claimed'
    or (v_answer ->> 'outcome' = 'queued' and v_answer ->> 'turn_id' = p_turn_id::text) then
    v_full := public.message_quota_reached(
      p_account_id, p_chat_id, p_max_account_bytes, p_max_chat_bytes);
    if v_full is not null then
      raise exception using errcode = 'PT403', message = v_full;
    end if;
  end if;
  return v_answer;
exception when sqlstate 'PT403' then
  return jsonb_build_object('outcome', sqlerrm);
end
$$;
comment on function public.claim_turn_within_quota is
  'claim_turn_once, unless the message would take more bytes than the account or the chat may have: {outcome: messages_full | chat_full} has changed nothing. A limit of 0 is none.';

create function public.provision_run_within_quota(
  p_account_id uuid, p_artist_id uuid, p_effect_id uuid, p_turn_id uuid,
  p_assistant_message_id text, p_title text, p_model_id text, p_messages jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_max_active integer, p_kind text, p_caller_key_id uuid, p_max_account_bytes bigint
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_answer jsonb;
begin
  v_answer := public.provision_run_within(p_account_id, p_artist_id, p_effect_id, p_turn_id,
    p_assistant_message_id, p_title, p_model_id, p_messages,
    p_key_hash, p_key_prefix, p_key_name, p_key_expires_at, p_max_active, p_kind, p_caller_key_id);
  if v_answer ->> 'turn_id' = p_turn_id::text and public.message_quota_reached(
    p_account_id, null, p_max_account_bytes, 0) is not null then
    raise exception using errcode = 'PT403', message = 'messages_full';
  end if;
  return v_answer;
exception when sqlstate 'PT403' then
  return jsonb_build_object('refused', sqlerrm);
end
$$;
comment on function public.provision_run_within_quota is
  'provision_run_within, unless the account would have more bytes of messages than it may have: {refused: messages_full} has changed nothing. A limit of 0 is none.';

-- A reader that takes its time holds no more than one page, and no connection between two pages.
create function public.get_chat_body_page(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_after_at timestamptz, p_after_id text,
  p_max_bytes bigint
) returns setof text
language sql stable set search_path = '' as $$
  with chat as (
    select c from public.chats c
    where c.id = p_chat_id and c.session_id = p_session_id and c.account_id = p_account_id
  ), following as (
    select m, m.created_at, m.id
    from public.messages m
    where m.chat_id = p_chat_id and m.on_path and exists (select from chat)
      and (p_after_at is null or (m.created_at, m.id) > (p_after_at, p_after_id))
    order by m.created_at, m.id
    limit 501
  ), sized as (
    -- The stored size of what was stored before sizes were kept.
    select f.*, row_number() over in_order as place, count(*) over () as total,
      sum(greatest((f.m).bytes, pg_column_size((f.m).parts))) over in_order
        - greatest((f.m).bytes, pg_column_size((f.m).parts)) as bytes_before
    from following f
    window in_order as (order by f.created_at, f.id)
  ), page as (
    select * from sized where place <= 500 and (place = 1 or bytes_before < p_max_bytes)
  )
  select piece.answer from (
    select 0 as place, public.chat_body_start(chat.c) as answer from chat where p_after_at is null
    union all
    select page.place, concat(
      case when p_after_at is not null or page.place > 1 then ',' end, public.message_text(page.m))
    from page
    union all
    select 502, coalesce(
      (select concat('after ', to_json(page.created_at) #>> '{}', ' ', page.id) from page
        where page.place < page.total and page.place = (select max(p.place) from page p)),
      ']}')
    from chat
  ) piece
  order by piece.place
$$;
comment on function public.get_chat_body_page is
  'The text of get_chat_body from the message after (p_after_at, p_after_id) on, null for the start: a row for each message, at most 500 and not many more than p_max_bytes. The last row is the end of the text, or "after <created_at> <id>" of the last message when more follow. No row when the chat is missing.';
