drop index concurrently if exists public.messages_words;
create index concurrently messages_words on public.messages
  using gin (public.search_of_parts(parts));
