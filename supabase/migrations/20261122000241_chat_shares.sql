-- Chats that are shared by a link, and the deletion of many chats at once. What a share shows is a copy
-- from when it was made: messages that are written later are not published.

create table public.chat_shares (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  chat_id uuid not null unique references public.chats (id) on delete cascade,
  title text not null,
  message_count integer not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index chat_shares_newest on public.chat_shares (account_id, created_at desc, id desc);
comment on table public.chat_shares is
  'Chats that anyone who has the link can read. The token of the link is derived from the id by the server and stored nowhere.';
comment on column public.chat_shares.updated_at is 'When the messages were copied.';

create table public.shared_messages (
  share_id uuid not null references public.chat_shares (id) on delete cascade,
  position integer not null,
  account_id uuid not null references public.accounts (id) on delete cascade,
  role text not null check (role in ('user', 'assistant')),
  parts jsonb not null,
  primary key (share_id, position)
);
create index shared_messages_account on public.shared_messages (account_id);
comment on table public.shared_messages is 'The messages of a share: texts and names of tools.';
comment on column public.shared_messages.position is 'From 0, oldest first.';

alter table public.chat_shares enable row level security;
alter table public.shared_messages enable row level security;
revoke all on table public.chat_shares, public.shared_messages from anon, authenticated;
grant all on table public.chat_shares, public.shared_messages to service_role;

create function public.chat_share_json(p_share public.chat_shares) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_share.id,
    'chat_id', p_share.chat_id,
    'title', p_share.title,
    'message_count', p_share.message_count,
    'created_at', public.iso_date(p_share.created_at),
    'updated_at', public.iso_date(p_share.updated_at))
$$;
comment on function public.chat_share_json is
  'A share as its owner sees it. No search_path, so that it is inlined.';

create function public.share_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_messages jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
  v_share public.chat_shares;
begin
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for key share;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  insert into public.chat_shares (account_id, chat_id, title, message_count)
  values (p_account_id, p_chat_id, v_chat.title, jsonb_array_length(p_messages))
  on conflict (chat_id) do update
  set title = excluded.title, message_count = excluded.message_count, updated_at = now()
  returning * into v_share;
  delete from public.shared_messages where share_id = v_share.id;
  insert into public.shared_messages (share_id, position, account_id, role, parts)
  select v_share.id, m.place - 1, p_account_id, m.message ->> 'role', m.message -> 'parts'
  from jsonb_array_elements(p_messages) with ordinality m (message, place);
  return jsonb_build_object('share', public.chat_share_json(v_share));
end
$$;
comment on function public.share_chat is
  'Shares a chat with these messages, [{role, parts}], or puts them in the place of those that are shared: {share} | {missing: session | chat}.';

create function public.get_chat_share(p_account_id uuid, p_session_id uuid, p_chat_id uuid)
returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  perform 1 from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('share', (
    select public.chat_share_json(s) from public.chat_shares s
    where s.chat_id = p_chat_id and s.account_id = p_account_id));
end
$$;
comment on function public.get_chat_share is
  'The share of a chat, null without one: {share} | {missing: session | chat}.';

create function public.revoke_chat_share(p_account_id uuid, p_session_id uuid, p_chat_id uuid)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_answer constant jsonb := public.get_chat_share(p_account_id, p_session_id, p_chat_id);
begin
  if v_answer ? 'missing' then
    return v_answer;
  end if;
  delete from public.chat_shares where chat_id = p_chat_id and account_id = p_account_id;
  return case when found then '{"revoked": true}' else '{"missing": "share"}' end::jsonb;
end
$$;
comment on function public.revoke_chat_share is
  'Ends the share of a chat: {revoked} | {missing: session | chat | share}.';

create function public.list_chat_shares(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return (
    select public.page_json('shares',
      jsonb_agg(public.chat_share_json(page.share) order by page.created_at desc, page.id desc),
      array_agg(page.created_at order by page.created_at desc, page.id desc),
      array_agg(page.id order by page.created_at desc, page.id desc),
      p_limit)
    from (
      select s as share, s.created_at, s.id
      from public.chat_shares s
      where s.account_id = p_account_id and (s.created_at, s.id) < (v_after_at, v_after_id)
      order by s.created_at desc, s.id desc
      limit p_limit + 1
    ) page);
end
$$;
comment on function public.list_chat_shares is
  'A page of an account''s shares, newest first: {shares, next}.';

create function public.read_chat_share(p_share_id uuid, p_from integer, p_limit integer)
returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'share', public.chat_share_json(s),
    'messages', coalesce((
      select jsonb_agg(
        jsonb_build_object('role', m.role, 'parts', m.parts) order by m.position)
      from public.shared_messages m
      where m.share_id = s.id and m.position >= p_from and m.position < p_from + p_limit), '[]'))
  from public.chat_shares s where s.id = p_share_id
$$;
comment on function public.read_chat_share is
  'What the public sees of a share: {share, messages} from a position, oldest first; null without such a share.';

create function public.active_chats(p_account_id uuid, p_ids uuid[]) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(c.id), '[]') from public.chats c
  where c.account_id = p_account_id and c.id = any (p_ids)
    and public.active_stream_id(c) is not null
$$;
comment on function public.active_chats is 'Those of an account''s chats whose turn is active.';

create function public.delete_chats(p_account_id uuid, p_ids uuid[]) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_deleted uuid[];
  v_sessions uuid[];
  v_sandboxes jsonb;
begin
  -- Chats in the order of their ids and before their sessions, as everywhere: another order deadlocks.
  perform from public.chats where account_id = p_account_id and id = any (p_ids)
  order by id for update;
  with deleted as (
    delete from public.chats where account_id = p_account_id and id = any (p_ids)
    returning id, session_id
  )
  select coalesce(array_agg(d.id), '{}'), array_agg(distinct d.session_id)
  into v_deleted, v_sessions from deleted d;
  -- Waits for a chat that is being created in one of them, which the next statement then sees.
  perform from public.sessions where account_id = p_account_id and id = any (v_sessions)
  order by id for update;
  with emptied as (
    delete from public.sessions s
    where s.account_id = p_account_id and s.id = any (v_sessions)
      and not exists (select from public.chats c where c.session_id = s.id)
    returning s.sandbox_state
  )
  select coalesce(jsonb_agg(e.sandbox_state) filter (where e.sandbox_state is not null), '[]')
  into v_sandboxes from emptied e;
  return jsonb_build_object('deleted', to_jsonb(v_deleted), 'sandboxes', v_sandboxes);
end
$$;
comment on function public.delete_chats is
  'Deletes those of the chats that the account has, and the sessions that have no chat then: {deleted, sandboxes}, the ids of the chats and the states of the sandboxes of these sessions.';
