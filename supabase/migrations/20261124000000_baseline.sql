-- The files of supabase/schemas as they were when this migration was made, in their order.

-- Formats of the API, the identity of the installation, and rate limits.
--
-- Every table has row-level security without a policy, and the public roles have no rights: only
-- service_role reads and writes. Tables and functions that are created later are closed in the same way.

set check_function_bodies = off;

alter default privileges revoke execute on functions from public;
alter default privileges in schema public revoke all on tables from anon, authenticated;
alter default privileges in schema public revoke all on sequences from anon, authenticated;
alter default privileges in schema public revoke execute on functions from anon, authenticated;
alter default privileges in schema public grant all on tables to service_role;
alter default privileges in schema public grant all on sequences to service_role;
alter default privileges in schema public grant execute on functions to service_role;

create function public.iso_date(p_at timestamptz) returns text
language sql stable as $$
  select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
comment on function public.iso_date is 'A time as the API prints it: ISO 8601 in UTC with milliseconds. Inlined, hence no search_path.';

create function public.duration_ms(p_from timestamptz, p_to timestamptz) returns bigint
language sql immutable set search_path = '' as $$
  -- Of the times in milliseconds, as they are shown: their difference is the duration.
  select (extract(epoch from date_trunc('milliseconds', p_to) - date_trunc('milliseconds', p_from))
    * 1000)::bigint
$$;
comment on function public.duration_ms is 'The milliseconds between two times; null when one is null.';

-- Microseconds, because two rows may share a millisecond.
create function public.page_cursor(p_at timestamptz, p_id uuid) returns text
language sql stable as $$
  select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || ' ' || p_id
$$;
comment on function public.page_cursor is 'The place of a row in a newest-first list, with microseconds. Inlined, hence no search_path.';

create type public.page_row as (at timestamptz, id uuid, item jsonb);
comment on type public.page_row is 'An item of a newest-first list, with its place.';

create function public.page_json(p_name text, p_rows public.page_row[], p_limit integer) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    p_name, coalesce(jsonb_agg(r.item order by r.place) filter (where r.place <= p_limit), '[]'),
    'next', max(public.page_cursor(r.at, r.id))
      filter (where r.place = p_limit and cardinality(p_rows) > p_limit))
  from unnest(p_rows) with ordinality as r (at, id, item, place)
$$;
comment on function public.page_json is 'A page of a newest-first list: {<p_name>: items, next}. p_rows has up to one row more than p_limit. It is cut off, and next is then the cursor of the last item.';

create table public.installation (
  id uuid primary key default gen_random_uuid(),
  only_row boolean not null unique default true check (only_row)
);
alter table public.installation enable row level security;
comment on table public.installation is 'Identifies this database: a folder that belongs to another one is left alone.';

insert into public.installation default values;

create function public.installation_id() returns uuid
language sql stable set search_path = '' as $$
  select id from public.installation
$$;
comment on function public.installation_id is 'The identity of this database.';

-- The schema and the table belong to the tool that applies migrations.
do $$
begin
  if to_regclass('supabase_migrations.schema_migrations') is not null then
    grant usage on schema supabase_migrations to service_role;
    grant select on supabase_migrations.schema_migrations to service_role;
  end if;
end
$$;

create function public.describe_database() returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_newest text;
begin
  begin
    execute 'select max(version) from supabase_migrations.schema_migrations' into v_newest;
  exception when undefined_table or invalid_schema_name or insufficient_privilege then
    v_newest := null;
  end;
  return jsonb_build_object(
    'installation_id', public.installation_id(),
    'newest_migration', v_newest,
    'clock_ms', round(extract(epoch from clock_timestamp()) * 1000));
end
$$;
comment on function public.describe_database is 'For the check of an installation: {installation_id, newest_migration, clock_ms}. newest_migration is null where migrations are not recorded as the Supabase CLI does; clock_ms is the time in milliseconds of the epoch.';

create unlogged table public.rate_limits (
  bucket text primary key,
  empty_at double precision not null
) with (fillfactor = 50);
alter table public.rate_limits enable row level security;
comment on table public.rate_limits is 'Leaky buckets of requests, one for each caller. Unlogged: a crash forgets a minute of counting.';
comment on column public.rate_limits.empty_at is 'When the bucket will be empty again, in seconds since 1970.';

create function public.take_from_bucket(p_bucket text, p_per_minute integer) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_step constant double precision := 60.0 / p_per_minute;
  v_now constant double precision := date_part('epoch', clock_timestamp());
  v_empty_at double precision;
  v_retry_after double precision;
begin
  -- The row nearly always exists, and an update is cheaper than an insert that conflicts.
  update public.rate_limits b set empty_at = greatest(b.empty_at, v_now) + v_step
  where b.bucket = p_bucket and greatest(b.empty_at, v_now) + v_step <= v_now + 60
  returning b.empty_at into v_empty_at;
  if not found then
    insert into public.rate_limits as b (bucket, empty_at) values (p_bucket, v_now + v_step)
    on conflict (bucket) do update set empty_at = greatest(b.empty_at, v_now) + v_step
      where greatest(b.empty_at, v_now) + v_step <= v_now + 60
    returning b.empty_at into v_empty_at;
    if not found then
      select b.empty_at into v_empty_at from public.rate_limits b where b.bucket = p_bucket;
      v_retry_after := greatest(1, ceil(v_empty_at + v_step - v_now - 60));
    end if;
    -- One new bucket in a hundred deletes empty ones, which mean the same as none.
    if random() < 0.01 then
      delete from public.rate_limits where bucket in (
        select b.bucket from public.rate_limits b
        where b.empty_at < v_now limit 1000 for update skip locked
      );
    end if;
  end if;
  return jsonb_build_object(
    'limit', p_per_minute,
    'remaining', greatest(0, floor((v_now + 60 - v_empty_at) / v_step)),
    'reset', ceil(v_empty_at - v_now),
    'retry_after', v_retry_after
  );
end
$$;
comment on function public.take_from_bucket is 'Counts one request in a bucket of p_per_minute: {limit, remaining, reset, retry_after} in seconds. retry_after is null when the request is admitted; a refused request does not count.';


-- Accounts, membership, and who may act for whom.

create table public.accounts (
  id uuid primary key default gen_random_uuid(),
  kind text not null default 'personal'
    check (kind in ('personal', 'organization', 'artist', 'workspace')),
  email text check (email = lower(email)),
  name text,
  image text,
  is_admin boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  monthly_budget_usd numeric check (monthly_budget_usd >= 0),
  label text,
  timezone text,
  catalog_artist_id text,
  -- False, because an account that sets a budget expects it to hold.
  allow_unpriced_models boolean not null default false,
  check (kind = 'organization' or not is_admin)
);

create unique index accounts_personal_email on public.accounts (email) where kind = 'personal';
create index accounts_admin on public.accounts (id) where is_admin;
alter table public.accounts enable row level security;
comment on table public.accounts is 'People, organizations, artists and workspaces: everything that can own rows or be acted for.';
comment on column public.accounts.is_admin is 'True for the internal admin organization, whose members may act for every account.';
comment on column public.accounts.email is 'In lower case. It identifies a person and is unique among personal accounts only.';
comment on column public.accounts.monthly_budget_usd is 'Budget of a calendar month in US dollars; null for none.';
comment on column public.accounts.label is 'The record label of an artist, as text; null for accounts of other kinds.';
comment on column public.accounts.timezone is 'An IANA time zone; null until the account has chosen one.';
comment on column public.accounts.catalog_artist_id is 'The id of an artist in the music catalog; null for an artist without one and for accounts of other kinds.';
comment on column public.accounts.allow_unpriced_models is 'Whether the account uses models without a known price although it has a budget, which cannot count them.';

create table public.organization_accounts (
  organization_id uuid not null references public.accounts (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  role text not null default 'member' check (role in ('owner', 'member')),
  primary key (organization_id, account_id)
);

create index organization_accounts_account on public.organization_accounts (account_id);
alter table public.organization_accounts enable row level security;
comment on table public.organization_accounts is 'Membership of people in organizations, and links of artists and workspaces to them.';
comment on column public.organization_accounts.role is 'The role of a person: owner or member. It has no meaning for artists and workspaces.';

create table public.deleted_identities (
  hash text primary key,
  deleted_at timestamptz not null
);

create index deleted_identities_age on public.deleted_identities (deleted_at);
alter table public.deleted_identities enable row level security;
comment on table public.deleted_identities is 'Recently deleted accounts. A token that was issued before the deletion must not sign in.';
comment on column public.deleted_identities.hash is 'HMAC of the e-mail address with API_KEY_SECRET.';
comment on column public.deleted_identities.deleted_at is 'When the account, or the newest one with this address, was deleted.';

-- Authority ---------------------------------------------------------------------------------------

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
comment on function public.may_act_for is 'Whether an account may act for another: itself, its organizations, accounts linked to one of its organizations, or any account for the admin organization.';

create function public.access_verdicts(
  p_caller uuid, p_may_switch boolean, p_account_id uuid, p_organization_id uuid, p_artist_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_account boolean;
  v_organization boolean;
  v_artist boolean;
begin
  if p_account_id is not null then
    v_account := p_account_id = p_caller
      or (p_may_switch and public.may_act_for(p_caller, p_account_id));
  end if;
  if p_organization_id is not null then
    -- Administrators are no exception here: the organization must be the caller's own.
    v_organization := exists (
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
    v_artist := exists (
      select 1 from public.accounts a where a.id = p_artist_id and a.kind = 'artist'
    ) and public.may_act_for(p_caller, p_artist_id);
  end if;
  return jsonb_build_object('account', v_account, 'organization', v_organization, 'artist', v_artist);
end
$$;
comment on function public.access_verdicts is 'Whether the caller may use the account, organization and artist of a request; each is null when it was not asked for.';

create function public.organization_role(p_account_id uuid, p_organization_id uuid) returns text
language sql stable set search_path = '' as $$
  select m.role
  from public.organization_accounts m
  join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
  where m.organization_id = p_organization_id and m.account_id = p_account_id
$$;
comment on function public.organization_role is 'owner or member; null for who does not belong to the organization, and where there is none.';

-- Accounts ----------------------------------------------------------------------------------------

create function public.account_of_email(p_email text) returns uuid
language plpgsql volatile set search_path = '' as $$
declare
  v_id uuid;
begin
  loop
    select id into v_id from public.accounts
    where email = lower(p_email) and kind = 'personal';
    if found then
      return v_id;
    end if;
    insert into public.accounts (kind, email) values ('personal', lower(p_email))
    on conflict (email) where kind = 'personal' do nothing
    returning id into v_id;
    if found then
      return v_id;
    end if;
  end loop;
end
$$;
comment on function public.account_of_email is 'The personal account of an e-mail address, created on first use; two first uses at once create one.';

create function public.get_account(p_account_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'account', jsonb_build_object(
      'id', a.id,
      'kind', a.kind,
      'email', a.email,
      'name', a.name,
      'image', a.image,
      'monthly_budget_usd', a.monthly_budget_usd,
      'allow_unpriced_models', a.allow_unpriced_models,
      'timezone', a.timezone,
      'created_at', public.iso_date(a.created_at)),
    'organizations', coalesce((
      select jsonb_agg(jsonb_build_object(
        'organization_id', o.id, 'organization_name', coalesce(o.name, ''), 'role', m.role)
        order by o.created_at desc, o.id desc)
      from public.organization_accounts m
      join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
      where m.account_id = a.id), '[]'))
  from public.accounts a where a.id = p_account_id
$$;
comment on function public.get_account is 'The account as its owner sees it, with its organizations: {account, organizations}.';

create function public.update_account(
  p_account_id uuid, p_name text, p_image text, p_monthly_budget_usd numeric,
  p_allow_unpriced_models boolean, p_timezone text, p_clear text[]
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update public.accounts a
  set name = coalesce(p_name, a.name),
    image = case when 'image' = any (p_clear) then null else coalesce(p_image, a.image) end,
    monthly_budget_usd = case when 'monthly_budget_usd' = any (p_clear) then null
      else coalesce(p_monthly_budget_usd, a.monthly_budget_usd) end,
    allow_unpriced_models = coalesce(p_allow_unpriced_models, a.allow_unpriced_models),
    timezone = case when 'timezone' = any (p_clear) then null
      else coalesce(p_timezone, a.timezone) end,
    updated_at = now()
  where a.id = p_account_id;
  return public.get_account(p_account_id);
end
$$;
comment on function public.update_account is 'Changes the fields that are not null and clears the columns of p_clear (image, monthly_budget_usd, timezone); answers as get_account.';

-- Export and deletion -----------------------------------------------------------------------------

create function public.export_rows(
  p_account_id uuid, p_kind text, p_after text, p_limit integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_ids text[];
  v_items jsonb;
begin
  case p_kind
    when 'templates' then
      v_ids := array(
        select t.id::text from public.agent_templates t
        where t.account_id = p_account_id and t.id::text > p_after
        order by t.id::text limit p_limit);
      v_items := public.agent_templates_json(p_account_id, v_ids::uuid[]);
    when 'task_runs' then
      v_ids := array(
        select r.id from public.task_runs r
        where r.account_id = p_account_id and r.id > p_after
        order by r.id limit p_limit);
      v_items := (
        select jsonb_agg(to_jsonb(r) - array['account_id', 'lease_until', 'effect_id'] order by r.id)
        from public.task_runs r where r.account_id = p_account_id and r.id = any (v_ids));
    when 'turns' then
      v_ids := array(
        select t.id::text from public.turns t
        where t.account_id = p_account_id and t.id::text > p_after
        order by t.id::text limit p_limit);
      v_items := (
        select jsonb_agg(
          to_jsonb(t) - array['account_id', 'key_id', 'effect_id', 'history'] order by t.id)
        from public.turns t where t.account_id = p_account_id and t.id = any (v_ids::uuid[]));
    when 'media' then
      v_ids := array(
        select f.name from public.media_files f
        join public.task_runs r on r.id = f.run_id and r.status = 'COMPLETED'
        where f.account_id = p_account_id and f.name > p_after
        order by f.name limit p_limit);
      v_items := to_jsonb(v_ids);
  end case;
  return jsonb_build_object(
    'items', coalesce(v_items, '[]'),
    'next', case when cardinality(v_ids) = p_limit then v_ids[p_limit] end);
end
$$;
comment on function public.export_rows is 'One part of the rows that an account owns (templates, task_runs, turns, media) after the id p_after: {items, next}; next is null at the end. Without secrets.';

create function public.leave_organizations(p_account_id uuid, p_email text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_account public.accounts;
  v_ids uuid[];
begin
  select * into v_account from public.accounts where id = p_account_id;
  if v_account.email is null or v_account.kind <> 'personal' then
    return jsonb_build_object('refused', 'not_personal');
  end if;
  if v_account.email <> p_email then
    return jsonb_build_object('refused', 'mismatch');
  end if;
  -- Locked in the order of their ids: two accounts that leave at once must not deadlock.
  v_ids := array(
    select o.id from public.accounts o
    where o.kind = 'organization' and o.id in (
      select m.organization_id from public.organization_accounts m
      where m.account_id = p_account_id)
    order by o.id
    for no key update);
  if exists (
    select from unnest(v_ids) o (id) where public.is_last_owner(o.id, p_account_id))
  then
    return jsonb_build_object('refused', 'last_owner');
  end if;
  delete from public.organization_accounts
  where account_id = p_account_id and organization_id = any (v_ids);
  return null;
end
$$;
comment on function public.leave_organizations is 'Takes a person who confirms the address out of all organizations: null, or {refused: not_personal | mismatch | last_owner}.';

create function public.may_use_auth_table(p_table text, p_privilege text) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'auth' and c.relname = p_table
      and pg_catalog.has_schema_privilege(n.oid, 'usage')
      and pg_catalog.has_table_privilege(c.oid, p_privilege))
$$;
comment on function public.may_use_auth_table is 'Returns whether Supabase Auth is in this database, and its table is within reach.';

create function public.delete_account(
  p_account_id uuid, p_email text, p_identity_hash text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- Again: the account may have joined an organization since it was first asked.
  v_refusal constant jsonb := public.leave_organizations(p_account_id, p_email);
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  delete from public.organization_invitations where email = p_email;
  delete from public.agent_template_shares where email = p_email;
  delete from public.signup_codes where email = p_email;
  -- Chats before their sessions and account, in the order in which a starting turn locks them.
  perform from public.chats where account_id = p_account_id order by id for update;
  delete from public.accounts a
  using public.organization_accounts l
  where l.organization_id = p_account_id and a.id = l.account_id
    and a.kind in ('artist', 'workspace')
    and not exists (
      select from public.organization_accounts x
      where x.account_id = a.id and x.organization_id <> p_account_id);
  -- Triggers note the files and sandboxes that are to be removed.
  delete from public.accounts where id = p_account_id;

  insert into public.deleted_identities (hash, deleted_at)
  values (p_identity_hash, clock_timestamp())
  on conflict (hash) do update set deleted_at = excluded.deleted_at;
  -- A session that remains would be renewed, with tokens that are newer than the deletion.
  if public.may_use_auth_table('sessions', 'delete') and public.may_use_auth_table('users', 'select')
  then
    delete from auth.sessions s using auth.users u
    where u.id = s.user_id and lower(u.email) = lower(p_email);
  end if;
  return jsonb_build_object('done', true);
end
$$;
comment on function public.delete_account is 'Deletes a person''s account with all that it owns, and ends its sign-ins: earlier tokens are refused, and sessions cannot be renewed. Returns {done}, or as leave_organizations.';

create function public.has_sign_in_ended(
  p_session_id uuid, p_identity_hash text, p_issued_at timestamptz
) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  -- The `iat` of a token is in whole seconds.
  if exists (
    select from public.deleted_identities d
    where d.hash = p_identity_hash
      and coalesce(p_issued_at <= date_trunc('second', d.deleted_at), true))
  then
    return true;
  end if;
  -- A separate statement: one that names the table fails where it is absent.
  if p_session_id is null or not public.may_use_auth_table('sessions', 'select') then
    return false;
  end if;
  return not exists (select from auth.sessions s where s.id = p_session_id);
end
$$;
comment on function public.has_sign_in_ended is 'Returns whether the session of a token was signed out, or its account deleted since it was issued. Sessions that cannot be read count as live.';

-- Tables of Supabase Auth. They are absent where another identity provider is used, and a hosted
-- project may not let the service's role read them.
do $$
begin
  if to_regclass('auth.sessions') is not null and to_regclass('auth.users') is not null then
    grant usage on schema auth to service_role;
    grant select, delete on auth.sessions to service_role;
    grant select on auth.users to service_role;
  end if;
exception when insufficient_privilege then
  raise notice 'The service cannot read the sessions of Supabase Auth: a token holds until it expires.';
end
$$;

-- API keys, authentication, and codes sent by email.

create table public.api_keys (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  name text not null,
  hash text not null unique,
  prefix text not null,
  scope text not null default 'full' check (scope in ('full', 'run')),
  run_id text,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);

-- By scope, because an account with many runs has many run keys beside the few that it lists.
create index api_keys_account on public.api_keys (account_id, scope, created_at desc, id);
create index api_keys_run on public.api_keys (run_id) where run_id is not null;
create index api_keys_dead_run on public.api_keys (revoked_at) where scope = 'run';
alter table public.api_keys enable row level security;
comment on table public.api_keys is 'API keys of accounts, and the credentials of running turns. Only an HMAC of a key is stored.';
comment on column public.api_keys.scope is 'full for a key of an account; run for the credential of one turn, which ends with the turn.';
comment on column public.api_keys.run_id is 'The durable run whose credential this is; null for every other key.';
comment on column public.api_keys.prefix is 'The first characters of the key, by which its owner recognizes it.';
comment on column public.api_keys.revoked_at is 'When the key ends or ended. A rotated key has a time in the future until its grace period ends.';

-- Keys --------------------------------------------------------------------------------------------

create function public.require_key_room(p_account_id uuid, p_max integer) returns void
language plpgsql volatile set search_path = '' as $$
begin
  if p_max < (
    select count(*) from public.api_keys
    where account_id = p_account_id and scope = 'full'
      and (revoked_at is null or revoked_at > now()))
  then
    raise sqlstate 'PT403' using message = 'The account has too many keys: revoke one first';
  end if;
end
$$;
comment on function public.require_key_room is 'Raises 403 when the account has more than p_max keys that are listed. The caller holds the account''s lock.';

create function public.create_key(
  p_account_id uuid, p_name text, p_hash text, p_prefix text, p_expires_at timestamptz,
  p_max integer
) returns public.api_keys
language plpgsql volatile set search_path = '' as $$
declare
  v_key public.api_keys;
begin
  -- One at a time for each account: two at once cannot both take the last room.
  perform from public.accounts where id = p_account_id for no key update;
  insert into public.api_keys (account_id, name, hash, prefix, expires_at)
  values (p_account_id, p_name, p_hash, p_prefix, p_expires_at)
  returning * into v_key;
  perform public.require_key_room(p_account_id, p_max);
  return v_key;
end
$$;
comment on function public.create_key is 'Creates an API key. Raises 403 when the account would have more than p_max.';

create function public.rotate_key(
  p_account_id uuid, p_id uuid, p_hash text, p_prefix text, p_grace_seconds integer, p_max integer
) returns public.api_keys
language plpgsql volatile set search_path = '' as $$
declare
  v_old public.api_keys;
  v_new public.api_keys;
begin
  perform from public.accounts where id = p_account_id for no key update;
  select * into v_old from public.api_keys
  where id = p_id and account_id = p_account_id and scope = 'full'
    and (revoked_at is null or revoked_at > now())
  for update;
  if not found then
    raise sqlstate 'PT404' using message = 'Key not found';
  end if;
  if v_old.revoked_at is not null then
    raise sqlstate 'PT409' using message = 'This key has already been rotated';
  end if;
  update public.api_keys set revoked_at = now() + make_interval(secs => p_grace_seconds)
  where id = v_old.id;
  -- The new key lives as long as the old one was meant to.
  insert into public.api_keys (account_id, name, hash, prefix, expires_at)
  values (v_old.account_id, v_old.name, p_hash, p_prefix, now() + (v_old.expires_at - v_old.created_at))
  returning * into v_new;
  -- The old key counts until its grace time ends.
  perform public.require_key_room(p_account_id, p_max);
  return v_new;
end
$$;
comment on function public.rotate_key is 'Replaces an API key, which stays valid for p_grace_seconds. Raises 404 when the account has no such key, 409 when it was rotated before, and 403 when the account would have more than p_max.';

create function public.revoke_key(p_account_id uuid, p_id uuid) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  update public.api_keys k set revoked_at = now()
  where k.id = p_id and k.account_id = p_account_id and k.scope = 'full'
    and (k.revoked_at is null or k.revoked_at > now());
  return found;
end
$$;
comment on function public.revoke_key is 'Revokes a key; false when the account has no such key, or it was revoked before.';

create function public.is_key_in_force(p_key_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select p_key_id is null or exists (
    select from public.api_keys k
    where k.id = p_key_id
      and (k.revoked_at is null or k.revoked_at > now())
      and (k.expires_at is null or k.expires_at > now()))
$$;
comment on function public.is_key_in_force is 'Returns whether the key still authenticates; true for null, the absence of a key.';

create function public.create_key_of_email(
  p_email text, p_name text, p_hash text, p_prefix text
) returns uuid
language plpgsql volatile set search_path = '' as $$
declare
  v_account_id constant uuid := public.account_of_email(p_email);
begin
  insert into public.api_keys (account_id, name, hash, prefix)
  values (v_account_id, p_name, p_hash, p_prefix);
  return v_account_id;
end
$$;
comment on function public.create_key_of_email is 'Stores a new API key of an e-mail address, whose account is made on first sight.';

create function public.create_run_key(
  p_account_id uuid, p_hash text, p_prefix text, p_name text, p_expires_at timestamptz
) returns uuid
language plpgsql volatile set search_path = '' as $$
declare
  v_id uuid;
begin
  if p_hash is null then
    return null;
  end if;
  insert into public.api_keys (account_id, name, hash, prefix, scope, expires_at)
  values (p_account_id, p_name, p_hash, p_prefix, 'run', p_expires_at)
  returning id into v_id;
  return v_id;
end
$$;
comment on function public.create_run_key is 'Stores the credential of a run and answers its id; null when the run has none.';

-- Authentication ----------------------------------------------------------------------------------

create function public.authenticate_bearer(
  p_email text, p_identity_hash text, p_session_id uuid, p_issued_at timestamptz,
  p_account_id uuid, p_organization_id uuid, p_artist_id uuid,
  p_address text, p_address_limit integer, p_account_limit integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_verdict jsonb;
  v_rate jsonb;
begin
  v_verdict := public.authenticate_email(p_email, p_account_id, p_organization_id, p_artist_id,
    p_address, p_address_limit, p_account_limit);
  -- Afterwards: an account that is deleted in between must not be created again.
  if public.has_sign_in_ended(p_session_id, p_identity_hash, p_issued_at) then
    raise sqlstate 'PT401';
  end if;
  return v_verdict;
exception when sqlstate 'PT401' then
  if p_address is not null and p_address_limit > 0 then
    v_rate := public.take_from_bucket('address:' || p_address, p_address_limit);
  end if;
  return jsonb_build_object('outcome', 'unknown');
end
$$;
comment on function public.authenticate_bearer is 'Authenticates a bearer token and returns limits and access as authenticate_email does; {outcome: unknown} when the sign-in has ended.';

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
  v_key public.api_keys;
  v_turn public.turns;
  v_rate jsonb;
begin
  if p_address is not null and p_address_limit > 0 then
    v_rate := public.take_from_bucket('address:' || p_address, p_address_limit);
    if v_rate ->> 'retry_after' is not null then
      return jsonb_build_object('outcome', 'limited', 'by', 'address', 'rate', v_rate);
    end if;
  end if;

  select * into v_key from public.api_keys
  where hash = p_hash
    and (revoked_at is null or revoked_at > now())
    and (expires_at is null or expires_at > now());
  if not found then
    return jsonb_build_object('outcome', 'unknown');
  end if;
  if v_key.scope = 'run' then
    select * into v_turn from public.turns t
    where t.key_id = v_key.id and t.account_id = v_key.account_id
      and t.finished_at is null and t.stop_requested_at is null and public.has_turn_authority(t);
    if not found then
      return jsonb_build_object('outcome', 'unknown');
    end if;
  end if;

  -- At most one write a minute; a caller that finds the row locked skips it.
  if v_key.last_used_at is null or v_key.last_used_at < now() - interval '1 minute' then
    update public.api_keys set last_used_at = now()
    where id in (
      select id from public.api_keys
      where id = v_key.id and (last_used_at is null or last_used_at < now() - interval '1 minute')
      for update skip locked
    );
  end if;

  return jsonb_build_object('key_id', v_key.id, 'scope', v_key.scope,
      'session_id', v_turn.session_id, 'chat_id', v_turn.chat_id)
    || public.admit_account(v_key.account_id, v_key.scope = 'full',
      p_account_id, p_organization_id, p_artist_id, p_account_limit);
end
$$;
comment on function public.authenticate_key is 'Authenticates a key, with its limits and access. A run''s key is valid while its turn is active.';

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
  v_rate jsonb;
begin
  if p_address is not null and p_address_limit > 0 then
    v_rate := public.take_from_bucket('address:' || p_address, p_address_limit);
    if v_rate ->> 'retry_after' is not null then
      return jsonb_build_object('outcome', 'limited', 'by', 'address', 'rate', v_rate);
    end if;
  end if;
  return public.admit_account(public.account_of_email(p_email), true,
    p_account_id, p_organization_id, p_artist_id, p_account_limit);
end
$$;
comment on function public.authenticate_email is 'Authenticates a proved e-mail address: {outcome: limited | known, …}. A limit of 0 is none.';

create function public.admit_account(
  p_own uuid, p_may_switch boolean,
  p_account_id uuid, p_organization_id uuid, p_artist_id uuid, p_account_limit integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_rate jsonb;
begin
  if p_account_limit > 0 then
    v_rate := public.take_from_bucket('account:' || p_own, p_account_limit);
    if v_rate ->> 'retry_after' is not null then
      return jsonb_build_object('outcome', 'limited', 'by', 'account', 'rate', v_rate);
    end if;
  end if;
  return jsonb_build_object(
    'outcome', 'known',
    'account_id', p_own,
    'rate', v_rate,
    'access', public.access_verdicts(
      p_own, p_may_switch, p_account_id, p_organization_id, p_artist_id)
  );
end
$$;
comment on function public.admit_account is 'The second half of both ways of authentication: the rate limit of the account, then access_verdicts.';

-- Sign-in codes -----------------------------------------------------------------------------------

create table public.signup_codes (
  email text primary key check (email = lower(email)),
  code_hash text,
  expires_at timestamptz not null
);

create index signup_codes_expires on public.signup_codes (expires_at);
alter table public.signup_codes enable row level security;
comment on table public.signup_codes is 'The current sign-up code of each e-mail address.';
comment on column public.signup_codes.code_hash is 'HMAC of address and code; null once the code was used or withdrawn.';

-- An email address gets five codes an hour. Each gives five guesses to the network address that requested
-- it and five to all others together: strangers use up only the guesses of strangers, and at most fifty
-- guesses an hour are checked.
create table public.code_tries (
  purpose text not null check (purpose in ('sign-up', 'sign-in')),
  email text not null check (email = lower(email)),
  -- The network address that asked, or what stands for many, 'loopback' and 'unknown'; '*' for all
  -- that did not ask.
  source text not null,
  -- The mails of the last hour that this source asked for, oldest first.
  mailed_at timestamptz[] not null default '{}',
  tries_left integer not null check (tries_left >= 0),
  -- When the tries were given: with the last mail, of this source or, for '*', of any. What is older
  -- than an hour counts no more.
  granted_at timestamptz not null,
  primary key (purpose, email, source)
);

create index code_tries_granted on public.code_tries (granted_at);
alter table public.code_tries enable row level security;
comment on table public.code_tries is 'Mails with codes, and the guesses that each network address has left at one.';

create function public.request_signup_code(
  p_email text, p_code_hash text, p_address text, p_address_limit integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_rate constant jsonb := public.take_signup_rate(p_address, p_address_limit);
  v_now timestamptz;
begin
  if v_rate ->> 'retry_after' is not null then
    return jsonb_build_object('outcome', 'limited', 'rate', v_rate);
  end if;
  if not public.count_code_mail('sign-up', p_email, p_address) then
    return jsonb_build_object('outcome', 'silent', 'rate', v_rate);
  end if;
  -- Granted with the code itself: the earlier code is void from here on.
  perform public.grant_code_tries('sign-up', p_email, p_address);
  v_now := clock_timestamp();
  insert into public.signup_codes (email, code_hash, expires_at)
  values (p_email, p_code_hash, v_now + interval '15 minutes')
  on conflict (email) do update
  set code_hash = excluded.code_hash, expires_at = excluded.expires_at;

  -- One request in a hundred deletes expired codes.
  if random() < 0.01 then
    delete from public.signup_codes where email in (
      select c.email from public.signup_codes c
      where c.expires_at < v_now - interval '1 hour' limit 1000 for update skip locked
    );
  end if;
  return jsonb_build_object('outcome', 'mail', 'rate', v_rate);
end
$$;
comment on function public.request_signup_code is 'Stores a new sign-up code: {outcome: limited | silent | mail, rate}. The mail is to be sent for mail only.';

create function public.verify_signup_code(
  p_email text, p_code_hash text,
  p_key_name text, p_key_hash text, p_key_prefix text,
  p_address text, p_address_limit integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_rate constant jsonb := public.take_signup_rate(p_address, p_address_limit);
  v_code public.signup_codes;
  v_account_id uuid;
begin
  if v_rate ->> 'retry_after' is not null then
    return jsonb_build_object('outcome', 'limited', 'rate', v_rate);
  end if;

  perform public.lock_codes('sign-up', p_email);
  select * into v_code from public.signup_codes where email = p_email;
  if not found or v_code.code_hash is null or v_code.expires_at <= clock_timestamp() then
    return jsonb_build_object('outcome', 'wrong', 'rate', v_rate);
  end if;
  if not public.take_code_try('sign-up', p_email, p_address) then
    return jsonb_build_object('outcome', 'dead', 'rate', v_rate);
  end if;
  if v_code.code_hash <> p_code_hash then
    return jsonb_build_object('outcome', 'wrong', 'rate', v_rate);
  end if;

  update public.signup_codes set code_hash = null where email = p_email;
  v_account_id := public.account_of_email(p_email);
  insert into public.api_keys (account_id, name, hash, prefix)
  values (v_account_id, p_key_name, p_key_hash, p_key_prefix);
  return jsonb_build_object('outcome', 'verified', 'account_id', v_account_id, 'rate', v_rate);
end
$$;
comment on function public.verify_signup_code is 'Exchanges a sign-up code for an account and a key: {outcome: limited | dead | wrong | verified, …}. It never raises, because wrong tries must be kept.';

create function public.withdraw_signup_code(p_email text, p_code_hash text, p_address text)
returns void
language sql volatile set search_path = '' as $$
  select public.withdraw_code_mail('sign-up', p_email, p_address);
  update public.signup_codes set code_hash = null
  where email = p_email and code_hash = p_code_hash;
$$;
comment on function public.withdraw_signup_code is 'Voids a sign-up code whose mail could not be sent.';

create function public.take_signup_rate(p_address text, p_address_limit integer) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  if p_address is null or p_address_limit <= 0 then
    return null;
  end if;
  return public.take_from_bucket('signup:' || p_address, p_address_limit);
end
$$;
comment on function public.take_signup_rate is 'Counts a sign-up request of a network address; null where no limit applies.';

create function public.lock_codes(p_purpose text, p_email text) returns void
language sql volatile set search_path = '' as $$
  select pg_advisory_xact_lock(hashtextextended(p_purpose || ' ' || p_email, 0))
$$;
comment on function public.lock_codes is 'Holds the codes of one e-mail address until the transaction ends.';

create function public.count_code_mail(p_purpose text, p_email text, p_source text)
returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_source constant text := coalesce(p_source, 'unknown');
  v_now timestamptz;
  v_total integer;
  v_own integer;
begin
  perform public.lock_codes(p_purpose, p_email);
  -- Read after the wait for the lock: two concurrent requests must not share a time.
  v_now := clock_timestamp();
  select count(*), count(*) filter (where t.source = v_source) into v_total, v_own
  from public.code_tries t, unnest(t.mailed_at) m
  where t.purpose = p_purpose and t.email = p_email and m > v_now - interval '1 hour';
  if v_total >= 5 or (v_source not in ('loopback', 'unknown') and v_own >= 4) then
    return false;
  end if;
  insert into public.code_tries as t (purpose, email, source, mailed_at, tries_left, granted_at)
  values (p_purpose, p_email, v_source, array[v_now], 0, '-infinity')
  on conflict (purpose, email, source) do update
  set mailed_at = array(select m from unnest(t.mailed_at) m where m > v_now - interval '1 hour') || v_now;
  perform public.forget_code_tries();
  return true;
end
$$;
comment on function public.count_code_mail is 'Counts a mail with a code; false when there were enough.';

create function public.withdraw_code_mail(p_purpose text, p_email text, p_source text)
returns void
language sql volatile set search_path = '' as $$
  select public.lock_codes(p_purpose, p_email);
  with kept as (
    update public.code_tries set mailed_at = trim_array(mailed_at, 1)
    where purpose = p_purpose and email = p_email and source = coalesce(p_source, 'unknown')
      and cardinality(mailed_at) > 1
    returning 1
  )
  delete from public.code_tries
  where purpose = p_purpose and email = p_email and source = coalesce(p_source, 'unknown')
    and not exists (select from kept);
$$;
comment on function public.withdraw_code_mail is 'Takes back a mail that could not be sent.';

create function public.take_code_try(p_purpose text, p_email text, p_source text) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_source text := '*';
  v_taken boolean;
begin
  if exists (
    select from public.code_tries
    where purpose = p_purpose and email = p_email and source = coalesce(p_source, 'unknown')
      and granted_at > v_now - interval '1 hour'
  ) then
    v_source := coalesce(p_source, 'unknown');
  end if;
  -- Where no code was asked for, tries are counted alike: the answers are the same.
  insert into public.code_tries as t (purpose, email, source, tries_left, granted_at)
  values (p_purpose, p_email, v_source, 4, v_now)
  on conflict (purpose, email, source) do update
  set tries_left = case when t.granted_at > v_now - interval '1 hour' then t.tries_left else 5 end - 1,
    granted_at = case when t.granted_at > v_now - interval '1 hour' then t.granted_at else v_now end
  where t.tries_left > 0 or t.granted_at <= v_now - interval '1 hour';
  v_taken := found;
  perform public.forget_code_tries();
  return v_taken;
end
$$;
comment on function public.take_code_try is 'Takes one guess of a network address at the code of an e-mail address; false when it has none.';

-- Called only after a mail was sent: a refused request must not give new guesses at the previous code.
create function public.grant_code_tries(p_purpose text, p_email text, p_source text)
returns void
language sql volatile set search_path = '' as $$
  insert into public.code_tries (purpose, email, source, tries_left, granted_at)
  values (p_purpose, p_email, coalesce(p_source, 'unknown'), 5, clock_timestamp()),
    (p_purpose, p_email, '*', 5, clock_timestamp())
  on conflict (purpose, email, source) do update
  set tries_left = excluded.tries_left, granted_at = excluded.granted_at
$$;
comment on function public.grant_code_tries is 'Gives the tries that come with a mail that went out.';

create function public.forget_code_tries() returns void
language plpgsql volatile set search_path = '' as $$
begin
  if random() >= 0.01 then
    return;
  end if;
  delete from public.code_tries where (purpose, email, source) in (
    select t.purpose, t.email, t.source from public.code_tries t
    where t.granted_at < clock_timestamp() - interval '1 hour'
      and not clock_timestamp() - interval '1 hour' < any (t.mailed_at)
    limit 1000 for update skip locked
  );
end
$$;
comment on function public.forget_code_tries is 'Deletes, one time in a hundred, counts that are older than an hour.';

create function public.list_keys(p_account_id uuid) returns setof public.api_keys
language sql stable set search_path = '' as $$
  select k.* from public.api_keys k
  where k.account_id = p_account_id and k.scope = 'full'
    and (k.revoked_at is null or k.revoked_at > now())
  order by k.created_at desc, k.id
$$;
comment on function public.list_keys is 'The valid keys of the account, newest first, without the keys of runs.';

-- Organizations, their members and invitations, and artists.

create table public.organization_invitations (
  id uuid primary key default gen_random_uuid(),
  organization_id uuid not null references public.accounts (id) on delete cascade,
  invited_by uuid references public.accounts (id) on delete set null,
  email text not null check (email = lower(email)),
  role text not null check (role in ('owner', 'member')),
  status text not null default 'pending'
    check (status in ('pending', 'accepted', 'declined', 'withdrawn')),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);

create unique index organization_invitations_pending
  on public.organization_invitations (organization_id, email) where status = 'pending';
create index organization_invitations_newest
  on public.organization_invitations (organization_id, created_at desc, id desc);
create index organization_invitations_email
  on public.organization_invitations (email, created_at desc, id desc);
create index organization_invitations_inviter
  on public.organization_invitations (invited_by, created_at);
create index organization_invitations_expires on public.organization_invitations (expires_at);
alter table public.organization_invitations enable row level security;
comment on table public.organization_invitations is 'Invitations by e-mail to join an organization. One that has ended stays until it expires, because it counts for the limits of mails.';
comment on column public.organization_invitations.email is 'In lower case. It need not have an account yet, and nothing that a caller sees depends on that.';

-- Organizations -----------------------------------------------------------------------------------

create function public.lock_organization(p_account_id uuid, p_organization_id uuid) returns text
language plpgsql volatile set search_path = '' as $$
begin
  perform from public.accounts
  where id = p_organization_id and kind = 'organization'
  for no key update;
  -- Read after the wait, to see changes of others.
  return public.organization_role(p_account_id, p_organization_id);
end
$$;
comment on function public.lock_organization is 'Locks an organization against other changes of its members, and answers the caller''s role in it.';

create function public.organization_refusal(p_role text) returns jsonb
language sql immutable set search_path = '' as $$
  select case
    when p_role is null then jsonb_build_object('refused', 'missing')
    when p_role <> 'owner' then jsonb_build_object('refused', 'not_owner')
  end
$$;
comment on function public.organization_refusal is 'Why who has this role may not do what only owners may: missing, not_owner; null for an owner.';

create function public.organization_json(p_organization public.accounts, p_role text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'organization_id', p_organization.id,
    'organization_name', coalesce(p_organization.name, ''),
    'image', p_organization.image,
    'role', p_role,
    'created_at', public.iso_date(p_organization.created_at))
$$;
comment on function public.organization_json is 'An organization as a caller with this role sees it.';

create function public.found_organization(p_account_id uuid, p_organization_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce((
    select jsonb_build_object('organization', public.organization_json(o, m.role))
    from public.organization_accounts m
    join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
    where m.organization_id = p_organization_id and m.account_id = p_account_id),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.found_organization is '{organization} for its members, {refused: missing} for everyone else.';

create function public.has_organization_room(p_account_id uuid, p_max integer) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  -- One at a time for each account: two at once cannot both take the last room.
  perform from public.accounts where id = p_account_id for no key update;
  return p_max > (
    select count(*) from public.organization_accounts m
    join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
    where m.account_id = p_account_id);
end
$$;
comment on function public.has_organization_room is 'True while the account belongs to fewer organizations than this; it stays so until the transaction ends.';

create function public.create_organization(
  p_account_id uuid, p_name text, p_max integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_id uuid;
begin
  if not exists (select from public.accounts where id = p_account_id and kind = 'personal') then
    return jsonb_build_object('refused', 'not_personal');
  end if;
  if not public.has_organization_room(p_account_id, p_max) then
    return jsonb_build_object('refused', 'account_full');
  end if;
  insert into public.accounts (kind, name) values ('organization', p_name) returning id into v_id;
  insert into public.organization_accounts (organization_id, account_id, role)
  values (v_id, p_account_id, 'owner');
  return public.found_organization(p_account_id, v_id);
end
$$;
comment on function public.create_organization is 'Makes an organization that the account owns: {organization}, or {refused: not_personal | account_full}.';

create function public.list_organizations(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return public.page_json('items', array(
    select row(o.created_at, o.id, public.organization_json(o, m.role))::public.page_row
    from public.organization_accounts m
    join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
    where m.account_id = p_account_id and (o.created_at, o.id) < (v_after_at, v_after_id)
    order by o.created_at desc, o.id desc
    limit p_limit + 1), p_limit);
end
$$;
comment on function public.list_organizations is 'One page of the account''s organizations, newest first: {items, next}.';

create function public.update_organization(
  p_account_id uuid, p_organization_id uuid, p_name text, p_image text, p_clear_image boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.organization_refusal(
    public.lock_organization(p_account_id, p_organization_id));
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  update public.accounts a
  set name = coalesce(p_name, a.name),
    image = case when p_clear_image then null else coalesce(p_image, a.image) end,
    updated_at = now()
  where a.id = p_organization_id;
  return public.found_organization(p_account_id, p_organization_id);
end
$$;
comment on function public.update_organization is 'Changes the fields that are not null, for an owner: {organization}, or {refused: missing | not_owner}.';

create function public.delete_organization(p_account_id uuid, p_organization_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.organization_refusal(
    public.lock_organization(p_account_id, p_organization_id));
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  -- Its artists and workspaces that belong to no other account would be out of everyone's reach.
  delete from public.accounts a
  using public.organization_accounts m
  where m.organization_id = p_organization_id and a.id = m.account_id
    and a.kind in ('artist', 'workspace')
    and not exists (
      select from public.organization_accounts x
      where x.account_id = a.id and x.organization_id <> p_organization_id);
  delete from public.accounts where id = p_organization_id;
  return jsonb_build_object('done', true);
end
$$;
comment on function public.delete_organization is 'Deletes an organization with its artists and workspaces, for an owner: {done}, or {refused: missing | not_owner}.';

-- Members -----------------------------------------------------------------------------------------

create function public.list_organization_members(
  p_account_id uuid, p_organization_id uuid,
  p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  if public.organization_role(p_account_id, p_organization_id) is null then
    return jsonb_build_object('refused', 'missing');
  end if;
  return public.page_json('items', array(
    select row(m.created_at, a.id, jsonb_build_object(
      'account_id', a.id, 'email', a.email, 'name', a.name, 'role', m.role))::public.page_row
    from public.organization_accounts m
    join public.accounts a on a.id = m.account_id and a.kind = 'personal'
    where m.organization_id = p_organization_id and (m.created_at, a.id) < (v_after_at, v_after_id)
    order by m.created_at desc, a.id desc
    limit p_limit + 1), p_limit);
end
$$;
comment on function public.list_organization_members is 'One page of the people of an organization, newest first: {items, next}, or {refused: missing}.';

create function public.is_last_owner(p_organization_id uuid, p_member_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select from public.organization_accounts m
    where m.organization_id = p_organization_id and m.account_id = p_member_id
      and m.role = 'owner')
  and not exists (
    select from public.organization_accounts m
    where m.organization_id = p_organization_id and m.account_id <> p_member_id
      and m.role = 'owner')
$$;
comment on function public.is_last_owner is 'True when the organization would have no owner without this account.';

create function public.refuse_member_change(
  p_account_id uuid, p_organization_id uuid, p_member_id uuid, p_loses_owner boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_role constant text := public.lock_organization(p_account_id, p_organization_id);
begin
  if v_role is null then
    return jsonb_build_object('refused', 'missing');
  end if;
  if not exists (
    select from public.organization_accounts m
    join public.accounts a on a.id = m.account_id and a.kind = 'personal'
    where m.organization_id = p_organization_id and m.account_id = p_member_id)
  then
    return jsonb_build_object('refused', 'missing_member');
  end if;
  -- Everyone may leave; all other changes are the owners'.
  if v_role <> 'owner' and not (p_loses_owner and p_member_id = p_account_id) then
    return jsonb_build_object('refused', 'not_owner');
  end if;
  if p_loses_owner and public.is_last_owner(p_organization_id, p_member_id) then
    return jsonb_build_object('refused', 'last_owner');
  end if;
  return null;
end
$$;
comment on function public.refuse_member_change is 'Locks the organization, and answers why the caller may not change a member: {refused: missing | missing_member | not_owner | last_owner}, or null.';

create function public.set_organization_role(
  p_account_id uuid, p_organization_id uuid, p_member_id uuid, p_role text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.refuse_member_change(
    p_account_id, p_organization_id, p_member_id, p_role <> 'owner');
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  update public.organization_accounts m set role = p_role, updated_at = now()
  where m.organization_id = p_organization_id and m.account_id = p_member_id;
  return (
    select jsonb_build_object('member', jsonb_build_object(
      'account_id', a.id, 'email', a.email, 'name', a.name, 'role', p_role))
    from public.accounts a where a.id = p_member_id);
end
$$;
comment on function public.set_organization_role is 'Changes the role of a member: {member}, or as refuse_member_change.';

create function public.remove_organization_member(
  p_account_id uuid, p_organization_id uuid, p_member_id uuid
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.refuse_member_change(
    p_account_id, p_organization_id, p_member_id, true);
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  delete from public.organization_accounts
  where organization_id = p_organization_id and account_id = p_member_id;
  return jsonb_build_object('done', true);
end
$$;
comment on function public.remove_organization_member is 'Removes a member, or lets the caller leave: {done}, or as refuse_member_change.';

-- Invitations -------------------------------------------------------------------------------------

create function public.invitation_json(p_invitation public.organization_invitations) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', p_invitation.id,
    'email', p_invitation.email,
    'role', p_invitation.role,
    'created_at', public.iso_date(p_invitation.created_at),
    'expires_at', public.iso_date(p_invitation.expires_at))
$$;
comment on function public.invitation_json is 'An invitation as the owners of its organization see it.';

create function public.refuse_invitation(
  p_account_id uuid, p_organization_id uuid, p_email text, p_max_pending integer, p_max_a_day integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.organization_refusal(
    public.lock_organization(p_account_id, p_organization_id));
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  if exists (
    select from public.organization_accounts m
    join public.accounts a on a.id = m.account_id and a.kind = 'personal'
    where m.organization_id = p_organization_id and a.email = p_email)
  then
    return jsonb_build_object('refused', 'member');
  end if;
  if p_max_pending <= (
    select count(*) from public.organization_invitations i
    where i.organization_id = p_organization_id and i.status = 'pending' and i.expires_at > now()
      and i.email <> p_email)
  then
    return jsonb_build_object('refused', 'invitations_full');
  end if;
  -- The account's own row serializes its invitations to several organizations.
  perform from public.accounts where id = p_account_id for no key update;
  if p_max_a_day <= (
    select count(*) from public.organization_invitations i
    where i.invited_by = p_account_id and i.created_at > now() - interval '1 day')
  then
    return jsonb_build_object('refused', 'limited');
  end if;
  return null;
end
$$;
comment on function public.refuse_invitation is 'Locks the organization, and answers why the caller may not invite: {refused: missing | not_owner | member | invitations_full | limited}, or null.';

create function public.create_invitation(
  p_account_id uuid, p_organization_id uuid, p_email text, p_role text, p_valid_days integer,
  p_max_pending integer, p_max_a_day integer, p_max_mails_a_day integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.refuse_invitation(
    p_account_id, p_organization_id, p_email, p_max_pending, p_max_a_day);
  v_mails integer;
  v_invitation public.organization_invitations;
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  select count(*) into v_mails from public.organization_invitations i
  where i.email = p_email and i.created_at > now() - interval '1 day';
  update public.organization_invitations i set status = 'withdrawn'
  where i.organization_id = p_organization_id and i.email = p_email and i.status = 'pending';
  insert into public.organization_invitations (organization_id, invited_by, email, role, expires_at)
  values (p_organization_id, p_account_id, p_email, p_role,
    clock_timestamp() + make_interval(days => p_valid_days))
  returning * into v_invitation;
  return jsonb_build_object(
    'invitation', public.invitation_json(v_invitation),
    'mail', v_mails < p_max_mails_a_day,
    'organization_name', (
      select coalesce(o.name, '') from public.accounts o where o.id = p_organization_id),
    'inviter', (select coalesce(a.email, a.name) from public.accounts a where a.id = p_account_id));
end
$$;
comment on function public.create_invitation is 'Invites an address in place of an earlier invitation: {invitation, mail, organization_name, inviter}, or as refuse_invitation. mail is false when the address has had enough mails today.';

create function public.list_organization_invitations(
  p_account_id uuid, p_organization_id uuid,
  p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_refusal constant jsonb := public.organization_refusal(
    public.organization_role(p_account_id, p_organization_id));
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  return public.page_json('items', array(
    select row(i.created_at, i.id, public.invitation_json(i))::public.page_row
    from public.organization_invitations i
    where i.organization_id = p_organization_id and i.status = 'pending' and i.expires_at > now()
      and (i.created_at, i.id) < (v_after_at, v_after_id)
    order by i.created_at desc, i.id desc
    limit p_limit + 1), p_limit);
end
$$;
comment on function public.list_organization_invitations is 'One page of the invitations that are open, newest first, for an owner: {items, next}, or {refused: missing | not_owner}.';

create function public.withdraw_invitation(
  p_account_id uuid, p_organization_id uuid, p_id uuid
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.organization_refusal(
    public.lock_organization(p_account_id, p_organization_id));
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  update public.organization_invitations i set status = 'withdrawn'
  where i.id = p_id and i.organization_id = p_organization_id and i.status = 'pending'
    and i.expires_at > now();
  if not found then
    return jsonb_build_object('refused', 'missing_invitation');
  end if;
  return jsonb_build_object('done', true);
end
$$;
comment on function public.withdraw_invitation is 'Ends an open invitation, for an owner: {done}, or {refused: missing | not_owner | missing_invitation}.';

create function public.list_invitations(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return public.page_json('items', array(
    select row(i.created_at, i.id, public.invitation_json(i) - 'email'
      || jsonb_build_object('organization_name', coalesce(o.name, '')))::public.page_row
    from public.accounts a
    join public.organization_invitations i on i.email = a.email
    join public.accounts o on o.id = i.organization_id
    where a.id = p_account_id and a.kind = 'personal'
      and i.status = 'pending' and i.expires_at > now()
      and (i.created_at, i.id) < (v_after_at, v_after_id)
    order by i.created_at desc, i.id desc
    limit p_limit + 1), p_limit);
end
$$;
comment on function public.list_invitations is 'One page of the open invitations of the account''s address, newest first: {items, next}.';

create function public.take_invitation(
  p_account_id uuid, p_id uuid, p_status text
) returns public.organization_invitations
language sql volatile set search_path = '' as $$
  update public.organization_invitations i set status = p_status
  from public.accounts a
  where a.id = p_account_id and a.kind = 'personal'
    and i.id = p_id and i.email = a.email and i.status = 'pending' and i.expires_at > now()
  returning i.*
$$;
comment on function public.take_invitation is 'Ends an open invitation of the account''s address, and answers it; null when there is none.';

create function public.decline_invitation(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_invitation constant public.organization_invitations :=
    public.take_invitation(p_account_id, p_id, 'declined');
begin
  if v_invitation.id is null then
    return jsonb_build_object('refused', 'missing_invitation');
  end if;
  return jsonb_build_object('done', true);
end
$$;
comment on function public.decline_invitation is 'Declines an invitation of the account''s address: {done}, or {refused: missing_invitation}.';

create function public.accept_invitation(
  p_account_id uuid, p_id uuid, p_max_organizations integer, p_max_members integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_organization_id constant uuid := (
    select i.organization_id from public.organization_invitations i where i.id = p_id);
  v_invitation public.organization_invitations;
  v_full text;
begin
  -- Before the invitation, as those lock who withdraw it.
  perform public.lock_organization(p_account_id, v_organization_id);
  v_invitation := public.take_invitation(p_account_id, p_id, 'accepted');
  if v_invitation.id is null then
    return jsonb_build_object('refused', 'missing_invitation');
  end if;
  -- Only owners invite. The lock keeps the role of the inviter until this transaction ends.
  if public.organization_role(v_invitation.invited_by, v_organization_id) is distinct from 'owner' then
    update public.organization_invitations i set status = 'withdrawn' where i.id = p_id;
    return jsonb_build_object('refused', 'missing_invitation');
  end if;
  if p_max_members <= (
    select count(*) from public.organization_accounts m
    join public.accounts a on a.id = m.account_id and a.kind = 'personal'
    where m.organization_id = v_organization_id)
  then
    v_full := 'organization_full';
  elsif not public.has_organization_room(p_account_id, p_max_organizations) then
    v_full := 'account_full';
  end if;
  if v_full is not null then
    update public.organization_invitations i set status = 'pending' where i.id = p_id;
    return jsonb_build_object('refused', v_full);
  end if;
  insert into public.organization_accounts (organization_id, account_id, role)
  values (v_organization_id, p_account_id, v_invitation.role)
  on conflict (organization_id, account_id) do nothing;
  return public.found_organization(p_account_id, v_organization_id);
end
$$;
comment on function public.accept_invitation is 'Makes the invited account a member: {organization}, or {refused: missing_invitation | organization_full | account_full}.';

create function public.withdraw_invitations_of_inviter() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  update public.organization_invitations i set status = 'withdrawn'
  where i.organization_id = old.organization_id and i.invited_by = old.account_id
    and i.status = 'pending';
  return null;
end
$$;
comment on function public.withdraw_invitations_of_inviter is 'Trigger of organization_accounts: withdraws the open invitations of an owner who is removed or becomes a member.';
create trigger withdraw_invitations_of_removed after delete on public.organization_accounts
  for each row execute function public.withdraw_invitations_of_inviter();
create trigger withdraw_invitations_of_demoted after update of role on public.organization_accounts
  for each row when (old.role = 'owner' and new.role <> 'owner')
  execute function public.withdraw_invitations_of_inviter();

-- Artists -----------------------------------------------------------------------------------------

create function public.artist_json(p_account_id uuid, p_artist public.accounts)
returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'account_id', p_artist.id,
    'name', coalesce(p_artist.name, ''),
    'label', p_artist.label,
    'image', p_artist.image,
    'catalog_artist_id', p_artist.catalog_artist_id,
    'organization_id', (
      select l.organization_id
      from public.organization_accounts l
      join public.accounts o on o.id = l.organization_id and o.kind = 'organization'
      where l.account_id = p_artist.id
      -- Of several, one of the caller's.
      order by public.organization_role(p_account_id, o.id) is null, l.created_at, o.id
      limit 1),
    'created_at', public.iso_date(p_artist.created_at))
$$;
comment on function public.artist_json is 'An artist as this account sees it.';

create function public.get_artist(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce((
    select jsonb_build_object('artist', public.artist_json(p_account_id, a))
    from public.accounts a
    where a.id = p_id and a.kind = 'artist' and public.may_act_for(p_account_id, p_id)),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.get_artist is '{artist} for who may act for it, {refused: missing} for everyone else.';

create function public.list_artists(
  p_account_id uuid, p_organization_id uuid,
  p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return public.page_json('items', array(
    with linked as (
      select l.account_id from public.organization_accounts l
      where l.organization_id = p_account_id
        and coalesce(p_organization_id = p_account_id, true)
      union
      select l.account_id
      from public.organization_accounts m
      join public.organization_accounts l on l.organization_id = m.organization_id
      where m.account_id = p_account_id
        and coalesce(m.organization_id = p_organization_id, true)
    )
    select row(a.created_at, a.id, public.artist_json(p_account_id, a))::public.page_row
    from linked
    join public.accounts a on a.id = linked.account_id and a.kind = 'artist'
    where (a.created_at, a.id) < (v_after_at, v_after_id)
    order by a.created_at desc, a.id desc
    limit p_limit + 1), p_limit);
end
$$;
comment on function public.list_artists is 'One page of the artists of the account and of its organizations, or of one of them, newest first: {items, next}.';

create function public.create_artist(
  p_account_id uuid, p_name text, p_label text, p_image text, p_catalog_artist_id text,
  p_organization_id uuid, p_max integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_parent constant uuid := coalesce(p_organization_id, p_account_id);
  v_id uuid;
begin
  -- One at a time for each parent: two at once cannot both take the last room.
  perform from public.accounts where id = v_parent for no key update;
  -- The request was checked before; the membership may have ended since.
  if v_parent <> p_account_id and public.organization_role(p_account_id, v_parent) is null then
    return jsonb_build_object('refused', 'organization');
  end if;
  if p_max <= (
    select count(*) from public.organization_accounts l
    join public.accounts a on a.id = l.account_id and a.kind = 'artist'
    where l.organization_id = v_parent)
  then
    return jsonb_build_object('refused', 'full');
  end if;
  insert into public.accounts (kind, name, label, image, catalog_artist_id)
  values ('artist', p_name, p_label, p_image, p_catalog_artist_id)
  returning id into v_id;
  insert into public.organization_accounts (organization_id, account_id) values (v_parent, v_id);
  return public.get_artist(p_account_id, v_id);
end
$$;
comment on function public.create_artist is 'Creates an artist of an organization, or of the account without one: {artist}, or {refused: organization | full}.';

create function public.update_artist(
  p_account_id uuid, p_id uuid, p_name text, p_label text, p_image text,
  p_catalog_artist_id text, p_clear text[]
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update public.accounts a
  set name = coalesce(p_name, a.name),
    label = case when 'label' = any (p_clear) then null else coalesce(p_label, a.label) end,
    image = case when 'image' = any (p_clear) then null else coalesce(p_image, a.image) end,
    catalog_artist_id = case when not 'catalog_artist_id' = any (p_clear)
      then coalesce(p_catalog_artist_id, a.catalog_artist_id) end,
    updated_at = now()
  where a.id = p_id and a.kind = 'artist' and public.may_act_for(p_account_id, p_id);
  return public.get_artist(p_account_id, p_id);
end
$$;
comment on function public.update_artist is 'Changes the fields that are not null and clears the columns of p_clear (label, image, catalog_artist_id): {artist}, or {refused: missing}.';

create function public.delete_artist(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_found constant jsonb := public.get_artist(p_account_id, p_id);
begin
  if v_found ->> 'refused' is not null then
    return v_found;
  end if;
  if not exists (
    select from public.organization_accounts l
    where l.account_id = p_id
      and (l.organization_id = p_account_id
        or public.organization_role(p_account_id, l.organization_id) = 'owner'))
  then
    return jsonb_build_object('refused', 'not_owner');
  end if;
  delete from public.accounts where id = p_id and kind = 'artist';
  return jsonb_build_object('done', true);
end
$$;
comment on function public.delete_artist is 'Deletes an artist with everything that it owns, for the owners of its organization or the account that it belongs to: {done}, or {refused: missing | not_owner}.';

-- Sessions, chats, messages with their branches, feedback and shares.
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
  sandbox_reserved_at timestamptz
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
alter table public.sessions enable row level security;
comment on table public.sessions is 'Sessions: the sandbox and the chats that belong together.';
comment on column public.sessions.sandbox_bytes is 'Bytes of the local sandbox: reserved while a jail runs, measured after it.';
comment on column public.sessions.sandbox_reserved_at is 'Which reservation sandbox_bytes is; null once it is measured.';
comment on column public.sessions.sandbox_state is 'The provider''s reference to the sandbox; null when none is provisioned.';

create function public.words_of_parts(p_parts jsonb) returns text
language sql immutable set search_path = '' as $$
  -- A longer text may have more words than a tsvector holds.
  select left(string_agg(part.value ->> 'text', ' ' order by part.ordinality), 100000)
  from jsonb_array_elements(p_parts) with ordinality as part
  where part.value ->> 'type' = 'text'
$$;
comment on function public.words_of_parts is 'The texts of a message, at most 100,000 characters; null without any.';

-- PostgreSQL would send the client a notice about each word that is too long.
create function public.search_of_parts(p_parts jsonb) returns tsvector
language sql immutable set search_path = '' set client_min_messages = 'warning' as $$
  select to_tsvector('simple'::regconfig, coalesce(public.words_of_parts(p_parts), ''))
$$;
comment on function public.search_of_parts is 'The words of a message for the search. The index messages_words stores it.';

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
  message_bytes bigint not null default 0
);

create index chats_session_newest on public.chats (session_id, created_at desc, id desc);
create index chats_account_newest on public.chats (account_id, created_at desc, id desc);
create index chats_pinned on public.chats (account_id, created_at desc, id desc)
  where pinned;
create index chats_archived on public.chats (account_id, created_at desc, id desc)
  where archived;
create index chats_listed on public.chats (account_id, created_at desc, id desc)
  where not archived and not pinned;
alter table public.chats enable row level security;
comment on table public.chats is 'Conversations of a session.';
comment on column public.chats.account_id is 'The account of the session, repeated for the predicate of every query.';
comment on column public.chats.active_stream_id is 'Null when idle, pending:<turn id> while a request claims the chat, then the run id of its turn.';
comment on column public.chats.claimed_at is 'When the claim was made. A pending claim counts for 60 seconds.';
comment on column public.chats.archived is 'Whether the account has archived the chat.';
comment on column public.chats.pinned is 'Whether the account has pinned the chat.';
comment on column public.chats.instructions is 'The account''s instructions to the agent in this chat; null for none.';
comment on column public.chats.template_id is 'The agent template whose prompt instructs the agent in this chat. No foreign key, because the deletion of a public template would lock the chats of every account that uses it: a template that is gone, or that the account no longer sees, has no effect.';
comment on column public.chats.message_bytes is 'Bytes of its messages on all branches, and of queued messages.';

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
  primary key (chat_id, id)
);

create index messages_chat_order on public.messages (chat_id, created_at, id);
create index messages_words on public.messages
  using gin (public.search_of_parts(parts));
alter table public.messages enable row level security;
comment on table public.messages is 'Stored messages of chats, in the order of created_at and id.';
comment on column public.messages.created_at is 'From the clock and not from the start of the transaction, to keep the order of messages.';
comment on column public.messages.parent_id is 'The id of the message that it follows; empty for the first of the conversation. Null in messages stored without one: each follows the message before it in time.';
comment on column public.messages.on_path is 'Whether it is on the path that the chat shows. The newest message on the path is its leaf.';
comment on column public.messages.sent_digest is 'SHA-256 of the parts as they were sent, of a message whose parts were replaced when its files were stored; else null.';
comment on column public.messages.bytes is 'Size of parts and metadata, before compression.';

create table public.message_usage (
  account_id uuid primary key references public.accounts (id) on delete cascade,
  bytes bigint not null default 0 check (bytes >= 0)
);
alter table public.message_usage enable row level security;
comment on table public.message_usage is 'Bytes of messages of each account, kept by triggers on chats.';

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
alter table public.message_feedback enable row level security;
comment on table public.message_feedback is 'Ratings of answers. No row stands for none.';
comment on column public.message_feedback.account_id is 'The account of the chat.';
comment on column public.message_feedback.chat_id is 'The chat, with which it is deleted.';
comment on column public.message_feedback.message_id is 'The answer: an assistant message of the chat, which is deleted only with the chat.';
comment on column public.message_feedback.rating is 'up or down.';
comment on column public.message_feedback.comment is 'What the person added; null for nothing.';
comment on column public.message_feedback.created_at is 'When the answer was first rated.';
comment on column public.message_feedback.updated_at is 'When the rating or the comment last changed.';

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
alter table public.chat_shares enable row level security;
comment on table public.chat_shares is 'Chats that anyone who has the link can read. The token of the link is derived from the id by the server and stored nowhere.';
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
alter table public.shared_messages enable row level security;
comment on table public.shared_messages is 'The messages of a share: texts and names of tools.';
comment on column public.shared_messages.position is 'From 0, oldest first.';

-- Sessions ----------------------------------------------------------------------------------------

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
comment on function public.session_json is 'A session in the shape of the API, with the raw sandbox state. Inlined, hence no search_path.';

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
comment on function public.create_session is 'Creates a session and its first chat: {session, chat}. The caller has checked that the artist may be used.';

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
comment on function public.get_session is 'One session: {session}, or {missing: session}.';

create function public.list_sessions(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- Without a cursor a page starts after the greatest key: each page is one range scan.
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return public.page_json('sessions', array(
    select row(s.created_at, s.id, public.session_json(s))::public.page_row
    from public.sessions s
    where s.account_id = p_account_id and (s.created_at, s.id) < (v_after_at, v_after_id)
    order by s.created_at desc, s.id desc
    limit p_limit + 1), p_limit);
end
$$;
comment on function public.list_sessions is 'One page of the sessions of an account, newest first: {sessions, next}.';

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
  return jsonb_build_object('session', public.session_json(v_session));
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
comment on function public.chat_json is 'A chat in the shape of the API. Inlined, hence no search_path.';

create function public.missing_of_chat(p_account_id uuid, p_session_id uuid) returns text
language sql stable set search_path = '' as $$
  select case when exists (
    select 1 from public.sessions where id = p_session_id and account_id = p_account_id
  ) then 'chat' else 'session' end
$$;
comment on function public.missing_of_chat is 'Names the missing part when a chat was not found in a session: chat or session.';

create function public.create_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text,
  p_instructions text, p_template_id uuid
) returns jsonb
language plpgsql volatile set search_path = '' as $$
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
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('missing', 'template');
  end if;

  insert into public.chats (
    id, session_id, account_id, title, model_id, instructions, template_id)
  values (coalesce(p_chat_id, gen_random_uuid()), p_session_id, p_account_id, p_title, p_model_id,
    nullif(p_instructions, ''), p_template_id)
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
comment on function public.create_chat is 'Creates a chat: {chat} | {missing: session | template} | {conflict: true} for an id of another session''s chat. With an id of the client''s it can be repeated, and answers the chat unchanged.';

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
comment on function public.get_chat is 'One chat: {chat}, or {missing: chat | session}.';

create function public.list_chats(
  p_account_id uuid, p_session_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  perform from public.sessions where id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  return public.page_json('chats', array(
    select row(c.created_at, c.id, public.chat_json(c))::public.page_row
    from public.chats c
    where c.session_id = p_session_id and c.account_id = p_account_id
      and (c.created_at, c.id) < (v_after_at, v_after_id)
    order by c.created_at desc, c.id desc
    limit p_limit + 1), p_limit);
end
$$;
comment on function public.list_chats is 'One page of the chats of a session, newest first: {chats, next}, or {missing: session}.';

create function public.list_account_chats(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid,
  p_artist_id uuid, p_archived boolean, p_pinned boolean, p_text text
) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return public.page_json('chats', array(
    select row(c.created_at, c.id,
      public.chat_json(c) || case when p_text is null then '{}'
        else jsonb_build_object('snippet', public.chat_snippet(c, p_text)) end)::public.page_row
    from public.chats c
    where c.account_id = p_account_id and (c.created_at, c.id) < (v_after_at, v_after_id)
      and (p_archived is null or c.archived = p_archived)
      and (p_pinned is null or c.pinned = p_pinned)
      and (p_artist_id is null or c.session_id in (
        select s.id from public.sessions s
        where s.account_id = p_account_id and s.artist_id = p_artist_id))
      and (p_text is null or c.id in (
        select t.id from public.chats t
        where t.account_id = p_account_id and strpos(lower(t.title), lower(p_text)) > 0
        union
        select t.id from public.messages m
        join public.chats t on t.id = m.chat_id
        where t.account_id = p_account_id
          and public.search_of_parts(m.parts) @@ public.search_query(p_text)))
    order by c.created_at desc, c.id desc
    limit p_limit + 1), p_limit);
end
$$;
comment on function public.list_account_chats is 'A page of an account''s chats, newest first: {chats, next}. A filter that is null does not apply; with p_text each chat has a snippet.';

create function public.active_chats(p_account_id uuid, p_ids uuid[]) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(c.id), '[]') from public.chats c
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

create function public.chat_snippet(p_chat public.chats, p_text text) returns text
language sql stable set search_path = '' as $$
  select coalesce((
    select ts_headline('simple'::regconfig, public.words_of_parts(m.parts),
      public.search_query(p_text), 'StartSel="", StopSel="", MaxWords=24, MinWords=8')
    from public.messages m
    where m.chat_id = p_chat.id
      and public.search_of_parts(m.parts) @@ public.search_query(p_text)
    order by m.created_at desc, m.id desc
    limit 1), p_chat.title)
$$;
comment on function public.chat_snippet is 'The passage of a chat''s newest message that has the words of p_text, else the title.';

create function public.update_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text,
  p_instructions text, p_template_id uuid, p_removes_template boolean,
  p_archived boolean, p_pinned boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
begin
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('missing', 'template');
  end if;
  update public.chats
  set title = coalesce(p_title, title),
    model_id = coalesce(p_model_id, model_id),
    instructions = nullif(coalesce(p_instructions, instructions), ''),
    template_id = case when not p_removes_template then coalesce(p_template_id, template_id) end,
    archived = coalesce(p_archived, archived),
    pinned = coalesce(p_pinned, pinned),
    updated_at = now()
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  returning * into v_chat;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('chat', public.chat_json(v_chat));
end
$$;
comment on function public.update_chat is 'Changes a chat: {chat} | {missing: session | chat | template}. Null leaves a field as it is, empty instructions remove them.';

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
comment on function public.delete_chat is 'Deletes a chat: {chat} as it was, or {missing: chat | session}.';

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
comment on function public.delete_chats is 'Deletes chats of the account, and their sessions without other chats: {deleted, sandboxes}, the ids of the chats and the sandbox states of the sessions.';

-- Stored messages ---------------------------------------------------------------------------------

create function public.chat_body_start(p_chat public.chats) returns text
language sql stable as $$
  select concat('{"chat":', public.chat_json(p_chat),
    ',"isStreaming":', to_json(public.active_stream_id(p_chat) is not null), ',"messages":[')
$$;
comment on function public.chat_body_start is 'The text of a chat''s body before its messages. Inlined, hence no search_path.';

create function public.message_text(p_message public.messages) returns text
language sql stable as $$
  select concat('{"id":', to_json(p_message.id), ',"role":"', p_message.role,
    '","parts":', p_message.parts, ',"metadata":' || p_message.metadata::text,
    ',"createdAt":"', public.iso_date(p_message.created_at), '"}')
$$;
comment on function public.message_text is 'A message as JSON text; not JSON, which would be parsed again. Inlined, hence no search_path.';

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
    select 0 as place, public.chat_body_start(chat.c) as answer from chat where p_after_at is null
    union all
    select page.place, concat(
      case when p_after_at is not null or page.place > 1 then ',' end, public.message_text(page.m))
    from page
    union all
    select 502, coalesce(
      (select concat('after ', to_json(page.created_at) #>> '{}', ' ', page.id) from page
        where page.place < page.total and page.place = (select max(p.place) from page p)),
      ']}')
    from chat
  ) piece
  order by piece.place
$$;
comment on function public.get_chat_body_page is 'The text of a chat with its messages, from the message after (p_after_at, p_after_id) on, null for the start: a row for each message, at most 500 and not many more than p_max_bytes. The last row is the end of the text, or "after <created_at> <id>" of the last message when more follow. No row when the chat is missing.';

-- Branches ----------------------------------------------------------------------------------------

create function public.leaf_of_chat(p_chat_id uuid) returns text
language sql stable set search_path = '' as $$
  select coalesce((
    select m.id from public.messages m
    where m.chat_id = p_chat_id and m.on_path
    order by m.created_at desc, m.id desc
    limit 1), '')
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

create function public.branches_json(p_chat_id uuid) returns jsonb
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
comment on function public.branches_json is 'The messages that a chat shows and that are not the only ones at their place: [{message_id, sibling_ids}], the latter with message_id and oldest first.';

create function public.list_branches(p_account_id uuid, p_session_id uuid, p_chat_id uuid)
returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  perform 1 from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('branches', public.branches_json(p_chat_id));
end
$$;
comment on function public.list_branches is '{branches}, as of branches_json | {missing: session | chat}.';

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
  if public.active_stream_id(v_chat) is not null
    or exists (select from public.queued_turns q where q.chat_id = p_chat_id) then
    return jsonb_build_object('busy', true);
  end if;
  perform public.show_path(p_chat_id, p_message_id, true);
  return jsonb_build_object('branches', public.branches_json(p_chat_id));
end
$$;
comment on function public.choose_branch is 'Shows the path through a message: {branches}, as of branches_json | {busy: true} while a turn is active or waits | {missing: session | chat | message}.';

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

create function public.feedback_json(p_feedback public.message_feedback) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'message_id', p_feedback.message_id,
    'rating', p_feedback.rating,
    'comment', p_feedback.comment,
    'updated_at', public.iso_date(p_feedback.updated_at))
$$;
comment on function public.feedback_json is 'A rating as the API shows it: {message_id, rating, comment, updated_at}.';

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
    select coalesce(jsonb_agg(public.feedback_json(f) order by f.created_at, f.message_id), '[]')
    from public.message_feedback f
    where f.chat_id = p_chat_id and f.account_id = p_account_id));
end
$$;
comment on function public.list_feedback is 'The ratings of a chat''s answers, oldest first: {feedback} | {missing: session | chat}.';

-- Shares ------------------------------------------------------------------------------------------

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
comment on function public.chat_share_json is 'A share as its owner sees it. Inlined, hence no search_path.';

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
comment on function public.share_chat is 'Shares a chat with these messages, [{role, parts}], or replaces the messages of its share: {share} | {missing: session | chat}.';

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
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return public.page_json('shares', array(
    select row(s.created_at, s.id, public.chat_share_json(s))::public.page_row
    from public.chat_shares s
    where s.account_id = p_account_id and (s.created_at, s.id) < (v_after_at, v_after_id)
    order by s.created_at desc, s.id desc
    limit p_limit + 1), p_limit);
end
$$;
comment on function public.list_chat_shares is 'A page of an account''s shares, newest first: {shares, next}.';

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
comment on function public.read_chat_share is 'The public view of a share: {share, messages} from a position, oldest first; null without such a share.';

-- Bytes of stored messages ------------------------------------------------------------------------

-- A new value is not compressed yet, and its size is known without reading it.
create function public.measure_message() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.bytes := pg_column_size(new.parts) + coalesce(pg_column_size(new.metadata), 0);
  return new;
end
$$;
comment on function public.measure_message is 'Sets the bytes of a message.';
create trigger measure_message before insert or update of parts, metadata on public.messages
  for each row execute function public.measure_message();

create function public.count_chat_bytes() returns trigger
language plpgsql set search_path = '' as $$
declare
  v_added jsonb;
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
  -- Without effect for a chat that is being deleted.
  update public.chats c set message_bytes = greatest(0, c.message_bytes + added.value::bigint)
  from jsonb_each_text(v_added) as added
  where c.id = added.key::uuid and added.value::bigint <> 0;
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
language sql stable set search_path = '' as $$
  select case
    when p_max_account_bytes > 0 and exists (
      select from public.message_usage u
      where u.account_id = p_account_id and u.bytes > p_max_account_bytes)
    then 'messages_full'
    when p_max_chat_bytes > 0 and exists (
      select from public.chats c where c.id = p_chat_id and c.account_id = p_account_id
        and c.message_bytes > p_max_chat_bytes)
    then 'chat_full' end
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

-- Agent templates: reusable instructions of an account, private, shared by email or public.

create table public.agent_templates (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  title text not null,
  description text not null,
  prompt text not null,
  tags text[] not null,
  is_private boolean not null,
  favorites_count integer not null default 0 check (favorites_count >= 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Each of the three ways to see a template is a range scan in the order of the list.
create index agent_templates_account_newest
  on public.agent_templates (account_id, created_at desc, id desc);
create index agent_templates_public_newest
  on public.agent_templates (created_at desc, id desc) where not is_private;
alter table public.agent_templates enable row level security;
comment on table public.agent_templates is 'Prompts that accounts save for themselves, share by e-mail address, or publish.';
comment on column public.agent_templates.favorites_count is 'Rows of agent_template_favorites for this template, kept by a trigger.';

-- Only a private template has shares. An address needs no account yet.
create table public.agent_template_shares (
  template_id uuid not null references public.agent_templates (id) on delete cascade,
  email text not null check (email = lower(email)),
  template_created_at timestamptz not null,
  primary key (template_id, email)
);

create index agent_template_shares_email_newest
  on public.agent_template_shares (email, template_created_at desc, template_id desc);
alter table public.agent_template_shares enable row level security;
comment on table public.agent_template_shares is 'E-mail addresses that a private template is shared with; an address needs no account yet.';
comment on column public.agent_template_shares.template_created_at is 'Copied from the template, where it never changes: one index serves the list.';

create table public.agent_template_favorites (
  template_id uuid not null references public.agent_templates (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (template_id, account_id)
);

create index agent_template_favorites_account on public.agent_template_favorites (account_id);
alter table public.agent_template_favorites enable row level security;
comment on table public.agent_template_favorites is 'Which accounts have marked which templates as favorites.';

create function public.can_see_agent_template(
  p_account_id uuid, p_template public.agent_templates
) returns boolean
language sql stable set search_path = '' as $$
  select p_template.account_id = p_account_id
    or not p_template.is_private
    or exists (
      select 1
      from public.agent_template_shares s
      join public.accounts a on a.email = s.email
      where s.template_id = p_template.id and a.id = p_account_id
    )
$$;
comment on function public.can_see_agent_template is 'Whether an account sees a template: its own, a public one, or one that is shared with its address.';

create function public.is_visible_template(p_account_id uuid, p_template_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select 1 from public.agent_templates t
    where t.id = p_template_id and public.can_see_agent_template(p_account_id, t))
$$;
comment on function public.is_visible_template is 'Whether an account may see a template; false for one that does not exist.';

-- One query for all ids, with nothing that is planned again for each row.
create function public.agent_templates_json(p_account_id uuid, p_ids uuid[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(
      jsonb_build_object(
        'id', t.id,
        'title', t.title,
        'description', t.description,
        'prompt', t.prompt,
        'tags', t.tags,
        'creator', jsonb_build_object(
          'id', a.id,
          'name', coalesce(a.name, ''),
          'image', coalesce(a.image, ''),
          -- The admin organization itself, and its members.
          'is_admin', exists (
            select 1 from public.accounts o
            where o.is_admin
              and (
                o.id = a.id
                or exists (
                  select 1 from public.organization_accounts m
                  where m.organization_id = o.id and m.account_id = a.id
                )
              )
          )),
        'is_private', t.is_private,
        'is_favourite', exists (
          select 1 from public.agent_template_favorites f
          where f.template_id = t.id and f.account_id = p_account_id
        ),
        'favorites_count', t.favorites_count,
        'shared_emails', case when t.account_id = p_account_id then
          array(
            select s.email from public.agent_template_shares s
            where s.template_id = t.id order by s.email
          )
          else array[]::text[] end,
        'created_at', public.iso_date(t.created_at),
        'updated_at', public.iso_date(t.updated_at))
      order by t.created_at desc, t.id desc), '[]')
    from public.agent_templates t
    join public.accounts a on a.id = t.account_id
    where t.id = any (p_ids));
end
$$;
comment on function public.agent_templates_json is 'Templates as an account sees them, newest first: only the owner sees the shared addresses.';

create function public.found_agent_template(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'template', public.agent_templates_json(p_account_id, array[p_id]) -> 0)
$$;
comment on function public.found_agent_template is 'The answer {template} of a function that has found its template.';

create function public.list_agent_templates(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_email constant text := (select a.email from public.accounts a where a.id = p_account_id);
  v_times timestamptz[];
  v_ids uuid[];
begin
  with visible as (
    (
      select t.created_at, t.id from public.agent_templates t
      where t.account_id = p_account_id and (t.created_at, t.id) < (v_after_at, v_after_id)
      order by t.created_at desc, t.id desc
      limit p_limit + 1
    ) union (
      select t.created_at, t.id from public.agent_templates t
      where not t.is_private and (t.created_at, t.id) < (v_after_at, v_after_id)
      order by t.created_at desc, t.id desc
      limit p_limit + 1
    ) union (
      select s.template_created_at, s.template_id from public.agent_template_shares s
      where s.email = v_email and (s.template_created_at, s.template_id) < (v_after_at, v_after_id)
      order by s.template_created_at desc, s.template_id desc
      limit p_limit + 1
    )
  )
  select array_agg(page.created_at), array_agg(page.id) into v_times, v_ids
  from (
    select v.created_at, v.id from visible v order by v.created_at desc, v.id desc limit p_limit + 1
  ) page;
  return public.page_json('templates', array(
    select row(v_times[t.place], v_ids[t.place], t.item)::public.page_row
    from jsonb_array_elements(public.agent_templates_json(p_account_id, v_ids))
      with ordinality as t (item, place)
    order by t.place), p_limit);
end
$$;
comment on function public.list_agent_templates is 'One page of the templates that an account sees, newest first: {templates, next}. Own, public and shared templates each come from their own index, so the cost of a page does not grow with the table.';

create function public.get_agent_template(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_template public.agent_templates;
begin
  select * into v_template from public.agent_templates where id = p_id;
  if not found or not public.can_see_agent_template(p_account_id, v_template) then
    return jsonb_build_object('refused', 'missing');
  end if;
  return public.found_agent_template(p_account_id, p_id);
end
$$;
comment on function public.get_agent_template is 'One template: {template}, or {refused: missing}.';

create function public.create_agent_template(
  p_account_id uuid, p_id uuid, p_title text, p_description text, p_prompt text,
  p_tags text[], p_is_private boolean, p_share_emails text[]
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_template public.agent_templates;
begin
  insert into public.agent_templates (id, account_id, title, description, prompt, tags, is_private)
  values (p_id, p_account_id, p_title, p_description, p_prompt, p_tags, p_is_private)
  on conflict (id) do nothing
  returning * into v_template;
  if found then
    perform public.share_agent_template(v_template, p_share_emails);
  else
    select * into strict v_template from public.agent_templates
    where id = p_id and account_id = p_account_id;
  end if;
  return public.found_agent_template(p_account_id, p_id);
end
$$;
comment on function public.create_agent_template is 'Creates a template: {template}. Repeated with the same id, it answers the existing one.';

-- The row stays locked until its shares are written: two concurrent changes leave the addresses of one.
create function public.update_agent_template(
  p_account_id uuid, p_id uuid, p_title text, p_description text, p_prompt text,
  p_tags text[], p_is_private boolean, p_share_emails text[]
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_template public.agent_templates;
begin
  update public.agent_templates
  set title = coalesce(p_title, title),
    description = coalesce(p_description, description),
    prompt = coalesce(p_prompt, prompt),
    tags = coalesce(p_tags, tags),
    is_private = coalesce(p_is_private, is_private),
    updated_at = now()
  where id = p_id and account_id = p_account_id
  returning * into v_template;
  if not found then
    return public.refuse_agent_template(p_account_id, p_id);
  end if;
  if p_share_emails is not null or not v_template.is_private then
    perform public.share_agent_template(v_template, p_share_emails);
  end if;
  return public.found_agent_template(p_account_id, p_id);
end
$$;
comment on function public.update_agent_template is 'Changes a template, each field unless null: {template}, or {refused: missing | not_owner}.';

create function public.delete_agent_template(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql set search_path = '' as $$
begin
  delete from public.agent_templates where id = p_id and account_id = p_account_id;
  if not found then
    return public.refuse_agent_template(p_account_id, p_id);
  end if;
  return jsonb_build_object('deleted', true);
end
$$;
comment on function public.delete_agent_template is 'Deletes a template: {deleted: true}, or {refused: missing | not_owner}.';

create function public.refuse_agent_template(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_template public.agent_templates;
begin
  select * into v_template from public.agent_templates where id = p_id;
  if found and public.can_see_agent_template(p_account_id, v_template) then
    return jsonb_build_object('refused', 'not_owner');
  end if;
  return jsonb_build_object('refused', 'missing');
end
$$;
comment on function public.refuse_agent_template is 'Why an account may not change a template: {refused: missing | not_owner}.';

create function public.share_agent_template(
  p_template public.agent_templates, p_emails text[]
) returns void
language plpgsql set search_path = '' as $$
begin
  delete from public.agent_template_shares s
  where s.template_id = p_template.id and (not p_template.is_private or s.email <> all (p_emails));
  if p_template.is_private then
    insert into public.agent_template_shares (template_id, email, template_created_at)
    select p_template.id, email, p_template.created_at from unnest(p_emails) email
    on conflict do nothing;
  end if;
end
$$;
comment on function public.share_agent_template is 'Replaces the addresses that a template is shared with; a public template has none.';

create function public.set_agent_template_favorite(
  p_account_id uuid, p_id uuid, p_is_favourite boolean
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_template public.agent_templates;
begin
  -- Locked first: a deletion or a change of who may see it comes before or after, not between.
  select * into v_template from public.agent_templates where id = p_id for no key update;
  if not found or not public.can_see_agent_template(p_account_id, v_template) then
    return jsonb_build_object('refused', 'missing');
  end if;
  if p_is_favourite then
    insert into public.agent_template_favorites (template_id, account_id)
    values (p_id, p_account_id)
    on conflict do nothing;
  else
    delete from public.agent_template_favorites
    where template_id = p_id and account_id = p_account_id;
  end if;
  return public.found_agent_template(p_account_id, p_id);
end
$$;
comment on function public.set_agent_template_favorite is 'Marks a template as a favorite, or no longer: {template}, or {refused: missing}.';

-- A trigger, because the deletion of an account removes its favorites and must be counted too.
create function public.count_agent_template_favorite() returns trigger
language plpgsql set search_path = '' as $$
begin
  if tg_op = 'INSERT' then
    update public.agent_templates set favorites_count = favorites_count + 1 where id = new.template_id;
  else
    update public.agent_templates set favorites_count = favorites_count - 1 where id = old.template_id;
  end if;
  return null;
end
$$;
comment on function public.count_agent_template_favorite is 'Trigger: keeps favorites_count, also when the deletion of an account takes its favorites along.';
create trigger count_agent_template_favorite
  after insert or delete on public.agent_template_favorites
  for each row execute function public.count_agent_template_favorite();

create function public.chat_instructions(p_account_id uuid, p_chat_id uuid) returns text
language sql stable set search_path = '' as $$
  select nullif(concat_ws(chr(10) || chr(10), t.prompt, c.instructions), '')
  from public.chats c
  left join public.agent_templates t
    on t.id = c.template_id and public.can_see_agent_template(p_account_id, t)
  where c.id = p_chat_id and c.account_id = p_account_id
$$;
comment on function public.chat_instructions is 'What instructs the agent in a chat: the prompt of its template, then its own text; null for nothing.';

-- Turns: the claim of a chat, the steps of its run, the end, and messages that wait in the queue.
--
-- Locks are taken in one order: the account, its chats by id, their turns, the session.

create table public.turns (
  id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  session_id uuid not null references public.sessions (id) on delete cascade,
  chat_id uuid not null references public.chats (id) on delete cascade,
  run_id text unique,
  status text not null default 'queued'
    check (status in ('queued', 'running', 'completed', 'failed', 'cancelled')),
  message_id text not null,
  assistant_message_id text not null,
  model_id text not null,
  context_limit integer check (context_limit > 0),
  headless boolean not null default false,
  history jsonb check (jsonb_typeof(history) = 'array'),
  key_id uuid references public.api_keys (id) on delete set null,
  error text,
  stop_requested_at timestamptz,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  effect_id uuid,
  kind text not null default 'chat' check (kind in ('chat', 'headless', 'task')),
  artist_id uuid,
  caller_key_id uuid,
  instructions text,
  webhook_url text,
  loads integer not null default 0,
  reserved_usd numeric not null default 0,
  reserved_until timestamptz
);

create index turns_chat_newest on public.turns (chat_id, created_at desc);
create index turns_session on public.turns (session_id);
create index turns_account on public.turns (account_id, created_at desc);
create index turns_key on public.turns (key_id) where key_id is not null;
create unique index turns_effect on public.turns (effect_id) where effect_id is not null;
create index turns_unstarted on public.turns (created_at)
  where headless and run_id is null and finished_at is null;
create index turns_unfinished on public.turns (account_id) where finished_at is null;
create index turns_by_status on public.turns (account_id, status, created_at desc, id desc);
create index turns_by_kind on public.turns (account_id, kind, created_at desc, id desc);
create index turns_by_artist on public.turns (account_id, artist_id, created_at desc, id desc)
  where artist_id is not null;
alter table public.turns enable row level security;
comment on table public.turns is 'Chat turns: one row from the claim on a chat to the end of the durable run that answers it.';
comment on column public.turns.id is 'Chosen by the server before anything is written; it also addresses the stream of the turn.';
comment on column public.turns.message_id is 'The message that is answered: the user''s, or the assistant''s whose question was answered.';
comment on column public.turns.assistant_message_id is 'The message that the turn writes.';
comment on column public.turns.context_limit is 'The greatest number of messages that the model is given; null for no limit of the caller''s.';
comment on column public.turns.history is 'The conversation that the client sent in place of the stored one; null once the turn has ended.';
comment on column public.turns.key_id is 'The credential that the sandbox of the turn calls back with.';
comment on column public.turns.effect_id is 'Identifies a repeated request; null where a repetition starts another turn.';
comment on column public.turns.kind is 'chat for a message of a conversation, headless for POST /api/chat/runs, task for a scheduled prompt.';
comment on column public.turns.artist_id is 'The artist of the session when the turn started. No foreign key: usage outlives the artist.';
comment on column public.turns.caller_key_id is 'The API key that started the turn; null for a bearer and for a schedule. No foreign key: usage outlives the key.';
comment on column public.turns.instructions is 'The instructions of the chat when the turn started: the template''s prompt and the chat''s own text; null for none.';
comment on column public.turns.webhook_url is 'Told of the end of the turn, besides the webhooks of the account.';
comment on column public.turns.loads is 'How often a process has loaded the turn to continue it. Only the newest load records steps and the end.';
comment on column public.turns.reserved_usd is 'The estimated cost of the model calls in flight, while the turn is active and until reserved_until.';
comment on column public.turns.reserved_until is 'When the calls in flight have failed, because no model call takes as long.';

create table public.turn_steps (
  turn_id uuid not null references public.turns (id) on delete cascade,
  index integer not null check (index >= 0),
  result jsonb not null,
  primary key (turn_id, index)
);
alter table public.turn_steps enable row level security;
comment on table public.turn_steps is 'The results of the model calls of a running turn, in the form that the next call is given.';

create table public.tool_runs (
  turn_id uuid not null references public.turns (id) on delete cascade,
  tool_call_id text not null,
  finished boolean not null default false,
  output jsonb,
  started_at timestamptz default clock_timestamp(),
  finished_at timestamptz,
  primary key (turn_id, tool_call_id)
);
alter table public.tool_runs enable row level security;
comment on table public.tool_runs is 'The tool calls of a running turn, recorded before they start and when they end.';
comment on column public.tool_runs.finished is 'False with an unknown outcome when the process died: the call is not repeated.';

create table public.run_traces (
  turn_id uuid primary key references public.turns (id) on delete cascade,
  account_id uuid not null,
  steps jsonb not null,
  created_at timestamptz not null default now()
);

create index run_traces_age on public.run_traces (created_at);
alter table public.run_traces enable row level security;
comment on table public.run_traces is 'The steps of turns that have ended, as of run_steps_json: written once when the turn ends, and deleted by the retention job.';
comment on column public.run_traces.account_id is 'The account of the turn, with which the trace is deleted.';

create type public.turn_claim as (
  account_id uuid,
  session_id uuid,
  chat_id uuid,
  turn_id uuid,
  message_id text,
  parts jsonb,
  parts_before jsonb,
  parent_id text,
  replaces_answer text,
  assistant_message_id text,
  title text,
  default_model_id text,
  context_limit integer,
  history jsonb,
  key_hash text,
  key_prefix text,
  key_name text,
  key_expires_at timestamptz,
  caller_key_id uuid,
  credential text
);
comment on type public.turn_claim is 'A message that a turn is to answer, with all that claim_turn needs; the queue keeps it while the chat is busy.';
comment on column public.turn_claim.parts_before is 'For the answer to a question: the parts that the assistant''s message must still have; else null.';
comment on column public.turn_claim.parent_id is 'The message that it follows, empty for none: it starts a branch, or is answered again. Null for the leaf of the chat.';
comment on column public.turn_claim.replaces_answer is 'The answer that a new one is requested for, empty for any; null unless another one is requested.';
comment on column public.turn_claim.history is 'The conversation that the client sent in place of the stored one; null for none.';
comment on column public.turn_claim.credential is 'The form of the credential that the sandbox of the run gets: key or bearer.';

create table public.queued_turns (
  turn_id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  chat_id uuid not null references public.chats (id) on delete cascade,
  message_id text not null,
  position bigint generated always as identity,
  goes_first boolean not null,
  begun_at timestamptz,
  created_at timestamptz not null default now(),
  bytes integer not null default 0,
  claim public.turn_claim not null check ((claim).credential in ('key', 'bearer')),
  unique (chat_id, message_id)
);

create index queued_turns_account on public.queued_turns (account_id);
alter table public.queued_turns enable row level security;
comment on table public.queued_turns is 'Turns that wait for their chat. Their messages are stored in the chat when they start.';
comment on column public.queued_turns.goes_first is 'Set by an interrupt: goes before all earlier ones.';
comment on column public.queued_turns.begun_at is 'When the chat was claimed for it. The row stays until its run was started.';
comment on column public.queued_turns.bytes is 'Size of the parts and the history of claim, before compression.';

-- Claim -------------------------------------------------------------------------------------------

create function public.claim_turn(
  p_claim jsonb, p_on_busy text, p_max_active integer, p_max_queued integer,
  p_max_account_bytes bigint, p_max_chat_bytes bigint
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_claim public.turn_claim := jsonb_populate_record(null::public.turn_claim, p_claim);
  v_session public.sessions;
  v_chat public.chats;
  v_active public.turns;
  v_message public.messages;
  v_queued public.queued_turns;
  v_waited boolean;
  v_others_wait boolean;
  v_busy jsonb;
  v_answer jsonb;
  v_refusal text;
begin
  -- The account before the chat, as everywhere. The locks make simultaneous claims one after another.
  perform pg_advisory_xact_lock(hashtextextended(v_claim.account_id::text, 20261163));
  select * into v_chat from public.chats
  where id = v_claim.chat_id and session_id = v_claim.session_id and account_id = v_claim.account_id
  for update;
  if not found then
    return jsonb_build_object('outcome',
      public.missing_of_chat(v_claim.account_id, v_claim.session_id) || '_missing');
  end if;
  select * into v_session from public.sessions where id = v_chat.session_id;
  v_active := public.active_turn(v_chat);
  v_waited := exists (select from public.queued_turns where turn_id = v_claim.turn_id);

  if not v_waited then
    -- The same message may have been sent before.
    select * into v_queued from public.queued_turns
    where chat_id = v_chat.id and message_id = v_claim.message_id and begun_at is null;
    if v_claim.parts_before is null then
      select * into v_message from public.messages
      where chat_id = v_chat.id and id = v_claim.message_id and role = 'user';
      if (v_queued.claim).parts <> v_claim.parts
        or (v_message.id is not null and not public.is_same_content(v_message, v_claim.parts))
      then
        return jsonb_build_object('outcome', 'content_differs');
      end if;
      -- With a parent the client asks for another answer.
      if v_message.id is not null and v_claim.parent_id is null then
        v_answer := public.answer_of_message(v_message, v_claim.replaces_answer);
        if v_answer ->> 'outcome' = 'answered' then
          return v_answer;
        elsif v_answer is null then
          v_claim.parent_id := public.parent_of_message(v_message);
        end if;
      end if;
    end if;
    if v_claim.parent_id <> '' and not exists (
      select from public.messages m where m.chat_id = v_chat.id and m.id = v_claim.parent_id)
    then
      return jsonb_build_object('outcome', 'parent_missing');
    end if;
    if exists (
      select from public.messages m
      where m.chat_id = v_chat.id and m.id = v_claim.message_id
        and v_claim.parent_id <> public.parent_of_message(m))
    then
      return jsonb_build_object('outcome', 'parent_differs');
    end if;
  end if;

  -- A chat is busy while a turn is active, and while others wait that go first.
  v_others_wait := not v_waited and exists (
    select from public.queued_turns where chat_id = v_chat.id and begun_at is null);
  -- The turn of a message that has waited ends with the reason instead.
  if v_session.sandbox_state is null and not v_others_wait and not v_waited then
    return jsonb_build_object('outcome', 'sandbox_missing');
  end if;
  if public.active_stream_id(v_chat) is not null and v_active.id is not null then
    v_busy := jsonb_build_object('outcome', 'active', 'turn_id', v_active.id,
      'run_id', v_active.run_id, 'message_id', v_active.message_id);
  elsif public.active_stream_id(v_chat) is not null or v_others_wait then
    v_busy := jsonb_build_object('outcome', 'waiting');
  end if;

  if v_busy is not null then
    if v_queued.turn_id is not null then
      -- It stays queued. The first repetition with interrupt moves it before the others.
      v_answer := jsonb_build_object('outcome', 'queued', 'turn_id', v_queued.turn_id);
      if p_on_busy <> 'interrupt' or v_queued.goes_first then
        return v_answer;
      end if;
      update public.queued_turns set goes_first = true, position = default
      where turn_id = v_queued.turn_id;
    else
      if v_waited or p_on_busy = 'reject' or v_claim.parts_before is not null
        or v_busy ->> 'message_id' = v_claim.message_id
      then
        return v_busy;
      end if;
      if p_max_queued <= (select count(*) from public.queued_turns where chat_id = v_chat.id) then
        return jsonb_build_object('outcome', 'queue_full');
      end if;
      insert into public.queued_turns (turn_id, account_id, chat_id, message_id, goes_first, claim)
      values (v_claim.turn_id, v_claim.account_id, v_chat.id, v_claim.message_id,
        p_on_busy = 'interrupt', v_claim);
      v_answer := jsonb_build_object('outcome', 'queued', 'turn_id', v_claim.turn_id);
    end if;
    if p_on_busy = 'interrupt' then
      update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
      where id = (v_busy ->> 'turn_id')::uuid and finished_at is null;
    end if;
    v_answer := v_busy || v_answer || jsonb_build_object('active_turn_id', v_busy -> 'turn_id');
  else
    if v_chat.active_stream_id is not null then
      -- The request that made this claim died before it started a run.
      perform public.close_turn(v_active.id, 'failed', 'The turn was never started');
    end if;
    -- A user's message, or the answer to a question that an assistant's message still has.
    if v_claim.parts_before is null then
      insert into public.messages (chat_id, id, role, parts, parent_id)
      values (v_chat.id, v_claim.message_id, 'user', v_claim.parts, public.leaf_of_chat(v_chat.id))
      on conflict (chat_id, id) do nothing;
      if not found and not exists (
        select from public.messages m
        where m.chat_id = v_chat.id and m.id = v_claim.message_id and m.role = 'user'
          and public.is_same_content(m, v_claim.parts))
      then
        return jsonb_build_object('outcome', 'id_taken');
      end if;
    else
      update public.messages set parts = v_claim.parts
      where chat_id = v_chat.id and id = v_claim.message_id and role = 'assistant'
        and parts = v_claim.parts_before;
      if not found then
        return jsonb_build_object('outcome', 'answer_stale');
      end if;
    end if;
    -- A message that is answered is shown.
    if v_claim.parent_id is not null then
      update public.messages set parent_id = v_claim.parent_id
      where chat_id = v_chat.id and id = v_claim.message_id
        and parent_id is distinct from v_claim.parent_id;
      perform public.show_path(v_chat.id, v_claim.message_id, false);
    elsif exists (
      select from public.messages
      where chat_id = v_chat.id and id = v_claim.message_id and not on_path)
    then
      perform public.show_path(v_chat.id, v_claim.message_id, true);
    end if;

    insert into public.turns (id, account_id, session_id, chat_id, message_id,
      assistant_message_id, model_id, context_limit, history, key_id, artist_id, caller_key_id)
    values (v_claim.turn_id, v_claim.account_id, v_chat.session_id, v_chat.id, v_claim.message_id,
      v_claim.assistant_message_id, coalesce(nullif(v_chat.model_id, ''), v_claim.default_model_id),
      v_claim.context_limit, v_claim.history,
      public.create_run_key(v_claim.account_id, v_claim.key_hash, v_claim.key_prefix,
        v_claim.key_name, v_claim.key_expires_at),
      v_session.artist_id, v_claim.caller_key_id);
    update public.chats set
      active_stream_id = 'pending:' || v_claim.turn_id,
      claimed_at = clock_timestamp(),
      title = case when title = '' then coalesce(v_claim.title, '') else title end,
      updated_at = now()
    where id = v_chat.id;

    if not v_waited and public.is_budget_reached(v_claim.account_id) then
      raise exception using errcode = 'PT403', message = 'budget_reached';
    end if;
    if p_max_active > 0 and public.count_active_turns(v_claim.account_id) > p_max_active then
      raise exception using errcode = 'PT403', message = 'too_many_turns';
    end if;
    v_answer := jsonb_build_object('outcome', 'claimed');
  end if;

  -- A message that waited, or was stored before, takes no more room.
  if not v_waited and v_queued.turn_id is null then
    v_refusal := public.message_quota_reached(
      v_claim.account_id, v_chat.id, p_max_account_bytes, p_max_chat_bytes);
    if v_refusal is not null then
      raise exception using errcode = 'PT403', message = v_refusal;
    end if;
  end if;
  return v_answer;
exception when sqlstate 'PT403' then
  -- Nothing has changed.
  return jsonb_build_object('outcome', sqlerrm);
end
$$;
comment on function public.claim_turn is 'Claims a chat for a new turn and stores the message that the turn answers. p_claim has the fields of turn_claim, as JSON because not every REST server passes on records. While the chat is busy it queues the turn, unless p_on_busy is reject, and with interrupt stops the active one: {outcome: claimed | queued (turn_id, active_turn_id, run_id) | active (turn_id, run_id, message_id) | waiting | queue_full}. For a message that was sent before also {outcome: answered (turn_id, run_id, message_id) | content_differs}. All other outcomes change nothing: session_missing | chat_missing | sandbox_missing | id_taken | answer_stale | parent_missing | parent_differs | budget_reached | too_many_turns | messages_full | chat_full. A turn that waited is not checked again, except for p_max_active. A limit of 0 is none.';

create function public.active_turn(p_chat public.chats) returns public.turns
language sql stable set search_path = '' as $$
  select t from public.turns t
  where t.chat_id = p_chat.id
    and (t.run_id = p_chat.active_stream_id or 'pending:' || t.id = p_chat.active_stream_id)
$$;
comment on function public.active_turn is 'The turn that a chat is claimed by.';

create function public.count_active_turns(p_account_id uuid) returns bigint
language sql stable set search_path = '' as $$
  select count(*) from public.turns
  where account_id = p_account_id and finished_at is null
    -- A claim whose request died before it started a run is void after this time.
    and (run_id is not null
      or created_at > now() - case when headless then interval '10 minutes' else interval '60 seconds' end)
$$;
comment on function public.count_active_turns is 'The turns of an account that are queued or running, without claims that never became a run.';

create function public.store_file_parts(p_turn_id uuid, p_messages jsonb, p_history jsonb)
returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns
  where id = p_turn_id and finished_at is null for update;
  if not found then
    return;
  end if;
  update public.turns set history = p_history where id = p_turn_id and history is not null;
  -- Of a conversation that the client sent, only the newest message is stored.
  update public.messages m set parts = changed.parts,
    sent_digest = coalesce(m.sent_digest, public.digest_of_parts(m.parts))
  from jsonb_to_recordset(p_messages) as changed(id text, parts jsonb)
  where m.chat_id = v_turn.chat_id and m.id = changed.id and m.role = 'user'
    and (m.id = v_turn.message_id or v_turn.history is null);
end
$$;
comment on function public.store_file_parts is 'Replaces the parts of user messages [{id, parts}] that a running turn has read, and its history where the client sent one. Without effect when the turn has ended.';

create function public.digest_of_parts(p_parts jsonb) returns text
language sql immutable set search_path = '' as $$
  select encode(sha256(convert_to(p_parts::text, 'UTF8')), 'hex')
$$;
comment on function public.digest_of_parts is 'SHA-256 of the parts of a message, in hex.';

create function public.is_same_content(p_message public.messages, p_parts jsonb) returns boolean
language sql stable set search_path = '' as $$
  select case when p_message.sent_digest is null then p_message.parts = p_parts
    else p_message.sent_digest = public.digest_of_parts(p_parts) end
$$;
comment on function public.is_same_content is 'Whether a message was sent with these parts, although the stored parts may name its stored files.';

create function public.parent_of_message(p_message public.messages) returns text
language sql stable set search_path = '' as $$
  select coalesce(p_message.parent_id, (
    select b.id from public.messages b
    where b.chat_id = p_message.chat_id and (b.created_at, b.id) < (p_message.created_at, p_message.id)
    order by b.created_at desc, b.id desc
    limit 1), '')
$$;
comment on function public.parent_of_message is 'The id of the message that a message follows; empty for one that starts the conversation.';

create function public.answer_of_message(
  p_message public.messages, p_replaces_answer text
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_turn public.turns;
  v_answer_id text;
begin
  -- Of several answers the one that the chat shows.
  select t.* into v_turn from public.turns t
  left join public.messages a on a.chat_id = t.chat_id and a.id = t.assistant_message_id
  where t.chat_id = p_message.chat_id and t.message_id = p_message.id
  order by coalesce(a.on_path, false) desc, t.created_at desc
  limit 1;
  if v_turn.id is not null and v_turn.finished_at is null then
    return jsonb_build_object('outcome', 'active');
  end if;
  -- A message whose answer failed or was stopped is answered again.
  if v_turn.status in ('failed', 'cancelled') then
    return null;
  end if;
  select a.id into v_answer_id from public.messages a
  where a.chat_id = p_message.chat_id and a.role = 'assistant' and (
    a.id = v_turn.assistant_message_id
    or (v_turn.id is null and public.parent_of_message(a) = p_message.id))
  order by a.on_path desc, a.created_at desc
  limit 1;
  -- A request for another answer in place of one that is no longer shown is a repeated request.
  if p_replaces_answer is not null and not exists (
    select from public.messages a
    where a.chat_id = p_message.chat_id and a.id = p_replaces_answer and not a.on_path) then
    return null;
  end if;
  return case when v_answer_id is not null then jsonb_build_object(
    'outcome', 'answered', 'turn_id', v_turn.id, 'run_id', v_turn.run_id,
    'message_id', v_answer_id) end;
end
$$;
comment on function public.answer_of_message is 'The response to a user message that is sent again: {outcome: active} while it is being answered, {outcome: answered (turn_id, run_id, message_id)} for its answer, null if it is to be answered again. p_replaces_answer is the id of the answer that a new one is requested for, null for none.';

-- Headless runs -----------------------------------------------------------------------------------

create function public.provision_run(
  p_account_id uuid, p_artist_id uuid, p_effect_id uuid, p_turn_id uuid,
  p_assistant_message_id text, p_title text, p_model_id text, p_messages jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_kind text, p_caller_key_id uuid, p_max_active integer, p_max_account_bytes bigint
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_turn public.turns;
begin
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  perform public.close_unstarted_runs();
  -- Two attempts at one effect come one after the other.
  perform pg_advisory_xact_lock(hashtextextended(p_effect_id::text, 20261120));
  select * into v_turn from public.turns
  where effect_id = p_effect_id and account_id = p_account_id;
  if not found then
    v_turn.id := p_turn_id;
    insert into public.sessions (account_id, artist_id) values (p_account_id, p_artist_id)
    returning id into v_turn.session_id;
    insert into public.chats (session_id, account_id, title, model_id, active_stream_id, claimed_at)
    values (v_turn.session_id, p_account_id, p_title, p_model_id, 'pending:' || p_turn_id, v_now)
    returning id into v_turn.chat_id;
    -- A microsecond apart, to keep their order whatever their ids.
    insert into public.messages (chat_id, id, role, parts, created_at)
    select v_turn.chat_id, m.value ->> 'id', m.value ->> 'role', m.value -> 'parts',
      v_now + m.ordinality * interval '1 microsecond'
    from jsonb_array_elements(p_messages) with ordinality as m;
    insert into public.turns (id, account_id, session_id, chat_id, effect_id, message_id,
      assistant_message_id, model_id, headless, key_id, kind, artist_id, caller_key_id)
    values (p_turn_id, p_account_id, v_turn.session_id, v_turn.chat_id, p_effect_id,
      p_messages -> -1 ->> 'id', p_assistant_message_id, p_model_id, true,
      public.create_run_key(p_account_id, p_key_hash, p_key_prefix, p_key_name, p_key_expires_at),
      p_kind, p_artist_id, p_caller_key_id);
    if public.is_budget_reached(p_account_id) then
      raise exception using errcode = 'PT403', message = 'budget_reached';
    end if;
    if p_max_active > 0 and public.count_active_turns(p_account_id) > p_max_active then
      raise exception using errcode = 'PT403', message = 'too_many_turns';
    end if;
    if public.message_quota_reached(p_account_id, null, p_max_account_bytes, 0) is not null then
      raise exception using errcode = 'PT403', message = 'messages_full';
    end if;
  end if;
  return jsonb_build_object('turn_id', v_turn.id, 'session_id', v_turn.session_id,
    'chat_id', v_turn.chat_id, 'run_id', v_turn.run_id);
exception when sqlstate 'PT403' then
  return jsonb_build_object('refused', sqlerrm);
end
$$;
comment on function public.provision_run is 'Creates session, chat, messages, credential and turn of a headless run, or finds the rows of an earlier attempt at the same effect: {turn_id, session_id, chat_id, run_id}. p_messages is [{id, role, parts}], the last of which is answered. {refused: budget_reached | too_many_turns | messages_full} has changed nothing. A limit of 0 is none.';

create function public.close_unstarted_runs() returns void
language plpgsql set search_path = '' as $$
declare
  v_id uuid;
begin
  for v_id in
    select id from public.turns
    where headless and run_id is null and finished_at is null
      and created_at < now() - interval '10 minutes'
    order by created_at limit 10 for update skip locked
  loop
    perform public.abandon_turn(v_id);
    update public.turns set effect_id = null where id = v_id;
  end loop;
end
$$;
comment on function public.close_unstarted_runs is 'Closes headless turns whose request died before it started their run. Each call closes at most ten.';

create function public.assign_run(p_turn_id uuid, p_run_id text) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  update public.turns set run_id = coalesce(run_id, p_run_id) where id = p_turn_id
  returning * into v_turn;
  update public.chats set active_stream_id = v_turn.run_id
  where id = v_turn.chat_id and active_stream_id = 'pending:' || v_turn.id;
  update public.api_keys set run_id = v_turn.run_id where id = v_turn.key_id;
  return jsonb_build_object('run_id', v_turn.run_id);
end
$$;
comment on function public.assign_run is 'Gives a turn its run; the first of two attempts wins: {run_id}, null when the turn is gone.';

create function public.discard_run(p_turn_id uuid) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns where id = p_turn_id and run_id is null for update;
  if not found then
    return jsonb_build_object('discarded', false);
  end if;
  -- Chats before their session, as everywhere: the other order deadlocks.
  perform 1 from public.chats where session_id = v_turn.session_id order by id for update;
  delete from public.sessions where id = v_turn.session_id;
  delete from public.api_keys where id = v_turn.key_id;
  return jsonb_build_object('discarded', true);
end
$$;
comment on function public.discard_run is 'Deletes what provision_run created, unless the run has started: {discarded}.';

-- Steps -------------------------------------------------------------------------------------------

create function public.lock_chat_of_turn(p_turn_id uuid) returns void
language sql set search_path = '' as $$
  select 1 from public.chats
  where id = (select chat_id from public.turns where id = p_turn_id)
  for update
$$;
comment on function public.lock_chat_of_turn is 'Locks the chat of a turn for the transaction. To be called before the turn itself is locked.';

create function public.load_turn(p_turn_id uuid, p_run_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_session public.sessions;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns where id = p_turn_id for update;
  if not found or coalesce(v_turn.run_id, p_run_id) <> p_run_id then
    return jsonb_build_object('outcome', 'lost');
  end if;
  if v_turn.finished_at is not null then
    return jsonb_build_object(
      'outcome', case when v_turn.run_id is null then 'lost' else 'finished' end,
      'error', v_turn.error,
      'metadata', (select m.metadata from public.messages m
        where m.chat_id = v_turn.chat_id and m.id = v_turn.assistant_message_id));
  end if;

  update public.chats set active_stream_id = p_run_id
  where id = v_turn.chat_id and active_stream_id in ('pending:' || p_turn_id, p_run_id);
  if not found then
    return jsonb_build_object('outcome', 'lost');
  end if;
  -- A headless turn knows its run before the run starts.
  if v_turn.status = 'queued' then
    update public.turns
    set loads = loads + 1, reserved_usd = 0, run_id = p_run_id, status = 'running',
      instructions = public.chat_instructions(account_id, chat_id)
    where id = p_turn_id returning * into v_turn;
    update public.api_keys set run_id = p_run_id where id = v_turn.key_id;
  else
    update public.turns set loads = loads + 1, reserved_usd = 0
    where id = p_turn_id returning * into v_turn;
  end if;

  select * into v_session from public.sessions where id = v_turn.session_id;
  return jsonb_build_object(
    'outcome', 'active',
    'load', v_turn.loads,
    'account_id', v_turn.account_id,
    'session_id', v_turn.session_id,
    'chat_id', v_turn.chat_id,
    'message_id', v_turn.message_id,
    'assistant_message_id', v_turn.assistant_message_id,
    'model_id', v_turn.model_id,
    'instructions', v_turn.instructions,
    'context_limit', v_turn.context_limit,
    'headless', v_turn.headless,
    'has_key', v_turn.key_id is not null,
    'has_budget', public.has_budget(v_turn.account_id),
    'created_at', public.iso_date(v_turn.created_at),
    'stop_requested', v_turn.stop_requested_at is not null,
    'artist_id', v_session.artist_id,
    'sandbox_state', v_session.sandbox_state,
    -- The messages that the chat shows up to and with the one that is answered.
    'history', coalesce(v_turn.history, (
      select coalesce(jsonb_agg(
        jsonb_build_object('id', m.id, 'role', m.role, 'parts', m.parts)
        order by m.created_at, m.id), '[]')
      from public.messages m
      join public.messages newest
        on newest.chat_id = m.chat_id and newest.id = v_turn.message_id
      where m.chat_id = v_turn.chat_id and m.on_path
        and (m.created_at, m.id) <= (newest.created_at, newest.id))),
    'steps', (
      select coalesce(jsonb_agg(s.result order by s.index), '[]')
      from public.turn_steps s where s.turn_id = p_turn_id));
end
$$;
comment on function public.load_turn is 'Turns a claim into the run''s and answers all that the run continues with, at its start and after each crash: {outcome: lost | finished | active, …}.';

create function public.complete_model_call(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_index integer, p_result jsonb,
  p_call_ids text[], p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- Usage counts, even if another process has loaded the turn since.
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('superseded', false, 'stop_requested', true, 'known_calls', '[]'::jsonb);
  end if;
  -- Locked, because the turn must not be loaded again before this is committed.
  perform from public.turns where id = p_turn_id and loads = p_load for share;
  if not found then
    return jsonb_build_object('superseded', true, 'stop_requested', false, 'known_calls', '[]'::jsonb);
  end if;
  -- Nothing of the turn is in flight: its tools have ended before the model call.
  update public.turns set reserved_usd = 0 where id = p_turn_id and reserved_usd > 0;
  insert into public.turn_steps (turn_id, index, result) values (p_turn_id, p_index, p_result)
  on conflict do nothing;
  return jsonb_build_object(
    'stop_requested', exists (
      select from public.turns where id = p_turn_id and stop_requested_at is not null),
    'known_calls', public.start_tools(p_turn_id, p_call_ids),
    'superseded', false,
    'has_budget', public.has_budget(p_account_id));
end
$$;
comment on function public.complete_model_call is 'Records the result and the usage of a model call, and the tool calls that start at once: {superseded, stop_requested, known_calls as of start_tools, has_budget}. Superseded, the turn was loaded again since this load, and only the usage is recorded.';

-- Two processes record the same calls when one was taken for dead: only the process whose row was inserted
-- may run a call.
create function public.start_tools(p_turn_id uuid, p_call_ids text[]) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_fresh text[];
begin
  with fresh as (
    insert into public.tool_runs (turn_id, tool_call_id)
    select p_turn_id, id from unnest(p_call_ids) id order by id
    on conflict do nothing returning tool_call_id)
  select coalesce(array_agg(tool_call_id), '{}') into v_fresh from fresh;
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', r.tool_call_id, 'finished', r.finished, 'output', r.output)), '[]')
    from public.tool_runs r
    where r.turn_id = p_turn_id and r.tool_call_id = any (p_call_ids)
      and r.tool_call_id <> all (v_fresh));
end
$$;
comment on function public.start_tools is 'Records tool calls before they start, and returns the ones recorded earlier, which must not run again: [{id, finished, output}].';

create function public.finish_tool(p_turn_id uuid, p_call_id text, p_output jsonb)
returns jsonb
language sql set search_path = '' as $$
  update public.tool_runs set finished = true, output = p_output, finished_at = clock_timestamp()
  where turn_id = p_turn_id and tool_call_id = p_call_id;
  select '{}'::jsonb
$$;
comment on function public.finish_tool is 'Records the output of a tool call.';

-- End ---------------------------------------------------------------------------------------------

create function public.finish_turn(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_status text, p_error text, p_parts jsonb,
  p_metadata jsonb, p_index integer, p_step jsonb, p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_finishes boolean;
begin
  perform from public.accounts where id = p_account_id for key share;
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns
  where id = p_turn_id and account_id = p_account_id for update;

  -- Usage counts, even if another process has loaded the turn since.
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('superseded', false, 'finished', false, 'webhooks_due', false);
  end if;
  if v_turn.loads <> p_load then
    return jsonb_build_object('superseded', true, 'finished', false, 'webhooks_due', false);
  end if;

  v_finishes := v_turn.finished_at is null;
  if v_finishes then
    -- For the trace, which a trigger keeps before close_turn deletes the steps.
    insert into public.turn_steps (turn_id, index, result)
    select p_turn_id, p_index, p_step where p_step is not null
    on conflict do nothing;
    insert into public.messages (chat_id, id, role, parts, metadata, parent_id)
    values (v_turn.chat_id, v_turn.assistant_message_id, 'assistant', p_parts, p_metadata,
      public.leaf_of_chat(v_turn.chat_id))
    on conflict (chat_id, id) do update set parts = excluded.parts, metadata = excluded.metadata
    where messages.role = 'assistant';
    update public.chats set active_stream_id = null, claimed_at = null,
      last_assistant_message_at = now(), updated_at = now()
    where id = v_turn.chat_id
      and active_stream_id in (v_turn.run_id, 'pending:' || p_turn_id);
    perform public.close_turn(p_turn_id, p_status, p_error);
  end if;
  return jsonb_build_object(
    'superseded', false,
    'finished', v_finishes,
    'webhooks_due', public.has_due_webhooks(p_account_id),
    'awaited_chat_id', (
      select q.chat_id from public.queued_turns q where q.chat_id = v_turn.chat_id limit 1));
end
$$;
comment on function public.finish_turn is 'Stores the assistant''s message with the last step (null if it made no model call) and its usage, releases the claim and closes the turn: {superseded, finished, webhooks_due, awaited_chat_id}. awaited_chat_id is the chat if messages wait in it. It is safe to repeat. Superseded, the turn was loaded again since this load, and only the usage is recorded.';

create function public.close_turn(p_turn_id uuid, p_status text, p_error text) returns void
language plpgsql set search_path = '' as $$
begin
  update public.api_keys k set revoked_at = now()
  from public.turns t where t.id = p_turn_id and k.id = t.key_id and k.revoked_at is null;
  update public.turns set status = p_status, error = p_error, history = null, finished_at = now()
  where id = p_turn_id and finished_at is null;
  delete from public.turn_steps where turn_id = p_turn_id;
  delete from public.tool_runs where turn_id = p_turn_id;
  -- Each turn leaves one dead key behind and clears away a few old ones.
  delete from public.api_keys where id in (
    select id from public.api_keys
    where scope = 'run' and revoked_at < now() - interval '1 day'
    order by revoked_at limit 10 for update skip locked);
end
$$;
comment on function public.close_turn is 'Ends a turn: revokes its credential and deletes its working rows.';

create function public.abandon_turn(p_turn_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns
  where id = p_turn_id and run_id is null and finished_at is null for update;
  if found then
    update public.chats set active_stream_id = null, claimed_at = null
    where id = v_turn.chat_id and active_stream_id = 'pending:' || p_turn_id;
    perform public.close_turn(p_turn_id, 'failed', 'The turn could not be started');
  end if;
  return '{}';
end
$$;
comment on function public.abandon_turn is 'Releases the claim of a turn and ends it, unless its run has started. The message stays.';

-- Also when the turn is deleted with its chat or session before it has ended.
create function public.drop_key_of_turn() returns trigger
language plpgsql set search_path = '' as $$
begin
  delete from public.api_keys where id = old.key_id and scope = 'run';
  return null;
end
$$;
comment on function public.drop_key_of_turn is 'Trigger: the credential of a turn goes with the turn.';
create trigger turns_drop_key after delete on public.turns
for each row when (old.key_id is not null) execute function public.drop_key_of_turn();

create function public.unfinished_turns(p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('turnId', t.id, 'runId', t.run_id)), '[]')
  from (
    select id, run_id from public.turns
    where finished_at is null and run_id is not null and created_at < now() - interval '1 day'
    order by created_at
    limit p_batch
  ) t
$$;
comment on function public.unfinished_turns is 'Turns [{turnId, runId}] that have been unfinished for more than a day, oldest first: their runs may be lost.';

-- Stop --------------------------------------------------------------------------------------------

create function public.find_active_turn(p_account_id uuid, p_chat_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_chat public.chats;
  v_turn public.turns;
begin
  select * into v_chat from public.chats where id = p_chat_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('outcome', 'chat_missing');
  end if;
  if public.active_stream_id(v_chat) is null then
    return jsonb_build_object('outcome', 'idle');
  end if;
  v_turn := public.active_turn(v_chat);
  return jsonb_build_object('outcome', 'active', 'turn_id', v_turn.id, 'run_id', v_turn.run_id);
end
$$;
comment on function public.find_active_turn is 'The turn that a chat is streaming: {outcome: active (turn_id, run_id) | idle | chat_missing}.';

create function public.request_stop(p_account_id uuid, p_chat_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_found jsonb;
begin
  -- First, because none of them may start when the active one ends.
  delete from public.queued_turns
  where chat_id = p_chat_id and account_id = p_account_id and begun_at is null;
  v_found := public.find_active_turn(p_account_id, p_chat_id);
  if v_found ->> 'outcome' = 'active' then
    update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
    where id = (v_found ->> 'turn_id')::uuid and finished_at is null;
    if not found then
      return jsonb_build_object('outcome', 'idle');
    end if;
  end if;
  return v_found;
end
$$;
comment on function public.request_stop is 'Asks the active turn of a chat to stop; answers as find_active_turn.';

create function public.request_session_stop(p_session_id uuid) returns jsonb
language sql set search_path = '' as $$
  with stopped as (
    update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
    where session_id = p_session_id and finished_at is null returning id)
  select coalesce(jsonb_agg(id), '[]') from stopped
$$;
comment on function public.request_session_stop is 'Asks every unfinished turn of a session to stop; answers their ids.';

create function public.request_run_stop(p_account_id uuid, p_run_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  select * into v_turn from public.turns where run_id = p_run_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('outcome', 'missing');
  end if;
  update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
  where id = v_turn.id and finished_at is null;
  return jsonb_build_object('outcome', case when found then 'active' else v_turn.status end,
    'turn_id', v_turn.id);
end
$$;
comment on function public.request_run_stop is 'Asks a run to stop: {outcome: missing | active | completed | failed | cancelled, turn_id}.';

-- Authority of a turn -----------------------------------------------------------------------------

create function public.has_turn_authority(p_turn public.turns) returns boolean
language sql stable set search_path = '' as $$
  select public.is_key_in_force(p_turn.caller_key_id)
    and (p_turn.artist_id is null or public.may_act_for(p_turn.account_id, p_turn.artist_id))
$$;
comment on function public.has_turn_authority is 'Returns whether the key that started the turn is in force, and its account may act for its artist.';

create function public.turns_to_stop(p_ids uuid[]) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(asked.id), '{}') from unnest(p_ids) as asked (id)
  where not exists (
    select from public.turns t
    where t.id = asked.id and t.stop_requested_at is null and public.has_turn_authority(t))
$$;
comment on function public.turns_to_stop is 'Returns the turns whose stop was requested, whose authority has ended, or that no longer exist.';

create function public.check_turn_holder() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  -- A chat outlives its account's access to the artist of its session.
  if new.artist_id is not null and not public.may_act_for(new.account_id, new.artist_id) then
    new.artist_id := null;
  end if;
  -- The key was in force when the message was sent, which may have waited in the queue.
  if not public.is_key_in_force(new.caller_key_id) then
    new.stop_requested_at := now();
  end if;
  return new;
end
$$;
comment on function public.check_turn_holder is 'Trigger of turns: a turn starts without an artist that its account has lost, and is stopped if its key has ended.';
create trigger check_turn_holder before insert on public.turns
  for each row when (new.finished_at is null) execute function public.check_turn_holder();

create function public.stop_turns_of_key() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  delete from public.queued_turns q
  where q.account_id = new.account_id and q.begun_at is null
    and (q.claim).caller_key_id = new.id;
  update public.turns t set stop_requested_at = now()
  where t.account_id = new.account_id and t.caller_key_id = new.id
    and t.finished_at is null and t.stop_requested_at is null;
  return null;
end
$$;
comment on function public.stop_turns_of_key is 'Trigger of api_keys: stops the turns that a revoked key has started, and drops its queued messages.';
create trigger stop_turns_of_key after update of revoked_at on public.api_keys
  for each row when (new.scope = 'full' and new.revoked_at <= now())
  execute function public.stop_turns_of_key();

create function public.stop_turns_without_artist() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  update public.turns t set stop_requested_at = now()
  where t.finished_at is null and t.stop_requested_at is null and t.artist_id is not null
    and (t.account_id in (old.account_id, old.organization_id) or t.artist_id = old.account_id)
    and not public.may_act_for(t.account_id, t.artist_id);
  return null;
end
$$;
comment on function public.stop_turns_without_artist is 'Trigger of organization_accounts: stops the turns for artists that their accounts may no longer act for.';
create trigger stop_turns_without_artist after delete on public.organization_accounts
  for each row execute function public.stop_turns_without_artist();

-- Queued messages ---------------------------------------------------------------------------------

create function public.chats_to_begin(p_limit integer, p_stale_seconds integer) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(distinct q.chat_id), '{}') from (
    select q.chat_id from public.queued_turns q join public.chats c on c.id = q.chat_id
    where q.begun_at < now() - make_interval(secs => p_stale_seconds)
      or (q.begun_at is null and public.active_stream_id(c) is null)
    limit p_limit
  ) q
$$;
comment on function public.chats_to_begin is 'Chats that are free although turns wait in them, because the server died that was to start these.';

create function public.begin_queued_turn(
  p_chat_id uuid, p_max_active integer, p_stale_seconds integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_row public.queued_turns;
  v_outcome text;
begin
  perform pg_advisory_xact_lock(hashtextextended(account_id::text, 20261163))
  from public.chats where id = p_chat_id;
  perform 1 from public.chats where id = p_chat_id for update;
  loop
    select * into v_row from public.queued_turns
    where chat_id = p_chat_id
    order by begun_at is null, goes_first desc,
      case when goes_first then -position else position end
    limit 1 for update;
    if not found then
      return null;
    end if;
    if v_row.begun_at is null then
      v_row.claim.key_expires_at := now() + interval '24 hours';
      v_outcome := public.claim_turn(
        to_jsonb(v_row.claim), 'reject', p_max_active, 0, 0, 0) ->> 'outcome';
    elsif v_row.begun_at > now() - make_interval(secs => p_stale_seconds) then
      return null;
    else
      -- Its server has died before it started the run.
      update public.chats set claimed_at = clock_timestamp()
      where id = p_chat_id and active_stream_id = 'pending:' || v_row.turn_id
        and exists (
          select from public.turns t where t.id = v_row.turn_id and t.finished_at is null);
      v_outcome := case when found then 'claimed' end;
    end if;
    if v_outcome = 'claimed' then
      update public.queued_turns set begun_at = now() where turn_id = v_row.turn_id;
      return jsonb_build_object('turn_id', v_row.turn_id, 'credential', (v_row.claim).credential);
    end if;
    if v_outcome in ('active', 'waiting', 'too_many_turns') then
      return null;
    end if;
    -- It has been started, or its message can no longer be stored.
    delete from public.queued_turns where turn_id = v_row.turn_id;
  end loop;
end
$$;
comment on function public.begin_queued_turn is 'Claims a free chat for the first turn that waits in it: {turn_id, credential}, whose run must then be started; null when there is none. A turn whose run was not started within p_stale_seconds is returned again.';

create function public.dequeue_turn(p_turn_id uuid) returns void
language sql volatile set search_path = '' as $$
  delete from public.queued_turns where turn_id = p_turn_id
$$;
comment on function public.dequeue_turn is 'Notes that the run of a turn that waited was started.';

create function public.queued_turn_state(p_account_id uuid, p_turn_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select case
    when t.run_id is not null then jsonb_build_object('state', 'started', 'run_id', t.run_id)
    when t.finished_at is null and (t.id is not null or q.turn_id is not null)
      then jsonb_build_object('state', 'waiting')
    else jsonb_build_object('state', 'gone') end
  from (select p_turn_id as id, p_account_id as account_id) asked
  left join public.turns t on t.id = asked.id and t.account_id = asked.account_id
  left join public.queued_turns q on q.turn_id = asked.id and q.account_id = asked.account_id
$$;
comment on function public.queued_turn_state is 'What became of a turn that was queued: {state: waiting | started (run_id) | gone}.';

create function public.list_queued_messages(p_account_id uuid, p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select case when c.id is null then jsonb_build_object('refused', 'chat')
    else jsonb_build_object('messages', (
      select coalesce(
        jsonb_agg(
          jsonb_build_object('id', q.message_id, 'parts', (q.claim).parts,
            'created_at', public.iso_date(q.created_at))
          order by q.goes_first desc, case when q.goes_first then -q.position else q.position end),
        '[]')
      from public.queued_turns q
      where q.chat_id = c.id and q.account_id = c.account_id and q.begun_at is null)) end
  from (select 1) one
  left join public.chats c on c.id = p_chat_id and c.account_id = p_account_id
$$;
comment on function public.list_queued_messages is 'The messages that wait in a chat, in the order of their turns: {messages}, or {refused: chat}.';

create function public.remove_queued_message(
  p_account_id uuid, p_chat_id uuid, p_message_id text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- As begin_queued_turn, which would find no turn while the first one is being removed.
  perform 1 from public.chats where id = p_chat_id and account_id = p_account_id for update;
  if not found then
    return jsonb_build_object('refused', 'chat');
  end if;
  delete from public.queued_turns
  where chat_id = p_chat_id and account_id = p_account_id and message_id = p_message_id
    and begun_at is null;
  return case when found then jsonb_build_object('removed', true)
    else jsonb_build_object('refused', 'message') end;
end
$$;
comment on function public.remove_queued_message is 'Drops a queued message: {removed}, or {refused: chat | message}.';

create function public.measure_queued_turn() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.bytes := pg_column_size((new.claim).parts)
    + coalesce(pg_column_size((new.claim).history), 0);
  return new;
end
$$;
comment on function public.measure_queued_turn is 'Sets the bytes of a turn that waits.';
create trigger measure_queued_turn before insert or update of claim on public.queued_turns
  for each row execute function public.measure_queued_turn();
create trigger count_added_queued_turns after insert on public.queued_turns
  referencing new table as new_rows for each statement execute function public.count_chat_bytes();
create trigger count_changed_queued_turns after update on public.queued_turns
  referencing old table as old_rows new table as new_rows
  for each statement execute function public.count_chat_bytes();
create trigger count_removed_queued_turns after delete on public.queued_turns
  referencing old table as old_rows for each statement execute function public.count_chat_bytes();

-- Runs --------------------------------------------------------------------------------------------

create function public.run_json(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'runId', p_turn.run_id,
    'status', p_turn.status,
    'chatId', p_turn.chat_id,
    'sessionId', p_turn.session_id,
    'createdAt', public.iso_date(p_turn.created_at),
    'finishedAt', public.iso_date(p_turn.finished_at),
    'error', p_turn.error)
$$;
comment on function public.run_json is 'A run as GET /api/chat/runs/{runId} has it.';

create function public.run_item_json(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select public.run_json(p_turn) || jsonb_build_object(
    'kind', p_turn.kind,
    'title', (select c.title from public.chats c where c.id = p_turn.chat_id),
    'artist_id', p_turn.artist_id,
    'model_id', p_turn.model_id,
    'usage', jsonb_build_object(
      'input_tokens', coalesce(sum(u.input), 0),
      'output_tokens', coalesce(sum(u.output), 0),
      'total_tokens', coalesce(sum(u.input + u.output), 0)),
    'cost_usd', public.summed_cost(count(*), count(*) filter (where u.cost is null), sum(u.cost)),
    'unpriced_calls', count(*) filter (where u.cost is null),
    'duration_ms', public.duration_ms(p_turn.created_at, p_turn.finished_at))
  from (
    select least(greatest(e.input_tokens, 0), 100000000) as input,
      least(greatest(e.output_tokens, 0), 100000000) as output,
      case when e.cost_usd between 0 and 1000000 then e.cost_usd end as cost
    from public.usage_entries e
    where e.account_id = p_turn.account_id and e.source = p_turn.id::text) u
$$;
comment on function public.run_item_json is 'A run as GET /api/chat/runs lists it.';

create function public.get_run(p_account_id uuid, p_run_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_turn public.turns;
begin
  select * into v_turn from public.turns where run_id = p_run_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', true);
  end if;
  return jsonb_build_object(
    'missing', false,
    'turnId', v_turn.id,
    'run', public.run_json(v_turn));
end
$$;
comment on function public.get_run is 'A turn as the run that its account sees: {missing: false, turnId, run}, or {missing: true}.';

create function public.list_runs(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid,
  p_status text, p_kind text, p_chat_id uuid, p_artist_id uuid, p_since timestamptz
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_page jsonb;
begin
  -- Planned for the given filters, each of which has its index.
  execute $query$
    select public.page_json('runs', array(
      select row(t.created_at, t.id, public.run_item_json(t))::public.page_row
      from public.turns t
      where t.account_id = $1 and t.run_id is not null
        and (t.created_at, t.id) < ($3, $4)
        and ($5 is null or t.status = $5)
        and ($6 is null or t.kind = $6)
        and ($7 is null or t.chat_id = $7)
        and ($8 is null or t.artist_id = $8)
        and ($9 is null or t.created_at >= $9)
      order by t.created_at desc, t.id desc
      limit $2 + 1), $2)
  $query$ into v_page using p_account_id, p_limit,
    coalesce(p_after_at, 'infinity'), coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
    p_status, p_kind, p_chat_id, p_artist_id, p_since;
  return v_page;
end
$$;
comment on function public.list_runs is 'Runs of an account, newest first, of a status, a kind, a chat, an artist and since a time where these are given: {runs, next}.';

create function public.tool_call_json(p_call jsonb, p_run public.tool_runs) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', left(p_call ->> 'id', 200),
    'name', left(p_call ->> 'name', 100),
    'state', case
      when p_run.turn_id is null then 'pending'
      when not p_run.finished then 'running'
      when p_run.output #> '{value,error}' is not null then 'failed'
      else 'completed' end,
    'started_at', public.iso_date(p_run.started_at),
    'finished_at', public.iso_date(p_run.finished_at),
    'duration_ms', public.duration_ms(p_run.started_at, p_run.finished_at),
    'error', left(p_run.output #>> '{value,error}', 500))
$$;
comment on function public.tool_call_json is 'A tool call of a trace, from the call in the model''s answer and its record, if it has one.';

create function public.run_steps_json(p_turn_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'index', s.index,
    'started_at', s.result #> '{trace,startedAt}',
    'finished_at', s.result #> '{trace,finishedAt}',
    'model_id', coalesce(s.result #>> '{trace,modelId}', t.model_id),
    'finish_reason', s.result ->> 'finishReason',
    'usage', jsonb_build_object(
      'input_tokens', coalesce(s.result #> '{usage,inputTokens}', '0'),
      'output_tokens', coalesce(s.result #> '{usage,outputTokens}', '0'),
      'total_tokens', coalesce(s.result #> '{usage,totalTokens}', '0')),
    'cost_usd', s.result #> '{trace,costUsd}',
    'attempts', coalesce(s.result #> '{trace,attempts}', '1'),
    'tool_calls', (
      -- A call is recorded by the next step, under its index.
      select coalesce(jsonb_agg(public.tool_call_json(c.value, r) order by c.ordinality), '[]')
      from jsonb_array_elements(coalesce(s.result -> 'calls', '[]')) with ordinality as c
      left join public.tool_runs r
        on r.turn_id = s.turn_id and r.tool_call_id = (s.index + 1) || ' ' || (c.value ->> 'id'))
    ) order by s.index), '[]')
  from public.turn_steps s join public.turns t on t.id = s.turn_id
  where s.turn_id = p_turn_id
$$;
comment on function public.run_steps_json is 'The steps of a running turn as GET /api/chat/runs/{runId}/steps has them.';

create function public.keep_run_trace() returns trigger
language plpgsql set search_path = '' as $$
begin
  insert into public.run_traces (turn_id, account_id, steps)
  select new.id, new.account_id, public.run_steps_json(new.id)
  where exists (select from public.turn_steps where turn_id = new.id)
  on conflict do nothing;
  return null;
end
$$;
comment on function public.keep_run_trace is 'Keeps the trace of a turn that ends, before its working rows are deleted.';
create trigger turns_keep_trace after update of finished_at on public.turns
for each row when (old.finished_at is null and new.finished_at is not null)
execute function public.keep_run_trace();

create function public.get_run_trace(p_account_id uuid, p_run_id text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'run', public.run_item_json(t) || jsonb_build_object(
      'prompt', (
        select left(public.words_of_parts(m.parts), 10000) from public.messages m
        where m.chat_id = t.chat_id and m.id = t.message_id and m.role = 'user')),
    'steps', coalesce(
      (select r.steps from public.run_traces r where r.turn_id = t.id),
      public.run_steps_json(t.id)))
  from public.turns t
  where t.run_id = p_run_id and t.account_id = p_account_id
$$;
comment on function public.get_run_trace is 'A run with its prompt, and its trace, which is empty when it has expired: {run, steps}. Null when the account has no such run.';

create function public.run_of_turn(p_turn_id uuid) returns text
language sql stable set search_path = '' as $$
  select t.run_id from public.turns t where t.id = p_turn_id
$$;
comment on function public.run_of_turn is 'The run that executes the turn; null before its first step has started.';

-- What model calls and generations cost, and the monthly budget.

create table public.usage_entries (
  account_id uuid not null references public.accounts (id) on delete cascade,
  source text not null,
  step integer not null,
  tool integer not null,
  call integer not null,
  kind text not null check (kind in ('chat', 'headless', 'task', 'image', 'video')),
  model_id text not null,
  api_key_id uuid,
  artist_id uuid,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  images integer not null default 0,
  videos integer not null default 0,
  cost_usd numeric,
  estimated boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (account_id, source, step, tool, call)
);

create index usage_entries_time on public.usage_entries (account_id, created_at);
alter table public.usage_entries enable row level security;
comment on table public.usage_entries is 'What each model call and each generation has used. It outlives the chat, the API key and the artist that it was for.';
comment on column public.usage_entries.source is 'The id of the turn, or the id of the task run of a generation.';
comment on column public.usage_entries.step is 'The index of the step in the turn; 0 for a generation.';
comment on column public.usage_entries.tool is '0 for the step''s own model call; for the calls of a subagent, its number among the tool calls of the step, from 1.';
comment on column public.usage_entries.call is 'The number of the model call within the step or the subagent, from 0.';
comment on column public.usage_entries.cost_usd is 'Null where no price is known.';
comment on column public.usage_entries.estimated is 'Whether the tokens are an estimate, because the answer was cut before the model reported them.';

create table public.usage_months (
  account_id uuid not null references public.accounts (id) on delete cascade,
  month date not null,
  cost_usd numeric not null default 0,
  warned_at timestamptz,
  primary key (account_id, month)
);
alter table public.usage_months enable row level security;
comment on table public.usage_months is 'The cost of an account''s calendar month (UTC): the sum of its usage entries, which the start of a turn compares with the budget.';
comment on column public.usage_months.warned_at is 'When the account was told that it has spent 80 % of its budget.';

create function public.usage_month() returns date
language sql stable set search_path = '' as $$
  select date_trunc('month', now() at time zone 'UTC')::date
$$;
comment on function public.usage_month is 'The first day of the current month (UTC).';

create function public.summed_cost(p_calls bigint, p_unpriced bigint, p_usd numeric) returns numeric
language sql immutable set search_path = '' as $$
  select case when p_calls = 0 or p_unpriced < p_calls then coalesce(p_usd, 0) end
$$;
comment on function public.summed_cost is 'What calls have cost, without the unpriced ones; null, for unknown, when none of them has a price.';

create function public.record_usage(
  p_account_id uuid, p_source text, p_kind text, p_api_key_id uuid, p_artist_id uuid, p_calls jsonb
) returns void
language sql volatile set search_path = '' as $$
  with added as (
    insert into public.usage_entries (account_id, source, kind, api_key_id, artist_id, step, tool, call,
      model_id, input_tokens, output_tokens, images, videos, cost_usd, estimated)
    select p_account_id, p_source, p_kind, p_api_key_id, p_artist_id, c.step, c.tool, c.call,
      left(c.model_id, 200), least(greatest(coalesce(c.input_tokens, 0), 0), 100000000),
      least(greatest(coalesce(c.output_tokens, 0), 0), 100000000),
      coalesce(c.images, 0), coalesce(c.videos, 0),
      case when c.cost_usd between 0 and 1000000 then c.cost_usd end, coalesce(c.estimated, false)
    from jsonb_to_recordset(p_calls) as c (
      step integer, tool integer, call integer, model_id text, input_tokens numeric,
      output_tokens numeric, images integer, videos integer, cost_usd numeric, estimated boolean)
    on conflict do nothing
    returning cost_usd)
  insert into public.usage_months as m (account_id, month, cost_usd)
  select p_account_id, public.usage_month(), sum(a.cost_usd) from added a
  having sum(a.cost_usd) > 0
  on conflict (account_id, month) do update set cost_usd = m.cost_usd + excluded.cost_usd
$$;
comment on function public.record_usage is 'Records calls [{step, tool, call, model_id, …}] of a turn or a generation, each once, and adds their cost to the month.';

create function public.record_turn_usage(p_account_id uuid, p_turn_id uuid, p_calls jsonb)
returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_released constant numeric := (
    select sum((c ->> 'reserved_usd')::numeric) from jsonb_array_elements(p_calls) c);
begin
  perform from public.accounts where id = p_account_id for key share;
  if not found then
    return false;
  end if;
  select * into v_turn from public.turns
  where id = p_turn_id and account_id = p_account_id for key share;
  -- Usage counts also when the chat was deleted.
  perform public.record_usage(p_account_id, p_turn_id::text,
    coalesce(v_turn.kind, 'chat'), v_turn.caller_key_id, v_turn.artist_id, p_calls);
  if v_released > 0 then
    update public.turns set reserved_usd = greatest(0, reserved_usd - v_released)
    where id = v_turn.id;
  end if;
  return v_turn.id is not null;
end
$$;
comment on function public.record_turn_usage is 'Records model calls of a turn, each once, releases their reservation (reserved_usd), and returns whether the turn still exists.';

create function public.report_usage(
  p_account_id uuid, p_from timestamptz, p_to timestamptz, p_group_by text, p_split_by text
) returns jsonb
language sql stable set search_path = '' as $$
  with keyed as (
    select e.source, e.images, e.videos, e.kind in ('image', 'video') as is_generation,
      least(greatest(e.input_tokens, 0), 100000000) as input_tokens,
      least(greatest(e.output_tokens, 0), 100000000) as output_tokens,
      case when e.cost_usd between 0 and 1000000 then e.cost_usd end as cost_usd,
      n.names[array_position(n.groups, p_group_by)] as key,
      n.names[array_position(n.groups, p_split_by)] as part
    from public.usage_entries e
    cross join lateral (select array['day', 'model', 'api_key', 'artist', 'kind'] as groups,
      array[to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD'), e.model_id, e.api_key_id::text,
        e.artist_id::text, e.kind] as names) n
    where e.account_id = p_account_id
      and e.created_at >= coalesce(p_from, public.usage_month()::timestamp at time zone 'UTC')
      and e.created_at < coalesce(p_to, 'infinity')),
  summed as (
    select grouping(k.key) = 1 as is_total, grouping(k.part) = 0 as is_part, k.key, k.part,
      count(distinct k.source) filter (where not k.is_generation) as runs,
      count(*) filter (where not k.is_generation) as steps,
      coalesce(sum(k.input_tokens), 0) as input_tokens,
      coalesce(sum(k.output_tokens), 0) as output_tokens,
      public.summed_cost(
        count(*), count(*) filter (where k.cost_usd is null), sum(k.cost_usd)) as cost_usd,
      count(*) filter (where k.cost_usd is null) as unpriced_calls,
      coalesce(sum(k.images), 0) as images,
      coalesce(sum(k.videos), 0) as videos
    from keyed k group by grouping sets ((k.key, k.part), (k.key), ())),
  items as (
    select * from summed s where not s.is_total and not s.is_part
    order by s.key nulls last limit 1000),
  ranked as (
    select s.*, row_number() over (
      partition by s.key
      order by s.cost_usd desc nulls last, s.input_tokens + s.output_tokens desc, s.part) as place
    from summed s where s.is_part and p_split_by is not null),
  parts as (
    select r.key, jsonb_agg(
      to_jsonb(r) - array['is_total', 'is_part', 'part', 'place'] || jsonb_build_object('key', r.part)
      order by r.place) as list
    from ranked r where r.place <= 20 group by r.key)
  select jsonb_build_object(
    'totals', (
      select to_jsonb(s) - array['is_total', 'is_part', 'key', 'part']
      from summed s where s.is_total),
    'items', (
      select coalesce(jsonb_agg(
        to_jsonb(i) - array['is_total', 'is_part', 'part']
        || case when p_split_by is null then '{}' else jsonb_build_object('parts', p.list) end
        order by i.key nulls last), '[]')
      from items i left join parts p on p.key is not distinct from i.key))
$$;
comment on function public.report_usage is 'The usage of an account from p_from, or else the start of the month, until p_to, or else now: {totals, items [{key, …}]}, with an item for each day (UTC), model, API key, artist or kind, at most 1,000. With p_split_by each item has parts [{key, …}], the costliest first, at most 20. A cost is null when none of the calls has a known price.';

-- Budget ------------------------------------------------------------------------------------------

create function public.is_budget_reached(p_account_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select from public.accounts a
    where a.id = p_account_id and a.monthly_budget_usd <= coalesce((
      select m.cost_usd from public.usage_months m
      where m.account_id = a.id and m.month = public.usage_month()), 0))
$$;
comment on function public.is_budget_reached is 'Whether an account has spent its budget of the month. False without a budget.';

create function public.unspent_budget(p_account_id uuid) returns numeric
language sql stable set search_path = '' as $$
  -- One statement, because a call leaves its reservation and enters the month at the same time.
  select a.monthly_budget_usd
    - coalesce((
      select m.cost_usd from public.usage_months m
      where m.account_id = a.id and m.month = public.usage_month()), 0)
    - coalesce((
      select sum(t.reserved_usd) from public.turns t
      where t.account_id = a.id and t.finished_at is null and t.reserved_until > now()), 0)
    - coalesce((
      select sum(r.reserved_usd) from public.task_runs r
      where r.account_id = a.id and r.lease_until > now()), 0)
  from public.accounts a where a.id = p_account_id
$$;
comment on function public.unspent_budget is 'The rest of the month''s budget after costs and reservations; null without a budget.';

create function public.has_budget(p_account_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select coalesce(
    (select a.monthly_budget_usd is not null from public.accounts a where a.id = p_account_id), false)
$$;
comment on function public.has_budget is 'Whether an account has a budget.';

create function public.reserve_model_call(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_released_usd numeric, p_spent_usd numeric,
  p_estimate_usd numeric
) returns text
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_others numeric;
  v_left numeric;
begin
  -- One check of an account at a time, in the order of claim_turn.
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  select * into v_turn from public.turns
  where id = p_turn_id and account_id = p_account_id and loads = p_load and finished_at is null
  for no key update;
  if not found then
    return 'superseded';
  end if;
  v_others := case when p_released_usd is not null and v_turn.reserved_until > now()
    then greatest(0, v_turn.reserved_usd - p_released_usd) else 0 end;
  update public.turns
  set reserved_usd = v_others + p_spent_usd, reserved_until = now() + interval '40 minutes'
  where id = p_turn_id;
  v_left := public.unspent_budget(p_account_id);
  if v_left is null then
    return 'reserved';
  end if;
  if p_estimate_usd is null and not (
    select a.allow_unpriced_models from public.accounts a where a.id = p_account_id)
  then
    return 'unpriced_model';
  end if;
  -- One call of a turn may exceed the budget; one beside it must fit in.
  if v_left <= 0 or (v_others > 0 and p_estimate_usd > v_left) then
    return 'budget_reached';
  end if;
  update public.turns set reserved_usd = reserved_usd + coalesce(p_estimate_usd, 0)
  where id = p_turn_id;
  return 'reserved';
end
$$;
comment on function public.reserve_model_call is 'Reserves the estimated cost of a model call, in place of p_released_usd, or of all reservations of the turn when that is null, plus the cost of earlier attempts: reserved | budget_reached | unpriced_model, for an estimate of null | superseded, when the turn has ended or was loaded again.';

create function public.warn_of_budget() returns trigger
language plpgsql set search_path = '' as $$
declare
  v_budget constant numeric := (
    select a.monthly_budget_usd from public.accounts a where a.id = new.account_id);
begin
  if v_budget > 0 and new.cost_usd >= 0.8 * v_budget then
    update public.usage_months set warned_at = now()
    where account_id = new.account_id and month = new.month;
    perform public.enqueue_webhook_event(new.account_id, 'budget.warning', jsonb_build_object(
      'month', to_char(new.month, 'YYYY-MM'),
      'monthly_budget_usd', v_budget,
      'cost_usd', new.cost_usd));
  end if;
  return null;
end
$$;
comment on function public.warn_of_budget is 'Queues the event of an account that has spent 80 % of its budget.';
create trigger usage_months_warn after insert or update of cost_usd on public.usage_months
for each row when (new.warned_at is null) execute function public.warn_of_budget();

-- Task runs: images and videos that are generated, and executions of scheduled prompts.

create table public.task_runs (
  id text primary key check (id ~ '^run_[A-Za-z0-9]+$'),
  account_id uuid not null references public.accounts (id) on delete cascade,
  status text not null check (status in (
    'PENDING_VERSION', 'QUEUED', 'DEQUEUED', 'EXECUTING', 'WAITING', 'COMPLETED', 'CANCELED',
    'FAILED', 'CRASHED', 'SYSTEM_FAILURE', 'DELAYED', 'EXPIRED', 'TIMED_OUT')),
  task_identifier text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  idempotency_key text check (char_length(idempotency_key) between 1 and 255),
  version text not null default '1',
  is_test boolean not null default false,
  started_at timestamptz,
  finished_at timestamptz,
  delayed_until timestamptz,
  expired_at timestamptz,
  ttl text,
  tags text[] not null,
  metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
  cost_in_cents double precision,
  base_cost_in_cents double precision,
  duration_ms double precision not null default 0,
  env jsonb not null default '{"id": "embedded", "name": "embedded", "user": "embedded"}',
  depth integer not null default 0,
  batch_id text,
  trigger_function text not null default 'trigger',
  payload jsonb,
  output jsonb,
  error jsonb,
  attempts jsonb not null default '[]' check (jsonb_typeof(attempts) = 'array'),
  schedule jsonb,
  related_runs jsonb not null default '{}',
  lease_until timestamptz,
  effect_id uuid,
  artist_id uuid,
  reserved_usd numeric,
  -- The external task service knows the account of a run only by its tags.
  check (tags @> array['account:' || account_id])
);

create index task_runs_account_newest on public.task_runs (account_id, created_at desc, id desc);
create index task_runs_leased on public.task_runs (account_id) where lease_until is not null;
-- One run for each effect; another may try only after it has failed.
create unique index task_runs_effect on public.task_runs (effect_id)
  where status in ('EXECUTING', 'COMPLETED');
create index task_runs_inputs on public.task_runs (finished_at) where payload is not null;
create index task_runs_lease on public.task_runs (lease_until) where lease_until is not null;
create index task_runs_by_artist on public.task_runs (account_id, artist_id, created_at desc, id desc)
  where artist_id is not null;
alter table public.task_runs enable row level security;
comment on table public.task_runs is 'Runs of the embedded task runner, with a column for each field of the external one''s object.';
comment on column public.task_runs.idempotency_key is 'The Idempotency-Key of the request, as the caller wrote it; null when it had none.';
comment on column public.task_runs.cost_in_cents is 'Null as long as nothing has priced the run: the field is then left out.';
comment on column public.task_runs.base_cost_in_cents is 'Null as long as nothing has priced the run: the field is then left out.';
comment on column public.task_runs.lease_until is 'Until when the process that works on the run has it; null when none does.';
comment on column public.task_runs.effect_id is 'Identifies a repeated request: of the runs with one effect, one succeeds.';
comment on column public.task_runs.artist_id is 'The artist that the work is for, also when it is deleted later; null for none.';
comment on column public.task_runs.reserved_usd is 'The reserved cost of the generation, while the run has a lease; null for none.';

create function public.start_generation(
  p_cost_usd numeric,
  p_artist_id uuid, p_credential_id uuid, p_id text, p_account_id uuid, p_task_identifier text,
  p_payload jsonb, p_metadata jsonb, p_lease_seconds integer, p_effect_id uuid, p_at_once integer,
  p_idempotency_key text, p_media_limit_bytes bigint
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_earlier public.task_runs;
  v_has_budget constant boolean := public.has_budget(p_account_id);
  v_now timestamptz;
begin
  -- One at a time for each account, because the rows that are counted here must not change.
  perform pg_advisory_xact_lock(hashtextextended('task_runs ' || p_account_id, 0));
  perform public.crash_lost_task_runs(p_account_id);

  select * into v_earlier from public.task_runs r
  where r.account_id = p_account_id and r.effect_id = p_effect_id
    and r.status in ('EXECUTING', 'COMPLETED');
  if found then
    return jsonb_build_object(
      'outcome', 'earlier', 'run_id', v_earlier.id, 'output', v_earlier.output);
  end if;

  if p_media_limit_bytes > 0 and exists (
    select from public.media_usage u
    where u.account_id = p_account_id and u.bytes >= p_media_limit_bytes)
  then
    return jsonb_build_object('outcome', 'full');
  end if;
  if p_at_once > 0 and p_at_once <= (
    select count(*) from public.task_runs r
    where r.account_id = p_account_id and r.lease_until is not null)
  then
    return jsonb_build_object('outcome', 'busy');
  end if;
  if v_has_budget then
    perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
    if public.is_budget_reached(p_account_id) then
      return jsonb_build_object('outcome', 'over_budget');
    end if;
    if p_cost_usd is null and not (
      select a.allow_unpriced_models from public.accounts a where a.id = p_account_id)
    then
      return jsonb_build_object('outcome', 'unpriced_model');
    end if;
    if public.unspent_budget(p_account_id) <= 0 then
      return jsonb_build_object('outcome', 'over_budget');
    end if;
  end if;

  v_now := clock_timestamp();
  insert into public.task_runs (
    id, account_id, status, task_identifier, created_at, updated_at, started_at,
    tags, metadata, payload, attempts, lease_until, effect_id, idempotency_key, artist_id,
    reserved_usd)
  values (
    p_id, p_account_id, 'EXECUTING', p_task_identifier, v_now, v_now, v_now,
    array['account:' || p_account_id], p_metadata, p_payload,
    jsonb_build_array(jsonb_build_object(
      'id', replace(p_id, 'run_', 'attempt_'),
      'status', 'EXECUTING',
      'createdAt', public.iso_date(v_now),
      'updatedAt', public.iso_date(v_now),
      'startedAt', public.iso_date(v_now))),
    v_now + make_interval(secs => p_lease_seconds), p_effect_id, p_idempotency_key,
    coalesce(p_artist_id, (
      select t.artist_id from public.turns t
      where t.key_id = p_credential_id and t.account_id = p_account_id)),
    case when v_has_budget then coalesce(p_cost_usd, 0) end);
  return jsonb_build_object('outcome', 'begun');
end
$$;
comment on function public.start_generation is 'Starts a run for an artist, by default the artist of the run whose credential this is, and reserves its cost, null if unknown: {outcome: begun}; {outcome: earlier, run_id, output} when another run has the effect; {outcome: full} when the account has no room for media; {outcome: busy} at its limit of runs; {outcome: over_budget | unpriced_model}. A limit of 0 is none.';

create function public.record_generation(
  p_account_id uuid, p_run_id text, p_kind text, p_credential_id uuid, p_call jsonb
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform from public.accounts where id = p_account_id for key share;
  if not found then
    return;
  end if;
  select * into v_turn from public.turns where key_id = p_credential_id and account_id = p_account_id;
  perform public.record_usage(p_account_id, p_run_id, p_kind,
    case when v_turn.id is null then p_credential_id else v_turn.caller_key_id end,
    coalesce(
      (select r.artist_id from public.task_runs r
        where r.id = p_run_id and r.account_id = p_account_id),
      v_turn.artist_id),
    jsonb_build_array(p_call));
  update public.task_runs
  set reserved_usd = greatest(0, reserved_usd - (p_call ->> 'cost_usd')::numeric)
  where id = p_run_id and account_id = p_account_id and reserved_usd > 0;
end
$$;
comment on function public.record_generation is 'Records images or a video once, for the artist of its task run. Usage under the credential of a run counts for the API key of the run.';

create function public.has_generation_authority(
  p_account_id uuid, p_run_id text, p_credential_id uuid
) returns boolean
language sql stable set search_path = '' as $$
  select not exists (
      -- A run's credential stands for the key that started its turn.
      select from public.api_keys k
      where k.scope = 'full' and not public.is_key_in_force(k.id) and k.id = coalesce(
        (select t.caller_key_id from public.turns t
          where t.key_id = p_credential_id and t.account_id = p_account_id),
        p_credential_id))
    and not exists (
      select from public.task_runs r
      where r.id = p_run_id and r.account_id = p_account_id and r.artist_id is not null
        and not public.may_act_for(p_account_id, r.artist_id))
$$;
comment on function public.has_generation_authority is 'Returns whether the key that asked for the generation is in force, and its account may act for its artist.';

create function public.renew_task_leases(p_ids text[], p_lease_seconds integer) returns void
language sql set search_path = '' as $$
  update public.task_runs
  set lease_until = clock_timestamp() + make_interval(secs => p_lease_seconds)
  where id = any (p_ids) and lease_until is not null
$$;
comment on function public.renew_task_leases is 'Extends the leases of runs that a process works on.';

create function public.note_task_progress(p_id text, p_metadata jsonb) returns void
language sql set search_path = '' as $$
  update public.task_runs
  set metadata = metadata || p_metadata, updated_at = clock_timestamp()
  where id = p_id and lease_until is not null
$$;
comment on function public.note_task_progress is 'Merges metadata into a run that is under way.';

create function public.end_task_run(
  p_id text, p_status text, p_output jsonb, p_error jsonb
) returns boolean
language sql volatile set search_path = '' as $$
  with ended as (
    update public.task_runs r
    set status = p_status,
      output = p_output,
      error = p_error,
      updated_at = at.now,
      finished_at = at.now,
      -- Between the two moments as they are shown: to the millisecond.
      duration_ms = extract(epoch from
        date_trunc('milliseconds', at.now) - date_trunc('milliseconds', r.started_at)) * 1000,
      attempts = jsonb_build_array(
        (r.attempts -> 0)
        || jsonb_build_object(
          'status', case when p_status = 'COMPLETED' then 'COMPLETED' else 'FAILED' end,
          'updatedAt', public.iso_date(at.now),
          'completedAt', public.iso_date(at.now))
        || case when p_error is null then '{}' else jsonb_build_object('error', p_error) end),
      lease_until = null
    from (select clock_timestamp() as now) at
    where r.id = p_id and r.lease_until is not null
    returning r.id, r.status
  )
  -- The space of files that an incomplete run has stored is released.
  delete from public.media_files f using ended
  where f.run_id = ended.id and ended.status <> 'COMPLETED';
  select public.has_due_webhooks((select account_id from public.task_runs where id = p_id))
$$;
comment on function public.end_task_run is 'Ends a run, once: without effect on a run that has ended. Media of a run that did not complete are released. Returns whether a webhook delivery is due.';

-- Called before each read of an account's task runs, so no process needs to watch them.
create function public.crash_lost_task_runs(p_account_id uuid) returns void
language plpgsql set search_path = '' as $$
declare
  v_id text;
begin
  for v_id in
    select id from public.task_runs
    where account_id = p_account_id and lease_until < clock_timestamp()
    for update skip locked
  loop
    perform public.end_task_run(v_id, 'CRASHED', null, jsonb_build_object(
      'message', 'The process that ran this task ended',
      'name', 'TaskRunCrashed',
      'stackTrace', ''));
  end loop;
end
$$;
comment on function public.crash_lost_task_runs is 'Ends the runs of an account whose process no longer renews their lease, as CRASHED.';

create function public.task_run_json(p_run public.task_runs) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_strip_nulls(jsonb_build_object(
      'id', p_run.id,
      'status', p_run.status,
      'taskIdentifier', p_run.task_identifier,
      'createdAt', public.iso_date(p_run.created_at),
      'updatedAt', public.iso_date(p_run.updated_at),
      'idempotencyKey', p_run.idempotency_key,
      'version', p_run.version,
      'isTest', p_run.is_test,
      'startedAt', public.iso_date(p_run.started_at),
      'finishedAt', public.iso_date(p_run.finished_at),
      'delayedUntil', public.iso_date(p_run.delayed_until),
      'expiredAt', public.iso_date(p_run.expired_at),
      'ttl', p_run.ttl,
      'costInCents', p_run.cost_in_cents,
      'baseCostInCents', p_run.base_cost_in_cents,
      'durationMs', p_run.duration_ms,
      'depth', p_run.depth,
      'batchId', p_run.batch_id,
      'triggerFunction', p_run.trigger_function))
    || jsonb_build_object(
      'tags', p_run.tags || case when p_run.artist_id is null then '{}'
        else array['artist:' || p_run.artist_id] end,
      'metadata', p_run.metadata,
      'env', p_run.env,
      'attempts', p_run.attempts,
      'relatedRuns', p_run.related_runs)
    || case when p_run.payload is null then '{}' else jsonb_build_object('payload', p_run.payload) end
    || case when p_run.schedule is null then '{}' else jsonb_build_object('schedule', p_run.schedule) end
$$;
comment on function public.task_run_json is 'A task run without output and error, as the external task service answers it. Inlined, hence no search_path.';

create function public.list_task_runs(p_account_id uuid, p_limit integer) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  perform public.crash_lost_task_runs(p_account_id);
  return (
    select coalesce(
      jsonb_agg(public.task_run_json(r) order by r.created_at desc, r.id desc), '[]')
    from (
      select * from public.task_runs
      where account_id = p_account_id
      order by created_at desc, id desc
      limit p_limit
    ) r);
end
$$;
comment on function public.list_task_runs is 'The runs of an account, newest first, without output and error.';

create function public.list_artist_task_runs(p_account_id uuid, p_artist_id uuid, p_limit integer)
returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  perform public.crash_lost_task_runs(p_account_id);
  return (
    select coalesce(
      jsonb_agg(public.task_run_json(r) order by r.created_at desc, r.id desc), '[]')
    from (
      select * from public.task_runs
      where account_id = p_account_id and artist_id = p_artist_id
      order by created_at desc, id desc
      limit p_limit
    ) r);
end
$$;
comment on function public.list_artist_task_runs is 'The task runs of an account that are for an artist, newest first, as list_task_runs.';

create function public.get_task_run(p_account_id uuid, p_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_run public.task_runs;
begin
  perform public.crash_lost_task_runs(p_account_id);
  select * into v_run from public.task_runs where id = p_id and account_id = p_account_id;
  if not found then
    return null;
  end if;
  return public.task_run_json(v_run)
    || case when v_run.output is null then '{}' else jsonb_build_object('output', v_run.output) end
    || case when v_run.error is null then '{}' else jsonb_build_object('error', v_run.error) end;
end
$$;
comment on function public.get_task_run is 'One run of an account; null when the account has no such run.';

-- Scheduled prompts, their firings, and jobs of an external task service.

create table public.scheduled_prompts (
  id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  title text not null,
  prompt text not null,
  template_id uuid,
  artist_id uuid,
  model_id text,
  schedule text not null,
  timezone text not null,
  enabled boolean not null,
  next_run_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint scheduled_prompts_next check (enabled = (next_run_at is not null))
);

create index scheduled_prompts_account_newest
  on public.scheduled_prompts (account_id, created_at desc, id desc);
create index scheduled_prompts_due on public.scheduled_prompts (next_run_at) where enabled;
create index scheduled_prompts_artist on public.scheduled_prompts (artist_id) where artist_id is not null;
alter table public.scheduled_prompts enable row level security;
comment on table public.scheduled_prompts is 'Prompts that start a headless run of their account at the times of a schedule.';
comment on column public.scheduled_prompts.template_id is 'The agent template that instructs the agent; no foreign key, because a template that is gone fails the next firing and is named there.';
comment on column public.scheduled_prompts.artist_id is 'The artist that the work is for; access to it is asked again at each firing.';
comment on column public.scheduled_prompts.model_id is 'The model of the runs; null for the default one.';
comment on column public.scheduled_prompts.schedule is 'A cron expression of five fields.';
comment on column public.scheduled_prompts.timezone is 'The IANA time zone that the schedule is read in.';
comment on column public.scheduled_prompts.next_run_at is 'When the task fires next; null while it is disabled.';

create table public.scheduled_firings (
  id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  task_id uuid references public.scheduled_prompts (id) on delete set null,
  task_run_id text not null references public.task_runs (id) on delete cascade,
  fires_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  attempt_at timestamptz,
  refusal text,
  run_id text,
  chat_id uuid,
  session_id uuid,
  constraint scheduled_firings_once unique (task_id, fires_at)
);

create index scheduled_firings_account on public.scheduled_firings (account_id);
create index scheduled_firings_task_newest on public.scheduled_firings (task_id, created_at desc);
create index scheduled_firings_task_run on public.scheduled_firings (task_run_id);
create index scheduled_firings_waiting
  on public.scheduled_firings (attempt_at) where attempt_at is not null;
alter table public.scheduled_firings enable row level security;
comment on table public.scheduled_firings is 'The firings of scheduled prompts. Each is shown as the task run that it names.';
comment on column public.scheduled_firings.id is 'The effect id of the run.';
comment on column public.scheduled_firings.task_id is 'Null once the task is deleted.';
comment on column public.scheduled_firings.fires_at is 'The time of the schedule that it is for; null for one that a request asked for.';
comment on column public.scheduled_firings.attempt_at is 'When its run may be started; a lease postpones it. Null once the run has started or the firing has been given up.';
comment on column public.scheduled_firings.refusal is 'Why the account could not have the run at the last attempt; null while nothing has refused it.';

create table public.task_jobs (
  run_id text primary key references public.task_runs (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  job jsonb not null,
  created_at timestamptz not null default clock_timestamp()
);

create index task_jobs_account on public.task_jobs (account_id);
alter table public.task_jobs enable row level security;
comment on table public.task_jobs is 'The input of a generation''s durable run, from the creation of its task run until the durable run starts.';
comment on column public.task_jobs.job is 'Its request is sealed.';

-- Tasks -------------------------------------------------------------------------------------------

create function public.task_json(p_task public.scheduled_prompts) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', p_task.id,
    'title', p_task.title,
    'prompt', p_task.prompt,
    'template_id', p_task.template_id,
    'schedule', p_task.schedule,
    'timezone', p_task.timezone,
    'artist_id', p_task.artist_id,
    'model', p_task.model_id,
    'enabled', p_task.enabled,
    'next_run_at', public.iso_date(p_task.next_run_at),
    'last_run', (
      select public.firing_run_json(f)
      from public.scheduled_firings f
      where f.task_id = p_task.id
      order by f.created_at desc limit 1),
    'created_at', public.iso_date(p_task.created_at),
    'updated_at', public.iso_date(p_task.updated_at))
$$;
comment on function public.task_json is 'A scheduled prompt in the shape of the API.';

create function public.create_task(
  p_account_id uuid, p_id uuid, p_title text, p_prompt text, p_template_id uuid, p_artist_id uuid,
  p_model_id text, p_schedule text, p_timezone text, p_next_run_at timestamptz, p_max_tasks integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_task public.scheduled_prompts;
begin
  -- One at a time for each account, because the count must not change.
  perform pg_advisory_xact_lock(hashtextextended('tasks ' || p_account_id, 0));
  select * into v_task from public.scheduled_prompts
  where id = p_id and account_id = p_account_id;
  if found then
    return jsonb_build_object('task', public.task_json(v_task));
  end if;
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('refused', 'template');
  end if;
  if p_max_tasks <= (
    select count(*) from public.scheduled_prompts where account_id = p_account_id)
  then
    return jsonb_build_object('refused', 'full');
  end if;
  insert into public.scheduled_prompts (id, account_id, title, prompt, template_id, artist_id,
    model_id, schedule, timezone, enabled, next_run_at)
  values (p_id, p_account_id, p_title, p_prompt, p_template_id, p_artist_id,
    p_model_id, p_schedule, p_timezone, p_next_run_at is not null, p_next_run_at)
  returning * into v_task;
  return jsonb_build_object('task', public.task_json(v_task));
end
$$;
comment on function public.create_task is 'Creates a scheduled prompt, enabled if it has a next time: {task} | {refused: template | full}. It can be repeated with the same id.';

create function public.list_tasks(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select public.page_json('tasks', array(
    select row(t.created_at, t.id, public.task_json(t))::public.page_row
    from public.scheduled_prompts t
    where t.account_id = p_account_id and (t.created_at, t.id) < (
      coalesce(p_after_at, 'infinity'),
      coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by t.created_at desc, t.id desc
    limit p_limit + 1), p_limit)
$$;
comment on function public.list_tasks is 'One page of the account''s scheduled prompts, newest first: {tasks, next}.';

create function public.get_task(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(
    (select jsonb_build_object('task', public.task_json(t)) from public.scheduled_prompts t
      where t.id = p_id and t.account_id = p_account_id),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.get_task is 'A scheduled prompt of the account: {task} | {refused: missing}.';

create function public.update_task(
  p_account_id uuid, p_id uuid, p_title text, p_prompt text, p_template_id uuid, p_artist_id uuid,
  p_model_id text, p_schedule text, p_timezone text, p_clear text[],
  p_reschedules boolean, p_next_run_at timestamptz, p_expected_updated_at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_task public.scheduled_prompts;
begin
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('refused', 'template');
  end if;
  update public.scheduled_prompts
  set title = coalesce(p_title, title),
    prompt = coalesce(p_prompt, prompt),
    template_id = case when not 'template_id' = any (p_clear)
      then coalesce(p_template_id, template_id) end,
    artist_id = case when not 'artist_id' = any (p_clear) then coalesce(p_artist_id, artist_id) end,
    model_id = case when not 'model' = any (p_clear) then coalesce(p_model_id, model_id) end,
    schedule = coalesce(p_schedule, schedule),
    timezone = coalesce(p_timezone, timezone),
    enabled = case when p_reschedules then p_next_run_at is not null else enabled end,
    next_run_at = case when p_reschedules then p_next_run_at else next_run_at end,
    updated_at = clock_timestamp()
  where id = p_id and account_id = p_account_id
    and date_trunc('milliseconds', updated_at) = p_expected_updated_at
  returning * into v_task;
  if found then
    return jsonb_build_object('task', public.task_json(v_task));
  end if;
  return case when public.get_task(p_account_id, p_id) ? 'task'
    then jsonb_build_object('refused', 'changed')
    else jsonb_build_object('refused', 'missing') end;
end
$$;
comment on function public.update_task is 'Changes a scheduled prompt unless it was changed since it was read: {task} | {refused: changed | missing | template}. Null leaves a field as it is, and p_clear (template_id, artist_id, model) removes it; the next time is set only with p_reschedules, and null disables the task.';

create function public.delete_task(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  delete from public.scheduled_prompts where id = p_id and account_id = p_account_id;
  return case when found then jsonb_build_object('deleted', true)
    else jsonb_build_object('refused', 'missing') end;
end
$$;
comment on function public.delete_task is 'Deletes a scheduled prompt: {deleted: true} | {refused: missing}. Its task runs stay; a waiting firing is given up when it is taken.';

create function public.pause_tasks_of_artist() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  update public.scheduled_prompts
  set artist_id = null, enabled = false, next_run_at = null, updated_at = clock_timestamp()
  where artist_id = old.id;
  return null;
end
$$;
comment on function public.pause_tasks_of_artist is 'Disables the scheduled prompts of an artist that is deleted: without the artist they would be other work.';
create trigger pause_tasks_of_artist after delete on public.accounts
  for each row when (old.kind = 'artist') execute function public.pause_tasks_of_artist();

create function public.firing_run_json(p_firing public.scheduled_firings) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'task_run_id', p_firing.task_run_id,
    'run_id', p_firing.run_id,
    'chat_id', p_firing.chat_id,
    'session_id', p_firing.session_id,
    'status', r.status,
    'error', left(r.error ->> 'message', 500),
    'scheduled_for', public.iso_date(p_firing.fires_at),
    'created_at', public.iso_date(r.created_at),
    'finished_at', public.iso_date(r.finished_at))
  from public.task_runs r where r.id = p_firing.task_run_id
$$;
comment on function public.firing_run_json is 'The run of a firing in the shape of the API.';

create function public.list_task_firings(
  p_account_id uuid, p_task_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select case
    when not exists (
      select from public.scheduled_prompts t where t.id = p_task_id and t.account_id = p_account_id)
    then jsonb_build_object('refused', 'missing')
    else public.page_json('runs', array(
      select row(f.created_at, f.id, public.firing_run_json(f))::public.page_row
      from public.scheduled_firings f
      where f.task_id = p_task_id
        and (f.created_at, f.id) < (coalesce(p_after_at, 'infinity'),
          coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
      order by f.created_at desc, f.id desc
      limit p_limit + 1), p_limit)
    end
$$;
comment on function public.list_task_firings is 'A page of the runs of an account''s scheduled prompt, newest first: {runs, next} or {refused: missing}.';

-- Firings -----------------------------------------------------------------------------------------

create function public.due_tasks(p_now timestamptz, p_limit integer) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'now', public.iso_date(at.now),
    'tasks', (
      select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'schedule', t.schedule,
        'timezone', t.timezone, 'nextRunAt', public.iso_date(t.next_run_at))), '[]')
      from (
        select * from public.scheduled_prompts
        where enabled and next_run_at <= at.now
        order by next_run_at limit p_limit
      ) t))
  from (select coalesce(p_now, clock_timestamp()) as now) at
$$;
comment on function public.due_tasks is 'The tasks whose time has come, of all accounts: {now, tasks: [{id, schedule, timezone, nextRunAt}]}. The clock is the database''s, which all servers share, unless p_now is given.';

create function public.fire_task(
  p_task_id uuid, p_expected timestamptz, p_next timestamptz, p_now timestamptz
) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_task public.scheduled_prompts;
begin
  update public.scheduled_prompts
  set next_run_at = p_next, enabled = p_next is not null
  where id = p_task_id and enabled and next_run_at = p_expected
  returning * into v_task;
  if not found or exists (
    select 1 from public.scheduled_firings where task_id = p_task_id and fires_at = p_expected)
  then
    return false;
  end if;
  -- An account that is refused one firing after another must not get them all at once later.
  perform public.end_firing(f.id, 'EXPIRED', 'superseded', f.refusal)
  from public.scheduled_firings f
  where f.task_id = p_task_id and f.attempt_at is not null and f.refusal is not null;
  perform public.queue_firing(
    v_task, gen_random_uuid(), p_expected, coalesce(p_now, clock_timestamp()), null);
  return true;
end
$$;
comment on function public.fire_task is 'Moves a task from the time p_expected to the next one and leaves a waiting firing of that time, both or neither; false when another server has done so. Without a next time the task is disabled.';

create function public.fire_task_now(
  p_account_id uuid, p_id uuid, p_firing_id uuid, p_lease_seconds integer, p_idempotency_key text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_task public.scheduled_prompts;
  v_firing public.scheduled_firings;
begin
  select * into v_task from public.scheduled_prompts
  where id = p_id and account_id = p_account_id for update;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  select * into v_firing from public.scheduled_firings
  where id = p_firing_id and account_id = p_account_id;
  if not found then
    perform public.queue_firing(v_task, p_firing_id, null,
      clock_timestamp() + make_interval(secs => p_lease_seconds), p_idempotency_key);
    select * into strict v_firing from public.scheduled_firings where id = p_firing_id;
  end if;
  return jsonb_build_object('firing', public.firing_json(v_firing));
end
$$;
comment on function public.fire_task_now is 'Creates a firing that a request asks for, leased to it, or finds the one of an earlier attempt: {firing} | {refused: missing}. Should the request die, the firing is taken like any other.';

create function public.queue_firing(
  p_task public.scheduled_prompts, p_firing_id uuid, p_fires_at timestamptz,
  p_attempt_at timestamptz, p_idempotency_key text
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_run_id constant text := 'run_' || left(replace(gen_random_uuid()::text, '-', ''), 24);
  v_facts constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'taskId', p_task.id, 'scheduledFor', public.iso_date(p_fires_at)));
begin
  insert into public.task_runs (id, account_id, status, task_identifier, idempotency_key, tags,
    metadata, payload, effect_id, schedule)
  values (v_run_id, p_task.account_id, 'QUEUED', 'scheduled-prompt', p_idempotency_key,
    array['account:' || p_task.account_id], v_facts,
    v_facts || jsonb_build_object('title', p_task.title, 'prompt', p_task.prompt),
    p_firing_id, jsonb_build_object('id', p_task.id));
  insert into public.scheduled_firings (
    id, account_id, task_id, task_run_id, fires_at, attempt_at)
  values (p_firing_id, p_task.account_id, p_task.id, v_run_id, p_fires_at, p_attempt_at);
end
$$;
comment on function public.queue_firing is 'Creates a waiting firing of a task, with the task run that shows it.';

create function public.take_firings(p_now timestamptz, p_lease_seconds integer, p_limit integer)
returns jsonb
language sql volatile set search_path = '' as $$
  with taken as (
    update public.scheduled_firings f
    set attempt_at = coalesce(p_now, clock_timestamp()) + make_interval(secs => p_lease_seconds)
    where f.id in (
      select id from public.scheduled_firings
      where attempt_at <= coalesce(p_now, clock_timestamp())
      order by attempt_at limit p_limit for update skip locked)
    returning f
  )
  select coalesce(jsonb_agg(public.firing_json((taken.f))), '[]') from taken
$$;
comment on function public.take_firings is 'Leases waiting firings of all accounts, the longest waiting first. Who dies with one leaves it to the next when its lease has ended.';

create function public.firing_json(p_firing public.scheduled_firings) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', p_firing.id,
    'accountId', p_firing.account_id,
    'taskRunId', p_firing.task_run_id,
    'isHandedOver', exists (
      select from public.task_runs r
      where r.id = p_firing.task_run_id and r.metadata ? 'triggerRunId'),
    'runId', p_firing.run_id,
    'chatId', p_firing.chat_id,
    'sessionId', p_firing.session_id,
    'task', (
      select jsonb_build_object('prompt', t.prompt, 'templateId', t.template_id,
        'artistId', t.artist_id, 'modelId', t.model_id,
        'seesArtist', t.artist_id is null or (public.access_verdicts(
          t.account_id, false, null, null, t.artist_id) ->> 'artist')::boolean)
      from public.scheduled_prompts t where t.id = p_firing.task_id))
$$;
comment on function public.firing_json is 'A firing with what its run is started with, and whether another service has been given its task; the task is null once it is deleted.';

create function public.refuse_firing(
  p_id uuid, p_now timestamptz, p_retry_seconds integer, p_max_age_seconds integer, p_refusal text
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_now constant timestamptz := coalesce(p_now, clock_timestamp());
  v_firing public.scheduled_firings;
begin
  update public.scheduled_firings
  set attempt_at = v_now + make_interval(secs => p_retry_seconds),
    refusal = coalesce(p_refusal, refusal)
  where id = p_id and attempt_at is not null
  returning * into v_firing;
  if v_firing.refusal is not null
    and v_firing.created_at < v_now - make_interval(secs => p_max_age_seconds)
  then
    perform public.end_firing(p_id, 'EXPIRED', 'refused', v_firing.refusal);
  end if;
end
$$;
comment on function public.refuse_firing is 'Puts off a firing that could not be started now, or gives it up when it has waited for too long. Without a refusal, as of a server that exits, it is never given up.';

create function public.discard_firing(p_id uuid) returns void
language sql volatile set search_path = '' as $$
  delete from public.task_runs r using public.scheduled_firings f
  where f.id = p_id and f.task_run_id = r.id and r.status = 'QUEUED'
    and not exists (select from public.turns t where t.effect_id = f.id and t.run_id is not null)
$$;
comment on function public.discard_firing is 'Takes back a firing whose run a request was refused, with its task run.';

create function public.end_firing(p_id uuid, p_status text, p_code text, p_message text)
returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_firing public.scheduled_firings;
  v_turn public.turns;
begin
  select * into v_turn from public.turns where effect_id = p_id and run_id is not null;
  if found then
    perform public.record_started_run(p_id, v_turn.run_id, v_turn.chat_id, v_turn.session_id);
    return;
  end if;
  update public.scheduled_firings set attempt_at = null
  where id = p_id and attempt_at is not null
  returning * into v_firing;
  update public.task_runs
  set status = p_status, finished_at = clock_timestamp(), updated_at = clock_timestamp(),
    error = jsonb_build_object('name', p_code, 'message', p_message, 'stackTrace', '')
  where id = v_firing.task_run_id and status = 'QUEUED';
end
$$;
comment on function public.end_firing is 'Gives up a waiting firing; without effect on one that has been settled. One whose run has started is settled.';

create function public.record_started_run(
  p_id uuid, p_run_id text, p_chat_id uuid, p_session_id uuid
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_firing public.scheduled_firings;
begin
  update public.scheduled_firings
  set attempt_at = null, run_id = p_run_id, chat_id = p_chat_id, session_id = p_session_id
  where id = p_id returning * into v_firing;
  -- A run that has ended already has ended the task run, too.
  update public.task_runs
  set metadata = metadata || jsonb_build_object(
      'runId', p_run_id, 'chatId', p_chat_id, 'sessionId', p_session_id),
    status = case when output is null then 'EXECUTING' else status end,
    error = case when output is not null then error end,
    finished_at = case when output is not null then finished_at end,
    started_at = coalesce(started_at, clock_timestamp()),
    updated_at = clock_timestamp()
  where id = v_firing.task_run_id;
end
$$;
comment on function public.record_started_run is 'Records the run that a firing has started, even if it was given up. It is safe to repeat.';

create function public.end_scheduled_task_run() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  update public.task_runs r
  set status = case
      when tg_op = 'DELETE' or new.status = 'cancelled' then 'CANCELED'
      when new.status = 'completed' then 'COMPLETED'
      else 'FAILED' end,
    error = case when tg_op = 'UPDATE' and new.status = 'failed' then
      jsonb_build_object('name', 'failed', 'message', coalesce(new.error, ''), 'stackTrace', '') end,
    output = jsonb_build_object(
      'runId', old.run_id, 'chatId', old.chat_id, 'sessionId', old.session_id),
    started_at = coalesce(r.started_at, old.created_at),
    finished_at = clock_timestamp(),
    updated_at = clock_timestamp(),
    duration_ms = extract(epoch from date_trunc('milliseconds', clock_timestamp())
      - date_trunc('milliseconds', coalesce(r.started_at, old.created_at))) * 1000
  from public.scheduled_firings f
  where f.id = old.effect_id and r.id = f.task_run_id
    and (r.finished_at is null or r.output is null);
  return null;
end
$$;
comment on function public.end_scheduled_task_run is 'Ends the task run of a scheduled prompt when its turn has ended, or was deleted while it ran.';
create trigger end_scheduled_task_run
  after update of finished_at on public.turns
  for each row
  when (old.finished_at is null and new.finished_at is not null
    and new.kind = 'task' and new.run_id is not null)
  execute function public.end_scheduled_task_run();
create trigger end_deleted_scheduled_task_run
  after delete on public.turns
  for each row
  when (old.finished_at is null and old.kind = 'task' and old.run_id is not null)
  execute function public.end_scheduled_task_run();

-- Background jobs of a task service ---------------------------------------------------------------

create function public.queue_task_job(p_account_id uuid, p_run_id text, p_job jsonb) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.task_jobs (run_id, account_id, job)
  select id, account_id, p_job from public.task_runs
  where id = p_run_id and account_id = p_account_id;
  -- Of runs whose process has died and that no request has read.
  delete from public.task_jobs
  where account_id = p_account_id and created_at < clock_timestamp() - interval '1 day';
end
$$;
comment on function public.queue_task_job is 'Keeps the job of a task run for whoever starts it.';

create function public.take_task_run(p_id text, p_lease_seconds integer) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_run public.task_runs;
  v_firing public.scheduled_firings;
  v_now constant timestamptz := clock_timestamp();
  v_lease constant timestamptz := v_now + make_interval(secs => p_lease_seconds);
begin
  perform public.crash_lost_task_runs(account_id) from public.task_runs where id = p_id;
  select * into v_run from public.task_runs where id = p_id;
  if not found then
    return null;
  end if;
  -- One that is handed over has been put off for longer than a lease. Anything between is leased.
  update public.scheduled_firings
  set attempt_at = v_lease
  where task_run_id = p_id and (attempt_at <= v_now or attempt_at > v_lease) and refusal is null
  returning * into v_firing;
  return jsonb_build_object(
    'status', v_run.status,
    'finishedAt', public.iso_date(v_run.finished_at),
    'firing', case when v_firing.id is not null then public.firing_json(v_firing) end,
    'job', public.take_task_job(v_run.account_id, p_id));
end
$$;
comment on function public.take_task_run is 'The state of a task run, and its pending work: {status, finishedAt, firing, job}. A firing is leased; one that was refused is tried again at its time. Null without such a run.';

create function public.take_task_job(p_account_id uuid, p_run_id text) returns jsonb
language sql volatile set search_path = '' as $$
  delete from public.task_jobs j using public.task_runs r
  where j.run_id = p_run_id and j.account_id = p_account_id
    and r.id = j.run_id and r.lease_until > clock_timestamp()
  returning j.job
$$;
comment on function public.take_task_job is 'Gives the job of an active task run to one of all that ask; null to the others.';

create function public.hand_over_firing(
  p_id uuid, p_now timestamptz, p_patience_seconds integer, p_remote_run_id text
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_firing public.scheduled_firings;
begin
  select * into v_firing from public.scheduled_firings where id = p_id for update;
  perform public.record_remote_run(v_firing.account_id, v_firing.task_run_id, p_remote_run_id);
  -- The other service may have asked for it already, and been refused.
  update public.scheduled_firings
  set attempt_at = coalesce(p_now, clock_timestamp()) + make_interval(secs => p_patience_seconds)
  where id = p_id and attempt_at is not null and refusal is null;
end
$$;
comment on function public.hand_over_firing is 'Records that another service runs the task of a firing, and puts the firing off: should it not be asked for by then, it is taken like any other.';

create function public.record_remote_run(p_account_id uuid, p_id text, p_remote_run_id text)
returns void
language sql volatile set search_path = '' as $$
  update public.task_runs
  set metadata = metadata || jsonb_build_object('triggerRunId', p_remote_run_id)
  where id = p_id and account_id = p_account_id
$$;
comment on function public.record_remote_run is 'Records the run with which another service runs a task.';

-- Content templates, and the ledger of stored media.

create table public.content_templates (
  id text primary key check (id ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
  description text not null,
  position integer not null,
  image jsonb check (jsonb_typeof(image) = 'object'),
  video jsonb check (jsonb_typeof(video) = 'object'),
  caption jsonb check (jsonb_typeof(caption) = 'object'),
  edit jsonb check (jsonb_typeof(edit) = 'object')
);
alter table public.content_templates enable row level security;
comment on table public.content_templates is 'Templates of content, the same for every account. supabase/seed.sql keeps them.';
comment on column public.content_templates.position is 'The place in the list, counted from 1.';

create table public.media_usage (
  account_id uuid primary key references public.accounts (id) on delete cascade,
  bytes bigint not null default 0 check (bytes >= 0)
);
alter table public.media_usage enable row level security;
comment on table public.media_usage is 'Bytes of media of each account, kept by triggers on media_files; its row serializes reservations.';

create table public.media_files (
  account_id uuid not null references public.accounts (id) on delete cascade,
  name text not null check (name ~ '^[0-9a-f]{32}\.(mp4|png|jpg|webp)$'),
  run_id text not null references public.task_runs (id) on delete cascade,
  bytes bigint not null check (bytes >= 0),
  checked_at timestamptz not null default clock_timestamp(),
  primary key (account_id, name)
);

create index media_files_run on public.media_files (run_id);
create index media_files_checked on public.media_files (checked_at);
alter table public.media_files enable row level security;
comment on table public.media_files is 'A file of the media storage, or the room that is reserved for it while its run is under way.';
comment on column public.media_files.checked_at is 'When the storage was last asked whether it has the file, and how large it is.';

create table public.media_removals (
  account_id uuid not null,
  name text not null,
  removed_at timestamptz,
  primary key (account_id, name)
);

create index media_removals_due on public.media_removals (removed_at);
alter table public.media_removals enable row level security;
comment on table public.media_removals is 'Files that the storage is to lose. No foreign key: a removal outlives the account.';
comment on column public.media_removals.removed_at is 'When the file was removed; it is removed once more an hour later, in case a fenced process has stored it since.';

create function public.count_media() returns trigger
language plpgsql set search_path = '' as $$
begin
  if tg_op = 'INSERT' then
    insert into public.media_usage as u (account_id, bytes) values (new.account_id, new.bytes)
    on conflict (account_id) do update set bytes = u.bytes + excluded.bytes;
  elsif tg_op = 'UPDATE' then
    update public.media_usage set bytes = greatest(0, bytes + new.bytes - old.bytes)
    where account_id = new.account_id;
  else
    update public.media_usage set bytes = greatest(0, bytes - old.bytes)
    where account_id = old.account_id;
    insert into public.media_removals (account_id, name) values (old.account_id, old.name)
    on conflict (account_id, name) do update set removed_at = null;
  end if;
  return null;
end
$$;
comment on function public.count_media is 'Keeps media_usage, and turns a deleted row into a removal.';
create trigger count_new_media after insert on public.media_files
  for each row execute function public.count_media();
create trigger count_resized_media after update of bytes on public.media_files
  for each row when (old.bytes <> new.bytes) execute function public.count_media();
create trigger count_gone_media after delete on public.media_files
  for each row execute function public.count_media();

create function public.reserve_media(
  p_account_id uuid, p_run_id text, p_files jsonb, p_limit_bytes bigint
) returns text
language plpgsql volatile set search_path = '' as $$
declare
  v_wanted bigint;
  v_used bigint;
begin
  -- Locked against its end, which would orphan the reservation.
  perform from public.task_runs
  where id = p_run_id and account_id = p_account_id and lease_until is not null
  for share;
  if not found then
    return 'ended';
  end if;
  select coalesce(sum((f ->> 'bytes')::bigint), 0) into v_wanted from jsonb_array_elements(p_files) f;
  insert into public.media_usage (account_id) values (p_account_id)
  on conflict (account_id) do nothing;
  -- One reservation of an account at a time: two that race cannot both take the last room.
  select bytes into v_used from public.media_usage where account_id = p_account_id for update;
  if p_limit_bytes > 0 and v_used + v_wanted > p_limit_bytes then
    return 'full';
  end if;
  insert into public.media_files (account_id, name, run_id, bytes)
  select p_account_id, f ->> 'name', p_run_id, (f ->> 'bytes')::bigint
  from jsonb_array_elements(p_files) f;
  return 'reserved';
end
$$;
comment on function public.reserve_media is 'Counts files [{name, bytes}] of a run that is under way before they are stored: reserved, full, or ended when the run is not under way. A limit of 0 is none.';

create function public.delete_media(p_caller uuid, p_account_id uuid, p_name text) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  if not public.may_act_for(p_caller, p_account_id) then
    return false;
  end if;
  delete from public.media_files f using public.task_runs r
  where f.account_id = p_account_id and f.name = p_name
    and r.id = f.run_id and r.status = 'COMPLETED';
  -- A removal that was not finished can be requested again.
  return found or exists (
    select from public.media_removals
    where account_id = p_account_id and name = p_name and removed_at is null);
end
$$;
comment on function public.delete_media is 'Deletes a file''s row for a caller who may act for its account; false for anyone else and when there is none. The file itself is then to be removed.';

-- Another process may repeat the step that stores results. Space that its predecessor reserved is released
-- first.
create function public.discard_run_media(p_account_id uuid, p_run_id text, p_kept text[])
returns integer
language sql volatile set search_path = '' as $$
  with discarded as (
    delete from public.media_files f using public.task_runs r
    where f.account_id = p_account_id and f.run_id = p_run_id and not f.name = any (p_kept)
      and r.id = f.run_id and r.lease_until is not null
    returning 1
  )
  select count(*)::integer from discarded
$$;
comment on function public.discard_run_media is 'Gives back the media of a run that is under way, except for those with these names, and returns their number: the files are removed.';

create function public.media_removals_of(p_account_id uuid, p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('accountId', r.account_id, 'name', r.name)), '[]')
  from (
    select account_id, name from public.media_removals
    where account_id = p_account_id and removed_at is null
    limit p_batch
  ) r
$$;
comment on function public.media_removals_of is 'Files of an account, which may be deleted, that the storage is still to remove.';

create function public.due_media_removals(p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('accountId', r.account_id, 'name', r.name)), '[]')
  from (
    select account_id, name from public.media_removals
    where removed_at is null or removed_at < now() - interval '1 hour'
    limit p_batch
  ) r
$$;
comment on function public.due_media_removals is 'Files that the storage is to remove, for the first time or the last.';

create function public.end_media_removal(p_account_id uuid, p_name text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  delete from public.media_removals
  where account_id = p_account_id and name = p_name and removed_at < now() - interval '1 hour';
  update public.media_removals set removed_at = clock_timestamp()
  where account_id = p_account_id and name = p_name and removed_at is null;
end
$$;
comment on function public.end_media_removal is 'Notes that the storage has removed the file: the removal ends with its second time.';

create function public.media_to_check(p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('accountId', f.account_id, 'name', f.name)), '[]')
  from (
    select f.account_id, f.name
    from public.media_files f join public.task_runs r on r.id = f.run_id
    where f.checked_at < now() - interval '1 day' and r.status = 'COMPLETED'
    order by f.checked_at
    limit p_batch
  ) f
$$;
comment on function public.media_to_check is 'Files of completed runs that the storage has not been asked about for a day.';

create function public.note_media_check(p_account_id uuid, p_name text, p_bytes bigint) returns void
language plpgsql volatile set search_path = '' as $$
begin
  if p_bytes is null then
    delete from public.media_files where account_id = p_account_id and name = p_name;
  else
    update public.media_files set bytes = p_bytes, checked_at = clock_timestamp()
    where account_id = p_account_id and name = p_name;
  end if;
end
$$;
comment on function public.note_media_check is 'Records the size of a file in the storage, or deletes the row of a file that is missing there (null).';

create function public.unowned_media(p_files jsonb) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(f), '[]') from jsonb_array_elements(p_files) f
  where not exists (
    select from public.media_files m
    where m.account_id = (f ->> 'accountId')::uuid and m.name = f ->> 'name')
$$;
comment on function public.unowned_media is 'Those of the files [{accountId, name}] that have no row.';

create function public.list_content_templates() returns setof public.content_templates
language sql stable set search_path = '' as $$
  select t.* from public.content_templates t order by t.position, t.id
$$;
comment on function public.list_content_templates is 'All content templates in the order of the list. They belong to no account.';

-- Sandboxes of sessions: their state, space and removal.

create table public.sandbox_removals (
  session_id uuid primary key,
  sandbox jsonb not null
);
alter table public.sandbox_removals enable row level security;
comment on table public.sandbox_removals is 'Sandboxes of sessions that were deleted, until they are destroyed. No foreign key: a removal outlives the session.';

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
comment on function public.set_sandbox_state is 'Replaces the state of the sandbox if it still is p_expected: {stored, sandboxState}, or {missing: session}.';

create function public.reserve_sandbox_bytes(
  p_session_id uuid, p_wanted bigint, p_limit bigint
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_account uuid;
  v_others bigint;
  v_granted bigint;
  v_at constant timestamptz := clock_timestamp();
begin
  select account_id into v_account from public.sessions where id = p_session_id;
  if not found then
    return jsonb_build_object('granted', 0, 'reservedAt', null);
  end if;
  -- One at a time for each account: two jails that start together do not get the same room.
  perform pg_advisory_xact_lock(hashtextextended('sandbox space ' || v_account, 0));
  select coalesce(sum(sandbox_bytes), 0) into v_others from public.sessions
  where account_id = v_account and id <> p_session_id and sandbox_bytes > 0;
  v_granted := greatest(0, least(p_wanted, p_limit - v_others));
  -- The measured size counts, even if it exceeds the account's space.
  update public.sessions
  set sandbox_bytes = greatest(
      v_granted, case when sandbox_reserved_at is null then sandbox_bytes else 0 end),
    sandbox_reserved_at = v_at
  where id = p_session_id;
  return jsonb_build_object('granted', v_granted, 'reservedAt', v_at);
end
$$;
comment on function public.reserve_sandbox_bytes is 'Reserves room for a session''s sandbox: {granted, reservedAt}; granted is what its files may take in all.';

create function public.record_sandbox_bytes(
  p_session_id uuid, p_reserved_at timestamptz, p_bytes bigint
) returns void
language sql volatile set search_path = '' as $$
  update public.sessions set sandbox_bytes = p_bytes, sandbox_reserved_at = null
  where id = p_session_id and sandbox_reserved_at = p_reserved_at
$$;
comment on function public.record_sandbox_bytes is 'Replaces a reservation by the measured size; without effect when a newer one stands.';

create function public.free_sandbox_space() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.sandbox_bytes := 0;
  new.sandbox_reserved_at := null;
  return new;
end
$$;
comment on function public.free_sandbox_space is 'A session without a sandbox takes no space; a jail that ends later settles nothing.';
create trigger free_sandbox_space before update of sandbox_state on public.sessions
  for each row when (old.sandbox_state is not null and new.sandbox_state is null)
  execute function public.free_sandbox_space();

create function public.is_sandbox_space_full(p_account_id uuid, p_limit bigint) returns boolean
language sql stable set search_path = '' as $$
  -- What running jails have only reserved does not count: they give most of it back.
  select coalesce(sum(sandbox_bytes), 0) >= p_limit from public.sessions
  where account_id = p_account_id and sandbox_bytes > 0 and sandbox_reserved_at is null
$$;
comment on function public.is_sandbox_space_full is 'Whether the measured sandboxes of an account take the whole limit.';

create function public.stale_sandbox_reservations(p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'sessionId', s.id, 'reservedAt', s.sandbox_reserved_at)), '[]')
  from (
    select id, sandbox_reserved_at from public.sessions
    where sandbox_reserved_at < now() - interval '1 hour'
    order by sandbox_reserved_at
    limit p_batch
  ) s
$$;
comment on function public.stale_sandbox_reservations is 'Reservations of jails whose end was not noted, as after a crash of their server.';

create function public.idle_sandboxes(p_days integer, p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(i.sandbox_state || jsonb_build_object(
    'sessionId', i.id, 'accountId', i.account_id)), '[]')
  from (
    select s.id, s.account_id, s.sandbox_state
    from public.sessions s, (select now() - make_interval(days => p_days)) at (cutoff)
    -- An empty sandbox takes no space, and is not in the index.
    where s.sandbox_bytes > 0
      and s.sandbox_state ->> 'provider' in ('local', 'system')
      and (s.sandbox_state ->> 'createdAt')::timestamptz < at.cutoff
      and coalesce(s.sandbox_reserved_at, '-infinity') < at.cutoff
      and not exists (
        select from public.turns t
        where t.session_id = s.id and coalesce(t.finished_at, 'infinity') >= at.cutoff)
    limit p_batch
  ) i
$$;
comment on function public.idle_sandboxes is 'States of sandboxes on this machine with files whose sessions have had no turn for p_days, each with its sessionId and accountId.';

create function public.unowned_sandboxes(p_session_ids uuid[]) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(s.id), '[]') from unnest(p_session_ids) s (id)
  where not exists (select from public.sessions x where x.id = s.id)
$$;
comment on function public.unowned_sandboxes is 'Those of the session ids that no session has.';

create function public.note_sandbox_removal() returns trigger
language plpgsql set search_path = '' as $$
begin
  insert into public.sandbox_removals (session_id, sandbox) values (old.id, old.sandbox_state)
  on conflict (session_id) do update set sandbox = excluded.sandbox;
  return null;
end
$$;
comment on function public.note_sandbox_removal is 'Turns a deleted session with a sandbox into a removal.';
create trigger note_sandbox_removal after delete on public.sessions
  for each row when (old.sandbox_state is not null)
  execute function public.note_sandbox_removal();

create function public.due_sandbox_removals(p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(r.sandbox || jsonb_build_object('sessionId', r.session_id)), '[]')
  from (select session_id, sandbox from public.sandbox_removals limit p_batch) r
$$;
comment on function public.due_sandbox_removals is 'States of sandboxes that are to be destroyed, each with its sessionId.';

create function public.end_sandbox_removal(p_session_id uuid) returns void
language sql volatile set search_path = '' as $$
  delete from public.sandbox_removals where session_id = p_session_id
$$;
comment on function public.end_sandbox_removal is 'Notes that a sandbox is destroyed.';

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
alter table public.connections enable row level security;
comment on table public.connections is 'Connections of accounts to third-party services, where no outside provider keeps them.';
comment on column public.connections.state_hash is 'SHA-256 of the secret in the consent link; null once the connection is decided.';
comment on column public.connections.expires_at is 'Until when a pending connection can be decided.';
comment on column public.connections.started_by is 'The account whose credential started it; it may differ from account_id. No foreign key: a deleted account has lost the right.';
comment on column public.connections.key_id is 'The API key that started it; null for a bearer.';

create table public.connector_links (
  account_id uuid not null references public.accounts (id) on delete cascade,
  connection_id text not null,
  started_by uuid not null,
  key_id uuid,
  created_at timestamptz not null default now(),
  primary key (account_id, connection_id)
);
alter table public.connector_links enable row level security;
comment on table public.connector_links is 'Connections at a vendor that have not been seen active while their starter had the right to them.';
comment on column public.connector_links.connection_id is 'The id of the connection at the vendor.';
comment on column public.connector_links.started_by is 'The account whose credential started it. No foreign key: a deleted account has lost the right.';
comment on column public.connector_links.key_id is 'The API key that started it; null for a bearer.';

create table public.chat_connectors (
  chat_id uuid primary key references public.chats (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  connectors text[] not null,
  updated_at timestamptz not null default now()
);

create index chat_connectors_account on public.chat_connectors (account_id);
alter table public.chat_connectors enable row level security;
comment on table public.chat_connectors is 'The connectors that an account has named for a chat: the credential of its runs may use their actions.';
comment on column public.chat_connectors.chat_id is 'The chat; a chat without a row has named none.';
comment on column public.chat_connectors.account_id is 'The account of the chat.';
comment on column public.chat_connectors.connectors is 'Their slugs, each once.';
comment on column public.chat_connectors.updated_at is 'When they were last chosen.';

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
    'account', coalesce(a.name, a.email, a.id::text)
  )
  from public.connections c join public.accounts a on a.id = c.account_id
  where c.state_hash = p_state_hash and c.expires_at > now()
    and public.may_connect(c.account_id, c.started_by, c.key_id)
$$;
comment on function public.pending_connection is 'The request behind a consent link: {connector, callback_url, account}; null when it cannot be decided.';

create function public.decide_connection(p_state_hash text, p_allowed boolean)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_connection public.connections;
begin
  select * into v_connection from public.connections
  where state_hash = p_state_hash and expires_at > now()
  for update;
  -- Serializes this with a concurrent removal of the starter.
  perform from public.organization_accounts
  where account_id = v_connection.started_by for key share;
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
language plpgsql volatile set search_path = '' as $$
begin
  -- Links last for minutes. A row whose starter has lost the right stays: its link may have been used.
  delete from public.connector_links l
  where l.account_id = p_account_id and l.created_at < now() - interval '1 day'
    and public.may_connect(l.account_id, l.started_by, l.key_id);
  insert into public.connector_links (account_id, connection_id, started_by, key_id)
  values (p_account_id, p_connection_id, p_started_by, p_key_id)
  on conflict do nothing;
end
$$;
comment on function public.record_connector_link is 'Records the starter of a connection at a vendor.';

create function public.refused_connections(p_account_id uuid, p_active_ids text[]) returns text[]
language plpgsql volatile set search_path = '' as $$
begin
  -- Completed while the right to it lasted: from now on it is the account's.
  delete from public.connector_links l
  where l.account_id = p_account_id and l.connection_id = any (p_active_ids)
    and public.may_connect(l.account_id, l.started_by, l.key_id);
  return array(
    select l.connection_id from public.connector_links l
    where l.account_id = p_account_id and l.connection_id = any (p_active_ids));
end
$$;
comment on function public.refused_connections is 'Returns the active connections of an account at a vendor whose starter had lost the right before they were first seen active.';

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

-- The embedded music catalog and its search.

create function public.catalog_fold(p_text text) returns text
language sql immutable set search_path = '' as $$
  select trim(regexp_replace(
    translate(
      lower(regexp_replace(normalize(p_text, nfkd), '[\u0300-\u036f]', '', 'g')), 'øłđı', 'oldi'),
    '[[:punct:][:space:]]+', ' ', 'g'))
$$;
comment on function public.catalog_fold is 'A text without case, accents and punctuation.';

-- Weights: A for a thing's own name, B for its artists, C for its album, D for its genres.
create function public.catalog_words(p_text text, p_weight text default '') returns text
language sql immutable set search_path = '' as $$
  select string_agg('''' || replace(word, '''', '') || ''':*' || p_weight, ' & ')
  from unnest(string_to_array(public.catalog_fold(p_text), ' ')) word
  where replace(word, '''', '') <> ''
$$;
comment on function public.catalog_words is 'The text of a tsquery in which every word is the beginning of a word of that weight; null without words. Weights: A own name, B artists, C album, D genres.';

create function public.catalog_index() returns void
language plpgsql volatile set search_path = '' as $$
begin
  update public.catalog_artists a set
    folded = public.catalog_fold(a.name),
    words = setweight(to_tsvector('simple', public.catalog_fold(a.name)), 'A')
      || setweight(to_tsvector('simple', public.catalog_fold(a.name)), 'B')
      || setweight(to_tsvector('simple', public.catalog_fold(array_to_string(a.genres, ' '))), 'D');

  update public.catalog_albums b set
    folded = public.catalog_fold(b.name),
    words = setweight(to_tsvector('simple', public.catalog_fold(b.name)), 'A')
      || setweight(to_tsvector('simple', public.catalog_fold(b.name)), 'C')
      || setweight(to_tsvector('simple', coalesce(of.names, '')), 'B')
      || setweight(to_tsvector('simple', coalesce(of.genres, '')), 'D'),
    artists = coalesce(of.artists, '[]'),
    total_tracks = (select count(*) from public.catalog_tracks t where t.album_id = b.id),
    popularity = coalesce(
      (select max(t.popularity) from public.catalog_tracks t where t.album_id = b.id), 0)
  from public.catalog_albums same
  left join lateral (
    select string_agg(a.folded, ' ') as names,
      jsonb_agg(jsonb_build_object('id', a.id, 'name', a.name, 'url', a.url) order by l.place, a.id)
        as artists,
      public.catalog_fold(string_agg(array_to_string(a.genres, ' '), ' ')) as genres
    from public.catalog_album_artists l
    join public.catalog_artists a on a.id = l.artist_id
    where l.album_id = same.id and l.is_main
  ) of on true
  where same.id = b.id;

  update public.catalog_tracks t set
    folded = public.catalog_fold(t.name),
    words = setweight(to_tsvector('simple', public.catalog_fold(t.name)), 'A')
      || setweight(to_tsvector('simple', b.folded), 'C')
      || setweight(to_tsvector('simple', coalesce(of.names, '')), 'B')
      || setweight(to_tsvector('simple', coalesce(of.genres, '')), 'D'),
    artists = coalesce(of.artists, '[]')
  from public.catalog_tracks same
  join public.catalog_albums b on b.id = same.album_id
  left join lateral (
    select string_agg(a.folded, ' ') as names,
      jsonb_agg(jsonb_build_object('id', a.id, 'name', a.name, 'url', a.url) order by l.place, a.id)
        as artists,
      public.catalog_fold(string_agg(array_to_string(a.genres, ' '), ' ')) as genres
    from public.catalog_track_artists l
    join public.catalog_artists a on a.id = l.artist_id
    where l.track_id = same.id
  ) of on true
  where same.id = t.id;

  update public.catalog_others o set
    folded = public.catalog_fold(o.name),
    words = setweight(to_tsvector('simple', public.catalog_fold(o.name)), 'A');
end
$$;
comment on function public.catalog_index is 'Fills the columns that searches read. It is to be called after catalog rows have changed.';

create table public.catalog_artists (
  id text primary key check (id ~ '^[A-Za-z0-9]{1,64}$'),
  name text not null,
  genres text[] not null default '{}',
  popularity integer not null default 0 check (popularity between 0 and 100),
  followers integer not null default 0 check (followers >= 0),
  images jsonb not null default '[]',
  -- A page about it somewhere in the world.
  url text,
  folded text,
  words tsvector
);

create index catalog_artists_folded on public.catalog_artists (folded);
create index catalog_artists_words on public.catalog_artists using gin (words);
alter table public.catalog_artists enable row level security;
comment on table public.catalog_artists is 'Artists of the embedded catalog, which answers when no catalog service is configured.';
comment on column public.catalog_artists.folded is 'The name without case, accents and punctuation; catalog_index fills it.';
comment on column public.catalog_artists.words is 'What searches match; catalog_index fills it.';

create table public.catalog_albums (
  id text primary key check (id ~ '^[A-Za-z0-9]{1,64}$'),
  name text not null,
  album_type text not null check (album_type in ('album', 'single', 'compilation')),
  release_date text not null check (release_date ~ '^\d{4}(-\d\d(-\d\d)?)?$'),
  markets text[] not null,
  images jsonb not null default '[]',
  url text,
  -- From here on all follows from other tables, and is filled by catalog_index().
  total_tracks integer not null default 0,
  popularity integer not null default 0,
  year integer generated always as (left(release_date, 4)::integer) stored,
  artists jsonb not null default '[]',
  folded text,
  words tsvector
);

create index catalog_albums_words on public.catalog_albums using gin (words);
alter table public.catalog_albums enable row level security;
comment on table public.catalog_albums is 'Albums of the embedded catalog.';
comment on column public.catalog_albums.release_date is 'As precise as it is known: YYYY, YYYY-MM or YYYY-MM-DD.';
comment on column public.catalog_albums.artists is 'The main artists as JSON; catalog_index fills it.';

create table public.catalog_album_artists (
  album_id text not null references public.catalog_albums (id) on delete cascade,
  artist_id text not null references public.catalog_artists (id) on delete cascade,
  is_main boolean not null,
  place integer not null,
  primary key (album_id, artist_id)
);

create index catalog_album_artists_artist on public.catalog_album_artists (artist_id);
alter table public.catalog_album_artists enable row level security;
comment on table public.catalog_album_artists is 'The artists of each album.';
comment on column public.catalog_album_artists.is_main is 'False for an artist of single tracks only: the album is then in the group appears_on.';

create table public.catalog_tracks (
  id text primary key check (id ~ '^[A-Za-z0-9]{1,64}$'),
  album_id text not null references public.catalog_albums (id) on delete cascade,
  name text not null,
  disc_number integer not null default 1 check (disc_number >= 1),
  track_number integer not null check (track_number >= 1),
  duration_ms integer not null default 0 check (duration_ms >= 0),
  explicit boolean not null default false,
  isrc text,
  popularity integer not null default 0 check (popularity between 0 and 100),
  url text,
  artists jsonb not null default '[]',
  folded text,
  words tsvector
);

create index catalog_tracks_words on public.catalog_tracks using gin (words);
create index catalog_tracks_album on public.catalog_tracks (album_id);
create index catalog_tracks_isrc on public.catalog_tracks (isrc);
alter table public.catalog_tracks enable row level security;
comment on table public.catalog_tracks is 'Tracks of the embedded catalog.';
comment on column public.catalog_tracks.artists is 'The artists as JSON; catalog_index fills it.';

create table public.catalog_track_artists (
  track_id text not null references public.catalog_tracks (id) on delete cascade,
  artist_id text not null references public.catalog_artists (id) on delete cascade,
  place integer not null,
  primary key (track_id, artist_id)
);

create index catalog_track_artists_artist on public.catalog_track_artists (artist_id);
alter table public.catalog_track_artists enable row level security;
comment on table public.catalog_track_artists is 'The artists of each track.';

create table public.catalog_others (
  id text primary key check (id ~ '^[A-Za-z0-9]{1,64}$'),
  kind text not null check (kind in ('playlist', 'show', 'episode', 'audiobook')),
  name text not null,
  description text not null default '',
  markets text[],
  images jsonb not null default '[]',
  url text,
  details jsonb not null default '{}',
  folded text,
  words tsvector
);

create index catalog_others_words on public.catalog_others using gin (words);
alter table public.catalog_others enable row level security;
comment on table public.catalog_others is 'Playlists, shows, episodes and audiobooks of the embedded catalog.';
comment on column public.catalog_others.details is 'The fields that only this kind of object has.';
comment on column public.catalog_others.markets is 'The markets where it is available; null for all.';

-- All words must match, each as a prefix. The same name comes first, then names with that prefix, then the
-- popular ones. A prefix may be one letter that nearly everything matches: the page is picked in one pass
-- without sorting the rest, which is only counted.
create function public.catalog_search(
  p_kinds text[], p_text text, p_fields jsonb, p_market text, p_limit integer, p_offset integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- A text without a single word finds nothing, not everything.
  v_is_empty constant boolean := p_text <> '' and public.catalog_fold(p_text) = '';
  v_answer jsonb := '{}';
  v_kind text;
begin
  foreach v_kind in array p_kinds loop
    v_answer := v_answer || jsonb_build_object(v_kind || 's', case
      when v_is_empty then '{"total": 0, "items": []}'
      when v_kind = 'artist' then
        public.catalog_search_artists(p_text, p_fields, p_limit, p_offset)
      when v_kind = 'album' then
        public.catalog_search_albums(p_text, p_fields, p_market, p_limit, p_offset)
      when v_kind = 'track' then
        public.catalog_search_tracks(p_text, p_fields, p_market, p_limit, p_offset)
      else
        public.catalog_search_others(v_kind, p_text, p_fields, p_market, p_limit, p_offset)
    end);
  end loop;
  return v_answer;
end
$$;
comment on function public.catalog_search is 'One page of each kind that is asked for: {artists: {total, items}, …}. p_fields stays jsonb: it holds only the filters of the request, and which are there decides.';

-- PL/pgSQL keeps its plan between calls: as SQL it doubled the time of a search.
create function public.catalog_query(p_kind text, p_text text, p_fields jsonb) returns tsquery
language plpgsql immutable set search_path = '' as $$
begin
  return nullif(concat_ws(' & ',
    public.catalog_words(p_text),
    public.catalog_words(p_fields ->> 'artist', 'B'),
    public.catalog_words(p_fields ->> 'genre', 'D'),
    case when p_kind in ('album', 'track') then public.catalog_words(p_fields ->> 'album', 'C') end,
    case when p_kind = 'track' then public.catalog_words(p_fields ->> 'track', 'A') end),
    '')::tsquery;
end
$$;
comment on function public.catalog_query is 'The words that a search asks of one kind of object; null when it asks for none.';

create function public.catalog_total(p_on_page integer, p_limit integer, p_offset integer)
returns bigint
language sql immutable set search_path = '' as $$
  select case when p_on_page < p_limit and (p_on_page > 0 or p_offset = 0)
    then p_offset + p_on_page end
$$;
comment on function public.catalog_total is 'The number of hits if the page shows it, as the last page does; null when they must be counted.';

create function public.catalog_artist_json(p_artist public.catalog_artists) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_artist.id, 'name', p_artist.name, 'url', p_artist.url, 'images', p_artist.images,
    'genres', p_artist.genres, 'popularity', p_artist.popularity,
    'followers', jsonb_build_object('href', '', 'total', p_artist.followers))
$$;
comment on function public.catalog_artist_json is 'An artist in the shape of the catalog service. Inlined, hence no search_path.';

-- The page, the total and the items are separate statements: PostgreSQL plans the first two for every
-- search, by its words, and keeps the plan of the third. The same holds for the other kinds.
create function public.catalog_search_artists(
  p_text text, p_fields jsonb, p_limit integer, p_offset integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_name constant text := public.catalog_fold(p_text);
  -- No artist has what these filters ask for.
  v_query constant tsquery := case when not p_fields ?| array['album', 'track', 'isrc', 'year_from']
    then public.catalog_query('artist', p_text, p_fields) end;
  v_ids constant text[] := array(
    select a.id from public.catalog_artists a
    where a.words @@ v_query
    order by a.folded = v_name desc, starts_with(a.folded, v_name) desc,
      a.popularity desc, a.folded, a.id
    limit p_limit offset p_offset);
  v_total bigint;
  v_items jsonb;
begin
  v_total := coalesce(
    public.catalog_total(cardinality(v_ids), p_limit, p_offset),
    (select count(*) from public.catalog_artists a where a.words @@ v_query));
  select jsonb_agg(public.catalog_artist_json(a) order by hit.place) into v_items
  from unnest(v_ids) with ordinality as hit (id, place)
  join public.catalog_artists a on a.id = hit.id;
  return jsonb_build_object('total', v_total, 'items', coalesce(v_items, '[]'));
end
$$;
comment on function public.catalog_search_artists is 'One page of the artists that catalog_search finds: {total, items}.';

create function public.catalog_album_json(p_album public.catalog_albums) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_album.id, 'name', p_album.name, 'url', p_album.url, 'images', p_album.images,
    'album_type', p_album.album_type, 'total_tracks', p_album.total_tracks,
    'available_markets', p_album.markets, 'release_date', p_album.release_date,
    'release_date_precision',
      case length(p_album.release_date) when 4 then 'year' when 7 then 'month' else 'day' end,
    'artists', p_album.artists)
$$;
comment on function public.catalog_album_json is 'An album in the shape of the catalog service. Inlined, hence no search_path.';

create function public.catalog_found_albums(
  p_query tsquery, p_since integer, p_until integer, p_market text
) returns setof public.catalog_albums
language sql stable as $$
  select b.* from (
    -- One of them, known before the first row: the other costs nothing.
    select * from public.catalog_albums where words @@ p_query
    union all
    select * from public.catalog_albums
    where p_query is null and year between p_since and p_until
  ) b
  where (p_since is null or b.year between p_since and p_until)
    and (p_market is null or p_market = any (b.markets))
$$;
comment on function public.catalog_found_albums is 'The albums that a search finds, unsorted. Inlined, hence no search_path.';

create function public.catalog_search_albums(
  p_text text, p_fields jsonb, p_market text, p_limit integer, p_offset integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_name constant text := public.catalog_fold(p_text);
  v_query constant tsquery := public.catalog_query('album', p_text, p_fields);
  v_since constant integer := (p_fields ->> 'year_from')::integer;
  v_until constant integer := (p_fields ->> 'year_to')::integer;
  v_ids text[];
  v_total bigint;
  v_items jsonb;
begin
  -- No album has what these filters ask for.
  if p_fields ?| array['track', 'isrc'] then
    return '{"total": 0, "items": []}';
  end if;
  v_ids := array(
    select b.id from public.catalog_found_albums(v_query, v_since, v_until, p_market) b
    order by b.folded = v_name desc, starts_with(b.folded, v_name) desc,
      b.popularity desc, b.folded, b.id
    limit p_limit offset p_offset);
  v_total := coalesce(
    public.catalog_total(cardinality(v_ids), p_limit, p_offset),
    (select count(*) from public.catalog_found_albums(v_query, v_since, v_until, p_market)));
  select jsonb_agg(public.catalog_album_json(b) order by hit.place) into v_items
  from unnest(v_ids) with ordinality as hit (id, place)
  join public.catalog_albums b on b.id = hit.id;
  return jsonb_build_object('total', v_total, 'items', coalesce(v_items, '[]'));
end
$$;
comment on function public.catalog_search_albums is 'One page of the albums that catalog_search finds: {total, items}.';

create function public.catalog_track_json(
  p_track public.catalog_tracks, p_album public.catalog_albums
) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_track.id, 'name', p_track.name, 'url', p_track.url,
    'disc_number', p_track.disc_number, 'track_number', p_track.track_number,
    'duration_ms', p_track.duration_ms, 'explicit', p_track.explicit,
    'popularity', p_track.popularity, 'available_markets', p_album.markets,
    'external_ids', case when p_track.isrc is null then '{}'::jsonb
      else jsonb_build_object('isrc', p_track.isrc) end,
    'album', public.catalog_album_json(p_album),
    'artists', p_track.artists)
$$;
comment on function public.catalog_track_json is 'A track in the shape of the catalog service. Inlined, hence no search_path.';

create function public.catalog_found_tracks(
  p_query tsquery, p_isrc text, p_since integer, p_until integer, p_market text
) returns setof public.catalog_tracks
language sql stable as $$
  select t.* from (
    select * from public.catalog_tracks where words @@ p_query
    union all
    select * from public.catalog_tracks where p_query is null and isrc = p_isrc
    union all
    select t.* from public.catalog_tracks t join public.catalog_albums b on b.id = t.album_id
    where p_query is null and p_isrc is null and b.year between p_since and p_until
  ) t
  where (p_isrc is null or t.isrc = p_isrc)
    -- The album is looked at only where something is asked of it.
    and ((p_since is null and p_market is null) or t.album_id in (
      select b.id from public.catalog_albums b
      where (p_since is null or b.year between p_since and p_until)
        and (p_market is null or p_market = any (b.markets))))
$$;
comment on function public.catalog_found_tracks is 'The tracks that a search finds, unsorted. Inlined, hence no search_path.';

create function public.catalog_search_tracks(
  p_text text, p_fields jsonb, p_market text, p_limit integer, p_offset integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_name constant text := public.catalog_fold(p_text);
  v_query constant tsquery := public.catalog_query('track', p_text, p_fields);
  v_isrc constant text := upper(replace(p_fields ->> 'isrc', '-', ''));
  v_since constant integer := (p_fields ->> 'year_from')::integer;
  v_until constant integer := (p_fields ->> 'year_to')::integer;
  v_ids constant text[] := array(
    select t.id from public.catalog_found_tracks(v_query, v_isrc, v_since, v_until, p_market) t
    order by t.folded = v_name desc, starts_with(t.folded, v_name) desc,
      t.popularity desc, t.folded, t.id
    limit p_limit offset p_offset);
  v_total bigint;
  v_items jsonb;
begin
  v_total := coalesce(
    public.catalog_total(cardinality(v_ids), p_limit, p_offset),
    (select count(*)
      from public.catalog_found_tracks(v_query, v_isrc, v_since, v_until, p_market)));
  select jsonb_agg(public.catalog_track_json(t, b) order by hit.place) into v_items
  from unnest(v_ids) with ordinality as hit (id, place)
  join public.catalog_tracks t on t.id = hit.id
  join public.catalog_albums b on b.id = t.album_id;
  return jsonb_build_object('total', v_total, 'items', coalesce(v_items, '[]'));
end
$$;
comment on function public.catalog_search_tracks is 'One page of the tracks that catalog_search finds: {total, items}.';

create function public.catalog_other_json(p_other public.catalog_others) returns jsonb
language sql stable as $$
  select p_other.details || jsonb_build_object(
    'id', p_other.id, 'name', p_other.name, 'url', p_other.url, 'images', p_other.images,
    'description', p_other.description)
    || case when p_other.markets is null then '{}'::jsonb
       else jsonb_build_object('available_markets', p_other.markets) end
$$;
comment on function public.catalog_other_json is 'A playlist, show, episode or audiobook in the shape of the catalog service. Inlined, hence no search_path.';

create function public.catalog_search_others(
  p_kind text, p_text text, p_fields jsonb, p_market text, p_limit integer, p_offset integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_name constant text := public.catalog_fold(p_text);
  v_query constant tsquery := case when p_fields = '{}'
    then public.catalog_query(p_kind, p_text, p_fields) end;
begin
  return (
    with found as materialized (
      select o.id, row_number() over (
        order by o.folded = v_name desc, starts_with(o.folded, v_name) desc,
          o.folded, o.id) as place
      from public.catalog_others o
      where o.kind = p_kind and o.words @@ v_query
        and (p_market is null or o.markets is null or p_market = any (o.markets))
    )
    select jsonb_build_object(
      'total', (select count(*) from found),
      'items', coalesce((
        select jsonb_agg(public.catalog_other_json(o) order by hit.place)
        from found hit
        join public.catalog_others o on o.id = hit.id
        where hit.place > p_offset and hit.place <= p_offset + p_limit), '[]')));
end
$$;
comment on function public.catalog_search_others is 'One page of the playlists, shows, episodes or audiobooks that catalog_search finds: {total, items}.';

create function public.catalog_artist_albums(
  p_artist_id text, p_groups text[], p_market text, p_limit integer, p_offset bigint
) returns jsonb
language sql stable set search_path = '' as $$
  with hits as materialized (
    select b as album, g.album_group,
      row_number() over (
        order by array_position(array['album', 'single', 'compilation', 'appears_on'], g.album_group),
          b.release_date desc, b.folded, b.id) as place
    from public.catalog_album_artists l
    join public.catalog_albums b on b.id = l.album_id
    cross join lateral (
      select case when l.is_main then b.album_type else 'appears_on' end as album_group
    ) g
    where l.artist_id = p_artist_id
      and g.album_group = any (p_groups)
      and (p_market is null or p_market = any (b.markets))
  )
  select jsonb_build_object(
    'total', (select count(*) from hits),
    'items', coalesce((
      select jsonb_agg(
        public.catalog_album_json(h.album) || jsonb_build_object('album_group', h.album_group)
        order by h.place)
      from hits h where h.place > p_offset and h.place <= p_offset + p_limit), '[]'))
  from public.catalog_artists where id = p_artist_id
$$;
comment on function public.catalog_artist_albums is 'One page of an artist''s albums by group, newest first: {total, items}; null for an unknown artist.';

create function public.catalog_research(p_id text, p_name text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_artist_id text;
begin
  if p_id is not null then
    select id into v_artist_id from public.catalog_artists where id = p_id;
  else
    select id into v_artist_id from public.catalog_artists
    where folded = public.catalog_fold(p_name) and folded <> ''
    order by popularity desc, id limit 1;
    if v_artist_id is null then
      select id into v_artist_id from public.catalog_artists
      where words @@ coalesce(public.catalog_words(p_name, 'A'), '')::tsquery
      order by popularity desc, id limit 1;
    end if;
  end if;
  if v_artist_id is null then
    return null;
  end if;
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', t.id, 'title', t.name, 'avatar', coalesce(b.images -> 0 ->> 'url', ''),
      'release_date', b.release_date, 'url', coalesce(t.url, b.url),
      'isrcs', case when t.isrc is null then '[]'::jsonb else jsonb_build_array(t.isrc) end,
      'artists', t.artists
    ) order by t.popularity desc, t.folded, t.id), '[]')
    from public.catalog_track_artists l
    join public.catalog_tracks t on t.id = l.track_id
    join public.catalog_albums b on b.id = t.album_id
    where l.artist_id = v_artist_id
  );
end
$$;
comment on function public.catalog_research is 'All tracks of an artist, found by id or by name, most popular first; null for an unknown artist.';

-- Webhooks, their events and deliveries.

create table public.webhooks (
  id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  url text not null check (octet_length(url) <= 2048),
  events text[] not null,
  enabled boolean not null default true,
  disabled_reason text check (disabled_reason in ('failing', 'gone')),
  failing_since timestamptz,
  secret text not null,
  previous_secret text,
  previous_secret_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create unique index webhooks_url on public.webhooks (account_id, url);
create index webhooks_previous_secret on public.webhooks (previous_secret_until)
  where previous_secret is not null;
alter table public.webhooks enable row level security;
comment on table public.webhooks is 'Endpoints that an account wants to be told of events.';
comment on column public.webhooks.id is 'Chosen by the server, which seals the secrets for it.';
comment on column public.webhooks.disabled_reason is 'Why the service has disabled it: it failed for five days, or answered 410. Null when the account did.';
comment on column public.webhooks.failing_since is 'The first failed attempt since the last one that succeeded.';
comment on column public.webhooks.secret is 'Sealed by the server.';
comment on column public.webhooks.previous_secret is 'Sealed; signs too until previous_secret_until, 24 hours after the rotation.';

create table public.webhook_deliveries (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  webhook_id uuid references public.webhooks (id) on delete cascade,
  url text not null,
  event_type text not null,
  data jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  log jsonb not null default '[]',
  lease_id uuid,
  due_at timestamptz default now(),
  retry_until timestamptz not null default now() + interval '24 hours',
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  check ((status = 'pending') = (due_at is not null))
);

create index webhook_deliveries_due on public.webhook_deliveries (account_id, due_at)
  where due_at is not null;
create index webhook_deliveries_leased on public.webhook_deliveries (account_id)
  where lease_id is not null;
create index webhook_deliveries_pending on public.webhook_deliveries (webhook_id)
  where due_at is not null;
create index webhook_deliveries_newest on public.webhook_deliveries
  (webhook_id, created_at desc, id desc);
create index webhook_deliveries_finished on public.webhook_deliveries (finished_at)
  where finished_at is not null;
alter table public.webhook_deliveries enable row level security;
comment on table public.webhook_deliveries is 'Events to deliver, and the log of delivered ones. Their data are ids and states, no content.';
comment on column public.webhook_deliveries.webhook_id is 'Null for the webhook_url of a run that is not the URL of a webhook.';
comment on column public.webhook_deliveries.attempts is 'Attempts since delivery was last requested. The log has the completed ones.';
comment on column public.webhook_deliveries.log is 'The last attempts, oldest first: [{attempted_at, status_code, duration_ms, error, response}].';
comment on column public.webhook_deliveries.lease_id is 'The attempt under way, which ends at due_at at the latest: then the process has died.';
comment on column public.webhook_deliveries.due_at is 'When it is to be attempted; null when it is finished.';

-- Webhooks ----------------------------------------------------------------------------------------

create function public.webhook_json(p_webhook public.webhooks) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_webhook.id,
    'url', p_webhook.url,
    'events', p_webhook.events,
    'enabled', p_webhook.enabled,
    'disabled_reason', p_webhook.disabled_reason,
    'failing_since', public.iso_date(p_webhook.failing_since),
    'previous_secret_expires_at', case when p_webhook.previous_secret_until > now()
      then public.iso_date(p_webhook.previous_secret_until) end,
    'created_at', public.iso_date(p_webhook.created_at),
    'updated_at', public.iso_date(p_webhook.updated_at))
$$;
comment on function public.webhook_json is 'A webhook in the shape of the API, without its secrets. Inlined, hence no search_path.';

create function public.create_webhook(
  p_account_id uuid, p_id uuid, p_url text, p_events text[], p_enabled boolean, p_secret text,
  p_max integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_webhook public.webhooks;
begin
  -- Two requests at once cannot pass the limit together.
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261160));
  if (select count(*) from public.webhooks where account_id = p_account_id) >= p_max then
    return jsonb_build_object('refused', 'full');
  end if;
  insert into public.webhooks (id, account_id, url, events, enabled, secret)
  values (p_id, p_account_id, p_url, p_events, p_enabled, p_secret)
  on conflict (account_id, url) do nothing
  returning * into v_webhook;
  if not found then
    return jsonb_build_object('refused', 'taken');
  end if;
  return jsonb_build_object('webhook', public.webhook_json(v_webhook));
end
$$;
comment on function public.create_webhook is 'Creates a webhook of an account that has fewer than p_max: {webhook} or {refused: full | taken}.';

create function public.list_webhooks(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select public.page_json('webhooks', array(
    select row(w.created_at, w.id, public.webhook_json(w))::public.page_row
    from public.webhooks w
    where w.account_id = p_account_id
      and (w.created_at, w.id) < (coalesce(p_after_at, 'infinity'),
        coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by w.created_at desc, w.id desc
    limit p_limit + 1), p_limit)
$$;
comment on function public.list_webhooks is 'A page of an account''s webhooks, newest first: {webhooks, next}.';

create function public.get_webhook(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(
    (select jsonb_build_object('webhook', public.webhook_json(w)) from public.webhooks w
      where w.id = p_id and w.account_id = p_account_id),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.get_webhook is 'A webhook of an account: {webhook} or {refused: missing}.';

create function public.update_webhook(
  p_account_id uuid, p_id uuid, p_url text, p_events text[], p_enabled boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_webhook public.webhooks;
begin
  update public.webhooks set
    url = coalesce(p_url, url),
    events = coalesce(p_events, events),
    enabled = coalesce(p_enabled, enabled),
    disabled_reason = case when p_enabled is null then disabled_reason end,
    failing_since = case when p_enabled is null then failing_since end,
    updated_at = now()
  where id = p_id and account_id = p_account_id
  returning * into v_webhook;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  if p_url is not null then
    update public.webhook_deliveries set url = p_url
    where webhook_id = p_id and due_at is not null and url <> p_url;
  end if;
  if not v_webhook.enabled then
    perform public.drop_webhook_deliveries(p_id);
  end if;
  return jsonb_build_object('webhook', public.webhook_json(v_webhook));
exception when unique_violation then
  return jsonb_build_object('refused', 'taken');
end
$$;
comment on function public.update_webhook is 'Changes the fields that are not null: {webhook} or {refused: missing | taken}. Deliveries that wait go to the new URL, or fail when the webhook is disabled.';

create function public.drop_webhook_deliveries(p_webhook_id uuid) returns void
language sql volatile set search_path = '' as $$
  update public.webhook_deliveries set status = 'failed', due_at = null, finished_at = now()
  where webhook_id = p_webhook_id and due_at is not null and lease_id is null
$$;
comment on function public.drop_webhook_deliveries is 'Ends the deliveries that wait for a webhook that is disabled. Those under way end with their attempt.';

create function public.delete_webhook(p_account_id uuid, p_id uuid) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  delete from public.webhooks where id = p_id and account_id = p_account_id;
  return found;
end
$$;
comment on function public.delete_webhook is 'Deletes a webhook of an account with its deliveries; false when there is none.';

create function public.rotate_webhook_secret(p_account_id uuid, p_id uuid, p_secret text)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_webhook public.webhooks;
begin
  update public.webhooks set
    previous_secret = secret,
    previous_secret_until = now() + interval '24 hours',
    secret = p_secret,
    updated_at = now()
  where id = p_id and account_id = p_account_id
  returning * into v_webhook;
  return case when found then jsonb_build_object('webhook', public.webhook_json(v_webhook))
    else jsonb_build_object('refused', 'missing') end;
end
$$;
comment on function public.rotate_webhook_secret is 'Replaces the secret of a webhook; the old one signs too for 24 hours: {webhook} or {refused: missing}.';

create function public.set_turn_webhook(p_account_id uuid, p_turn_id uuid, p_url text)
returns void
language plpgsql volatile set search_path = '' as $$
begin
  update public.turns set webhook_url = p_url
  where id = p_turn_id and account_id = p_account_id;
end
$$;
comment on function public.set_turn_webhook is 'Sets the URL that is told of the end of a turn, besides the webhooks of its account.';

-- Events ------------------------------------------------------------------------------------------

create function public.enqueue_webhook_event(
  p_account_id uuid, p_type text, p_data jsonb, p_webhook_url text default null
) returns void
language sql volatile set search_path = '' as $$
  insert into public.webhook_deliveries (account_id, webhook_id, url, event_type, data)
  select p_account_id, w.id, w.url, p_type, p_data
  from public.webhooks w
  where w.account_id = p_account_id
    and (w.url = p_webhook_url or (w.enabled and p_type = any (w.events)))
  union all
  select p_account_id, null, p_webhook_url, p_type, p_data
  where p_webhook_url is not null and not exists (
    select from public.webhooks w where w.account_id = p_account_id and w.url = p_webhook_url)
$$;
comment on function public.enqueue_webhook_event is 'Queues an event for the webhooks of an account that want it, and for p_webhook_url: once, through the webhook that has this URL, if there is one. To be called in the transaction that makes the event true. p_data has ids and states only.';

create function public.enqueue_turn_event() returns trigger
language plpgsql set search_path = '' as $$
begin
  perform public.enqueue_webhook_event(new.account_id, 'run.' || new.status,
    jsonb_build_object(
      'run_id', new.run_id,
      'kind', new.kind,
      'status', new.status,
      'session_id', new.session_id,
      'chat_id', new.chat_id,
      'artist_id', new.artist_id,
      'created_at', public.iso_date(new.created_at),
      'finished_at', public.iso_date(new.finished_at)),
    new.webhook_url);
  return null;
end
$$;
comment on function public.enqueue_turn_event is 'Queues the event of a turn that ends.';
-- A turn without a run was never started.
create trigger enqueue_turn_event after update of finished_at on public.turns
  for each row when (
    old.finished_at is null and new.finished_at is not null and new.run_id is not null)
  execute function public.enqueue_turn_event();

create function public.enqueue_generation_event() returns trigger
language plpgsql set search_path = '' as $$
declare
  v_status constant text := case when new.status = 'COMPLETED' then 'completed' else 'failed' end;
begin
  perform public.enqueue_webhook_event(new.account_id, 'generation.' || v_status,
    jsonb_build_object(
      'run_id', new.id,
      'kind', case new.task_identifier when 'generate-image' then 'image' else 'video' end,
      'status', v_status,
      'created_at', public.iso_date(new.created_at),
      'finished_at', public.iso_date(new.finished_at)));
  return null;
end
$$;
comment on function public.enqueue_generation_event is 'Queues the event of a generation that ends.';
create trigger enqueue_generation_event after update of lease_until on public.task_runs
  for each row when (
    old.lease_until is not null and new.lease_until is null
    and new.task_identifier in ('generate-image', 'generate-video'))
  execute function public.enqueue_generation_event();

create function public.has_due_webhooks(p_account_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select from public.webhook_deliveries
    where account_id = p_account_id and due_at <= clock_timestamp())
$$;
comment on function public.has_due_webhooks is 'Whether a worker is to be woken for an account, after a statement that may have queued an event.';

-- Deliveries --------------------------------------------------------------------------------------

create function public.webhook_delivery_json(p_delivery public.webhook_deliveries) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_delivery.id,
    'webhook_id', p_delivery.webhook_id,
    'event_type', p_delivery.event_type,
    'data', p_delivery.data,
    'status', p_delivery.status,
    'attempts', p_delivery.log,
    'next_attempt_at', public.iso_date(p_delivery.due_at),
    'created_at', public.iso_date(p_delivery.created_at),
    'finished_at', public.iso_date(p_delivery.finished_at))
$$;
comment on function public.webhook_delivery_json is 'A delivery in the shape of the API. Inlined, hence no search_path.';

create function public.list_webhook_deliveries(
  p_account_id uuid, p_webhook_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select case
    when not exists (
      select from public.webhooks w where w.id = p_webhook_id and w.account_id = p_account_id)
    then jsonb_build_object('refused', 'missing')
    else public.page_json('deliveries', array(
      select row(d.created_at, d.id, public.webhook_delivery_json(d))::public.page_row
      from public.webhook_deliveries d
      where d.webhook_id = p_webhook_id
        and (d.created_at, d.id) < (coalesce(p_after_at, 'infinity'),
          coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
      order by d.created_at desc, d.id desc
      limit p_limit + 1), p_limit)
    end
$$;
comment on function public.list_webhook_deliveries is 'A page of the deliveries of an account''s webhook, newest first: {deliveries, next} or {refused: missing}.';

create function public.test_webhook(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_delivery public.webhook_deliveries;
begin
  insert into public.webhook_deliveries
    (account_id, webhook_id, url, event_type, data, retry_until)
  select w.account_id, w.id, w.url, 'webhook.test', jsonb_build_object('webhook_id', w.id), now()
  from public.webhooks w where w.id = p_id and w.account_id = p_account_id
  returning * into v_delivery;
  return case when found
    then jsonb_build_object('delivery', public.webhook_delivery_json(v_delivery))
    else jsonb_build_object('refused', 'missing') end;
end
$$;
comment on function public.test_webhook is 'Queues a test event, which is attempted once: {delivery} or {refused: missing}.';

create function public.redeliver_webhook(p_account_id uuid, p_webhook_id uuid, p_id uuid)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_delivery public.webhook_deliveries;
begin
  update public.webhook_deliveries d set
    status = 'pending',
    -- An attempt under way is not doubled.
    due_at = case when d.lease_id is null then now() else d.due_at end,
    url = w.url,
    attempts = 0,
    retry_until = now() + interval '24 hours',
    finished_at = null
  from public.webhooks w
  where d.id = p_id and d.webhook_id = p_webhook_id
    and w.id = d.webhook_id and w.account_id = p_account_id
  returning d.* into v_delivery;
  return case when found
    then jsonb_build_object('delivery', public.webhook_delivery_json(v_delivery))
    else jsonb_build_object('refused', 'missing') end;
end
$$;
comment on function public.redeliver_webhook is 'Makes a delivery due, whether it has ended or waits for another attempt: {delivery} or {refused: missing}.';

create function public.appended_attempt(p_log jsonb, p_attempt jsonb) returns jsonb
language sql immutable set search_path = '' as $$
  select (case when jsonb_array_length(p_log) >= 30 then p_log - 0 else p_log end) || p_attempt
$$;
comment on function public.appended_attempt is 'A log with one more attempt; it keeps the last 30.';

create function public.claim_webhook_deliveries(
  p_after uuid, p_limit integer, p_per_account integer, p_lease_seconds integer
) returns jsonb
language sql volatile set search_path = '' as $$
  -- The accounts that have something due, each found by one look into the index.
  with recursive accounts as (
    (select d.account_id from public.webhook_deliveries d
      where d.account_id > p_after and d.due_at <= now()
      order by d.account_id limit 1)
    union all
    select (select d.account_id from public.webhook_deliveries d
      where d.account_id > a.account_id and d.due_at <= now()
      order by d.account_id limit 1)
    from accounts a where a.account_id is not null
  ),
  due as (
    select d.id
    from (select a.account_id from accounts a where a.account_id is not null limit p_limit) a
    cross join lateral (
      select d.id from public.webhook_deliveries d
      where d.account_id = a.account_id and d.due_at <= now()
      order by d.due_at
      limit greatest(0, p_per_account - (
        select count(*) from public.webhook_deliveries f
        where f.account_id = a.account_id and f.lease_id is not null and f.due_at > now()))
      for update skip locked
    ) d
    limit p_limit
  ),
  claimed as (
    update public.webhook_deliveries d set
      lease_id = gen_random_uuid(),
      attempts = d.attempts + 1,
      due_at = now() + make_interval(secs => p_lease_seconds),
      -- The process that made the attempt before has died.
      log = case when d.lease_id is null then d.log else public.appended_attempt(d.log,
        jsonb_build_object(
          'attempted_at', public.iso_date(d.due_at - make_interval(secs => p_lease_seconds)),
          'status_code', null, 'duration_ms', null,
          'error', 'The attempt was interrupted', 'response', null)) end
    from due where d.id = due.id
    returning d.*
  )
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', c.id,
    'accountId', c.account_id,
    'leaseId', c.lease_id,
    'webhookId', c.webhook_id,
    'url', c.url,
    'type', c.event_type,
    'data', c.data,
    'createdAt', public.iso_date(c.created_at),
    'attempt', c.attempts,
    'secrets', case when w.id is null then '[]' else jsonb_build_array(w.secret)
      || case when w.previous_secret_until > now()
        then jsonb_build_array(w.previous_secret) else '[]' end end)
    order by c.account_id), '[]')
  from claimed c left join public.webhooks w on w.id = c.webhook_id
$$;
comment on function public.claim_webhook_deliveries is 'Leases deliveries that are due, of accounts whose ids follow p_after, and of each account so many that at most p_per_account are under way. A lease that ends makes the delivery due again. Deliveries with sealed secrets, in the order of their accounts.';

create function public.record_webhook_attempt(
  p_id uuid, p_lease_id uuid, p_attempt jsonb, p_outcome text, p_retry_seconds double precision
) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_retry_at constant timestamptz := now() + make_interval(secs => p_retry_seconds);
  v_webhook public.webhooks;
  v_delivery public.webhook_deliveries;
  v_status text;
begin
  select * into v_webhook from public.webhooks
  where id = (select webhook_id from public.webhook_deliveries where id = p_id)
  for no key update;
  select * into v_delivery from public.webhook_deliveries
  where id = p_id and lease_id = p_lease_id for update;
  if not found then
    return false;
  end if;
  v_status := case
    when p_outcome = 'delivered' then 'delivered'
    when p_outcome = 'failed' and v_retry_at <= v_delivery.retry_until
      and v_webhook.enabled is not false then 'pending'
    else 'failed' end;
  update public.webhook_deliveries set
    status = v_status,
    log = public.appended_attempt(log, p_attempt),
    lease_id = null,
    due_at = case when v_status = 'pending' then v_retry_at end,
    finished_at = case when v_status <> 'pending' then now() end
  where id = p_id;
  perform public.judge_webhook(v_webhook, p_outcome);
  return true;
end
$$;
comment on function public.record_webhook_attempt is 'Ends the attempt that has the lease: p_outcome is delivered, failed, or gone when the endpoint wants no more. A failure is repeated after p_retry_seconds, unless that is too late or the webhook is disabled. False when the lease was lost.';

create function public.judge_webhook(p_webhook public.webhooks, p_outcome text) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_reason constant text := case
    when p_outcome = 'gone' then 'gone'
    when p_outcome = 'failed' and p_webhook.failing_since < now() - interval '5 days'
      then 'failing' end;
begin
  if p_outcome = 'delivered' then
    update public.webhooks set failing_since = null
    where id = p_webhook.id and failing_since is not null;
    return;
  end if;
  update public.webhooks set failing_since = coalesce(failing_since, now())
  where id = p_webhook.id and failing_since is null;
  if v_reason is not null and p_webhook.enabled then
    update public.webhooks
    set enabled = false, disabled_reason = v_reason, updated_at = now()
    where id = p_webhook.id;
    perform public.drop_webhook_deliveries(p_webhook.id);
  end if;
end
$$;
comment on function public.judge_webhook is 'Notes how an attempt at a webhook ended, and disables one that has failed for five days or is gone.';

-- The request log and idempotency keys.

create table public.requests (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  method text not null,
  route text not null,
  status smallint not null,
  duration_ms real not null,
  credential text not null check (credential in ('api_key', 'bearer', 'run')),
  api_key_id uuid,
  request_id text not null,
  created_at timestamptz not null
);

create index requests_newest on public.requests (account_id, created_at desc, id desc);
create index requests_by_route on public.requests (account_id, route, created_at desc, id desc);
create index requests_by_credential
  on public.requests (account_id, credential, created_at desc, id desc);
create index requests_by_key on public.requests (account_id, api_key_id, created_at desc, id desc)
  where api_key_id is not null;
create index requests_failed on public.requests (account_id, (status / 100), created_at desc, id desc)
  where status >= 400;
-- Rows arrive in the order of time, so a few pages of this index find the old ones.
create index requests_age on public.requests using brin (created_at) with (autosummarize = on);
alter table public.requests enable row level security;
comment on table public.requests is 'The requests that accounts have made with their credentials, until the retention job deletes them.';
comment on column public.requests.account_id is 'The account of the credential, even if the request acts for another one.';
comment on column public.requests.route is 'The path of the endpoint with the names of its parameters, not their values.';
comment on column public.requests.duration_ms is 'Until the response was ready; the chunks of a stream come after that.';
comment on column public.requests.api_key_id is 'No foreign key: the request stays when the key is revoked. Null without an API key.';

create function public.record_requests(p_requests jsonb) returns void
language sql volatile set search_path = '' as $$
  insert into public.requests (account_id, method, route, status, duration_ms, credential, api_key_id,
    request_id, created_at)
  select a.id, r.method, r.route, r.status, r.duration_ms, r.credential, r.api_key_id,
    left(r.request_id, 200), r.created_at
  from jsonb_to_recordset(p_requests) as r (
    account_id uuid, method text, route text, status smallint, duration_ms real, credential text,
    api_key_id uuid, request_id text, created_at timestamptz)
  -- Requests of an account that was deleted are left out.
  join public.accounts a on a.id = r.account_id
$$;
comment on function public.record_requests is 'Records requests [{account_id, method, route, …}] of any accounts, except deleted ones.';

create function public.list_requests(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid,
  p_status_class integer, p_route text, p_credential text, p_api_key_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_page jsonb;
begin
  -- Planned for the given filters, each of which has its index.
  execute $query$
    select public.page_json('requests', array(
      select row(r.created_at, r.id,
        to_jsonb(r) - 'account_id'
          || jsonb_build_object('created_at', public.iso_date(r.created_at)))::public.page_row
      from public.requests r
      where r.account_id = $1
        and (r.created_at, r.id) < ($3, $4)
        and ($5 is null or r.status / 100 = $5 and (r.status >= 400 or $5 < 4))
        and ($6 is null or r.route = $6)
        and ($7 is null or r.credential = $7)
        and ($8 is null or r.api_key_id = $8)
      order by r.created_at desc, r.id desc
      limit $2 + 1), $2)
  $query$ into v_page using p_account_id, p_limit,
    coalesce(p_after_at, 'infinity'), coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
    p_status_class, p_route, p_credential, p_api_key_id;
  return v_page;
end
$$;
comment on function public.list_requests is 'Requests of an account, newest first, of a class of statuses (4 for 4xx), a route, a kind of credential and an API key where these are given: {requests, next}.';

-- Idempotency keys --------------------------------------------------------------------------------

create table public.idempotency_keys (
  account_id uuid not null references public.accounts (id) on delete cascade,
  key_hash text not null,
  fingerprint text not null,
  effect_id uuid not null default gen_random_uuid(),
  attempt integer not null default 1,
  lease_until timestamptz,
  response text,
  created_at timestamptz not null default now(),
  primary key (account_id, key_hash)
);

create index idempotency_keys_age on public.idempotency_keys (created_at);
alter table public.idempotency_keys enable row level security;
comment on table public.idempotency_keys is 'Requests with an Idempotency-Key: their current attempt, and the response for a repetition.';
comment on column public.idempotency_keys.key_hash is 'HMAC of the key.';
comment on column public.idempotency_keys.fingerprint is 'HMAC of the request that the key was first used with.';
comment on column public.idempotency_keys.effect_id is 'The effect id of all attempts: the effect happens once.';
comment on column public.idempotency_keys.lease_until is 'Until when the running attempt has the key; after that its process is taken for dead.';
comment on column public.idempotency_keys.response is 'The encrypted response; null until an attempt has one to keep.';

create function public.begin_idempotent(
  p_account_id uuid, p_key_hash text, p_fingerprint text, p_lease_seconds integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_oldest constant timestamptz := v_now - interval '24 hours';
  v_row public.idempotency_keys;
begin
  if random() < 0.01 then
    delete from public.idempotency_keys where (account_id, key_hash) in (
      select k.account_id, k.key_hash from public.idempotency_keys k
      where k.created_at < v_oldest and coalesce(k.lease_until, v_oldest) < v_now
      limit 1000 for update skip locked
    );
  end if;

  insert into public.idempotency_keys as k (account_id, key_hash, fingerprint, lease_until)
  values (p_account_id, p_key_hash, p_fingerprint, v_now + make_interval(secs => p_lease_seconds))
  on conflict (account_id, key_hash) do update set
    fingerprint = excluded.fingerprint,
    effect_id = case when k.created_at < v_oldest then excluded.effect_id else k.effect_id end,
    created_at = case when k.created_at < v_oldest then excluded.created_at else k.created_at end,
    attempt = k.attempt + 1,
    lease_until = excluded.lease_until,
    response = null
  where coalesce(k.lease_until, v_oldest) < v_now
    and (k.created_at < v_oldest or (k.fingerprint = excluded.fingerprint and k.response is null))
  returning * into v_row;
  if found then
    return jsonb_build_object(
      'outcome', 'begun', 'effect_id', v_row.effect_id, 'attempt', v_row.attempt);
  end if;

  -- The conflict has locked the row, so it is there.
  select * into v_row from public.idempotency_keys
  where account_id = p_account_id and key_hash = p_key_hash;
  return case
    when v_row.fingerprint <> p_fingerprint then jsonb_build_object('outcome', 'mismatch')
    when v_row.response is null then jsonb_build_object('outcome', 'running')
    else jsonb_build_object('outcome', 'done', 'response', v_row.response)
  end;
end
$$;
comment on function public.begin_idempotent is 'Starts an attempt at a request: {outcome: begun (effect_id, attempt) | running | mismatch | done (response)}. A key is forgotten a day after its first use.';

create function public.extend_idempotent(
  p_account_id uuid, p_key_hash text, p_attempt integer, p_lease_seconds integer
) returns jsonb
language sql volatile set search_path = '' as $$
  update public.idempotency_keys
  set lease_until = clock_timestamp() + make_interval(secs => p_lease_seconds)
  where account_id = p_account_id and key_hash = p_key_hash
    and attempt = p_attempt and lease_until is not null;
  select '{}'::jsonb
$$;
comment on function public.extend_idempotent is 'Extends the lease of an attempt; without effect for an attempt that was replaced.';

create function public.end_idempotent(
  p_account_id uuid, p_key_hash text, p_attempt integer, p_response text
) returns jsonb
language sql volatile set search_path = '' as $$
  update public.idempotency_keys set response = p_response, lease_until = null
  where account_id = p_account_id and key_hash = p_key_hash
    and attempt = p_attempt and lease_until is not null;
  select '{}'::jsonb
$$;
comment on function public.end_idempotent is 'Ends an attempt with the response to keep; null leaves the key to the next attempt.';

-- Background jobs, and the deletion of expired rows.

create table public.background_jobs (
  name text primary key,
  holder uuid,
  lease_until timestamptz,
  finished_at timestamptz
);
alter table public.background_jobs enable row level security;
comment on table public.background_jobs is 'Who does a recurring job now, until when, and when it was last finished.';

create function public.take_job(
  p_name text, p_holder uuid, p_lease_seconds integer, p_interval_seconds integer
) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.background_jobs (name) values (p_name) on conflict (name) do nothing;
  update public.background_jobs
  set holder = p_holder, lease_until = clock_timestamp() + make_interval(secs => p_lease_seconds)
  where name = p_name
    and coalesce(lease_until, '-infinity') < clock_timestamp()
    and coalesce(finished_at, '-infinity')
      <= clock_timestamp() - make_interval(secs => p_interval_seconds);
  return found;
end
$$;
comment on function public.take_job is 'Leases a job that is due and that nobody does; false otherwise.';

create function public.end_job(p_name text, p_holder uuid) returns void
language sql volatile set search_path = '' as $$
  update public.background_jobs
  set holder = null, lease_until = null, finished_at = clock_timestamp()
  where name = p_name and holder = p_holder
$$;
comment on function public.end_job is 'Ends a lease: the job is due again after its interval. Without effect for a holder that has lost it.';

create function public.sweep_rows(
  p_batch integer, p_input_days integer, p_connection_days integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_keys integer;
  v_codes integer;
  v_buckets integer;
  v_connections integer;
  v_run_keys integer;
  v_inputs integer;
  v_accounts uuid[];
begin
  delete from public.idempotency_keys where (account_id, key_hash) in (
    select k.account_id, k.key_hash from public.idempotency_keys k
    where k.created_at < now() - interval '24 hours'
      and coalesce(k.lease_until, '-infinity') < now()
    limit p_batch for update skip locked);
  get diagnostics v_keys = row_count;
  delete from public.signup_codes where email in (
    select c.email from public.signup_codes c
    where c.expires_at < now() - interval '1 hour'
    limit p_batch for update skip locked);
  get diagnostics v_codes = row_count;
  delete from public.rate_limits where bucket in (
    select b.bucket from public.rate_limits b
    where b.empty_at < date_part('epoch', now())
    limit p_batch for update skip locked);
  get diagnostics v_buckets = row_count;
  -- Refused, or not decided in time.
  delete from public.connections where id in (
    select c.id from public.connections c
    where c.status <> 'active'
      and c.updated_at < now() - make_interval(days => p_connection_days)
      and (c.status = 'failed' or c.expires_at < now())
    limit p_batch for update skip locked);
  get diagnostics v_connections = row_count;
  delete from public.api_keys where id in (
    select k.id from public.api_keys k
    where k.scope = 'run' and k.revoked_at < now() - interval '1 day'
    limit p_batch for update skip locked);
  get diagnostics v_run_keys = row_count;
  update public.task_runs set payload = null where id in (
    select r.id from public.task_runs r
    where r.payload is not null and r.finished_at < now() - make_interval(days => p_input_days)
    limit p_batch for update skip locked);
  get diagnostics v_inputs = row_count;
  v_accounts := array(
    select distinct lost.account_id from (
      select r.account_id from public.task_runs r where r.lease_until < now() limit p_batch) lost);
  perform public.crash_lost_task_runs(account_id) from unnest(v_accounts) as account_id;
  return jsonb_build_object(
    'idempotencyKeys', v_keys,
    'signupCodes', v_codes,
    'rateLimits', v_buckets,
    'connections', v_connections,
    'runKeys', v_run_keys,
    'taskRunInputs', v_inputs,
    'accountsWithLostRuns', cardinality(v_accounts));
end
$$;
comment on function public.sweep_rows is 'Deletes at most p_batch rows of each kind that have expired, removes the inputs of old task runs, and ends task runs whose process has died. Returns how many of each.';

create function public.sweep_invitations(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_count integer;
begin
  delete from public.organization_invitations where id in (
    select i.id from public.organization_invitations i
    where i.expires_at < now() limit p_batch for update skip locked);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function public.sweep_invitations is 'Deletes at most p_batch invitations that have expired, and says how many.';

create function public.sweep_run_traces(p_batch integer, p_days integer) returns bigint
language sql volatile set search_path = '' as $$
  with deleted as (
    delete from public.run_traces where turn_id in (
      select r.turn_id from public.run_traces r
      where r.created_at < clock_timestamp() - make_interval(days => p_days)
      limit p_batch for update skip locked)
    returning 1)
  select count(*) from deleted
$$;
comment on function public.sweep_run_traces is 'Deletes at most p_batch traces that are older than p_days, and returns their number.';

create function public.sweep_webhook_deliveries(p_batch integer, p_days integer) returns bigint
language sql volatile set search_path = '' as $$
  with forgotten as (
    update public.webhooks set previous_secret = null, previous_secret_until = null
    where previous_secret is not null and previous_secret_until < now()
  ),
  gone as (
    delete from public.webhook_deliveries where id in (
      select d.id from public.webhook_deliveries d
      where d.finished_at < now() - make_interval(days => p_days)
      limit p_batch for update skip locked)
    returning 1
  )
  select count(*) from gone
$$;
comment on function public.sweep_webhook_deliveries is 'Deletes deliveries that finished more than p_days ago, and replaced secrets; answers how many deliveries.';

create function public.sweep_requests(p_batch integer, p_days integer) returns bigint
language sql volatile set search_path = '' as $$
  with deleted as (
    delete from public.requests where id in (
      select r.id from public.requests r
      where r.created_at < clock_timestamp() - make_interval(days => p_days)
      limit p_batch for update skip locked)
    returning 1)
  select count(*) from deleted
$$;
comment on function public.sweep_requests is 'Deletes at most p_batch requests that are older than p_days, and returns their number.';

create function public.sweep_deleted_identities(p_batch integer, p_days integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_count integer;
begin
  delete from public.deleted_identities where hash in (
    select d.hash from public.deleted_identities d
    where d.deleted_at < now() - make_interval(days => p_days)
    limit p_batch for update skip locked);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function public.sweep_deleted_identities is 'Forgets accounts that were deleted so many days ago; answers how many.';

-- The durable engine's own schema: the run state of the Workflow SDK, and the streams. It is never
-- exposed over REST.

create schema engine;

create table engine.instances (
  id uuid primary key,
  lock_key bigint generated always as identity,
  started_at timestamptz not null default now()
);
comment on table engine.instances is 'Live server processes. Each holds a session-level advisory lock on its lock_key, which the database releases the moment it dies.';

create table engine.runs (
  run_id text primary key,
  workflow_name text not null,
  deployment_id text not null,
  spec_version integer not null,
  status text not null,
  input bytea not null,
  output bytea,
  error jsonb,
  execution_context jsonb,
  owner uuid not null,
  created_at timestamptz not null,
  started_at timestamptz not null,
  completed_at timestamptz,
  updated_at timestamptz not null
);
create index runs_by_owner on engine.runs (owner) where status = 'running';
create index runs_by_completion on engine.runs (completed_at) where completed_at is not null;
comment on table engine.runs is 'Durable runs. Only the owner, a live process, executes a run.';

create table engine.steps (
  run_id text not null references engine.runs on delete cascade,
  step_id text not null,
  name text not null,
  status text not null,
  input bytea not null,
  attempt integer not null,
  error jsonb,
  retry_after timestamptz,
  created_at timestamptz not null,
  started_at timestamptz not null,
  completed_at timestamptz,
  updated_at timestamptz not null,
  primary key (run_id, step_id)
);
comment on table engine.steps is 'Steps of runs. The result of a step is in its step_completed event.';

create table engine.events (
  run_id text not null references engine.runs on delete cascade,
  event_id text not null,
  type text not null,
  correlation_id text,
  data jsonb,
  created_at timestamptz not null,
  primary key (run_id, event_id)
);
create index events_by_correlation on engine.events (correlation_id, event_id)
  where correlation_id is not null;
comment on table engine.events is 'The events of a run, in the order of event_id. Only the owner appends: every replay sees the same order.';

create table engine.hooks (
  run_id text not null references engine.runs on delete cascade,
  hook_id text not null,
  token text not null unique,
  is_webhook boolean not null,
  metadata bytea,
  created_at timestamptz not null,
  primary key (run_id, hook_id)
);
create index hooks_by_id on engine.hooks (hook_id);
comment on table engine.hooks is 'Hooks that wait for payloads; they end with their run at the latest.';

create table engine.inbox (
  id bigint generated always as identity primary key,
  run_id text not null references engine.runs on delete cascade,
  type text not null,
  correlation_id text not null,
  data jsonb,
  posted_at timestamptz not null default now()
);
create index inbox_by_run on engine.inbox (run_id, id);
comment on table engine.inbox is 'Events that any process may send to a run, such as payloads of hooks. The owner moves them to engine.events.';

create table engine.chunks (
  stream uuid not null,
  first_index integer not null,
  count integer not null,
  data text not null,
  eof boolean not null,
  written_at timestamptz not null default now(),
  primary key (stream, first_index)
);
create index chunks_by_age on engine.chunks (written_at);
comment on table engine.chunks is 'The chunk log of turns. A row is one write: count chunks from first_index on, one JSON text a line; eof marks the last row.';

create table engine.streams (
  name text primary key,
  run_id text not null,
  next_index integer not null,
  closed boolean not null default false,
  written_at timestamptz not null default now()
);
create index streams_by_run on engine.streams (run_id);
create index streams_by_age on engine.streams (written_at);
comment on table engine.streams is 'The Workflow SDK''s own streams. A stream can precede its run, or have none.';

create table engine.stream_chunks (
  name text not null references engine.streams on delete cascade,
  index integer not null,
  data bytea not null,
  primary key (name, index)
);
comment on table engine.stream_chunks is 'Chunks of the Workflow SDK''s own streams, counted from 0.';

-- Two statements, because the second one must see the writes for which the first one has waited.
create function engine.remove_instance(p_id uuid) returns void
language plpgsql
set search_path = ''
as $$
begin
  -- Waits for statements that give runs to this process; later ones do not find it any more.
  delete from engine.instances where id = p_id;
  update engine.runs set owner = '00000000-0000-0000-0000-000000000000', updated_at = now()
  where owner = p_id and status = 'running';
  if found then
    perform pg_notify('engine_free_runs', '');
  end if;
end
$$;
comment on function engine.remove_instance(uuid) is 'Removes a server process that has died, releases its runs and notifies the others.';
