alter table public.queued_turns add column bytes integer not null default 0;
comment on column public.queued_turns.bytes is 'Size of claim, before compression.';

create trigger measure_queued_turn before insert or update of claim on public.queued_turns
  for each row execute function public.measure_queued_turn();
create trigger count_added_queued_turns after insert on public.queued_turns
  referencing new table as new_rows for each statement execute function public.count_chat_bytes();
create trigger count_changed_queued_turns after update on public.queued_turns
  referencing old table as old_rows new table as new_rows
  for each statement execute function public.count_chat_bytes();
create trigger count_removed_queued_turns after delete on public.queued_turns
  referencing old table as old_rows for each statement execute function public.count_chat_bytes();
