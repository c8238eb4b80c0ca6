drop index concurrently if exists public.chats_listed;
create index concurrently chats_listed on public.chats (account_id, created_at desc, id desc)
  where not archived and not pinned;
