-- Sessions, chats and stored messages (specification: Session, Chat, Message; decisions, section 4).
--
-- The tenant is a column of every table that is looked up by an id of the caller's, so that it can
-- stand in every predicate: a foreign row and a missing row are then the same empty result.

create table public.sessions (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  organization_id uuid references public.accounts (id) on delete set null,
  artist_id uuid references public.accounts (id) on delete set null,
  title text not null default '',
  status text not null default 'running' check (status in ('running', 'archived')),
  -- What the sandbox provider answered; null means that no sandbox is provisioned.
  sandbox_state jsonb check (jsonb_typeof(sandbox_state) = 'object'),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Both keys descend, so that a page is one range scan of the caller's own rows.
create index sessions_account_newest on public.sessions (account_id, created_at desc, id desc);
-- For the foreign keys only: without them the deletion of an account reads the whole table.
create index sessions_organization on public.sessions (organization_id) where organization_id is not null;
create index sessions_artist on public.sessions (artist_id) where artist_id is not null;

create table public.chats (
  id uuid primary key default gen_random_uuid(),
  session_id uuid not null references public.sessions (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  title text not null default '',
  model_id text not null default '',
  -- Null, `pending:<uuid>` while a request claims the chat, then the run id. Compare-and-set only.
  active_stream_id text,
  claimed_at timestamptz,
  last_assistant_message_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index chats_session_newest on public.chats (session_id, created_at desc, id desc);
create index chats_account_newest on public.chats (account_id, created_at desc, id desc);

create table public.messages (
  chat_id uuid not null references public.chats (id) on delete cascade,
  id text not null,
  role text not null check (role in ('user', 'assistant')),
  parts jsonb not null check (jsonb_typeof(parts) = 'array'),
  metadata jsonb,
  -- The clock and not the transaction's start: messages written together keep their order.
  created_at timestamptz not null default clock_timestamp(),
  primary key (chat_id, id)
);

create index messages_chat_order on public.messages (chat_id, created_at, id);

-- The service role is the only reader and writer; the public keys read nothing.
alter table public.sessions enable row level security;
alter table public.chats enable row level security;
alter table public.messages enable row level security;
revoke all on table public.sessions, public.chats, public.messages from anon, authenticated;
grant all on table public.sessions, public.chats, public.messages to service_role;

-- ---------------------------------------------------------------------------------------------
-- Functions: one call for each thing that must be true together, or that is read together.
-- Each answers JSON in the shape of the API; `missing` names what the caller cannot see, for
-- which a foreign row and an absent row are the same. The small helpers have no search_path of
-- their own, so that they are inlined; every name in them is qualified.
-- ---------------------------------------------------------------------------------------------

-- ISO 8601 in UTC with milliseconds, the API's form of every date.
create function public.iso_date(p_at timestamptz) returns text
language sql stable as $$
  select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- The place of a row in a newest-first list. Microseconds: two rows may share a millisecond.
create function public.page_cursor(p_at timestamptz, p_id uuid) returns text
language sql stable as $$
  select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || ' ' || p_id
$$;

-- `sandboxState` is the stored state as it is: what it means to a caller is the use case's rule.
create function public.session_json(p_session public.sessions) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_session.id,
    'accountId', p_session.account_id,
    'organizationId', p_session.organization_id,
    'artistId', p_session.artist_id,
    'title', p_session.title,
    'status', p_session.status,
    'sandboxState', p_session.sandbox_state,
    'createdAt', public.iso_date(p_session.created_at),
    'updatedAt', public.iso_date(p_session.updated_at))
$$;

-- A claim whose request died before it started a run is void, and so not a stream.
create function public.active_stream_id(p_chat public.chats) returns text
language sql stable as $$
  select case
    when p_chat.active_stream_id like 'pending:%' and p_chat.claimed_at < now() - interval '60 seconds'
    then null
    else p_chat.active_stream_id
  end
$$;

-- Exactly the eight fields of the specification.
create function public.chat_json(p_chat public.chats) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_chat.id,
    'sessionId', p_chat.session_id,
    'title', p_chat.title,
    'modelId', p_chat.model_id,
    'createdAt', public.iso_date(p_chat.created_at),
    'updatedAt', public.iso_date(p_chat.updated_at),
    'activeStreamId', public.active_stream_id(p_chat),
    'lastAssistantMessageAt', public.iso_date(p_chat.last_assistant_message_at))
$$;

-- A session and its first chat. The caller has checked that the artist may be used.
create function public.create_session(
  p_account_id uuid, p_organization_id uuid, p_artist_id uuid, p_title text, p_model_id text
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_session public.sessions;
  v_chat public.chats;
begin
  insert into public.sessions (account_id, organization_id, artist_id, title)
  values (p_account_id, p_organization_id, p_artist_id, p_title)
  returning * into v_session;
  insert into public.chats (session_id, account_id, model_id)
  values (v_session.id, p_account_id, p_model_id)
  returning * into v_chat;
  return jsonb_build_object('session', public.session_json(v_session), 'chat', public.chat_json(v_chat));
end
$$;

-- One page, newest first; `next` is the cursor of its last row when more rows follow. Without a
-- cursor the page starts after the greatest key there is, so that each page is one range scan.
create function public.list_sessions(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return (
    with page as (
      select s, row_number() over (order by s.created_at desc, s.id desc) as place
      from public.sessions s
      where s.account_id = p_account_id and (s.created_at, s.id) < (v_after_at, v_after_id)
      order by s.created_at desc, s.id desc
      limit p_limit + 1
    )
    select jsonb_build_object(
      'sessions', coalesce(
        jsonb_agg(public.session_json(s) order by place) filter (where place <= p_limit), '[]'),
      'next', case when count(*) > p_limit then
        max(public.page_cursor((s).created_at, (s).id)) filter (where place = p_limit) end)
    from page);
end
$$;

create function public.get_session(p_account_id uuid, p_session_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_session public.sessions;
begin
  select * into v_session from public.sessions
  where id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  return jsonb_build_object('session', public.session_json(v_session));
end
$$;

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
  return jsonb_build_object('session', public.session_json(v_session));
end
$$;

-- Answers the row as it was deleted: a sandbox provisioned at the last moment is in it.
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
  return jsonb_build_object('session', public.session_json(v_session));
end
$$;

-- Writes the sandbox's state if it still is what the caller saw, and answers what now stands.
-- Of two who provision at once the second sees `stored` false and the state of the first.
create function public.set_sandbox_state(
  p_account_id uuid, p_session_id uuid, p_expected jsonb, p_next jsonb
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_state jsonb;
begin
  update public.sessions
  set sandbox_state = nullif(p_next, 'null'::jsonb), updated_at = now()
  where id = p_session_id and account_id = p_account_id
    and sandbox_state is not distinct from nullif(p_expected, 'null'::jsonb)
  returning sandbox_state into v_state;
  if found then
    return jsonb_build_object('stored', true, 'sandboxState', v_state);
  end if;
  select sandbox_state into v_state from public.sessions
  where id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  return jsonb_build_object('stored', false, 'sandboxState', v_state);
end
$$;

-- An id of the client's makes the creation idempotent in its session; `conflict` in any other.
create function public.create_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_chat public.chats;
begin
  -- The lock keeps the session there until the chat is: a deletion waits and takes the chat too.
  perform 1 from public.sessions
  where id = p_session_id and account_id = p_account_id
  for key share;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;

  insert into public.chats (id, session_id, account_id, title, model_id)
  values (coalesce(p_chat_id, gen_random_uuid()), p_session_id, p_account_id, p_title, p_model_id)
  on conflict (id) do nothing
  returning * into v_chat;
  if not found then
    select * into v_chat from public.chats
    where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
    if not found then
      return jsonb_build_object('conflict', true);
    end if;
  end if;
  return jsonb_build_object('chat', public.chat_json(v_chat));
end
$$;

create function public.list_chats(
  p_account_id uuid, p_session_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  perform 1 from public.sessions where id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  return (
    with page as (
      select c, row_number() over (order by c.created_at desc, c.id desc) as place
      from public.chats c
      where c.session_id = p_session_id and c.account_id = p_account_id
        and (c.created_at, c.id) < (v_after_at, v_after_id)
      order by c.created_at desc, c.id desc
      limit p_limit + 1
    )
    select jsonb_build_object(
      'chats', coalesce(
        jsonb_agg(public.chat_json(c) order by place) filter (where place <= p_limit), '[]'),
      'next', case when count(*) > p_limit then
        max(public.page_cursor((c).created_at, (c).id)) filter (where place = p_limit) end)
    from page);
end
$$;

-- Which of the two is missing when a chat was not found in a session.
create function public.missing_of_chat(p_account_id uuid, p_session_id uuid) returns text
language sql stable set search_path = '' as $$
  select case when exists (
    select 1 from public.sessions where id = p_session_id and account_id = p_account_id
  ) then 'chat' else 'session' end
$$;

create function public.get_chat(p_account_id uuid, p_session_id uuid, p_chat_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_chat public.chats;
begin
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('chat', public.chat_json(v_chat));
end
$$;

-- Null leaves a field as it is.
create function public.update_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_chat public.chats;
begin
  update public.chats
  set title = coalesce(p_title, title), model_id = coalesce(p_model_id, model_id), updated_at = now()
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  returning * into v_chat;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('chat', public.chat_json(v_chat));
end
$$;

create function public.delete_chat(p_account_id uuid, p_session_id uuid, p_chat_id uuid) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_chat public.chats;
begin
  delete from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  returning * into v_chat;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('chat', public.chat_json(v_chat));
end
$$;

-- PostgREST sends a value of this type as it is to whoever accepts text/plain.
create domain public."text/plain" as text;

-- The whole body of GET /api/sessions/{sessionId}/chats/{chatId}, or which of the two is missing.
-- It is sent as it is: a chat of 1,000 messages taken apart and printed again at each layer costs
-- many times the query. Text and not json, which would be read once more.
create function public.get_chat_body(p_account_id uuid, p_session_id uuid, p_chat_id uuid)
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
    select concat(
      '{"chat":', public.chat_json(v_chat),
      ',"isStreaming":', to_json(public.active_stream_id(v_chat) is not null),
      ',"messages":[',
      string_agg(
        concat(
          '{"id":', to_json(m.id),
          ',"role":', to_json(m.role),
          ',"parts":', m.parts,
          ',"metadata":' || m.metadata::text,
          ',"createdAt":', to_json(public.iso_date(m.created_at)),
          '}'),
        ',' order by m.created_at, m.id),
      ']}')
    from public.messages m where m.chat_id = p_chat_id);
end
$$;
