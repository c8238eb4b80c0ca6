-- The credential that a run's sandbox calls back with: what it may reach depends on the session of the
-- run, so authentication tells it; and it holds exactly as long as the run is wanted, so the moment a
-- stop is asked for it is as unknown as any other credential that does not hold, whatever the run itself
-- is still busy with.

-- As before, but that a key of a run is known only while its turn goes on, and comes with the turn's
-- session and chat. A limit of 0 is none.
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
  k public.api_keys;
  t public.turns;
  taken jsonb;
begin
  if p_address is not null and p_address_limit > 0 then
    taken := public.take_from_bucket('address:' || p_address, p_address_limit);
    if taken ->> 'retry_after' is not null then
      return jsonb_build_object('outcome', 'limited', 'by', 'address', 'rate', taken);
    end if;
  end if;

  select * into k from public.api_keys
  where hash = p_hash
    and (revoked_at is null or revoked_at > now())
    and (expires_at is null or expires_at > now());
  if not found then
    return jsonb_build_object('outcome', 'unknown');
  end if;
  if k.scope = 'run' then
    select * into t from public.turns
    where key_id = k.id and account_id = k.account_id
      and finished_at is null and stop_requested_at is null;
    if not found then
      return jsonb_build_object('outcome', 'unknown');
    end if;
  end if;

  -- At most one write a minute; whoever finds the row locked leaves it to the other.
  if k.last_used_at is null or k.last_used_at < now() - interval '1 minute' then
    update public.api_keys set last_used_at = now()
    where id in (
      select id from public.api_keys
      where id = k.id and (last_used_at is null or last_used_at < now() - interval '1 minute')
      for update skip locked
    );
  end if;

  return jsonb_build_object('key_id', k.id, 'scope', k.scope,
      'session_id', t.session_id, 'chat_id', t.chat_id)
    || public.admit_account(k.account_id, k.scope = 'full',
      p_account_id, p_organization_id, p_artist_id, p_account_limit);
end
$$;

comment on function public.authenticate_key is
  'Who presents a key, with what limits and access; a run''s key holds while its turn goes on.';
