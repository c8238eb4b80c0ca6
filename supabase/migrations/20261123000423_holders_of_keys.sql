-- One busy table in each file, so that no transaction waits for the lock of a second one while it holds
-- the first.

create trigger stop_turns_of_key after update of revoked_at on public.api_keys
  for each row when (new.scope = 'full' and new.revoked_at <= now())
  execute function public.stop_turns_of_key();
