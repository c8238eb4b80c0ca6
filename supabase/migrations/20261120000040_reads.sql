-- Who asks, and what they ask for, in one round trip: for lists that are read often, where a second
-- call may cost more than the list itself.

-- What may be read so, for an account that the database itself has found.
create function public.read_for_account(p_account_id uuid, p_read text, p_args jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  case p_read
    when 'list_sessions' then
      return public.list_sessions(p_account_id, (p_args ->> 'p_limit')::integer,
        (p_args ->> 'p_after_at')::timestamptz, (p_args ->> 'p_after_id')::uuid);
    when 'list_agent_templates' then
      return public.list_agent_templates(p_account_id, (p_args ->> 'p_limit')::integer,
        (p_args ->> 'p_after_at')::timestamptz, (p_args ->> 'p_after_id')::uuid);
    when 'list_task_runs' then
      return public.list_task_runs(p_account_id, (p_args ->> 'p_limit')::integer);
    -- The same for every account.
    when 'catalog_search' then
      return public.catalog_search(
        array(select jsonb_array_elements_text(p_args -> 'p_kinds')), p_args ->> 'p_text',
        p_args -> 'p_fields', p_args ->> 'p_market', (p_args ->> 'p_limit')::integer,
        (p_args ->> 'p_offset')::integer);
  end case;
end
$$;

-- Has this bucket no room for one more request? Looks only, and locks nothing.
create function public.is_bucket_full(p_bucket text, p_per_minute integer) returns boolean
language sql stable set search_path = '' as $$
  select p_per_minute > 0 and exists (
    select 1 from public.rate_limits b
    where b.bucket = p_bucket
      and b.empty_at + 60.0 / p_per_minute > date_part('epoch', clock_timestamp()) + 60)
$$;

-- As authenticate_key (with p_hash) or authenticate_email (with p_email), and with `read` in the
-- answer when the caller is known and acts for their own account. Without it nothing was read, and
-- the caller asks again. The reading comes first, and so does what makes text of it (hence JSON as
-- text): from the moment a request is counted until the transaction ends, the account's other
-- requests wait.
create function public.authenticate_and_read(
  p_hash text,
  p_email text,
  p_account_id uuid,
  p_organization_id uuid,
  p_artist_id uuid,
  p_address text,
  p_address_limit integer,
  p_account_limit integer,
  p_read text,
  p_read_args jsonb
) returns public."text/plain"
language plpgsql volatile set search_path = '' as $$
declare
  v_own uuid;
  v_read text;
  v_verdict jsonb;
begin
  if p_hash is not null then
    select k.account_id into v_own from public.api_keys k
    where k.hash = p_hash
      and (k.revoked_at is null or k.revoked_at > now())
      and (k.expires_at is null or k.expires_at > now());
  else
    select a.id into v_own from public.accounts a
    where a.email = lower(p_email) and a.kind = 'personal';
  end if;
  if v_own is not null
    and coalesce(p_account_id = v_own, true)
    and not public.is_bucket_full('account:' || v_own, p_account_limit)
    and not (p_address is not null
      and public.is_bucket_full('address:' || p_address, p_address_limit))
  then
    v_read := public.read_for_account(v_own, p_read, p_read_args);
  end if;

  if p_hash is not null then
    v_verdict := public.authenticate_key(p_hash, p_account_id, p_organization_id, p_artist_id,
      p_address, p_address_limit, p_account_limit);
  else
    v_verdict := public.authenticate_email(p_email, p_account_id, p_organization_id, p_artist_id,
      p_address, p_address_limit, p_account_limit);
  end if;
  if v_read is not null and v_verdict ->> 'outcome' = 'known'
    and (v_verdict ->> 'account_id')::uuid = v_own
  then
    return left(v_verdict::text, -1) || ', "read": ' || v_read || '}';
  end if;
  return v_verdict::text;
end
$$;
