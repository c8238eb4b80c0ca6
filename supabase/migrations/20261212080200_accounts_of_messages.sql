-- The account of a message, under which its words are indexed.

-- A new value is not compressed yet, and its size is known without reading it.
create or replace function public.measure_message() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.bytes := pg_column_size(new.parts) + coalesce(pg_column_size(new.metadata), 0);
  new.account_id := coalesce(new.account_id, (
    select c.account_id from public.chats c where c.id = new.chat_id));
  return new;
end
$$;
comment on function public.measure_message is 'Sets the bytes of a message, and its account.';

alter table public.messages add column account_id uuid;
comment on column public.messages.account_id is 'The account of the chat, under which the words are indexed. Null in a message of an earlier version, until the retention job has added it.';
create trigger note_words_of_message after insert or update of parts, account_id on public.messages
  for each row when (new.account_id is not null) execute function public.note_words();
create trigger recheck_words_of_message after update of parts on public.messages
  for each row when (old.parts <> new.parts) execute function public.recheck_words();
