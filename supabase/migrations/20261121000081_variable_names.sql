-- One prefix for variables (v_) and one for parameters (p_), as in every other function, so that a name
-- in a statement tells whether it is a column. The functions are otherwise as they were.

create or replace function public.access_verdicts(
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

create or replace function public.take_from_bucket(p_bucket text, p_per_minute integer) returns jsonb
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
    -- One new bucket in a hundred deletes those that are empty again, which mean the same as none.
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

create or replace function public.authenticate_key(
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
    select * into v_turn from public.turns
    where key_id = v_key.id and account_id = v_key.account_id
      and finished_at is null and stop_requested_at is null;
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

create or replace function public.admit_account(
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

create or replace function public.account_of_email(p_email text) returns uuid
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

create or replace function public.authenticate_email(
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

create or replace function public.rotate_key(
  p_account_id uuid, p_id uuid, p_hash text, p_prefix text, p_grace_seconds integer
) returns public.api_keys
language plpgsql volatile set search_path = '' as $$
declare
  v_old public.api_keys;
  v_new public.api_keys;
begin
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
  return v_new;
end
$$;

create or replace function public.begin_idempotent(
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

create or replace function public.request_signup_code(
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

create or replace function public.verify_signup_code(
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

create or replace function public.start_connection(
  p_account_id uuid, p_connector text, p_state_hash text, p_callback_url text
) returns uuid
language plpgsql volatile set search_path = '' as $$
declare
  v_id uuid;
begin
  delete from public.connections
  where account_id = p_account_id and connector = p_connector
    and (status = 'failed' or (status = 'pending' and expires_at <= now()));
  insert into public.connections (account_id, connector, state_hash, callback_url)
  values (p_account_id, p_connector, p_state_hash, p_callback_url)
  returning id into v_id;
  return v_id;
end
$$;

create or replace function public.decide_connection(p_state_hash text, p_allowed boolean) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_connection public.connections;
begin
  select * into v_connection from public.connections
  where state_hash = p_state_hash and expires_at > now()
  for update;
  if not found then
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

create or replace function public.catalog_research(p_id text, p_name text) returns jsonb
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

create or replace function public.count_code_mail(p_purpose text, p_email text, p_source text)
returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_source constant text := coalesce(p_source, 'unknown');
  v_now timestamptz;
  v_total integer;
  v_own integer;
begin
  perform public.lock_codes(p_purpose, p_email);
  -- Read after the wait for the lock, so that two requests at once do not share a time.
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

create or replace function public.take_code_try(p_purpose text, p_email text, p_source text) returns boolean
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
  -- Where no code was asked for, tries are counted alike: the answers do not tell which it is.
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

create or replace function public.create_key_of_email(
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
