-- Connections to third-party services, where no outside provider keeps them (decisions, section 9).
-- A connection begins undecided; whoever follows its link allows or refuses it, once.

create table public.connections (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  connector text not null,
  status text not null default 'pending' check (status in ('pending', 'active', 'failed')),
  -- SHA-256 of the secret in the link; null once it is decided.
  state_hash text unique,
  callback_url text not null,
  -- When an undecided one can be decided no more.
  expires_at timestamptz not null default now() + interval '15 minutes',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((state_hash is null) = (status <> 'pending'))
);

create index connections_account on public.connections (account_id, created_at desc, id);
-- One working connection of an account to a service, whatever races.
create unique index connections_active on public.connections (account_id, connector)
  where status = 'active';

alter table public.connections enable row level security;
revoke all on public.connections from anon, authenticated;
grant all on public.connections to service_role;

-- A further attempt; those that came to nothing before it are forgotten.
create function public.start_connection(
  p_account_id uuid, p_connector text, p_state_hash text, p_callback_url text
) returns uuid
language plpgsql volatile set search_path = '' as $$
declare
  made uuid;
begin
  delete from public.connections
  where account_id = p_account_id and connector = p_connector
    and (status = 'failed' or (status = 'pending' and expires_at <= now()));
  insert into public.connections (account_id, connector, state_hash, callback_url)
  values (p_account_id, p_connector, p_state_hash, p_callback_url)
  returning id into made;
  return made;
end
$$;

-- What the link is about, for the page that asks; null when it is decided, expired or no link at all.
create function public.pending_connection(p_state_hash text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'connector', c.connector,
    'callback_url', c.callback_url,
    'account', coalesce(a.name, a.email, a.id::text)
  )
  from public.connections c join public.accounts a on a.id = c.account_id
  where c.state_hash = p_state_hash and c.expires_at > now()
$$;

-- The decision, which one of any number of requests makes; null for all the others.
create function public.decide_connection(p_state_hash text, p_allowed boolean) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  asked public.connections;
begin
  select * into asked from public.connections
  where state_hash = p_state_hash and expires_at > now()
  for update;
  if not found then
    return null;
  end if;
  if p_allowed then
    -- Two links of one account allowed at once: the later one replaces the earlier.
    perform from public.accounts where id = asked.account_id for no key update;
    delete from public.connections
    where account_id = asked.account_id and connector = asked.connector
      and id <> asked.id and status <> 'pending';
  end if;
  update public.connections
  set status = case when p_allowed then 'active' else 'failed' end,
    state_hash = null,
    updated_at = clock_timestamp()
  where id = asked.id;
  return jsonb_build_object('connector', asked.connector, 'callback_url', asked.callback_url);
end
$$;
