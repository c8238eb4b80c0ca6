-- An export also has what an account has chosen for a chat: instructions, a template and connectors.

create or replace function public.export_branches(p_account_id uuid, p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'messages', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', m.id, 'parent_id', m.parent_id, 'role', m.role, 'parts', m.parts,
        'metadata', m.metadata, 'created_at', public.iso_date(m.created_at))
        order by m.created_at, m.id), '[]')
      from public.messages m join public.chats c on c.id = m.chat_id
      where m.chat_id = p_chat_id and c.account_id = p_account_id and not m.on_path),
    'feedback', (
      select coalesce(jsonb_agg(public.feedback_json(f) order by f.created_at, f.message_id), '[]')
      from public.message_feedback f
      where f.chat_id = p_chat_id and f.account_id = p_account_id),
    'choices', (
      select jsonb_strip_nulls(jsonb_build_object(
        'instructions', c.instructions, 'template_id', c.template_id, 'connectors', to_jsonb(n.connectors)))
      from public.chats c
      left join public.chat_connectors n on n.chat_id = c.id and n.account_id = c.account_id
      where c.id = p_chat_id and c.account_id = p_account_id))
$$;
comment on function public.export_branches is
  'What an export adds to the body of a chat: {messages, feedback, choices}. The messages are those that the chat does not show, the choices {instructions, template_id, connectors} as far as they were made.';
