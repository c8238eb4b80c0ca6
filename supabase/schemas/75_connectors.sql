-- Connections of accounts to external services.

create table public.connections (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  connector text not null,
  status text not null default 'pending' check (status in ('pending', 'active', 'failed')),
  state_hash text unique,
  callback_url text not null,
  expires_at timestamptz not null default now() + interval '15 minutes',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  started_by uuid,
  key_id uuid,
  check ((state_hash is null) = (status <> 'pending'))
);

create index connections_account on public.connections (account_id, created_at desc, id);
-- An account has one working connection to a service, whatever races.
create unique index connections_active on public.connections (account_id, connector)
  where status = 'active';
create index connections_undecided on public.connections (updated_at) where status <> 'active';
comment on table public.connections is 'Connections of accounts to third-party services, where no outside provider keeps them.';
comment on column public.connections.state_hash is 'SHA-256 of the secret in the consent link; null once the connection is decided.';
comment on column public.connections.expires_at is 'Until when a pending connection can be decided.';
comment on column public.connections.started_by is 'The account whose credential started it; it may differ from account_id. No foreign key: a deleted account has lost the right.';
comment on column public.connections.key_id is 'The API key that started it; null for a bearer.';

create table public.connector_links (
  account_id uuid not null references public.accounts (id) on delete cascade,
  connection_id text not null,
  started_by uuid,
  key_id uuid,
  created_at timestamptz not null default now(),
  primary key (account_id, connection_id)
);

create index connector_links_connection on public.connector_links (connection_id);
comment on table public.connector_links is 'The connections of accounts at a vendor, for as long as it has them: it may not say whose they are.';
comment on column public.connector_links.started_by is 'The account whose credential started it; null once it was seen active while that account had the right. No foreign key: a deleted account has lost the right.';
comment on column public.connector_links.key_id is 'The API key that started it; null for a bearer.';

create table public.chat_connectors (
  chat_id uuid primary key references public.chats (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  connectors text[] not null,
  updated_at timestamptz not null default now()
);

create index chat_connectors_account on public.chat_connectors (account_id);
comment on table public.chat_connectors is 'The connectors that an account has named for a chat: the credential of its runs may use their actions.';
comment on column public.chat_connectors.chat_id is 'The chat; a chat without a row has named none.';

create function public.start_connection(
  p_account_id uuid, p_connector text, p_state_hash text, p_callback_url text,
  p_started_by uuid, p_key_id uuid
) returns uuid
language plpgsql volatile set search_path = '' as $$
declare
  v_id uuid;
begin
  delete from public.connections
  where account_id = p_account_id and connector = p_connector
    and (status = 'failed' or (status = 'pending' and expires_at <= now()));
  insert into public.connections (
    account_id, connector, state_hash, callback_url, started_by, key_id)
  values (p_account_id, p_connector, p_state_hash, p_callback_url, p_started_by, p_key_id)
  returning id into v_id;
  return v_id;
end
$$;
comment on function public.start_connection is 'Creates a pending connection, which only its starter''s right to act for the account can complete, and deletes earlier attempts that came to nothing; answers its id.';

create function public.pending_connection(p_state_hash text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'connector', c.connector,
    'callback_url', c.callback_url,
    'account', coalesce(a.name, a.email, a.id::text),
    'address', coalesce(
      a.email, (select s.email from public.accounts s where s.id = c.started_by), a.id::text)
  )
  from public.connections c join public.accounts a on a.id = c.account_id
  where c.state_hash = p_state_hash and c.expires_at > now()
    and public.may_connect(c.account_id, c.started_by, c.key_id)
$$;
comment on function public.pending_connection is 'The request behind a consent link: {connector, callback_url, account, address}, with the address of who has asked for it if the account has none; null when it cannot be decided.';

create function public.decide_connection(p_state_hash text, p_allowed boolean)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_connection public.connections;
begin
  select * into v_connection from public.connections
  where state_hash = p_state_hash and expires_at > now()
  for update;
  -- Serializes this with a concurrent removal of the starter, or one that makes it a viewer.
  perform from public.organization_accounts
  where account_id = v_connection.started_by for share;
  if v_connection.id is null or not public.may_connect(
    v_connection.account_id, v_connection.started_by, v_connection.key_id)
  then
    return null;
  end if;
  if p_allowed then
    -- Two links of one account allowed at once: the later one replaces the earlier.
    perform from public.accounts where id = v_connection.account_id for no key update;
    delete from public.connections
    where account_id = v_connection.account_id and connector = v_connection.connector
      and id <> v_connection.id and status <> 'pending';
  end if;
  update public.connections
  set status = case when p_allowed then 'active' else 'failed' end,
    state_hash = null,
    updated_at = clock_timestamp()
  where id = v_connection.id;
  return jsonb_build_object('connector', v_connection.connector, 'callback_url', v_connection.callback_url);
end
$$;
comment on function public.decide_connection is 'Decides a pending connection, once: {connector, callback_url}; null for every later call.';

create function public.may_connect(p_account_id uuid, p_started_by uuid, p_key_id uuid)
returns boolean
language sql stable set search_path = '' as $$
  select (p_started_by is null or public.may_act_for(p_started_by, p_account_id))
    and public.is_key_in_force(p_key_id)
$$;
comment on function public.may_connect is 'Returns whether the starter of a connection may still act for its account.';

create function public.remove_connections(p_account_id uuid, p_connector text) returns integer
language sql volatile set search_path = '' as $$
  with removed as (
    delete from public.connections where account_id = p_account_id and connector = p_connector
    returning 1
  )
  select count(*)::integer from removed
$$;
comment on function public.remove_connections is 'Removes every connection of an account to a service, whatever its status, and returns their number. Links to decide on one are dead from then on.';

create function public.record_connector_link(
  p_account_id uuid, p_connection_id text, p_started_by uuid, p_key_id uuid
) returns void
language sql volatile set search_path = '' as $$
  insert into public.connector_links (account_id, connection_id, started_by, key_id)
  values (p_account_id, p_connection_id, p_started_by, p_key_id)
  -- A list may have seen it at the vendor already.
  on conflict (account_id, connection_id) do update
  set started_by = excluded.started_by, key_id = excluded.key_id
$$;
comment on function public.record_connector_link is 'Records a connection at a vendor with its starter, before anyone can complete it.';

create function public.recorded_connections(p_account_id uuid, p_limit integer) returns text[]
language sql stable set search_path = '' as $$
  select array(
    select connection_id from public.connector_links
    where account_id = p_account_id
    order by started_by is null desc, created_at desc
    limit p_limit)
$$;
comment on function public.recorded_connections is 'The ids of an account''s connections at a vendor: the ones seen active first, then the newest.';

create function public.refused_connections(
  p_account_id uuid, p_active_ids text[], p_found_ids text[] default '{}'
) returns text[]
language plpgsql volatile set search_path = '' as $$
begin
  -- Of connections that were made before all were recorded.
  insert into public.connector_links (account_id, connection_id)
  select a.id, found_id from public.accounts a, unnest(p_found_ids) found_id
  where a.id = p_account_id
  on conflict do nothing;
  -- Completed while the right to it lasted: from now on it is the account's.
  update public.connector_links l set started_by = null, key_id = null
  where l.account_id = p_account_id and l.connection_id = any (p_active_ids)
    and l.started_by is not null
    and public.may_connect(l.account_id, l.started_by, l.key_id);
  return array(
    select l.connection_id from public.connector_links l
    where l.account_id = p_account_id and l.connection_id = any (p_active_ids)
      and l.started_by is not null);
end
$$;
comment on function public.refused_connections is 'Returns the active connections of an account at a vendor whose starter had lost the right before they were first seen active. Records further ones that were found at the vendor.';

create function public.forget_connections(
  p_account_id uuid, p_connection_ids text[], p_min_age_seconds integer
) returns void
language sql volatile set search_path = '' as $$
  delete from public.connector_links
  where account_id = p_account_id and connection_id = any (p_connection_ids)
    and created_at <= now() - make_interval(secs => p_min_age_seconds)
$$;
comment on function public.forget_connections is 'Forgets connections that the vendor no longer has, if they were recorded so long ago.';

create function public.set_chat_connectors(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_connectors text[]
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- The lock keeps the chat there until its connectors are: a deletion waits and takes them too.
  perform 1 from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for key share;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  insert into public.chat_connectors (chat_id, account_id, connectors)
  values (p_chat_id, p_account_id, p_connectors)
  on conflict (chat_id) do update set connectors = excluded.connectors, updated_at = now();
  return jsonb_build_object('connectors', to_jsonb(p_connectors));
end
$$;
comment on function public.set_chat_connectors is 'Replaces the connectors of a chat: {connectors} | {missing: session | chat}.';

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
comment on function public.get_chat_connectors is 'The connectors of a chat, none where it has named none: {connectors} | {missing: session | chat}.';

create function public.has_chat_connector(
  p_account_id uuid, p_chat_id uuid, p_connector text
) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select 1 from public.chat_connectors c
    where c.chat_id = p_chat_id and c.account_id = p_account_id and p_connector = any (c.connectors))
$$;
comment on function public.has_chat_connector is 'Whether the account has named a connector for a chat; false for a chat that is not its own.';

create function public.list_connections(p_account_id uuid, p_limit integer)
returns setof public.connections
language sql stable set search_path = '' as $$
  select c.* from public.connections c
  where c.account_id = p_account_id
  order by c.created_at desc, c.id
  limit p_limit
$$;
comment on function public.list_connections is 'The connections of the account to the embedded provider, newest first.';
