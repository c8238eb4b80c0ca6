-- Sign-up by e-mail (decisions, section 3): a code goes out by mail and works once. Nothing here
-- looks at accounts before the code is right, so a known and an unknown address cost the same.

create table public.signup_codes (
  email text primary key check (email = lower(email)),
  -- HMAC of address and code; null when there is no code to use up any more.
  code_hash text,
  expires_at timestamptz not null,
  -- Wrong tries of the code in force.
  failures integer not null default 0,
  -- The mails of the last hour.
  mailed_at timestamptz[] not null default '{}'
);

create index signup_codes_expires on public.signup_codes (expires_at);

alter table public.signup_codes enable row level security;
revoke all on public.signup_codes from anon, authenticated;
grant all on public.signup_codes to service_role;

-- One request of an address into its sign-up bucket; null where no limit applies.
create function public.take_signup_rate(p_address text, p_address_limit integer) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  if p_address is null or p_address_limit <= 0 then
    return null;
  end if;
  return public.take_from_bucket('signup:' || p_address, p_address_limit);
end
$$;

-- A new code in place of the old. Outcomes: `limited` (too many requests of one address), `mail`
-- (the code is in force, send it), `silent` (five mails in the last hour: nothing has changed).
create function public.request_signup_code(
  p_email text, p_code_hash text, p_address text, p_address_limit integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  taken constant jsonb := public.take_signup_rate(p_address, p_address_limit);
  at timestamptz;
  recent timestamptz[];
begin
  if taken ->> 'retry_after' is not null then
    return jsonb_build_object('outcome', 'limited', 'rate', taken);
  end if;

  insert into public.signup_codes (email, expires_at) values (p_email, clock_timestamp())
  on conflict (email) do nothing;
  select mailed_at into recent from public.signup_codes where email = p_email for update;
  -- After the wait for the row, or two at once would share a moment.
  at := clock_timestamp();
  recent := array(select m from unnest(recent) m where m > at - interval '1 hour');
  if cardinality(recent) >= 5 then
    return jsonb_build_object('outcome', 'silent', 'rate', taken);
  end if;
  update public.signup_codes
  set code_hash = p_code_hash,
    expires_at = at + interval '15 minutes',
    failures = 0,
    mailed_at = recent || at
  where email = p_email;

  -- Now and then: what has neither a code nor a count to keep.
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
create function public.withdraw_signup_code(p_email text, p_code_hash text) returns void
language sql volatile set search_path = '' as $$
  update public.signup_codes
  set code_hash = null, mailed_at = trim_array(mailed_at, 1)
  where email = p_email and code_hash = p_code_hash
$$;

-- The right code gives the account of the address, made on first sight, and a new key of it, all in
-- one transaction. Outcomes: `limited`, `dead` (after five wrong tries), `wrong` (also: expired,
-- used, never sent), `verified`. A wrong try must be kept, so nothing here raises.
create function public.verify_signup_code(
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

  select * into found_code from public.signup_codes where email = p_email for update;
  if not found or found_code.code_hash is null or found_code.expires_at <= clock_timestamp() then
    return jsonb_build_object('outcome', 'wrong', 'rate', taken);
  end if;
  if found_code.failures >= 5 then
    return jsonb_build_object('outcome', 'dead', 'rate', taken);
  end if;
  if found_code.code_hash <> p_code_hash then
    update public.signup_codes set failures = failures + 1 where email = p_email;
    return jsonb_build_object('outcome', 'wrong', 'rate', taken);
  end if;

  update public.signup_codes set code_hash = null where email = p_email;
  account := public.account_of_email(p_email);
  insert into public.api_keys (account_id, name, hash, prefix)
  values (account, p_key_name, p_key_hash, p_key_prefix);
  return jsonb_build_object('outcome', 'verified', 'account_id', account, 'rate', taken);
end
$$;
