alter table public.messages add column bytes integer not null default 0;
comment on column public.messages.bytes is 'Size of parts and metadata, before compression.';

create trigger measure_message before insert or update of parts, metadata on public.messages
  for each row execute function public.measure_message();
create trigger count_added_messages after insert on public.messages
  referencing new table as new_rows for each statement execute function public.count_chat_bytes();
create trigger count_changed_messages after update on public.messages
  referencing old table as old_rows new table as new_rows
  for each statement execute function public.count_chat_bytes();
create trigger count_removed_messages after delete on public.messages
  referencing old table as old_rows for each statement execute function public.count_chat_bytes();
