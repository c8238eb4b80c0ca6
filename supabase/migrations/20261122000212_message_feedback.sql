-- What an account thinks of an answer.

create table public.message_feedback (
  account_id uuid not null references public.accounts (id) on delete cascade,
  chat_id uuid not null references public.chats (id) on delete cascade,
  message_id text not null,
  rating text not null check (rating in ('up', 'down')),
  comment text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (chat_id, message_id)
);
comment on table public.message_feedback is 'Ratings of answers. No row stands for none.';
comment on column public.message_feedback.account_id is 'The account of the chat.';
comment on column public.message_feedback.chat_id is 'The chat, with which it is deleted.';
comment on column public.message_feedback.message_id is
  'The answer: an assistant message of the chat, which is deleted only with the chat.';
comment on column public.message_feedback.rating is 'up or down.';
comment on column public.message_feedback.comment is 'What the person added; null for nothing.';
comment on column public.message_feedback.created_at is 'When the answer was first rated.';
comment on column public.message_feedback.updated_at is 'When the rating or the comment last changed.';
create index message_feedback_account on public.message_feedback (account_id);

alter table public.message_feedback enable row level security;
revoke all on public.message_feedback from anon, authenticated;
grant all on public.message_feedback to service_role;

create function public.feedback_json(p_feedback public.message_feedback) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'message_id', p_feedback.message_id,
    'rating', p_feedback.rating,
    'comment', p_feedback.comment,
    'updated_at', public.iso_date(p_feedback.updated_at))
$$;
comment on function public.feedback_json is
  'A rating as the API shows it: {message_id, rating, comment, updated_at}.';

create function public.rate_message(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_message_id text,
  p_rating text, p_comment text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_feedback public.message_feedback;
begin
  -- The lock keeps the chat there until the rating is: a deletion waits and takes it too.
  perform 1 from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for key share;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  perform 1 from public.messages
  where chat_id = p_chat_id and id = p_message_id and role = 'assistant';
  if not found then
    return jsonb_build_object('missing', 'message');
  end if;
  if p_rating is null then
    delete from public.message_feedback
    where chat_id = p_chat_id and message_id = p_message_id and account_id = p_account_id;
    return jsonb_build_object('feedback', null);
  end if;
  insert into public.message_feedback (account_id, chat_id, message_id, rating, comment)
  values (p_account_id, p_chat_id, p_message_id, p_rating, p_comment)
  on conflict (chat_id, message_id)
  do update set rating = excluded.rating, comment = excluded.comment, updated_at = now()
  returning * into v_feedback;
  return jsonb_build_object('feedback', public.feedback_json(v_feedback));
end
$$;
comment on function public.rate_message is
  'Stores or, with a null rating, removes the rating of an answer: {feedback} | {missing: session | chat | message}.';

create function public.list_feedback(p_account_id uuid, p_session_id uuid, p_chat_id uuid)
returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  perform 1 from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('feedback', (
    select coalesce(jsonb_agg(public.feedback_json(f) order by f.created_at, f.message_id), '[]')
    from public.message_feedback f
    where f.chat_id = p_chat_id and f.account_id = p_account_id));
end
$$;
comment on function public.list_feedback is
  'The ratings of a chat''s answers, oldest first: {feedback} | {missing: session | chat}.';

create function public.export_branches(p_account_id uuid, p_chat_id uuid) returns jsonb
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
      where f.chat_id = p_chat_id and f.account_id = p_account_id))
$$;
comment on function public.export_branches is
  'What an export adds to the body of a chat: {messages, feedback}, the former those that the chat does not show.';
