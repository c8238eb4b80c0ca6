-- Idempotency keys (decisions, section 1): what a repeated request is answered, for every instance
-- alike. Keys and requests are stored as HMACs and answers encrypted; none can be read here.

create table public.idempotency_keys (
  account_id uuid not null references public.accounts (id) on delete cascade,
  key_hash text not null,
  -- Of the request that the key was first used with.
  fingerprint text not null,
  -- What the request does is done under this id, by whichever attempt comes to it.
  effect_id uuid not null default gen_random_uuid(),
  attempt integer not null default 1,
  -- A running attempt extends it; once it has passed, the attempt's process is taken for dead.
  lease_until timestamptz,
  -- Null until an attempt has an answer that stands.
  response text,
  created_at timestamptz not null default now(),
  primary key (account_id, key_hash)
);
create index idempotency_keys_age on public.idempotency_keys (created_at);

alter table public.idempotency_keys enable row level security;
revoke all on table public.idempotency_keys from anon, authenticated;
grant all on table public.idempotency_keys to service_role;

-- Begins an attempt, or says why not. Answers {outcome}: begun (effect_id, attempt) | running
--   | mismatch | done (response). Of many at once one begins. A day after its first use a key is
-- forgotten: the next use is a first one, with an effect of its own.
create function public.begin_idempotent(
  p_account_id uuid, p_key_hash text, p_fingerprint text, p_lease_seconds integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  at constant timestamptz := clock_timestamp();
  oldest constant timestamptz := at - interval '24 hours';
  v_row public.idempotency_keys;
begin
  if random() < 0.01 then
    delete from public.idempotency_keys where (account_id, key_hash) in (
      select k.account_id, k.key_hash from public.idempotency_keys k
      where k.created_at < oldest and coalesce(k.lease_until, oldest) < at
      limit 1000 for update skip locked
    );
  end if;

  insert into public.idempotency_keys as k (account_id, key_hash, fingerprint, lease_until)
  values (p_account_id, p_key_hash, p_fingerprint, at + make_interval(secs => p_lease_seconds))
  on conflict (account_id, key_hash) do update set
    fingerprint = excluded.fingerprint,
    effect_id = case when k.created_at < oldest then excluded.effect_id else k.effect_id end,
    created_at = case when k.created_at < oldest then excluded.created_at else k.created_at end,
    attempt = k.attempt + 1,
    lease_until = excluded.lease_until,
    response = null
  where coalesce(k.lease_until, oldest) < at
    and (k.created_at < oldest or (k.fingerprint = excluded.fingerprint and k.response is null))
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

-- Keeps an attempt's place. An attempt that was replaced keeps nothing.
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

-- Ends an attempt with the answer that stands; null leaves the key to the next attempt.
create function public.end_idempotent(
  p_account_id uuid, p_key_hash text, p_attempt integer, p_response text
) returns jsonb
language sql volatile set search_path = '' as $$
  update public.idempotency_keys set response = p_response, lease_until = null
  where account_id = p_account_id and key_hash = p_key_hash
    and attempt = p_attempt and lease_until is not null;
  select '{}'::jsonb
$$;
