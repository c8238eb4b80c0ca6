-- messages_search has replaced it.
drop index concurrently if exists public.messages_words;
