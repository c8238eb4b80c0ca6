-- Lists the runs of an account by status.
drop index concurrently if exists public.turns_by_status;
create index concurrently turns_by_status on public.turns (account_id, status, created_at desc, id desc);
