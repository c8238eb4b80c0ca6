-- How many bytes the messages of each chat and each account take, kept by triggers: the quota reads one
-- row instead of a sum over all messages. What goes in any way, cascades included, is given back in the
-- same transaction. Messages stored before this migration count as 0, when they go as well.

create table public.message_usage (
  account_id uuid primary key references public.accounts (id) on delete cascade,
  bytes bigint not null default 0 check (bytes >= 0)
);
comment on table public.message_usage is 'Bytes of messages of each account, kept by triggers on chats.';
alter table public.message_usage enable row level security;
revoke all on table public.message_usage from anon, authenticated;
grant all on table public.message_usage to service_role;

-- A new value is not compressed yet: its size is known without reading it.
create function public.measure_message() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.bytes := pg_column_size(new.parts) + coalesce(pg_column_size(new.metadata), 0);
  return new;
end
$$;
comment on function public.measure_message() is 'Sets the bytes of a message.';

create function public.measure_queued_turn() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.bytes := pg_column_size(new.claim);
  return new;
end
$$;
comment on function public.measure_queued_turn() is 'Sets the bytes of a turn that waits.';

create function public.count_chat_bytes() returns trigger
language plpgsql set search_path = '' as $$
declare
  v_added jsonb;
begin
  if tg_op = 'INSERT' then
    select jsonb_object_agg(sums.chat_id, sums.bytes) into v_added
    from (select chat_id, sum(bytes) as bytes from new_rows group by chat_id) sums;
  elsif tg_op = 'DELETE' then
    select jsonb_object_agg(sums.chat_id, sums.bytes) into v_added
    from (select chat_id, -sum(bytes) as bytes from old_rows group by chat_id) sums;
  else
    select jsonb_object_agg(sums.chat_id, sums.bytes) into v_added
    from (
      select chat_id, sum(bytes) as bytes
      from (select chat_id, bytes from new_rows union all select chat_id, -bytes from old_rows) rows
      group by chat_id) sums;
  end if;
  perform public.add_chat_bytes(coalesce(v_added, '{}'));
  return null;
end
$$;
comment on function public.count_chat_bytes() is
  'Keeps chats.message_bytes for the rows of one statement on messages or queued_turns.';

create function public.count_account_bytes() returns trigger
language plpgsql set search_path = '' as $$
begin
  if tg_op = 'UPDATE' and new.message_bytes > old.message_bytes then
    insert into public.message_usage as u (account_id, bytes)
    values (new.account_id, new.message_bytes - old.message_bytes)
    on conflict (account_id) do update set bytes = u.bytes + excluded.bytes;
  else
    update public.message_usage u
    set bytes = greatest(0, u.bytes - old.message_bytes
      + case when tg_op = 'UPDATE' then new.message_bytes else 0 end)
    where u.account_id = old.account_id;
  end if;
  return null;
end
$$;
comment on function public.count_account_bytes() is 'Keeps message_usage.';
