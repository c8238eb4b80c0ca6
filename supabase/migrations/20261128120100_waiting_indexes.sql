-- What waits for a person, of an account.
drop index concurrently if exists public.chats_asking;
create index concurrently chats_asking on public.chats (account_id, created_at desc, id desc)
  where asks_since is not null;
drop index concurrently if exists public.approvals_requested;
create index concurrently approvals_requested on public.approvals (account_id)
  where state = 'requested';
