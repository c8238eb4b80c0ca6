-- The form of times in documents, the identity of the installation, and rate limits.
--
-- Every table has row-level security without a policy, which the end of 95_retention.sql enables, and the public roles
-- have no rights: only service_role reads and writes. Tables and functions that are created later are closed in the same way.

set check_function_bodies = off;

alter default privileges revoke execute on functions from public;
alter default privileges in schema public revoke all on tables from anon, authenticated;
alter default privileges in schema public revoke all on sequences from anon, authenticated;
alter default privileges in schema public revoke execute on functions from anon, authenticated;
alter default privileges in schema public grant all on tables to service_role;
alter default privileges in schema public grant all on sequences to service_role;
alter default privileges in schema public grant execute on functions to service_role;

-- Compares words with typing errors. Only service_role may call its functions, like all functions here.
create extension if not exists pg_trgm with schema extensions;
grant execute on function extensions.similarity(text, text) to service_role;

create function public.iso_date(p_at timestamptz) returns text
language sql stable as $$
  select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
comment on function public.iso_date is 'A time in a stored document, such as the data of an event: ISO 8601 in UTC with milliseconds. Inlined, hence no search_path.';

create table public.installation (
  id uuid primary key default gen_random_uuid(),
  only_row boolean not null unique default true check (only_row),
  secret_fingerprint text,
  data_dir_id text
);
comment on table public.installation is 'Identifies this database: a folder that belongs to another one is left alone.';
comment on column public.installation.secret_fingerprint is 'HMAC with the API_KEY_SECRET of the servers. Null until one has started.';
comment on column public.installation.data_dir_id is 'The id of the DATA_DIR that has the sandboxes or media; null until a server has started that keeps them there.';

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
    'secret_fingerprint', (select secret_fingerprint from public.installation),
    'data_dir_id', (select data_dir_id from public.installation),
    'clock_ms', round(extract(epoch from clock_timestamp()) * 1000));
end
$$;
comment on function public.describe_database is 'For the check of an installation: {installation_id, newest_migration, secret_fingerprint, data_dir_id, clock_ms}. newest_migration is null where migrations are not recorded as the Supabase CLI does; clock_ms is the time in milliseconds of the epoch.';

create function public.join_installation(
  p_fingerprints text[], p_data_dir_id text
) returns public.installation
language sql volatile set search_path = '' as $$
  -- Of servers that start at the same time, one records its own, and the others wait for it.
  update public.installation set
    secret_fingerprint = case
      when secret_fingerprint is null or secret_fingerprint = any (p_fingerprints)
      then p_fingerprints[1] else secret_fingerprint end,
    data_dir_id = coalesce(data_dir_id, p_data_dir_id)
  where only_row
  returning *
$$;
comment on function public.join_installation is 'Records the first fingerprint and the id where none is recorded, and the first fingerprint in place of another of these. Returns the record.';

create unlogged table public.rate_limits (
  bucket text primary key,
  empty_at double precision not null
) with (fillfactor = 50);
comment on table public.rate_limits is 'Leaky buckets of requests, one for each caller. Unlogged: a crash forgets a minute of counting.';
comment on column public.rate_limits.empty_at is 'When the bucket will be empty again, in seconds since 1970.';

create table public.removals (
  kind text not null check (kind in ('media', 'content', 'sandbox')),
  owner_id uuid not null,
  name text not null default '',
  state jsonb,
  removed_at timestamptz,
  primary key (kind, owner_id, name)
);

create index removals_due on public.removals (kind, removed_at);
comment on table public.removals is 'What the storage or the sandbox provider is to lose: media of an account, contents of a workspace, sandboxes of sessions. No foreign keys: a removal outlives its owner.';
comment on column public.removals.name is 'The name of a file, or the id of a content; empty for a sandbox.';
comment on column public.removals.state is 'The sandbox_state of the session; null for a file.';
comment on column public.removals.removed_at is 'When a file was removed; it is removed once more an hour later, in case a slow request has stored it since.';

create function public.due_removals(p_kind text, p_batch integer, p_owner_id uuid default null)
returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'ownerId', r.owner_id, 'name', r.name, 'state', r.state)), '[]')
  from (
    select * from public.removals
    where kind = p_kind and owner_id = coalesce(p_owner_id, owner_id)
      and (removed_at is null or (p_owner_id is null and removed_at < now() - interval '1 hour'))
    limit p_batch) r
$$;
comment on function public.due_removals is 'Removals of a kind that are to be done, for the first time or the last: [{ownerId, name, state}]. Of one owner only for the first time.';

create function public.end_removal(p_kind text, p_owner_id uuid, p_name text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  delete from public.removals
  where kind = p_kind and owner_id = p_owner_id and name = p_name
    and (kind = 'sandbox' or removed_at < now() - interval '1 hour');
  update public.removals set removed_at = clock_timestamp()
  where kind = p_kind and owner_id = p_owner_id and name = p_name and removed_at is null;
end
$$;
comment on function public.end_removal is 'Records that a file or sandbox was removed. The removal of a file ends with its second time.';

create function public.take_from_bucket(p_bucket text, p_per_minute integer) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_step constant double precision := 60.0 / nullif(p_per_minute, 0);
  v_now constant double precision := date_part('epoch', clock_timestamp());
  v_empty_at double precision;
  v_retry_after double precision;
begin
  if p_bucket is null or p_per_minute <= 0 then
    return null;
  end if;
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
comment on function public.take_from_bucket is 'Counts one request in a bucket of p_per_minute: {limit, remaining, reset, retry_after} in seconds. retry_after is null when the request is admitted; a refused request does not count. Null without a bucket or a limit.';
