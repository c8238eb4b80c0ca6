drop index concurrently if exists public.chats_archived;
create index concurrently chats_archived on public.chats (account_id, created_at desc, id desc)
  where archived;
