-- Files of shared chats.
alter table public.chat_shares add column files jsonb not null default '[]';
comment on column public.chat_shares.updated_at is 'When the messages and files were copied.';
comment on column public.chat_shares.files is 'The files of the share, [{path, name, size}], in the order of shared_files.position.';

create table public.shared_files (
  share_id uuid not null references public.chat_shares (id) on delete cascade,
  position integer not null,
  account_id uuid not null references public.accounts (id) on delete cascade,
  content bytea not null,
  primary key (share_id, position)
);
-- Uncompressed, a piece is read without the rest.
alter table public.shared_files alter column content set storage external;

create index shared_files_account on public.shared_files (account_id);
alter table public.shared_files enable row level security;
comment on table public.shared_files is 'The contents of the files of a share, as they were when it was made.';
comment on column public.shared_files.position is 'From 0, as in chat_shares.files.';

-- Servers of the previous version call it without files.
drop function public.share_chat(uuid, uuid, uuid, jsonb);
create function public.share_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_messages jsonb,
  p_files jsonb default '[]', p_max_file_bytes bigint default 0
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
  v_share public.chat_shares;
begin
  if p_files <> '[]' then
    -- Two shares at once must not both take the last room.
    perform 1 from public.accounts where id = p_account_id for no key update;
  end if;
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for key share;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  insert into public.chat_shares (account_id, chat_id, title, message_count, files)
  values (p_account_id, p_chat_id, v_chat.title, jsonb_array_length(p_messages), (
    select coalesce(jsonb_agg(f.file - 'content' order by f.place), '[]')
    from jsonb_array_elements(p_files) with ordinality f (file, place)))
  on conflict (chat_id) do update
  set title = excluded.title, message_count = excluded.message_count, files = excluded.files,
    updated_at = clock_timestamp()
  returning * into v_share;
  delete from public.shared_messages where share_id = v_share.id;
  insert into public.shared_messages (share_id, position, account_id, role, parts)
  select v_share.id, m.place - 1, p_account_id, m.message ->> 'role', m.message -> 'parts'
  from jsonb_array_elements(p_messages) with ordinality m (message, place);
  delete from public.shared_files where share_id = v_share.id;
  insert into public.shared_files (share_id, position, account_id, content)
  select v_share.id, f.place - 1, p_account_id, decode(f.file ->> 'content', 'base64')
  from jsonb_array_elements(p_files) with ordinality f (file, place);
  if p_files <> '[]' and (
    select sum(octet_length(f.content)) from public.shared_files f
    where f.account_id = p_account_id) > p_max_file_bytes
  then
    raise exception using errcode = 'PT403', message = 'file_room';
  end if;
  return jsonb_build_object('share', to_jsonb(v_share));
exception when sqlstate 'PT403' then
  -- Nothing has changed.
  return jsonb_build_object('missing', sqlerrm);
end
$$;
comment on function public.share_chat is 'Shares a chat with these messages, [{role, parts}], and files, [{path, name, size, content}] in base64, or replaces those of its share: {share} | {missing: session | chat | file_room}. The limit is for the files of all shares of the account.';

create function public.read_shared_file(
  p_share_id uuid, p_position integer, p_from integer, p_bytes integer
) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object('name', s.files -> p_position ->> 'name',
    'size', octet_length(f.content), 'updated_at', s.updated_at,
    'piece', encode(substring(f.content from p_from + 1 for p_bytes), 'base64'))
  from public.chat_shares s join public.shared_files f on f.share_id = s.id
  where s.id = p_share_id and f.position = p_position
$$;
comment on function public.read_shared_file is 'A piece of a file of a share: {name, size, updated_at, piece} in base64; null without such a file.';
