-- A reader continues a shared chat in a new chat.

create function public.continue_share(
  p_account_id uuid, p_share_id uuid, p_model_id text, p_max_account_bytes bigint
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_share public.chat_shares;
  v_session public.sessions;
  v_chat public.chats;
begin
  -- Locked against its end: a share that has ended gives its messages to nobody.
  select * into v_share from public.chat_shares where id = p_share_id for key share;
  if not found then
    return '{"missing": "share"}';
  end if;
  insert into public.sessions (account_id, untrusted)
  values (p_account_id, jsonb_build_array(jsonb_build_object('kind', 'share', 'name', v_share.title)))
  returning * into v_session;
  insert into public.chats (session_id, account_id, model_id, title)
  values (v_session.id, p_account_id, p_model_id, v_share.title)
  returning * into v_chat;
  -- A microsecond apart, to keep their order whatever their ids.
  insert into public.messages (chat_id, id, role, parts, created_at, parent_id)
  select v_chat.id, said.id, said.role, said.parts,
    clock_timestamp() + said.position * interval '1 microsecond',
    lag(said.id) over (order by said.position)
  from (
    select 'shared-' || m.position as id, m.position, m.role, (
      select jsonb_agg(p.part order by p.place)
      from jsonb_array_elements(m.parts) with ordinality p (part, place)
      where p.part ->> 'type' = 'text') as parts
    from public.shared_messages m where m.share_id = p_share_id
  ) said
  where said.parts is not null;
  if public.message_quota_reached(p_account_id, null, p_max_account_bytes, 0) is not null then
    raise exception using errcode = 'PT403', message = 'room';
  end if;
  return jsonb_build_object('session', to_jsonb(v_session), 'chat', public.chat_row(v_chat));
exception when sqlstate 'PT403' then
  -- Nothing has changed.
  return jsonb_build_object('missing', sqlerrm);
end
$$;
comment on function public.continue_share is 'Copies the texts of a share into a new chat of the account, whose session has met them as untrusted content: {session, chat} | {missing: share | room}. A limit of 0 is none.';
