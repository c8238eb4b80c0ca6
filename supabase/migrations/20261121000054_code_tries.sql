-- Mailed codes, of sign-up and of the console's sign-in: how many mails an e-mail address gets, and
-- who may still guess. Wrong tries are counted for each network address that asked for a code, and
-- together for all that did not, so that a stranger uses up the tries of strangers only.
--
-- An e-mail address gets five mails an hour. Each gives five tries to the network address that asked
-- for it and five to all others, so that no more than fifty guesses an hour are ever looked at.
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
revoke all on public.code_tries from anon, authenticated;
grant all on public.code_tries to service_role;

-- What happens to the codes of one e-mail address happens one after the other.
create function public.lock_codes(p_purpose text, p_email text) returns void
language sql volatile set search_path = '' as $$
  select pg_advisory_xact_lock(hashtextextended(p_purpose || ' ' || p_email, 0))
$$;

-- Now and then: what counts no more.
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

-- May a mail go out? If so it is counted. Of the five mails one network address gets four, so
-- that none can use up what another needs.
create function public.count_code_mail(p_purpose text, p_email text, p_source text)
returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  asking constant text := coalesce(p_source, 'unknown');
  at timestamptz;
  total integer;
  own integer;
begin
  perform public.lock_codes(p_purpose, p_email);
  -- After the wait for the lock, or two at once would share a moment.
  at := clock_timestamp();
  select count(*), count(*) filter (where t.source = asking) into total, own
  from public.code_tries t, unnest(t.mailed_at) m
  where t.purpose = p_purpose and t.email = p_email and m > at - interval '1 hour';
  if total >= 5 or (asking not in ('loopback', 'unknown') and own >= 4) then
    return false;
  end if;
  insert into public.code_tries as t (purpose, email, source, mailed_at, tries_left, granted_at)
  values (p_purpose, p_email, asking, array[at], 0, '-infinity')
  on conflict (purpose, email, source) do update
  set mailed_at = array(select m from unnest(t.mailed_at) m where m > at - interval '1 hour') || at;
  perform public.forget_code_tries();
  return true;
end
$$;

-- The tries that come with a mail that went out. Only with it: a request that is refused must not
-- give new tries at the code before.
create function public.grant_code_tries(p_purpose text, p_email text, p_source text)
returns void
language sql volatile set search_path = '' as $$
  insert into public.code_tries (purpose, email, source, tries_left, granted_at)
  values (p_purpose, p_email, coalesce(p_source, 'unknown'), 5, clock_timestamp()),
    (p_purpose, p_email, '*', 5, clock_timestamp())
  on conflict (purpose, email, source) do update
  set tries_left = excluded.tries_left, granted_at = excluded.granted_at
$$;

-- A mail that could not be sent does not count.
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

-- One try of this source, or false when it has none left.
create function public.take_code_try(p_purpose text, p_email text, p_source text) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  at constant timestamptz := clock_timestamp();
  counted text := '*';
  had_one boolean;
begin
  if exists (
    select from public.code_tries
    where purpose = p_purpose and email = p_email and source = coalesce(p_source, 'unknown')
      and granted_at > at - interval '1 hour'
  ) then
    counted := coalesce(p_source, 'unknown');
  end if;
  -- Where no code was asked for, tries are counted alike: the answers do not tell which it is.
  insert into public.code_tries as t (purpose, email, source, tries_left, granted_at)
  values (p_purpose, p_email, counted, 4, at)
  on conflict (purpose, email, source) do update
  set tries_left = case when t.granted_at > at - interval '1 hour' then t.tries_left else 5 end - 1,
    granted_at = case when t.granted_at > at - interval '1 hour' then t.granted_at else at end
  where t.tries_left > 0 or t.granted_at <= at - interval '1 hour';
  had_one := found;
  perform public.forget_code_tries();
  return had_one;
end
$$;

-- As before, with the counts of above in place of its own.
create or replace function public.request_signup_code(
  p_email text, p_code_hash text, p_address text, p_address_limit integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  taken constant jsonb := public.take_signup_rate(p_address, p_address_limit);
  at timestamptz;
begin
  if taken ->> 'retry_after' is not null then
    return jsonb_build_object('outcome', 'limited', 'rate', taken);
  end if;
  if not public.count_code_mail('sign-up', p_email, p_address) then
    return jsonb_build_object('outcome', 'silent', 'rate', taken);
  end if;
  -- With the code itself: the one before is void from here on.
  perform public.grant_code_tries('sign-up', p_email, p_address);
  at := clock_timestamp();
  insert into public.signup_codes (email, code_hash, expires_at)
  values (p_email, p_code_hash, at + interval '15 minutes')
  on conflict (email) do update
  set code_hash = excluded.code_hash, expires_at = excluded.expires_at;

  -- Now and then: what is no code any more.
  if random() < 0.01 then
    delete from public.signup_codes where email in (
      select c.email from public.signup_codes c
      where c.expires_at < at - interval '1 hour' limit 1000 for update skip locked
    );
  end if;
  return jsonb_build_object('outcome', 'mail', 'rate', taken);
end
$$;

-- A mail that could not be sent does not count, and its code, which nobody has, is void.
drop function public.withdraw_signup_code(text, text);
create function public.withdraw_signup_code(p_email text, p_code_hash text, p_address text)
returns void
language sql volatile set search_path = '' as $$
  select public.withdraw_code_mail('sign-up', p_email, p_address);
  update public.signup_codes set code_hash = null
  where email = p_email and code_hash = p_code_hash;
$$;

-- The right code gives the account of the address, made on first sight, and a new key of it, all in
-- one transaction. Outcomes: `limited`, `dead` (this source has had its wrong tries), `wrong` (also:
-- expired, used, never sent), `verified`. A wrong try must be kept, so nothing here raises.
create or replace function public.verify_signup_code(
  p_email text, p_code_hash text,
  p_key_name text, p_key_hash text, p_key_prefix text,
  p_address text, p_address_limit integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  taken constant jsonb := public.take_signup_rate(p_address, p_address_limit);
  found_code public.signup_codes;
  account uuid;
begin
  if taken ->> 'retry_after' is not null then
    return jsonb_build_object('outcome', 'limited', 'rate', taken);
  end if;

  perform public.lock_codes('sign-up', p_email);
  select * into found_code from public.signup_codes where email = p_email;
  if not found or found_code.code_hash is null or found_code.expires_at <= clock_timestamp() then
    return jsonb_build_object('outcome', 'wrong', 'rate', taken);
  end if;
  if not public.take_code_try('sign-up', p_email, p_address) then
    return jsonb_build_object('outcome', 'dead', 'rate', taken);
  end if;
  if found_code.code_hash <> p_code_hash then
    return jsonb_build_object('outcome', 'wrong', 'rate', taken);
  end if;

  update public.signup_codes set code_hash = null where email = p_email;
  account := public.account_of_email(p_email);
  insert into public.api_keys (account_id, name, hash, prefix)
  values (account, p_key_name, p_key_hash, p_key_prefix);
  return jsonb_build_object('outcome', 'verified', 'account_id', account, 'rate', taken);
end
$$;

alter table public.signup_codes drop column failures, drop column mailed_at;

comment on table public.code_tries is
  'Mails with codes, and the guesses that each network address has left at one.';
comment on function public.lock_codes(text, text) is
  'Holds the codes of one e-mail address until the transaction ends.';
comment on function public.forget_code_tries() is
  'Deletes, one time in a hundred, counts that are older than an hour.';
comment on function public.grant_code_tries(text, text, text) is
  'Gives the tries that come with a mail that went out.';
comment on function public.count_code_mail(text, text, text) is
  'Counts a mail with a code; false when there were enough.';
comment on function public.withdraw_code_mail(text, text, text) is
  'Takes back a mail that could not be sent.';
comment on function public.take_code_try(text, text, text) is
  'Takes one guess of a network address at the code of an e-mail address; false when it has none.';
comment on function public.withdraw_signup_code(text, text, text) is
  'Voids a sign-up code whose mail could not be sent.';
