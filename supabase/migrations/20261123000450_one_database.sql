-- Every query is a function, and authentication reads nothing else.
drop function public.authenticate_bearer;
drop function public.authenticate_and_read;
drop function public.read_for_account;
drop function public.is_bucket_full;

create function public.authenticate_bearer(
  p_email text, p_identity_hash text, p_session_id uuid, p_issued_at timestamptz,
  p_account_id uuid, p_organization_id uuid, p_artist_id uuid,
  p_address text, p_address_limit integer, p_account_limit integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_verdict jsonb;
  v_rate jsonb;
begin
  v_verdict := public.authenticate_email(p_email, p_account_id, p_organization_id, p_artist_id,
    p_address, p_address_limit, p_account_limit);
  -- Afterwards, so that an account that is deleted in between is not created again.
  if public.has_sign_in_ended(p_session_id, p_identity_hash, p_issued_at) then
    raise sqlstate 'PT401';
  end if;
  return v_verdict;
exception when sqlstate 'PT401' then
  if p_address is not null and p_address_limit > 0 then
    v_rate := public.take_from_bucket('address:' || p_address, p_address_limit);
  end if;
  return jsonb_build_object('outcome', 'unknown');
end
$$;
comment on function public.authenticate_bearer is
  'Authenticates a bearer token and returns limits and access as authenticate_email does; {outcome: unknown} when the sign-in has ended.';

create function public.list_keys(p_account_id uuid) returns setof public.api_keys
language sql stable set search_path = '' as $$
  select k.* from public.api_keys k
  where k.account_id = p_account_id and k.scope = 'full'
    and (k.revoked_at is null or k.revoked_at > now())
  order by k.created_at desc, k.id
$$;
comment on function public.list_keys is
  'The valid keys of the account, newest first, without the keys of runs.';

create function public.list_connections(p_account_id uuid, p_limit integer)
returns setof public.connections
language sql stable set search_path = '' as $$
  select c.* from public.connections c
  where c.account_id = p_account_id
  order by c.created_at desc, c.id
  limit p_limit
$$;
comment on function public.list_connections is
  'The connections of the account to the embedded provider, newest first.';

create function public.list_content_templates() returns setof public.content_templates
language sql stable set search_path = '' as $$
  select t.* from public.content_templates t order by t.position, t.id
$$;
comment on function public.list_content_templates is
  'All content templates in the order of the list. They belong to no account.';

create function public.run_of_turn(p_turn_id uuid) returns text
language sql stable set search_path = '' as $$
  select t.run_id from public.turns t where t.id = p_turn_id
$$;
comment on function public.run_of_turn is
  'The run that executes the turn; null before its first step has started.';

create function public.assistant_parts(p_account_id uuid, p_chat_id uuid, p_message_id text)
returns jsonb
language sql stable set search_path = '' as $$
  select m.parts from public.messages m join public.chats c on c.id = m.chat_id
  where c.account_id = p_account_id and c.id = p_chat_id
    and m.id = p_message_id and m.role = 'assistant'
$$;
comment on function public.assistant_parts is
  'The parts of an answer in the account''s chat; null when there is none.';

drop function public.get_chat_body(uuid, uuid, uuid);
drop function public.get_chat_body_pieces;
comment on function public.get_chat_body_page is
  'The text of a chat with its messages, from the message after (p_after_at, p_after_id) on, null for the start: a row for each message, at most 500 and not many more than p_max_bytes. The last row is the end of the text, or "after <created_at> <id>" of the last message when more follow. No row when the chat is missing.';
