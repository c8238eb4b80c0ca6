-- For searches, and for what is not summed.
drop index concurrently if exists public.messages_search;
create index concurrently messages_search on public.messages
  using gin (public.search_of_message(account_id, parts));
drop index concurrently if exists public.messages_without_account;
create index concurrently messages_without_account on public.messages (chat_id) where account_id is null;
drop index concurrently if exists public.message_usage_words;
create index concurrently message_usage_words on public.message_usage (account_id) where checked_words_to is not null;
drop index concurrently if exists public.chats_titles;
create index concurrently chats_titles on public.chats using gin (public.search_of_title(account_id, title));
drop index concurrently if exists public.usage_entries_unsummed;
create index concurrently usage_entries_unsummed on public.usage_entries (account_id, created_at) where not is_summed;
drop index concurrently if exists public.usage_entries_continued;
create index concurrently usage_entries_continued on public.usage_entries (account_id, created_at) where is_continued;
