-- Finds the chats in which a person has sent a file.
drop index concurrently if exists public.messages_with_files;
create index concurrently messages_with_files on public.messages (chat_id)
  where role = 'user' and parts @> '[{"type": "file"}]';
