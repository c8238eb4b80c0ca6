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
    select to_jsonb(array(
      select to_jsonb(r)
      from public.requests r
      where r.account_id = $1
        and (r.created_at, r.id) < ($3, $4)
        and ($5 is null or r.status / 100 = $5 and (r.status >= 400 or $5 < 4))
        and ($6 is null or r.route = $6)
        and ($7 is null or r.credential = $7)
        and ($8 is null or r.api_key_id = $8)
      order by r.created_at desc, r.id desc
      limit $2 + 1))
  $query$ into v_page using p_account_id, p_limit,
    p_after_at, p_after_id,
    p_status_class, p_route, p_credential, p_api_key_id;
  return v_page;
end
$$;
comment on function public.list_requests is 'Requests of an account, newest first, of a class of statuses (4 for 4xx), a route, a kind of credential and an API key where these are given: a page, with one more row if another page follows.';

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
comment on table public.idempotency_keys is 'Requests with an Idempotency-Key: their current attempt, and the response for a repetition.';
comment on column public.idempotency_keys.key_hash is 'HMAC of the key.';
comment on column public.idempotency_keys.fingerprint is 'HMAC of the request that the key was first used with.';
comment on column public.idempotency_keys.effect_id is 'The effect id of all attempts: the effect happens once.';
comment on column public.idempotency_keys.lease_until is 'Until when the running attempt has the key; after that its process is taken for dead.';
comment on column public.idempotency_keys.response is 'The encrypted response; null until an attempt has one to keep.';

create function public.find_stored_hash(p_account_id uuid, p_hashes text[]) returns text
language sql stable set search_path = '' as $$
  select hash from public.api_keys where hash = any (p_hashes)
  union all
  select key_hash from public.idempotency_keys
  where account_id = p_account_id and key_hash = any (p_hashes)
  limit 1
$$;
comment on function public.find_stored_hash is 'Which of these hashes, made with two secrets, an API key or an idempotency key of the account is stored under; null for none.';

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
