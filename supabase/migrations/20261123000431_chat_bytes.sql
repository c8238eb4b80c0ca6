-- One busy table in each file, so that no transaction waits for the lock of a second one while it holds
-- the first.

alter table public.chats add column message_bytes bigint not null default 0;
comment on column public.chats.message_bytes is 'Bytes of its messages, of all branches, and of those that wait.';

create function public.add_chat_bytes(p_added jsonb) returns void
language sql volatile set search_path = '' as $$
  update public.chats c set message_bytes = greatest(0, c.message_bytes + added.value::bigint)
  from jsonb_each_text(p_added) as added
  where c.id = added.key::uuid and added.value::bigint <> 0
$$;
comment on function public.add_chat_bytes(jsonb) is
  'Adds {chat id: bytes} to chats.message_bytes. Without effect for a chat that is being deleted.';

create trigger count_account_bytes after update of message_bytes on public.chats
  for each row when (old.message_bytes <> new.message_bytes)
  execute function public.count_account_bytes();
create trigger count_removed_chats after delete on public.chats
  for each row when (old.message_bytes <> 0) execute function public.count_account_bytes();
