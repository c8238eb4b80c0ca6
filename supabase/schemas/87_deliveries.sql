-- Delivery of the results of runs by mail: addresses, the queue, and the log.

create table public.delivery_addresses (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  address text not null check (address = lower(address)),
  confirmed_at timestamptz,
  created_at timestamptz not null default clock_timestamp()
);

create unique index delivery_addresses_address
  on public.delivery_addresses (account_id, address);
create index delivery_addresses_newest
  on public.delivery_addresses (account_id, created_at desc, id desc);
comment on table public.delivery_addresses is 'Addresses outside of an account and its organizations that results are mailed to, once their holders have confirmed.';

create table public.delivery_confirmations (
  token_hash text primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  address text not null,
  created_at timestamptz not null default clock_timestamp(),
  used_at timestamptz
);

create index delivery_confirmations_account
  on public.delivery_confirmations (account_id, created_at);
create index delivery_confirmations_address
  on public.delivery_confirmations (address, created_at);
create index delivery_confirmations_age on public.delivery_confirmations (created_at);
comment on table public.delivery_confirmations is 'The confirmation mails of the last day. A row stays after its use, because it counts for the limits of mails.';

create table public.delivery_blocks (
  account_id uuid not null references public.accounts (id) on delete cascade,
  address text not null,
  reason text not null check (reason in ('unsubscribed', 'bounced')),
  created_at timestamptz not null default now(),
  primary key (account_id, address)
);
comment on table public.delivery_blocks is 'Addresses that get nothing more from an account, members of its organizations included.';

create table public.deliveries (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  turn_id uuid references public.turns (id) on delete set null,
  run_id text not null,
  kind text not null check (kind in ('email', 'notice', 'waiting')),
  recipient text not null,
  entry jsonb not null,
  status text not null default 'pending'
    check (status in ('pending', 'sending', 'sent', 'failed')),
  attempts integer not null default 0,
  error text,
  lease_id uuid,
  due_at timestamptz default now(),
  retry_until timestamptz not null default now() + interval '24 hours',
  sending_at timestamptz,
  sent_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  check ((status in ('pending', 'sending')) = (due_at is not null))
);

create unique index deliveries_once on public.deliveries (turn_id, kind, recipient);
create index deliveries_due on public.deliveries (due_at) where due_at is not null;
create index deliveries_sending on public.deliveries (account_id, sending_at)
  where sending_at is not null;
create index deliveries_newest on public.deliveries (account_id, created_at desc, id desc);
create index deliveries_finished on public.deliveries (finished_at) where finished_at is not null;
comment on table public.deliveries is 'One mail per run and recipient, queued in the transaction that ends the run. A row also identifies its mail: the Message-ID is made from it.';
comment on column public.deliveries.kind is 'email for the result of a run; notice for a mail to the owner about a result that was withheld; waiting for one that the run waits for a person.';
comment on column public.deliveries.entry is 'Of an email: {subject, attach, format}. Of a notice: {task, reason, withheld, earlier}, the task of the run, how many of its runs were withheld within a day of the notice, and how many more of the notice before.';
comment on column public.deliveries.status is 'sending from before the content of the mail is sent until its outcome is recorded: a row that stays there has an unknown outcome, and is not sent again.';
comment on column public.deliveries.lease_id is 'The attempt under way, which ends at due_at at the latest: then the process has died.';
comment on column public.deliveries.sending_at is 'When the content was sent, for the limit of a day; null if it certainly did not arrive.';

-- Recipients --------------------------------------------------------------------------------------

create function public.recipient_fault(p_account_id uuid, p_address text) returns text
language sql stable set search_path = '' as $$
  select case
    when b.reason is not null then b.reason
    when not exists (
      select from public.accounts a where a.id = p_account_id and a.email = p_address)
    and not exists (
      select from public.delivery_addresses d
      where d.account_id = p_account_id and d.address = p_address and d.confirmed_at is not null)
    and not exists (
      select from public.accounts a
      join public.organization_accounts m on m.account_id = a.id
      join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
      where a.kind = 'personal' and a.email = p_address
        and (o.id = p_account_id or public.sees_member(p_account_id, o.id, a.id)))
    then 'not_confirmed' end
  from (select 1) one
  left join public.delivery_blocks b on b.account_id = p_account_id and b.address = p_address
$$;
comment on function public.recipient_fault is 'Why an account may not mail results to an address: unsubscribed | bounced | not_confirmed; null if it may: to its own address, members of its organizations that it may know, and confirmed addresses. It does not depend on whether other addresses have accounts.';

create function public.recipient_faults(p_account_id uuid, p_addresses text[]) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('address', a.address, 'fault', f.fault)
    order by a.place), '[]')
  from unnest(p_addresses) with ordinality as a (address, place)
  cross join lateral (select public.recipient_fault(p_account_id, a.address) as fault) f
  where f.fault is not null
$$;
comment on function public.recipient_faults is 'The given addresses that an account may not mail results to: [{address, fault}].';

create function public.delivery_address_row(p_address public.delivery_addresses) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object('id', p_address.id, 'address', p_address.address,
    'state', coalesce(
      (select b.reason from public.delivery_blocks b
        where b.account_id = p_address.account_id and b.address = p_address.address),
      case when p_address.confirmed_at is null then 'pending' else 'confirmed' end),
    'created_at', p_address.created_at)
$$;
comment on function public.delivery_address_row is 'An address with its state: pending, confirmed, unsubscribed or bounced.';

create function public.list_delivery_addresses(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(array(
    select public.delivery_address_row(d)
    from public.delivery_addresses d
    where d.account_id = p_account_id
      and (d.created_at, d.id) < (p_after_at, p_after_id)
    order by d.created_at desc, d.id desc
    limit p_limit + 1))
$$;
comment on function public.list_delivery_addresses is 'A page of an account''s delivery addresses, newest first, with one more row if another page follows.';

create function public.add_delivery_address(
  p_account_id uuid, p_address text, p_token_hash text,
  p_max integer, p_max_a_day integer, p_max_mails_a_day integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_row jsonb;
  v_mails boolean;
begin
  -- One at a time for each account, because the counts must not change.
  perform from public.accounts where id = p_account_id for no key update;
  select public.delivery_address_row(d) into v_row from public.delivery_addresses d
  where d.account_id = p_account_id and d.address = p_address;
  if v_row ->> 'state' in ('confirmed', 'unsubscribed') then
    return jsonb_build_object('address', v_row, 'mail', false, 'account', null);
  end if;
  if v_row is null and p_max <= (
    select count(*) from public.delivery_addresses where account_id = p_account_id)
  then
    return jsonb_build_object('refused', 'full');
  end if;
  if p_max_a_day <= (
    select count(*) from public.delivery_confirmations
    where account_id = p_account_id and created_at > now() - interval '1 day')
  then
    return jsonb_build_object('refused', 'limited');
  end if;
  insert into public.delivery_addresses (account_id, address) values (p_account_id, p_address)
  on conflict (account_id, address) do nothing;
  select public.delivery_address_row(d) into v_row from public.delivery_addresses d
  where d.account_id = p_account_id and d.address = p_address;
  v_mails := v_row ->> 'state' <> 'unsubscribed' and p_max_mails_a_day > (
    select count(*) from public.delivery_confirmations
    where address = p_address and created_at > now() - interval '1 day');
  if v_mails then
    insert into public.delivery_confirmations (token_hash, account_id, address)
    values (p_token_hash, p_account_id, p_address);
  end if;
  return jsonb_build_object('address', v_row, 'mail', v_mails, 'account', (
    select coalesce(a.email, a.name, '') from public.accounts a where a.id = p_account_id));
end
$$;
comment on function public.add_delivery_address is 'Adds an address, or asks again for its confirmation: {address, mail, account} or {refused: full | limited}. mail is false if none is to be sent: it is confirmed or unsubscribed, or has had enough mails today.';

create function public.delete_delivery_address(p_account_id uuid, p_id uuid) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_address text;
begin
  delete from public.delivery_addresses where id = p_id and account_id = p_account_id
  returning address into v_address;
  if not found then
    return false;
  end if;
  update public.delivery_confirmations set used_at = now()
  where account_id = p_account_id and address = v_address and used_at is null;
  return true;
end
$$;
comment on function public.delete_delivery_address is 'Deletes an address of an account and voids its confirmation links; false when there is none. What it has unsubscribed from stays so.';

create function public.open_delivery_confirmation(p_token_hash text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object('address', c.address, 'account', coalesce(a.email, a.name, ''))
  from public.delivery_confirmations c
  join public.accounts a on a.id = c.account_id
  join public.delivery_addresses d on d.account_id = c.account_id and d.address = c.address
  where c.token_hash = p_token_hash and c.used_at is null
    and c.created_at > now() - interval '1 day'
$$;
comment on function public.open_delivery_confirmation is 'What a confirmation link is about: {address, account}; null once it is used, void, or a day old.';

create function public.confirm_delivery_address(p_token_hash text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_link constant jsonb := public.open_delivery_confirmation(p_token_hash);
  v_used public.delivery_confirmations;
begin
  if v_link is null then
    return null;
  end if;
  update public.delivery_confirmations set used_at = now()
  where token_hash = p_token_hash and used_at is null
  returning * into v_used;
  if not found then
    return null;
  end if;
  update public.delivery_addresses set confirmed_at = coalesce(confirmed_at, now())
  where account_id = v_used.account_id and address = v_used.address;
  delete from public.delivery_blocks
  where account_id = v_used.account_id and address = v_used.address;
  update public.delivery_confirmations set used_at = now()
  where account_id = v_used.account_id and address = v_used.address and used_at is null;
  return v_link;
end
$$;
comment on function public.confirm_delivery_address is 'Confirms an address by its link, once, which also ends a bounce: as open_delivery_confirmation.';

create function public.unsubscribe_address(p_account_id uuid, p_address text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.delivery_blocks (account_id, address, reason)
  select a.id, p_address, 'unsubscribed' from public.accounts a where a.id = p_account_id
  on conflict (account_id, address) do update set reason = excluded.reason;
  update public.delivery_confirmations set used_at = now()
  where account_id = p_account_id and address = p_address and used_at is null;
end
$$;
comment on function public.unsubscribe_address is 'Ends all mail of an account to an address, whose holder asks for it. It is safe to repeat.';

create function public.resubscribe_address(p_account_id uuid, p_address text) returns void
language sql volatile set search_path = '' as $$
  delete from public.delivery_blocks
  where account_id = p_account_id and address = p_address and reason = 'unsubscribed'
$$;
comment on function public.resubscribe_address is 'Takes unsubscribe_address back, when the holder of the address asks for it.';

-- The end of a run --------------------------------------------------------------------------------

create function public.answer_of_turn(p_turn public.turns) returns text
language sql stable set search_path = '' as $$
  with pieces as (
    select part.value as piece, part.ordinality as place
    from public.messages m, jsonb_array_elements(m.parts) with ordinality as part
    where m.chat_id = p_turn.chat_id and m.id = p_turn.assistant_message_id and m.role = 'assistant'
  )
  select nullif(concat_ws(E'\n\n', case when t.answer ~ '[^[:space:]]' then left(t.answer, 100000) end,
    E'```json\n' || left(jsonb_pretty(p_turn.output), 100000) || E'\n```'), '')
  from (
    select string_agg(p.piece ->> 'text', E'\n\n' order by p.place) as answer
    from pieces p
    where p.piece ->> 'type' = 'text' and p.place > coalesce(
      (select max(s.place) from pieces s where s.piece ->> 'type' = 'step-start'), 0)) t
$$;
comment on function public.answer_of_turn is 'The result of a turn as Markdown: the text of its last step, and its output; null if there is none.';

create function public.send_results(p_turn public.turns) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.deliveries (account_id, turn_id, run_id, kind, recipient, entry)
  select p_turn.account_id, p_turn.id, p_turn.run_id, entry.value ->> 'kind', recipient.value,
    entry.value - array['kind', 'to']
  from jsonb_array_elements(p_turn.deliver -> 'entries') as entry
  cross join jsonb_array_elements_text(entry.value -> 'to') as recipient
  on conflict (turn_id, kind, recipient) do nothing;
end
$$;
comment on function public.send_results is 'Queues the mails of a turn.';

create function public.queue_deliveries() returns trigger
language plpgsql set search_path = '' as $$
declare
  v_reason constant text := case
    when new.status = 'cancelled' then 'run_cancelled'
    when new.status <> 'completed' then 'run_failed'
    when public.answer_of_turn(new) is null then 'empty'
    else public.ask_delivery(new) end;
begin
  if v_reason is null then
    perform public.send_results(new);
    return null;
  end if;
  update public.turns set deliver = deliver
    || jsonb_build_object('state', 'withheld', 'reason', v_reason)
  where id = new.id;
  if new.status <> 'cancelled' then
    perform public.queue_delivery_notice(new, v_reason);
  end if;
  return null;
end
$$;
comment on function public.queue_deliveries is 'Queues the mails of a turn that has completed, or withholds its result and has the owner notified.';
create trigger queue_deliveries after update of finished_at on public.turns
  for each row when (
    old.finished_at is null and new.finished_at is not null and new.run_id is not null
    and new.deliver is not null)
  execute function public.queue_deliveries();

create function public.queue_delivery_notice(p_turn public.turns, p_reason text) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_task constant uuid := (
    select f.task_id from public.scheduled_firings f where f.id = p_turn.effect_id);
begin
  -- One at a time for each account: two concurrent runs make one notice.
  perform pg_advisory_xact_lock(hashtextextended('delivery notices ' || p_turn.account_id, 0));
  update public.deliveries set
    entry = entry || jsonb_build_object('withheld', (entry ->> 'withheld')::integer + 1)
  where account_id = p_turn.account_id and kind = 'notice'
    and created_at > now() - interval '1 day' and (entry ->> 'task')::uuid is not distinct from v_task;
  if found then
    return;
  end if;
  insert into public.deliveries (account_id, turn_id, run_id, kind, recipient, entry)
  select p_turn.account_id, p_turn.id, p_turn.run_id, 'notice', a.email,
    jsonb_build_object('task', v_task, 'reason', p_reason, 'withheld', 1, 'earlier', coalesce((
      select (d.entry ->> 'withheld')::integer - 1 from public.deliveries d
      where d.account_id = p_turn.account_id and d.kind = 'notice'
        and (d.entry ->> 'task')::uuid is not distinct from v_task
      order by d.created_at desc, d.id desc limit 1), 0))
  from public.accounts a
  where a.id = p_turn.account_id and a.email is not null
  on conflict (turn_id, kind, recipient) do nothing;
end
$$;
comment on function public.queue_delivery_notice is 'Queues a mail to the owner about a result that was withheld: at most one a day for a task, and one for all other runs. The next one says how many more there were.';

create function public.queue_waiting_mail(p_turn public.turns) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.deliveries (account_id, turn_id, run_id, kind, recipient, entry, due_at)
  select p_turn.account_id, p_turn.id, p_turn.run_id, 'waiting', a.email, '{}',
    -- A person in the chat answers there.
    now() + case when p_turn.kind = 'chat' then interval '2 minutes' else interval '0' end
  from public.accounts a
  where a.id = p_turn.account_id and a.mail_when_waiting and a.email is not null
  on conflict (turn_id, kind, recipient) do update
  set status = 'pending', error = null, due_at = excluded.due_at, finished_at = null,
    retry_until = excluded.retry_until
  where deliveries.status = 'failed' and deliveries.sending_at is null
    and deliveries.error = 'not_waiting';
end
$$;
comment on function public.queue_waiting_mail is 'Queues a mail to the owner that a run waits for a person, if the account wants it: once for a run, but again if the mail was not sent because the run no longer waited.';

create function public.delivery_of_turn(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'delivery', case
      when p_turn.deliver is null then null
      when p_turn.deliver ? 'state' then p_turn.deliver ->> 'state'
      when count(d.id) filter (where d.status in ('pending', 'sending')) > 0 or count(d.id) = 0
        then 'pending'
      when count(d.id) filter (where d.status = 'failed') > 0 then 'failed'
      else 'sent' end,
    'delivery_reason', coalesce(p_turn.deliver ->> 'reason', min(d.error)
      filter (where d.status = 'failed')))
  from public.deliveries d
  where d.turn_id = p_turn.id and d.kind = 'email'
$$;
comment on function public.delivery_of_turn is 'What became of the result of a turn: {delivery, delivery_reason}, both null without recipients.';

-- Deliveries --------------------------------------------------------------------------------------

create function public.delivery_row(p_delivery public.deliveries) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_delivery.id, 'run_id', p_delivery.run_id, 'kind', p_delivery.kind,
    'to', p_delivery.recipient, 'status', p_delivery.status, 'attempts', p_delivery.attempts,
    'error', p_delivery.error, 'sent_at', p_delivery.sent_at, 'created_at', p_delivery.created_at)
$$;
comment on function public.delivery_row is 'The columns of a delivery that its account sees. Inlined, hence no search_path.';

create function public.list_run_deliveries(p_account_id uuid, p_run_id text) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(array(
    select public.delivery_row(d) from public.deliveries d
    where d.turn_id = t.id and d.account_id = p_account_id
    order by d.created_at, d.recipient))
  from public.turns t
  where t.run_id = p_run_id and t.account_id = p_account_id
$$;
comment on function public.list_run_deliveries is 'The deliveries of a run of an account; null when it has no such run.';

create function public.list_deliveries(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(array(
    select public.delivery_row(d)
    from public.deliveries d
    where d.account_id = p_account_id
      and (d.created_at, d.id) < (p_after_at, p_after_id)
    order by d.created_at desc, d.id desc
    limit p_limit + 1))
$$;
comment on function public.list_deliveries is 'A page of an account''s deliveries, newest first, with one more row if another page follows.';

create function public.delivery_fault(p_delivery public.deliveries, p_max_a_day integer)
returns text
language sql stable set search_path = '' as $$
  select case
    when p_delivery.status = 'sending' then 'unknown'
    when p_delivery.turn_id is null then 'run_deleted'
    when p_delivery.kind = 'waiting' and not public.is_waiting(p_delivery.turn_id)
      then 'not_waiting'
    else coalesce(
      public.recipient_fault(p_delivery.account_id, p_delivery.recipient),
      case when p_max_a_day <= (
        select count(*) from public.deliveries d
        where d.account_id = p_delivery.account_id and d.sending_at > now() - interval '1 day')
      then 'day_limit' end) end
$$;
comment on function public.delivery_fault is 'Why a delivery can no longer be sent: unknown, if it may have been sent | run_deleted | not_waiting | day_limit | as in recipient_fault; null if it can.';

create function public.delivery_job(p_delivery public.deliveries, p_max_a_day integer)
returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', p_delivery.id,
    'leaseId', p_delivery.lease_id,
    'accountId', p_delivery.account_id,
    'kind', p_delivery.kind,
    'recipient', p_delivery.recipient,
    'entry', p_delivery.entry,
    'runId', p_delivery.run_id,
    'attempt', p_delivery.attempts,
    'sessionId', t.session_id,
    'sender', (select coalesce(a.email, a.name) from public.accounts a where a.id = p_delivery.account_id),
    'title', coalesce(
      (select s.title from public.scheduled_firings f
        join public.scheduled_prompts s on s.id = f.task_id where f.id = t.effect_id),
      (select c.title from public.chats c where c.id = t.chat_id), ''),
    'answer', coalesce(public.answer_of_turn(t), ''))
  from (select 1) one
  left join public.turns t on t.id = p_delivery.turn_id
$$;
comment on function public.delivery_job is 'A leased delivery with what its mail is made of.';

create function public.claim_deliveries(
  p_limit integer, p_lease_seconds integer, p_max_a_day integer
) returns jsonb
language sql volatile set search_path = '' as $$
  with due as (
    select d.id, public.delivery_fault(d, p_max_a_day) as fault
    from public.deliveries d
    where d.due_at <= now()
    order by d.due_at limit p_limit for update skip locked
  ),
  claimed as (
    update public.deliveries d set
      lease_id = gen_random_uuid(),
      attempts = d.attempts + case when due.fault is null then 1 else 0 end,
      due_at = now() + make_interval(secs => p_lease_seconds)
    from due where d.id = due.id
    returning d, due.fault
  )
  select coalesce(jsonb_agg(public.delivery_job((claimed.d), p_max_a_day)
    || jsonb_build_object('fault', claimed.fault)), '[]') from claimed
$$;
comment on function public.claim_deliveries is 'Leases deliveries that are due, each with the fault that ends it, if any. One whose process died before it was sending is due again after the lease; one that was sending has an unknown outcome.';

create function public.begin_sending(
  p_id uuid, p_lease_id uuid, p_lease_seconds integer, p_max_a_day integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_delivery public.deliveries;
  v_fault text;
begin
  -- Two deliveries of the account at once cannot pass the limit together.
  perform pg_advisory_xact_lock(hashtextextended('deliveries ' || d.account_id, 0))
  from public.deliveries d where d.id = p_id;
  select * into v_delivery from public.deliveries
  where id = p_id and lease_id = p_lease_id and status = 'pending' for update;
  if not found then
    return jsonb_build_object('granted', false, 'fault', null);
  end if;
  v_fault := public.delivery_fault(v_delivery, p_max_a_day);
  if v_fault is null then
    update public.deliveries set status = 'sending', sending_at = now(),
      due_at = now() + make_interval(secs => p_lease_seconds)
    where id = p_id;
  end if;
  return jsonb_build_object('granted', v_fault is null, 'fault', v_fault);
end
$$;
comment on function public.begin_sending is 'Records that the content of a mail is about to be sent: {granted, fault}. Neither granted nor with a fault, the lease was lost.';

create function public.end_delivery(
  p_id uuid, p_lease_id uuid, p_outcome text, p_error text, p_retry_seconds double precision
) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_retry_at constant timestamptz := now() + make_interval(secs => p_retry_seconds);
  v_delivery public.deliveries;
  v_status text;
begin
  -- The account before its rows, as everywhere.
  perform from public.accounts a
  where a.id = (select d.account_id from public.deliveries d where d.id = p_id) for key share;
  select * into v_delivery from public.deliveries
  where id = p_id and lease_id = p_lease_id for update;
  if not found then
    return false;
  end if;
  v_status := case
    when p_outcome = 'sent' then 'sent'
    when p_outcome = 'retry' and v_retry_at <= v_delivery.retry_until then 'pending'
    else 'failed' end;
  update public.deliveries set
    status = v_status,
    error = p_error,
    lease_id = null,
    due_at = case when v_status = 'pending' then v_retry_at end,
    sending_at = case when p_outcome in ('sent', 'unknown') then sending_at end,
    sent_at = case when v_status = 'sent' then now() end,
    finished_at = case when v_status <> 'pending' then now() end
  where id = p_id
  returning * into v_delivery;
  if p_outcome = 'bounced' then
    insert into public.delivery_blocks (account_id, address, reason)
    values (v_delivery.account_id, v_delivery.recipient, 'bounced')
    on conflict (account_id, address) do nothing;
  end if;
  if v_status <> 'pending' and v_delivery.kind = 'email' then
    perform public.enqueue_webhook_event(v_delivery.account_id, 'delivery.' || v_status,
      jsonb_build_object(
        'delivery_id', v_delivery.id, 'run_id', v_delivery.run_id, 'kind', v_delivery.kind,
        'status', v_status,
        'created_at', public.iso_date(v_delivery.created_at),
        'finished_at', public.iso_date(v_delivery.finished_at)));
  end if;
  return true;
end
$$;
comment on function public.end_delivery is 'Ends the attempt that has the lease: p_outcome is sent, retry when the mail certainly did not arrive, failed, bounced when the address is refused for good, or unknown. Queues the event of a delivery that ends. False when the lease was lost.';

create function public.sweep_deliveries(p_batch integer, p_days integer) returns bigint
language plpgsql volatile set search_path = '' as $$
declare
  v_ids uuid[];
begin
  delete from public.delivery_confirmations where token_hash in (
    select c.token_hash from public.delivery_confirmations c
    where c.created_at < now() - interval '1 day' limit p_batch for update skip locked);
  v_ids := array(
    select d.id from public.deliveries d
    where d.finished_at < now() - make_interval(days => p_days)
    limit p_batch);
  -- The run keeps what became of its result. Before the deliveries, in the order of a deletion.
  update public.turns t set deliver = t.deliver || jsonb_strip_nulls(jsonb_build_object(
    'state', s.delivery ->> 'delivery', 'reason', s.delivery ->> 'delivery_reason'))
  from (
    select u.id, public.delivery_of_turn(u) as delivery from public.turns u
    where u.id in (
      select d.turn_id from public.deliveries d where d.id = any (v_ids) and d.kind = 'email')
  ) s
  where t.id = s.id and not t.deliver ? 'state' and s.delivery ->> 'delivery' <> 'pending';
  delete from public.deliveries where id = any (v_ids);
  return cardinality(v_ids);
end
$$;
comment on function public.sweep_deliveries is 'Deletes deliveries that finished more than p_days ago, and confirmation mails of more than a day ago; answers how many deliveries.';
