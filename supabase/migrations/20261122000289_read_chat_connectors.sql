create function public.get_chat_connectors(p_account_id uuid, p_session_id uuid, p_chat_id uuid)
returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(
    (select jsonb_build_object('connectors', coalesce(to_jsonb(n.connectors), '[]'))
      from public.chats c
      left join public.chat_connectors n on n.chat_id = c.id and n.account_id = c.account_id
      where c.id = p_chat_id and c.session_id = p_session_id and c.account_id = p_account_id),
    jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id)))
$$;
comment on function public.get_chat_connectors is
  'The connectors of a chat, none where it has named none: {connectors} | {missing: session | chat}.';
