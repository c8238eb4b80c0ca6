-- An account has a bounded number of API keys, because they are listed in one answer.

create function public.require_key_room(p_account_id uuid, p_max integer) returns void
language plpgsql volatile set search_path = '' as $$
begin
  if p_max < (
    select count(*) from public.api_keys
    where account_id = p_account_id and scope = 'full'
      and (revoked_at is null or revoked_at > now()))
  then
    raise sqlstate 'PT403' using message = 'The account has too many keys: revoke one first';
  end if;
end
$$;
comment on function public.require_key_room is
  'Raises 403 when the account has more than p_max keys that are listed. The caller holds the account''s lock.';

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
comment on function public.create_key is
  'Creates an API key. Raises 403 when the account would have more than p_max.';

create function public.rotate_key(
  p_account_id uuid, p_id uuid, p_hash text, p_prefix text, p_grace_seconds integer, p_max integer
) returns public.api_keys
language plpgsql volatile set search_path = '' as $$
declare
  v_key public.api_keys;
begin
  perform from public.accounts where id = p_account_id for no key update;
  v_key := public.rotate_key(p_account_id, p_id, p_hash, p_prefix, p_grace_seconds);
  -- The old key is listed until its grace time ends.
  perform public.require_key_room(p_account_id, p_max);
  return v_key;
end
$$;
comment on function public.rotate_key(uuid, uuid, text, text, integer, integer) is
  'Replaces an API key, which stays valid for p_grace_seconds. Raises 404 when the account has no such key, 409 when it was rotated before, and 403 when the account would have more than p_max.';
comment on function public.rotate_key(uuid, uuid, text, text, integer) is
  'Called by rotate_key with p_max. Servers of the version before call it themselves.';
