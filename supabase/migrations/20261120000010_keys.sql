-- A key is replaced in one transaction: the new one exists exactly when the old one has its end.
-- Errors: PT404 when it is not the account's or has ended, PT409 when it was rotated before.
create function public.rotate_key(
  p_account_id uuid, p_id uuid, p_hash text, p_prefix text, p_grace_seconds integer
) returns public.api_keys
language plpgsql volatile set search_path = '' as $$
declare
  old public.api_keys;
  fresh public.api_keys;
begin
  select * into old from public.api_keys
  where id = p_id and account_id = p_account_id and scope = 'full'
    and (revoked_at is null or revoked_at > now())
  for update;
  if not found then
    raise sqlstate 'PT404' using message = 'Key not found';
  end if;
  if old.revoked_at is not null then
    raise sqlstate 'PT409' using message = 'This key has already been rotated';
  end if;
  update public.api_keys set revoked_at = now() + make_interval(secs => p_grace_seconds)
  where id = old.id;
  -- The new key lives as long as the old one was meant to.
  insert into public.api_keys (account_id, name, hash, prefix, expires_at)
  values (old.account_id, old.name, p_hash, p_prefix, now() + (old.expires_at - old.created_at))
  returning * into fresh;
  return fresh;
end
$$;
