-- Finds the turns whose kind the retention job fills in.
drop index concurrently if exists public.turns_without_kind;
create index concurrently turns_without_kind on public.turns (id) where kind is null;
