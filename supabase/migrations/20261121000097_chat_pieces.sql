-- The body of a chat in pieces, which the server sends on while PostgreSQL still prints the rest.

create function public.chat_body_start(p_chat public.chats) returns text
language sql stable as $$
  select concat('{"chat":', public.chat_json(p_chat),
    ',"isStreaming":', to_json(public.active_stream_id(p_chat) is not null), ',"messages":[')
$$;
comment on function public.chat_body_start is
  'The text of a chat''s body before its messages. No search_path, so that it is inlined.';

create function public.message_text(p_message public.messages) returns text
language sql stable as $$
  select concat('{"id":', to_json(p_message.id), ',"role":"', p_message.role,
    '","parts":', p_message.parts, ',"metadata":' || p_message.metadata::text,
    ',"createdAt":"', public.iso_date(p_message.created_at), '"}')
$$;
comment on function public.message_text is
  'A message as JSON text; not JSON, which would be parsed again. No search_path, so that it is inlined.';

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
    from public.messages m where m.chat_id = p_chat_id);
end
$$;

-- The window makes each piece as soon as its row is read: an aggregate would wait for all rows.
create function public.get_chat_body_pieces(p_account_id uuid, p_session_id uuid, p_chat_id uuid)
returns setof text
language sql stable as $$
  select concat(
    case when lag(c.id) over in_order is null then public.chat_body_start(c) else ',' end,
    case when m.id is not null then public.message_text(m) end,
    case when lead(c.id) over in_order is null then ']}' end)
  from public.chats c
  left join public.messages m on m.chat_id = c.id
  where c.id = p_chat_id and c.session_id = p_session_id and c.account_id = p_account_id
  window in_order as (order by m.created_at, m.id)
  order by m.created_at, m.id
$$;
comment on function public.get_chat_body_pieces is
  'The text of get_chat_body, a row for each message; no row when the chat is missing. No search_path, so that it is inlined.';
