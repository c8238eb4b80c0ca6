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
    raise sqlstate 'PT403' using message = 'full';
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
    raise sqlstate 'PT404' using message = 'missing';
  end if;
  if v_old.revoked_at is not null then
    raise sqlstate 'PT409' using message = 'rotated';
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
language plpgsql stable set search_path = '' as $$
begin
  return (
    select p_key_id is null or exists (
      select from public.api_keys k
      where k.id = p_key_id
        and (k.revoked_at is null or k.revoked_at > now())
        and (k.expires_at is null or k.expires_at > now())));
end
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
begin
  v_verdict := public.authenticate_email(p_email, p_account_id, p_organization_id, p_artist_id,
    p_address, p_address_limit, p_account_limit);
  -- Afterwards: an account that is deleted in between must not be created again.
  if public.has_sign_in_ended(p_session_id, p_identity_hash, p_issued_at) then
    raise sqlstate 'PT401';
  end if;
  return v_verdict;
exception when sqlstate 'PT401' then
  perform public.take_from_bucket('address:' || p_address, p_address_limit);
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
  v_rate constant jsonb := public.take_from_bucket('address:' || p_address, p_address_limit);
begin
  if v_rate ->> 'retry_after' is not null then
    return jsonb_build_object('outcome', 'limited', 'by', 'address', 'rate', v_rate);
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
      'session_id', v_turn.session_id, 'chat_id', v_turn.chat_id,
      'run_id', coalesce(v_turn.run_id, v_turn.id::text), 'artist_id', v_turn.artist_id,
      'workspace', coalesce(v_turn.options ->> 'workspace', 'write'),
      'turn_id', v_turn.id, 'asks', public.run_asks(v_turn),
      'network', coalesce(v_turn.options -> 'network_policies', '[]'))
    || public.admit_account(v_key.account_id, v_key.scope = 'full',
      p_account_id, p_organization_id, p_artist_id, p_account_limit);
end
$$;
comment on function public.authenticate_key is 'Authenticates a key, with its limits and access. A run''s key is valid while its turn is active.';

create function public.rekey_hash(p_from text, p_to text) returns void
language sql volatile set search_path = '' as $$
  update public.api_keys set hash = p_to where hash = p_from and scope = 'full';
  update public.deleted_identities set hash = p_to
  where hash = p_from and not exists (select from public.deleted_identities where hash = p_to);
$$;
comment on function public.rekey_hash is 'Replaces the hash of an API key, or of a deleted account, when API_KEY_SECRET is replaced. A run''s key stays, because the credential itself is made with the secret.';

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
  v_rate constant jsonb := public.take_from_bucket('address:' || p_address, p_address_limit);
begin
  if v_rate ->> 'retry_after' is not null then
    return jsonb_build_object('outcome', 'limited', 'by', 'address', 'rate', v_rate);
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
  v_rate constant jsonb := public.take_from_bucket('account:' || p_own, p_account_limit);
begin
  if v_rate ->> 'retry_after' is not null then
    return jsonb_build_object('outcome', 'limited', 'by', 'account', 'rate', v_rate);
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
  -- When the tries were granted: with the last mail, of this source or, for '*', of any. After an
  -- hour they no longer count.
  granted_at timestamptz not null,
  primary key (purpose, email, source)
);

create index code_tries_granted on public.code_tries (granted_at);
comment on table public.code_tries is 'Mails with codes, and the guesses that each network address has left at one.';

create function public.request_signup_code(
  p_email text, p_code_hash text, p_address text, p_address_limit integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_rate constant jsonb := 
    public.take_from_bucket('signup:' || p_address, p_address_limit);
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
  v_rate constant jsonb := 
    public.take_from_bucket('signup:' || p_address, p_address_limit);
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
  delete from public.signup_codes where email in (
    select c.email from public.signup_codes c
    where c.expires_at < clock_timestamp() - interval '1 hour' limit 1000 for update skip locked
  );
end
$$;
comment on function public.forget_code_tries is 'Deletes, one time in a hundred, codes and counts that are older than an hour.';

create function public.list_keys(p_account_id uuid) returns setof public.api_keys
language sql stable set search_path = '' as $$
  select k.* from public.api_keys k
  where k.account_id = p_account_id and k.scope = 'full'
    and (k.revoked_at is null or k.revoked_at > now())
  order by k.created_at desc, k.id
$$;
comment on function public.list_keys is 'The valid keys of the account, newest first, without the keys of runs.';
