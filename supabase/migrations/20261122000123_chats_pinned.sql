drop index concurrently if exists public.chats_pinned;
create index concurrently chats_pinned on public.chats (account_id, created_at desc, id desc)
  where pinned;
