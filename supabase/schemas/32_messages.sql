-- Stored messages with their branches, feedback, shares and bytes.

-- Stored messages ---------------------------------------------------------------------------------

create function public.message_text(p_message public.messages) returns text
language sql stable as $$
  select concat_ws(chr(10),
    jsonb_build_object('id', p_message.id, 'role', p_message.role, 'created_at', p_message.created_at),
    p_message.parts, p_message.metadata)
$$;
comment on function public.message_text is 'A message as lines of JSON: {id, role, created_at}, the parts, and the metadata if it has any. Text, so that long parts are sent without being parsed. Inlined, hence no search_path.';

-- A slow reader holds one page, and no connection between two pages.
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
    -- The stored size of messages from before sizes were kept.
    select f.*, row_number() over in_order as place, count(*) over () as total,
      sum(greatest((f.m).bytes, pg_column_size((f.m).parts))) over in_order
        - greatest((f.m).bytes, pg_column_size((f.m).parts)) as bytes_before
    from following f
    window in_order as (order by f.created_at, f.id)
  ), page as (
    select * from sized where place <= 500 and (place = 1 or bytes_before < p_max_bytes)
  )
  select piece.answer from (
    select 0 as place, public.chat_row(chat.c)::text as answer from chat
    union all
    select page.place, public.message_text(page.m) from page
    union all
    select 502, 'more' from page having count(*) < max(page.total)
  ) piece
  order by piece.place
$$;
comment on function public.get_chat_body_page is 'A chat as JSON, and its messages from the one after (p_after_at, p_after_id) on, null for the first, each as message_text: at most 500, and not many more than p_max_bytes. The last text is "more" when others follow. No text when the chat is missing.';

-- Branches ----------------------------------------------------------------------------------------

create function public.leaf_of_chat(p_chat_id uuid) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce((
      select m.id from public.messages m
      where m.chat_id = p_chat_id and m.on_path
      order by m.created_at desc, m.id desc
      limit 1), ''));
end
$$;
comment on function public.leaf_of_chat is 'The id of the newest message that a chat shows, which the next one follows; empty without any.';

create function public.show_path(p_chat_id uuid, p_message_id text, p_goes_on boolean)
returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_parents jsonb;
  v_children jsonb;
  v_path text[] := '{}';
  v_id text := p_message_id;
begin
  -- Of several children the newest, because the last of equal keys stays.
  select jsonb_object_agg(m.id, m.follows),
    jsonb_object_agg(m.follows, m.id order by m.created_at, m.id)
  into v_parents, v_children
  from (
    select l.id, l.created_at,
      coalesce(l.parent_id, lag(l.id) over (order by l.created_at, l.id), '') as follows
    from public.messages l where l.chat_id = p_chat_id
  ) m;
  while v_id <> '' loop
    v_path := v_path || v_id;
    v_id := v_parents ->> v_id;
  end loop;
  v_id := case when p_goes_on then v_children ->> p_message_id end;
  while v_id is not null loop
    v_path := v_path || v_id;
    v_id := v_children ->> v_id;
  end loop;
  update public.messages m set on_path = not m.on_path
  where m.chat_id = p_chat_id and m.on_path <> (m.id in (select unnest(v_path)));
end
$$;
comment on function public.show_path is 'Makes the path of a chat the one that ends with a message; with p_goes_on the one through it, continued with the newest message after each.';

create function public.branches_of_chat(p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(
    jsonb_build_object('message_id', place.message_id, 'sibling_ids', place.sibling_ids)
    order by place.first_at, place.message_id), '[]')
  from (
    select max(m.id) filter (where m.on_path) as message_id,
      jsonb_agg(m.id order by m.created_at, m.id) as sibling_ids,
      min(m.created_at) as first_at
    from (
      select l.id, l.created_at, l.on_path,
        coalesce(l.parent_id, lag(l.id) over (order by l.created_at, l.id), '') as follows
      from public.messages l where l.chat_id = p_chat_id
    ) m
    group by m.follows
    having count(*) > 1
  ) place
  where place.message_id is not null
$$;
comment on function public.branches_of_chat is 'The messages that a chat shows and that are not the only ones at their place: [{message_id, sibling_ids}], the latter with message_id and oldest first.';

create function public.list_branches(p_account_id uuid, p_session_id uuid, p_chat_id uuid)
returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  perform 1 from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('branches', public.branches_of_chat(p_chat_id));
end
$$;
comment on function public.list_branches is '{branches} of branches_of_chat | {missing: session | chat}.';

create function public.choose_branch(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_message_id text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
begin
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for update;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  perform 1 from public.messages where chat_id = p_chat_id and id = p_message_id;
  if not found then
    return jsonb_build_object('missing', 'message');
  end if;
  if public.is_chat_busy(v_chat) then
    return jsonb_build_object('busy', true);
  end if;
  perform public.show_path(p_chat_id, p_message_id, true);
  return jsonb_build_object('branches', public.branches_of_chat(p_chat_id));
end
$$;
comment on function public.choose_branch is 'Shows the path through a message: {branches} of branches_of_chat | {busy: true} while a turn is active or waits | {missing: session | chat | message}.';

create function public.export_branches(p_account_id uuid, p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'messages', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', m.id, 'parent_id', m.parent_id, 'role', m.role, 'parts', m.parts,
        'metadata', m.metadata, 'created_at', m.created_at)
        order by m.created_at, m.id), '[]')
      from public.messages m join public.chats c on c.id = m.chat_id
      where m.chat_id = p_chat_id and c.account_id = p_account_id and not m.on_path),
    'feedback', (
      select coalesce(jsonb_agg(to_jsonb(f) order by f.created_at, f.message_id), '[]')
      from public.message_feedback f
      where f.chat_id = p_chat_id and f.account_id = p_account_id),
    'choices', (
      select jsonb_strip_nulls(jsonb_build_object(
        'instructions', c.instructions, 'template_id', c.template_id, 'connectors', to_jsonb(n.connectors)))
      from public.chats c
      left join public.chat_connectors n on n.chat_id = c.id and n.account_id = c.account_id
      where c.id = p_chat_id and c.account_id = p_account_id))
$$;
comment on function public.export_branches is 'The additions of an export to the body of a chat: {messages, feedback, choices}. The messages are the hidden ones, the choices {instructions, template_id, connectors} as far as they were made.';

-- Feedback ----------------------------------------------------------------------------------------

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
  return jsonb_build_object('feedback', to_jsonb(v_feedback));
end
$$;
comment on function public.rate_message is 'Stores or, with a null rating, removes the rating of an answer: {feedback} | {missing: session | chat | message}.';

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
    select coalesce(jsonb_agg(to_jsonb(f) order by f.created_at, f.message_id), '[]')
    from public.message_feedback f
    where f.chat_id = p_chat_id and f.account_id = p_account_id));
end
$$;
comment on function public.list_feedback is 'The ratings of a chat''s answers, oldest first: {feedback} | {missing: session | chat}.';

-- Shares ------------------------------------------------------------------------------------------

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
    select to_jsonb(s) from public.chat_shares s
    where s.chat_id = p_chat_id and s.account_id = p_account_id));
end
$$;
comment on function public.get_chat_share is 'The share of a chat, null without one: {share} | {missing: session | chat}.';

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
comment on function public.revoke_chat_share is 'Ends the share of a chat: {revoked} | {missing: session | chat | share}.';

create function public.list_chat_shares(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return to_jsonb(array(
    select to_jsonb(s)
    from public.chat_shares s
    where s.account_id = p_account_id and (s.created_at, s.id) < (p_after_at, p_after_id)
    order by s.created_at desc, s.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_chat_shares is 'A page of an account''s shares, newest first, with one more row if another page follows.';

create function public.read_chat_share(p_share_id uuid, p_from integer, p_limit integer)
returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'share', to_jsonb(s),
    'messages', coalesce((
      select jsonb_agg(
        jsonb_build_object('role', m.role, 'parts', m.parts) order by m.position)
      from public.shared_messages m
      where m.share_id = s.id and m.position >= p_from and m.position < p_from + p_limit), '[]'))
  from public.chat_shares s where s.id = p_share_id
$$;
comment on function public.read_chat_share is 'The public view of a share: {share, messages} from a position, oldest first; null without such a share.';

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

create function public.continue_share(
  p_account_id uuid, p_share_id uuid, p_model_id text, p_max_account_bytes bigint
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_share public.chat_shares;
  v_session public.sessions;
  v_chat public.chats;
begin
  -- Locked against its end: an ended share returns no messages.
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

-- Bytes of stored messages ------------------------------------------------------------------------

-- A new value is not compressed yet, and its size is known without reading it.
create function public.measure_message() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.bytes := pg_column_size(new.parts) + coalesce(pg_column_size(new.metadata), 0);
  new.account_id := coalesce(new.account_id, (
    select c.account_id from public.chats c where c.id = new.chat_id));
  return new;
end
$$;
comment on function public.measure_message is 'Sets the bytes of a message, and its account.';
create trigger measure_message before insert or update of parts, metadata on public.messages
  for each row execute function public.measure_message();

create function public.count_chat_bytes() returns trigger
language plpgsql set search_path = '' as $$
declare
  v_added jsonb;
  v_chat_id uuid;
  v_bytes bigint;
begin
  if tg_op = 'INSERT' then
    select jsonb_object_agg(sums.chat_id, sums.bytes) into v_added
    from (select chat_id, sum(bytes) as bytes from new_rows group by chat_id) sums;
  elsif tg_op = 'DELETE' then
    select jsonb_object_agg(sums.chat_id, sums.bytes) into v_added
    from (select chat_id, -sum(bytes) as bytes from old_rows group by chat_id) sums;
  else
    select jsonb_object_agg(sums.chat_id, sums.bytes) into v_added
    from (
      select chat_id, sum(bytes) as bytes
      from (select chat_id, bytes from new_rows union all select chat_id, -bytes from old_rows) rows
      group by chat_id) sums;
  end if;
  for v_chat_id, v_bytes in
    select a.key::uuid, a.value::bigint from jsonb_each_text(v_added) a where a.value <> '0'
  loop
    -- Without effect for a chat that is being deleted.
    update public.chats set message_bytes = greatest(0, message_bytes + v_bytes) where id = v_chat_id;
  end loop;
  return null;
end
$$;
comment on function public.count_chat_bytes is 'Keeps chats.message_bytes for the rows of one statement on messages or queued_turns.';
create trigger count_added_messages after insert on public.messages
  referencing new table as new_rows for each statement execute function public.count_chat_bytes();
create trigger count_changed_messages after update on public.messages
  referencing old table as old_rows new table as new_rows
  for each statement execute function public.count_chat_bytes();
create trigger count_removed_messages after delete on public.messages
  referencing old table as old_rows for each statement execute function public.count_chat_bytes();

create function public.count_account_bytes() returns trigger
language plpgsql set search_path = '' as $$
begin
  if tg_op = 'UPDATE' and new.message_bytes > old.message_bytes then
    insert into public.message_usage as u (account_id, bytes)
    values (new.account_id, new.message_bytes - old.message_bytes)
    on conflict (account_id) do update set bytes = u.bytes + excluded.bytes;
  else
    update public.message_usage u
    set bytes = greatest(0, u.bytes - old.message_bytes
      + case when tg_op = 'UPDATE' then new.message_bytes else 0 end)
    where u.account_id = old.account_id;
  end if;
  return null;
end
$$;
comment on function public.count_account_bytes is 'Keeps message_usage.';
create trigger count_account_bytes after update of message_bytes on public.chats
  for each row when (old.message_bytes <> new.message_bytes)
  execute function public.count_account_bytes();
create trigger count_removed_chats after delete on public.chats
  for each row when (old.message_bytes <> 0) execute function public.count_account_bytes();

create function public.message_quota_reached(
  p_account_id uuid, p_chat_id uuid, p_max_account_bytes bigint, p_max_chat_bytes bigint
) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select case
      when p_max_account_bytes > 0 and exists (
        select from public.message_usage u
        where u.account_id = p_account_id and u.bytes > p_max_account_bytes)
      then 'messages_full'
      when p_max_chat_bytes > 0 and exists (
        select from public.chats c where c.id = p_chat_id and c.account_id = p_account_id
          and c.message_bytes > p_max_chat_bytes)
      then 'chat_full' end);
end
$$;
comment on function public.message_quota_reached is 'messages_full | chat_full, when the account or the chat has more bytes of messages than it may have, else null. A limit of 0 is none.';

create function public.assistant_parts(p_account_id uuid, p_chat_id uuid, p_message_id text)
returns jsonb
language sql stable set search_path = '' as $$
  select m.parts from public.messages m join public.chats c on c.id = m.chat_id
  where c.account_id = p_account_id and c.id = p_chat_id
    and m.id = p_message_id and m.role = 'assistant'
$$;
comment on function public.assistant_parts is 'The parts of an answer in the account''s chat; null when there is none.';
