-- Accounts, organizations, API keys, and the questions that every request asks first, in one call:
-- who is this, how much have they asked, and may they act for that account?

-- Nothing in this schema is for the public key: every table has row level security and no policy,
-- and tables and functions that later migrations create are closed from the start.
alter default privileges revoke execute on functions from public;
alter default privileges in schema public revoke all on tables from anon, authenticated;
alter default privileges in schema public revoke all on sequences from anon, authenticated;
alter default privileges in schema public revoke execute on functions from anon, authenticated;
alter default privileges in schema public grant all on tables to service_role;
alter default privileges in schema public grant all on sequences to service_role;
alter default privileges in schema public grant execute on functions to service_role;

create table public.accounts (
  id uuid primary key default gen_random_uuid(),
  kind text not null default 'personal'
    check (kind in ('personal', 'organization', 'artist', 'workspace')),
  email text check (email = lower(email)),
  name text,
  image text,
  -- The internal admin organization, whose members reach all accounts.
  is_admin boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (kind = 'organization' or not is_admin)
);

-- Only among personal accounts: an e-mail signs in a person, never an organization.
create unique index accounts_personal_email on public.accounts (email) where kind = 'personal';
create index accounts_admin on public.accounts (id) where is_admin;

-- Membership of people and links of artists and workspaces: both mean "belongs to".
create table public.organization_accounts (
  organization_id uuid not null references public.accounts (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (organization_id, account_id)
);

create index organization_accounts_account on public.organization_accounts (account_id);

create table public.api_keys (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  name text not null,
  hash text not null unique,
  prefix text not null,
  scope text not null default 'full' check (scope in ('full', 'run')),
  -- The durable run that a `run` key was made for, and dies with.
  run_id text,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);

-- By scope, because an account that runs much has many keys of runs beside the few that it lists.
create index api_keys_account on public.api_keys (account_id, scope, created_at desc, id);
create index api_keys_run on public.api_keys (run_id) where run_id is not null;

alter table public.accounts enable row level security;
alter table public.organization_accounts enable row level security;
alter table public.api_keys enable row level security;

revoke all on public.accounts, public.organization_accounts, public.api_keys from anon, authenticated;
grant all on public.accounts, public.organization_accounts, public.api_keys to service_role;

-- May p_caller act for p_target? Itself, an organization it belongs to, an account linked to one
-- of its organizations, or anything that exists for the admin organization.
create function public.may_act_for(p_caller uuid, p_target uuid) returns boolean
language sql stable set search_path = '' as $$
  select p_caller = p_target
    or exists (
      select 1 from public.organization_accounts m
      where (m.account_id = p_caller and m.organization_id = p_target)
         or (m.organization_id = p_caller and m.account_id = p_target)
    )
    or exists (
      select 1
      from public.organization_accounts mine
      join public.organization_accounts theirs on theirs.organization_id = mine.organization_id
      where mine.account_id = p_caller and theirs.account_id = p_target
    )
    or (
      exists (
        select 1 from public.accounts a
        where a.is_admin
          and (
            a.id = p_caller
            or exists (
              select 1 from public.organization_accounts m
              where m.organization_id = a.id and m.account_id = p_caller
            )
          )
      )
      and exists (select 1 from public.accounts t where t.id = p_target)
    )
$$;

-- The caller's verdicts on what a request names; a verdict is null when nothing was asked.
create function public.access_verdicts(
  p_caller uuid, p_may_switch boolean, p_account_id uuid, p_organization_id uuid, p_artist_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  account boolean;
  organization boolean;
  artist boolean;
begin
  if p_account_id is not null then
    account := p_account_id = p_caller
      or (p_may_switch and public.may_act_for(p_caller, p_account_id));
  end if;
  if p_organization_id is not null then
    -- Deliberately without the admin's way round.
    organization := exists (
      select 1 from public.accounts o
      where o.id = p_organization_id
        and o.kind = 'organization'
        and (
          o.id = p_caller
          or exists (
            select 1 from public.organization_accounts m
            where m.organization_id = o.id and m.account_id = p_caller
          )
        )
    );
  end if;
  if p_artist_id is not null then
    artist := exists (
      select 1 from public.accounts a where a.id = p_artist_id and a.kind = 'artist'
    ) and public.may_act_for(p_caller, p_artist_id);
  end if;
  return jsonb_build_object('account', account, 'organization', organization, 'artist', artist);
end
$$;

-- How full each caller's bucket is, as the moment (seconds since 1970) when it will be empty again.
-- Unlogged: a write costs no disk, and what a crash forgets is a minute of counting.
create unlogged table public.rate_limits (
  bucket text primary key,
  empty_at double precision not null
) with (fillfactor = 50);

alter table public.rate_limits enable row level security;
revoke all on public.rate_limits from anon, authenticated;
grant all on public.rate_limits to service_role;

-- One request into a bucket that holds p_per_minute of them and leaks as many a minute. Refused
-- requests do not count. `retry_after` is null when it is let through; times are seconds.
create function public.take_from_bucket(p_bucket text, p_per_minute integer) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  step constant double precision := 60.0 / p_per_minute;
  at constant double precision := date_part('epoch', clock_timestamp());
  empty double precision;
  wait double precision;
begin
  -- Nearly always the row is there: an update is cheaper than an insert that conflicts.
  update public.rate_limits b set empty_at = greatest(b.empty_at, at) + step
  where b.bucket = p_bucket and greatest(b.empty_at, at) + step <= at + 60
  returning b.empty_at into empty;
  if not found then
    insert into public.rate_limits as b (bucket, empty_at) values (p_bucket, at + step)
    on conflict (bucket) do update set empty_at = greatest(b.empty_at, at) + step
      where greatest(b.empty_at, at) + step <= at + 60
    returning b.empty_at into empty;
    if not found then
      select b.empty_at into empty from public.rate_limits b where b.bucket = p_bucket;
      wait := greatest(1, ceil(empty + step - at - 60));
    end if;
    -- Newcomers tidy up, now and then: buckets that are empty again are as good as none.
    if random() < 0.01 then
      delete from public.rate_limits where bucket in (
        select b.bucket from public.rate_limits b
        where b.empty_at < at limit 1000 for update skip locked
      );
    end if;
  end if;
  return jsonb_build_object(
    'limit', p_per_minute,
    'remaining', greatest(0, floor((at + 60 - empty) / step)),
    'reset', ceil(empty - at),
    'retry_after', wait
  );
end
$$;

-- The outcomes of an authentication: `limited` (by address or by account), `unknown`, `known`.
-- A key that is unknown, revoked or expired is `unknown`, told apart by nobody. A limit of 0 is none.
create function public.authenticate_key(
  p_hash text,
  p_account_id uuid default null,
  p_organization_id uuid default null,
  p_artist_id uuid default null,
  p_address text default null,
  p_address_limit integer default 0,
  p_account_limit integer default 0
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  k public.api_keys;
  taken jsonb;
begin
  if p_address is not null and p_address_limit > 0 then
    taken := public.take_from_bucket('address:' || p_address, p_address_limit);
    if taken ->> 'retry_after' is not null then
      return jsonb_build_object('outcome', 'limited', 'by', 'address', 'rate', taken);
    end if;
  end if;

  select * into k from public.api_keys
  where hash = p_hash
    and (revoked_at is null or revoked_at > now())
    and (expires_at is null or expires_at > now());
  if not found then
    return jsonb_build_object('outcome', 'unknown');
  end if;

  -- At most one write a minute; whoever finds the row locked leaves it to the other.
  if k.last_used_at is null or k.last_used_at < now() - interval '1 minute' then
    update public.api_keys set last_used_at = now()
    where id in (
      select id from public.api_keys
      where id = k.id and (last_used_at is null or last_used_at < now() - interval '1 minute')
      for update skip locked
    );
  end if;

  return jsonb_build_object('key_id', k.id, 'scope', k.scope, 'run_id', k.run_id)
    || public.admit_account(k.account_id, k.scope = 'full',
      p_account_id, p_organization_id, p_artist_id, p_account_limit);
end
$$;

-- What both ways of authentication end with: the account's own limit, then its verdicts.
create function public.admit_account(
  p_own uuid, p_may_switch boolean,
  p_account_id uuid, p_organization_id uuid, p_artist_id uuid, p_account_limit integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  taken jsonb;
begin
  if p_account_limit > 0 then
    taken := public.take_from_bucket('account:' || p_own, p_account_limit);
    if taken ->> 'retry_after' is not null then
      return jsonb_build_object('outcome', 'limited', 'by', 'account', 'rate', taken);
    end if;
  end if;
  return jsonb_build_object(
    'outcome', 'known',
    'account_id', p_own,
    'rate', taken,
    'access', public.access_verdicts(
      p_own, p_may_switch, p_account_id, p_organization_id, p_artist_id)
  );
end
$$;

-- The personal account of an e-mail, made on first sight; two first requests at once make one.
create function public.account_of_email(p_email text) returns uuid
language plpgsql volatile set search_path = '' as $$
declare
  found_id uuid;
begin
  loop
    select id into found_id from public.accounts
    where email = lower(p_email) and kind = 'personal';
    if found then
      return found_id;
    end if;
    insert into public.accounts (kind, email) values ('personal', lower(p_email))
    on conflict (email) where kind = 'personal' do nothing
    returning id into found_id;
    if found then
      return found_id;
    end if;
  end loop;
end
$$;

create function public.authenticate_email(
  p_email text,
  p_account_id uuid default null,
  p_organization_id uuid default null,
  p_artist_id uuid default null,
  p_address text default null,
  p_address_limit integer default 0,
  p_account_limit integer default 0
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  taken jsonb;
begin
  if p_address is not null and p_address_limit > 0 then
    taken := public.take_from_bucket('address:' || p_address, p_address_limit);
    if taken ->> 'retry_after' is not null then
      return jsonb_build_object('outcome', 'limited', 'by', 'address', 'rate', taken);
    end if;
  end if;
  return public.admit_account(public.account_of_email(p_email), true,
    p_account_id, p_organization_id, p_artist_id, p_account_limit);
end
$$;
