-- Lists the runs of an account by kind.
drop index concurrently if exists public.turns_by_kind;
create index concurrently turns_by_kind on public.turns (account_id, kind, created_at desc, id desc);
