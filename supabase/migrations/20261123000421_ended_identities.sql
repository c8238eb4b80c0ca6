-- A sign-in ends with its session, and with the account that it was for.

create table public.deleted_identities (
  hash text primary key,
  deleted_at timestamptz not null
);
create index deleted_identities_age on public.deleted_identities (deleted_at);
alter table public.deleted_identities enable row level security;
revoke all on table public.deleted_identities from anon, authenticated;
grant all on table public.deleted_identities to service_role;
comment on table public.deleted_identities is
  'Recently deleted accounts. A token that was issued before the deletion must not sign in.';
comment on column public.deleted_identities.hash is
  'HMAC of the e-mail address with API_KEY_SECRET.';
comment on column public.deleted_identities.deleted_at is
  'When the account, or the newest one with this address, was deleted.';

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

create function public.may_use_auth_table(p_table text, p_privilege text) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'auth' and c.relname = p_table
      and pg_catalog.has_schema_privilege(n.oid, 'usage')
      and pg_catalog.has_table_privilege(c.oid, p_privilege))
$$;
comment on function public.may_use_auth_table is
  'Returns whether Supabase Auth is in this database, and its table is within reach.';

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
  -- A statement of its own: one that names the table fails where it is absent.
  if p_session_id is null or not public.may_use_auth_table('sessions', 'select') then
    return false;
  end if;
  return not exists (select from auth.sessions s where s.id = p_session_id);
end
$$;
comment on function public.has_sign_in_ended is
  'Returns whether the session of a token was signed out, or its account deleted since it was issued. Sessions that cannot be read count as live.';

create function public.authenticate_bearer(
  p_email text, p_identity_hash text, p_session_id uuid, p_issued_at timestamptz,
  p_account_id uuid, p_organization_id uuid, p_artist_id uuid,
  p_address text, p_address_limit integer, p_account_limit integer,
  p_read text, p_read_args jsonb
) returns public."text/plain"
language plpgsql volatile set search_path = '' as $$
declare
  v_verdict text;
  v_rate jsonb;
begin
  if p_read is null then
    v_verdict := public.authenticate_email(p_email, p_account_id, p_organization_id, p_artist_id,
      p_address, p_address_limit, p_account_limit)::text;
  else
    v_verdict := public.authenticate_and_read(null, p_email, p_account_id, p_organization_id,
      p_artist_id, p_address, p_address_limit, p_account_limit, p_read, p_read_args);
  end if;
  -- Afterwards, so that an account that is deleted in between is not created again.
  if public.has_sign_in_ended(p_session_id, p_identity_hash, p_issued_at) then
    raise sqlstate 'PT401';
  end if;
  return v_verdict;
exception when sqlstate 'PT401' then
  if p_address is not null and p_address_limit > 0 then
    v_rate := public.take_from_bucket('address:' || p_address, p_address_limit);
  end if;
  return jsonb_build_object('outcome', 'unknown')::text;
end
$$;
comment on function public.authenticate_bearer is
  'Authenticates a bearer token and returns limits, access and the prefetched query as authenticate_and_read does; {outcome: unknown} when the sign-in has ended.';

create function public.delete_account(
  p_account_id uuid, p_email text, p_identity_hash text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_answer constant jsonb := public.delete_account(p_account_id, p_email);
begin
  if v_answer ->> 'refused' is not null then
    return v_answer;
  end if;
  insert into public.deleted_identities (hash, deleted_at)
  values (p_identity_hash, clock_timestamp())
  on conflict (hash) do update set deleted_at = excluded.deleted_at;
  -- A session that remains would be renewed, with tokens that are newer than the deletion.
  if public.may_use_auth_table('sessions', 'delete') and public.may_use_auth_table('users', 'select')
  then
    delete from auth.sessions s using auth.users u
    where u.id = s.user_id and lower(u.email) = lower(p_email);
  end if;
  return v_answer;
end
$$;
comment on function public.delete_account(uuid, text, text) is
  'Deletes an account as delete_account does, and ends its sign-ins: earlier tokens are refused, and sessions cannot be renewed.';
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
comment on function public.sweep_deleted_identities is
  'Forgets accounts that were deleted so many days ago; answers how many.';
