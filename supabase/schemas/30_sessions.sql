-- Sessions and chats, and the tables of messages, feedback and shares.
--
-- Tables that are looked up by an id of the caller have the tenant as a column, and every query names it:
-- a foreign row and a missing row are the same empty result.

create table public.sessions (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  organization_id uuid references public.accounts (id) on delete set null,
  artist_id uuid references public.accounts (id) on delete set null,
  title text not null default '',
  status text not null default 'running' check (status in ('running', 'archived')),
  sandbox_state jsonb check (jsonb_typeof(sandbox_state) = 'object'),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  sandbox_bytes bigint not null default 0 check (sandbox_bytes >= 0),
  sandbox_reserved_at timestamptz,
  untrusted jsonb not null default '[]'
);

-- Both keys descend, which makes a page one range scan.
create index sessions_account_newest on public.sessions (account_id, created_at desc, id desc);
-- For the foreign keys: without these, deleting an account reads the whole table.
create index sessions_organization on public.sessions (organization_id) where organization_id is not null;
create index sessions_artist on public.sessions (artist_id) where artist_id is not null;
-- The sum of an account reads only this index.
create index sessions_sandbox_bytes on public.sessions (account_id) include (sandbox_bytes, id)
  where sandbox_bytes > 0;
create index sessions_sandbox_reserved on public.sessions (sandbox_reserved_at)
  where sandbox_reserved_at is not null;
comment on table public.sessions is 'Sessions: the sandbox and the chats that belong together.';
comment on column public.sessions.untrusted is 'The untrusted content that turns of the session have met, whose words may be in its files and messages: as turns.untrusted.';
comment on column public.sessions.sandbox_bytes is 'Bytes of the local sandbox: reserved while a jail runs, measured after it.';
comment on column public.sessions.sandbox_reserved_at is 'Which reservation sandbox_bytes is; null once it is measured.';
comment on column public.sessions.sandbox_state is 'The provider''s reference to the sandbox; null when none is provisioned.';

create function public.words_of_parts(p_parts jsonb) returns text
language plpgsql immutable set search_path = '' as $$
begin
  -- A longer text may have more words than a tsvector holds.
  return (
    select left(string_agg(piece.value ->> 'text', ' ' order by part.ordinality, piece.ordinality), 100000)
    from jsonb_array_elements(p_parts) with ordinality as part
    cross join jsonb_array_elements(case part.value ->> 'type'
      when 'steering-message' then part.value -> 'parts' else jsonb_build_array(part.value) end)
      with ordinality as piece
    where piece.value ->> 'type' = 'text');
end
$$;
comment on function public.words_of_parts is 'The texts of a message and of those that steered it, at most 100,000 characters; null without any.';

-- PostgreSQL would send the client a notice about each word that is too long.
create function public.search_of_parts(p_parts jsonb) returns tsvector
language plpgsql immutable set search_path = '' set client_min_messages = 'warning' as $$
begin
  return (
    select to_tsvector('simple'::regconfig, coalesce(public.words_of_parts(p_parts), '')));
end
$$;
comment on function public.search_of_parts is 'The words of a message for the search.';

create function public.search_of_message(p_account_id uuid, p_parts jsonb) returns tsvector
language plpgsql immutable set search_path = '' as $$
begin
  return array_to_tsvector(array(
    select left(p_account_id::text, 8) || said.word
    from unnest(tsvector_to_array(public.search_of_parts(p_parts))) as said (word)
    -- A lexeme has at most 2,046 bytes.
    where octet_length(said.word) <= 2000));
end
$$;
comment on function public.search_of_message is 'The words of a message, each after the first characters of its account, so a search reads no words of other accounts. The index messages_search stores it.';

create function public.search_of_title(p_account_id uuid, p_title text) returns text[]
language sql immutable set search_path = '' as $$
  select array(
    select distinct left(p_account_id::text, 8) || substr(lower(p_title), place, 3)
    from generate_series(1, length(lower(p_title)) - 2) place)
$$;
comment on function public.search_of_title is 'Every three characters of a title, each after the first characters of its account. The index chats_titles stores it.';

create table public.chats (
  id uuid primary key default gen_random_uuid(),
  session_id uuid not null references public.sessions (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  title text not null default '',
  model_id text not null default '',
  active_stream_id text,
  claimed_at timestamptz,
  last_assistant_message_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  archived boolean not null default false,
  pinned boolean not null default false,
  instructions text,
  template_id uuid,
  message_bytes bigint not null default 0,
  options jsonb not null default '{}',
  template_version integer,
  asks_since timestamptz
);

create index chats_session_newest on public.chats (session_id, created_at desc, id desc);
create index chats_account_newest on public.chats (account_id, created_at desc, id desc);
create index chats_pinned on public.chats (account_id, created_at desc, id desc)
  where pinned;
create index chats_archived on public.chats (account_id, created_at desc, id desc)
  where archived;
create index chats_listed on public.chats (account_id, created_at desc, id desc)
  where not archived and not pinned;
create index chats_asking on public.chats (account_id, created_at desc, id desc)
  where asks_since is not null;
create index chats_titles on public.chats using gin (public.search_of_title(account_id, title));
comment on table public.chats is 'Conversations of a session.';
comment on column public.chats.account_id is 'The account of the session, repeated for the predicate of every query.';
comment on column public.chats.active_stream_id is 'Null when idle, pending:<turn id> while a request claims the chat, then the run id of its turn.';
comment on column public.chats.claimed_at is 'When the claim was made. A pending claim counts for 60 seconds.';
comment on column public.chats.template_id is 'The agent template whose prompt instructs the agent in this chat. No foreign key, because the deletion of a public template would lock the chats of every account that uses it: a template that is gone, or that the account no longer sees, has no effect.';
comment on column public.chats.message_bytes is 'Bytes of its messages on all branches, and of queued messages.';
comment on column public.chats.options is 'The options of its turns, as in `runOptions`. Those that are absent are the template''s.';
comment on column public.chats.template_version is 'The version of the template that the chat keeps; null for the one of applied_template_version.';
comment on column public.chats.asks_since is 'When its newest turn has ended with a question or a call of a client tool; null if it has not. See is_asking.';

create table public.messages (
  chat_id uuid not null references public.chats (id) on delete cascade,
  id text not null,
  role text not null check (role in ('user', 'assistant')),
  parts jsonb not null check (jsonb_typeof(parts) = 'array'),
  metadata jsonb,
  created_at timestamptz not null default clock_timestamp(),
  parent_id text,
  on_path boolean not null default true,
  sent_digest text,
  bytes integer not null default 0,
  facts jsonb,
  account_id uuid not null,
  primary key (chat_id, id)
);

create index messages_chat_order on public.messages (chat_id, created_at, id);
create index messages_search on public.messages
  using gin (public.search_of_message(account_id, parts));
comment on table public.messages is 'Stored messages of chats, in the order of created_at and id.';
comment on column public.messages.created_at is 'From the clock and not from the start of the transaction, to keep the order of messages.';
comment on column public.messages.parent_id is 'The id of the message that it follows; empty for the first of the conversation. Null in messages stored without one: each follows the message before it in time.';
comment on column public.messages.on_path is 'Whether it is on the path that the chat shows. The newest message on the path is its leaf.';
comment on column public.messages.facts is 'The facts at the start of the newest turn that answers it, as facts_of_turn returns them; null for a message that no turn has answered.';
comment on column public.messages.sent_digest is 'SHA-256 of the parts as they were sent, of a message whose parts were replaced when its files were stored; else null.';
comment on column public.messages.bytes is 'Size of parts and metadata, before compression.';
comment on column public.messages.account_id is 'The account of the chat, under which the words are indexed.';

create table public.message_usage (
  account_id uuid primary key references public.accounts (id) on delete cascade,
  bytes bigint not null default 0 check (bytes >= 0),
  checked_words_to bigint
);
create index message_usage_words on public.message_usage (account_id) where checked_words_to is not null;
comment on table public.message_usage is 'Bytes of messages of each account, kept by triggers on chats.';
comment on column public.message_usage.checked_words_to is 'Up to which id of account_words the retention job has looked for words that are no longer used, 0 since a message or title was last changed or deleted; null when there is nothing to look for.';

create table public.account_words (
  account_id uuid not null references public.accounts (id) on delete cascade,
  id bigint generated always as identity,
  word text not null,
  primary key (account_id, id) include (word)
);
create index account_words_word on public.account_words (account_id, word);
comment on table public.account_words is 'The words of an account''s messages and titles, for searches with typing errors. Two turns that use a new word at the same time add it twice, because a unique index would make one wait for the other.';
comment on column public.account_words.id is 'The order in which the words were first used. Frequent words come early.';

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

create index message_feedback_account on public.message_feedback (account_id);
comment on table public.message_feedback is 'Ratings of answers. No row stands for none.';
comment on column public.message_feedback.message_id is 'The answer: an assistant message of the chat, which is deleted only with the chat.';

create table public.chat_shares (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  chat_id uuid not null unique references public.chats (id) on delete cascade,
  title text not null,
  message_count integer not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  files jsonb not null default '[]'
);

create index chat_shares_newest on public.chat_shares (account_id, created_at desc, id desc);
comment on table public.chat_shares is 'Chats that anyone who has the link can read. The token of the link is derived from the id by the server and stored nowhere.';
comment on column public.chat_shares.updated_at is 'When the messages and files were copied.';
comment on column public.chat_shares.files is 'The files of the share, [{path, name, size}], in the order of shared_files.position.';

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
comment on table public.shared_files is 'The contents of the files of a share, as they were when it was made.';

-- Sessions ----------------------------------------------------------------------------------------

create function public.create_session(
  p_account_id uuid, p_organization_id uuid, p_artist_id uuid, p_title text, p_model_id text,
  p_options jsonb default '{}'
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_session public.sessions;
  v_chat public.chats;
begin
  insert into public.sessions (account_id, organization_id, artist_id, title)
  values (p_account_id, p_organization_id, p_artist_id, p_title)
  returning * into v_session;
  insert into public.chats (session_id, account_id, model_id, options)
  values (v_session.id, p_account_id, p_model_id, jsonb_strip_nulls(p_options))
  returning * into v_chat;
  return jsonb_build_object('session', to_jsonb(v_session), 'chat', public.chat_row(v_chat));
end
$$;
comment on function public.create_session is 'Creates a session and its first chat: {session, chat}. The caller has checked that the artist may be used.';

create function public.get_session(p_account_id uuid, p_session_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(
    (select jsonb_build_object('session', to_jsonb(s)) from public.sessions s
      where s.id = p_session_id and s.account_id = p_account_id),
    '{"missing": "session"}');
end
$$;
comment on function public.get_session is 'One session: {session}, or {missing: session}.';

create function public.list_sessions(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- Without a cursor a page starts after the greatest key: each page is one range scan.
begin
  return to_jsonb(array(
    select to_jsonb(s)
    from public.sessions s
    where s.account_id = p_account_id and (s.created_at, s.id) < (p_after_at, p_after_id)
    order by s.created_at desc, s.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_sessions is 'One page of the sessions of an account, newest first, with one more row if another page follows.';

create function public.update_session(p_account_id uuid, p_session_id uuid, p_title text) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_session public.sessions;
begin
  update public.sessions set title = p_title, updated_at = now()
  where id = p_session_id and account_id = p_account_id
  returning * into v_session;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  return jsonb_build_object('session', to_jsonb(v_session));
end
$$;
comment on function public.update_session is 'Changes the title of a session: {session}, or {missing: session}.';

create function public.delete_session(p_account_id uuid, p_session_id uuid) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_session public.sessions;
begin
  -- Chats before their session, as a turn locks them that starts now: the other order deadlocks.
  perform 1 from public.chats
  where session_id = p_session_id and account_id = p_account_id
  order by id
  for update;
  delete from public.sessions
  where id = p_session_id and account_id = p_account_id
  returning * into v_session;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  return jsonb_build_object('session', to_jsonb(v_session));
end
$$;
comment on function public.delete_session is 'Deletes a session: {session} as it was, with the state of a sandbox that is to be destroyed, or {missing: session}.';

create function public.discard_empty_session(p_account_id uuid, p_session_id uuid) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  -- Chats before their session, as everywhere: the other order deadlocks.
  perform 1 from public.chats
  where session_id = p_session_id and account_id = p_account_id order by id for update;
  delete from public.sessions s
  where s.id = p_session_id and s.account_id = p_account_id and not exists (
    select from public.chats c where c.session_id = s.id and (
      c.active_stream_id is not null
      or exists (select from public.messages m where m.chat_id = c.id)
      or exists (select from public.queued_turns q where q.chat_id = c.id)));
  return found;
end
$$;
comment on function public.discard_empty_session is 'Deletes a session without messages, whose first message was refused. Returns whether it did.';

-- Chats -------------------------------------------------------------------------------------------

create function public.active_stream_id(p_chat public.chats) returns text
language sql stable as $$
  select case
    when p_chat.active_stream_id like 'pending:%' and p_chat.claimed_at < now() - interval '60 seconds'
    then null
    else p_chat.active_stream_id
  end
$$;
comment on function public.active_stream_id is 'The run or claim that a chat streams; null for a claim that is void. Inlined, hence no search_path.';

create function public.chat_row(p_chat public.chats) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_chat.id, 'session_id', p_chat.session_id, 'title', p_chat.title,
    'model_id', p_chat.model_id, 'active_stream_id', public.active_stream_id(p_chat),
    'created_at', p_chat.created_at, 'updated_at', p_chat.updated_at,
    'last_assistant_message_at', p_chat.last_assistant_message_at, 'options', p_chat.options,
    'template_id', p_chat.template_id)
    || case when p_chat.template_id is null then '{}' else public.template_state(
      p_chat.account_id, p_chat.template_id, p_chat.template_version) end
$$;
comment on function public.chat_row is 'The columns of a chat that its account sees; active_stream_id is null for a claim that is void. Inlined, hence no search_path.';

create function public.missing_of_chat(p_account_id uuid, p_session_id uuid) returns text
language sql stable set search_path = '' as $$
  select case when exists (
    select 1 from public.sessions where id = p_session_id and account_id = p_account_id
  ) then 'chat' else 'session' end
$$;
comment on function public.missing_of_chat is 'Names the missing part when a chat was not found in a session: chat or session.';

create function public.create_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text,
  p_instructions text, p_template_id uuid, p_options jsonb default '{}',
  p_default_model_id text default '', p_template_version integer default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_version integer;
  v_chat public.chats;
begin
  -- The lock keeps the session there until the chat is: a deletion waits and takes the chat too.
  perform 1 from public.sessions
  where id = p_session_id and account_id = p_account_id
  for key share;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  -- A repeated request accepts no version.
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
  if found then
    return jsonb_build_object('chat', public.chat_row(v_chat));
  end if;
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('missing', 'template');
  end if;
  v_version := public.choose_template_version(p_account_id, p_template_id, p_template_version);
  if v_version is null then
    return jsonb_build_object('missing', 'template_version');
  end if;

  insert into public.chats (id, session_id, account_id, title, model_id, instructions,
    template_id, template_version, options)
  values (coalesce(p_chat_id, gen_random_uuid()), p_session_id, p_account_id, p_title,
    coalesce(p_model_id, public.template_model(p_account_id, p_template_id, v_version),
      p_default_model_id),
    nullif(p_instructions, ''), p_template_id, nullif(v_version, 0), jsonb_strip_nulls(p_options))
  on conflict (id) do nothing
  returning * into v_chat;
  if not found then
    select * into v_chat from public.chats
    where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
    if not found then
      return jsonb_build_object('conflict', true);
    end if;
  end if;
  return jsonb_build_object('chat', public.chat_row(v_chat));
end
$$;
comment on function public.create_chat is 'Creates a chat: {chat} | {missing: session | template | template_version} | {conflict: true} for an id of another session''s chat. Without p_model_id it has the model of an own template, or else p_default_model_id. With an id of the client''s it can be repeated, and answers the chat unchanged. The template is taken in the version of choose_template_version.';

create function public.open_chat(
  p_account_id uuid, p_chat_id uuid, p_named_id uuid, p_model_id text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
begin
  -- Two first messages of one chat come one after the other.
  perform pg_advisory_xact_lock(hashtextextended(p_named_id::text, 20261123));
  select * into v_chat from public.chats
  where id in (p_chat_id, p_named_id) and account_id = p_account_id
  order by id = p_named_id
  limit 1;
  if found then
    return jsonb_build_object('session_id', v_chat.session_id, 'chat_id', v_chat.id, 'is_new', false);
  end if;
  insert into public.sessions (account_id) values (p_account_id) returning id into v_chat.session_id;
  insert into public.chats (id, session_id, account_id, model_id)
  values (p_named_id, v_chat.session_id, p_account_id, p_model_id);
  return jsonb_build_object('session_id', v_chat.session_id, 'chat_id', p_named_id, 'is_new', true);
end
$$;
comment on function public.open_chat is 'The chat of the account with the id p_chat_id (null for none) or p_named_id, which is created in a new session if there is neither: {session_id, chat_id, is_new}. p_named_id is derived from the account and the name that a client has given.';

create function public.get_chat(p_account_id uuid, p_session_id uuid, p_chat_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(
    (select jsonb_build_object('chat', public.chat_row(c)) from public.chats c
      where c.id = p_chat_id and c.session_id = p_session_id and c.account_id = p_account_id),
    jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id)));
end
$$;
comment on function public.get_chat is 'One chat: {chat}, or {missing: chat | session}.';

create function public.list_chats(
  p_account_id uuid, p_session_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  perform from public.sessions where id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  return to_jsonb(array(
    select public.chat_row(c)
    from public.chats c
    where c.session_id = p_session_id and c.account_id = p_account_id
      and (c.created_at, c.id) < (p_after_at, p_after_id)
    order by c.created_at desc, c.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_chats is 'One page of the chats of a session, newest first, with one more row if another page follows; or {missing: session}.';

create function public.is_asking(p_chat public.chats) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return p_chat.asks_since > now() - interval '30 days' and public.active_stream_id(p_chat) is null
    -- Another branch may be shown since.
    and exists (
      select from public.messages m
      where m.chat_id = p_chat.id and m.id = public.leaf_of_chat(p_chat.id)
        and m.metadata ->> 'finishReason' = 'tool-calls');
end
$$;
comment on function public.is_asking is 'Whether a chat ends with a question or a call of a client tool, of the last 30 days.';

create function public.list_account_chats(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid,
  p_artist_id uuid, p_archived boolean, p_pinned boolean, p_text text,
  p_waiting boolean default false, p_pinned_first boolean default false
) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  v_archived boolean := p_archived;
  v_pinned boolean := p_pinned;
  -- 1 has the pinned chats, 2 the others, 3 the archived ones.
  v_group integer;
  v_last_group constant integer := case when p_archived is false then 2 else 3 end;
  v_chats jsonb := '[]';
  v_page jsonb;
  v_chat public.chats;
  v_left integer;
  v_rows integer;
  v_bytes bigint;
  v_text text;
  -- The chats that have the text, unless too many messages have it.
  v_found uuid[];
  v_max_found integer := 10000;
  -- So many chats are read: a few first, which have a very frequent text; null for none.
  v_read integer := case when p_text is not null then 50 end;
begin
  if p_pinned_first then
    select case when c.archived then 3 when c.pinned then 1 else 2 end into v_group
    from public.chats c where c.id = p_after_id and c.account_id = p_account_id;
    v_group := case when p_archived then 3 else least(coalesce(v_group, 1), v_last_group) end;
  end if;
  loop
    if p_pinned_first then
      v_archived := v_group = 3;
      v_pinned := case when v_group < 3 then v_group = 1 end;
    end if;
    if p_text is not null and v_read is null and v_found is null then
      v_found := public.chats_with_text(p_account_id, p_text, v_max_found + 1);
      if cardinality(v_found) > v_max_found then
        v_found := null;
        v_max_found := null;
        v_read := 1000;
      end if;
    end if;
    v_page := '[]';
    v_left := p_limit + 1 - jsonb_array_length(v_chats);
    v_rows := 0;
    v_bytes := 0;
    for v_chat in
      select c.* from public.chats c
      where c.account_id = p_account_id and (c.created_at, c.id) < (p_after_at, p_after_id)
        and (v_archived is null or c.archived = v_archived)
        and (v_pinned is null or c.pinned = v_pinned)
        and (p_artist_id is null or c.session_id in (
          select s.id from public.sessions s
          where s.account_id = p_account_id and s.artist_id = p_artist_id))
        and (not p_waiting or (c.asks_since is not null and public.is_asking(c)))
        and (v_found is null or c.id = any (v_found))
      order by c.created_at desc, c.id desc
      limit coalesce(v_read, v_left)
    loop
      v_rows := v_rows + 1;
      v_bytes := v_bytes + v_chat.message_bytes;
      exit when v_read is not null and v_bytes > 10000000;
      if v_read is null or strpos(lower(v_chat.title), lower(p_text)) > 0
        or (public.newest_with_text(v_chat.id, p_text)).id is not null
      then
        v_page := v_page || (public.chat_row(v_chat)
          || jsonb_build_object('pinned', v_chat.pinned, 'archived', v_chat.archived)
          || case when p_text is null then '{}' else public.chat_passage(v_chat, p_text) end);
        exit when jsonb_array_length(v_page) = v_left;
      end if;
    end loop;
    if (v_rows = v_read or v_read is not null and v_bytes > 10000000)
      and jsonb_array_length(v_page) < v_left
    then
      -- There are more, and these have too few: all that have the text are looked for.
      v_read := null;
      continue;
    end if;
    v_chats := v_chats || v_page;
    exit when not p_pinned_first or v_group = v_last_group
      or jsonb_array_length(v_chats) > p_limit;
    v_group := v_group + 1;
    p_after_at := 'infinity';
    p_after_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  end loop;
  if v_chats = '[]' and length(p_text) between 4 and 100 then
    v_text := public.corrected_search(p_account_id, p_text);
  end if;
  return case when v_text is null then v_chats
    else public.list_account_chats(p_account_id, p_limit, p_after_at, p_after_id, p_artist_id,
      p_archived, p_pinned, v_text, p_waiting, p_pinned_first) end;
end
$$;
comment on function public.list_account_chats is 'A page of an account''s chats, newest first, with one more row if another page follows. A filter that is null does not apply; with p_text each chat has the passage that was found, and a text that finds nothing is corrected. p_waiting leaves the ones that ask (is_asking). p_pinned_first puts pinned chats first and archived ones last, and replaces p_pinned. With p_text, the newest 50 chats that the filters leave are read first, then the index; of a text that more than 10,000 messages have, the newest 1,000 chats, or 10 MB of their messages, and all only if these do not fill the page.';

create function public.active_chats(p_account_id uuid, p_ids uuid[]) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(c.id), '{}') from public.chats c
  where c.account_id = p_account_id and c.id = any (p_ids)
    and public.active_stream_id(c) is not null
$$;
comment on function public.active_chats is 'Those of an account''s chats whose turn is active.';

create function public.search_query(p_text text) returns tsquery
language sql immutable set search_path = '' as $$
  -- The last word may be the beginning of one, as while it is typed.
  select case when numnode(words.query) > 0 then (words.query::text || ':*')::tsquery end
  from (select plainto_tsquery('simple'::regconfig, p_text)) words (query)
$$;
comment on function public.search_query is 'Finds texts that have all words of p_text; null when it has none.';

create function public.search_query_of_account(p_account_id uuid, p_text text) returns tsquery
language sql immutable set search_path = '' as $$
  select regexp_replace(
    public.search_query(p_text)::text, '(^| & )''', '\1''' || left(p_account_id::text, 8), 'g')::tsquery
$$;
comment on function public.search_query_of_account is 'The search_query for search_of_message.';

-- Without memory for all matches, PostgreSQL would read the words of whole pages of messages again.
create function public.chats_with_text(p_account_id uuid, p_text text, p_limit integer) returns uuid[]
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan'
set enable_seqscan = off set work_mem = '64MB' as $$
begin
  return array(
    select m.chat_id from public.messages m
    where m.account_id = p_account_id and public.search_of_message(m.account_id, m.parts)
      @@ public.search_query_of_account(p_account_id, p_text)
    union all
    select c.id from public.chats c
    where c.account_id = p_account_id and strpos(lower(c.title), lower(p_text)) > 0
      and (length(p_text) < 3 or public.search_of_title(c.account_id, c.title)
        @> public.search_of_title(p_account_id, p_text))
    limit p_limit);
end
$$;
comment on function public.chats_with_text is 'The ids of the account''s chats that have p_text in their title, or all its words in one message, each for each such message; at most p_limit, or all if that is null.';

create function public.newest_with_text(p_chat_id uuid, p_text text) returns public.messages
language plpgsql stable set search_path = '' as $$
declare
  -- Compared first, because most messages lack it, and to take their words apart is slow.
  v_word constant text := (
    select asked.word from unnest(tsvector_to_array(to_tsvector('simple'::regconfig, p_text))) asked (word)
    order by length(asked.word) desc limit 1);
  v_message public.messages;
begin
  select m.* into v_message from public.messages m
  where m.chat_id = p_chat_id
    and case when strpos(lower(m.parts::text), v_word) > 0 or v_word ~ '["\\]'
      then public.search_of_parts(m.parts) @@ public.search_query(p_text) end
  order by m.created_at desc, m.id desc
  limit 1;
  return v_message;
end
$$;
comment on function public.newest_with_text is 'The newest message of a chat that has all words of p_text; null without any.';

create function public.chat_passage(p_chat public.chats, p_text text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object('matched', p_text) || coalesce((
    select jsonb_build_object('snippet', ts_headline('simple'::regconfig,
      public.words_of_parts(m.parts), public.search_query(p_text),
      'StartSel="", StopSel="", MaxWords=24, MinWords=8'))
      || case when m.on_path then jsonb_build_object('message_id', m.id) else '{}' end
    from public.newest_with_text(p_chat.id, p_text) m
    where m.id is not null), jsonb_build_object('snippet', p_chat.title))
$$;
comment on function public.chat_passage is 'Where a chat has the words of p_text: {matched, snippet, message_id} of its newest message with them, without message_id if the chat shows another branch; else the title as snippet.';
