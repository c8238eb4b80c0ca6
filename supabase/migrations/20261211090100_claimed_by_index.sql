drop index concurrently if exists public.turns_claimed;
create index concurrently turns_claimed on public.turns (claimed_by)
  where claimed_by is not null and run_id is null and finished_at is null;
