-- Webhooks, their events and deliveries.

create table public.webhooks (
  id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  url text not null check (octet_length(url) <= 2048),
  events text[] not null,
  enabled boolean not null default true,
  disabled_reason text check (disabled_reason in ('failing', 'gone')),
  failing_since timestamptz,
  secret text not null,
  previous_secret text,
  previous_secret_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create unique index webhooks_url on public.webhooks (account_id, url);
create index webhooks_previous_secret on public.webhooks (previous_secret_until)
  where previous_secret is not null;
comment on table public.webhooks is 'Endpoints that an account wants to be told of events.';
comment on column public.webhooks.id is 'Chosen by the server, which seals the secrets for it.';
comment on column public.webhooks.disabled_reason is 'Why the service has disabled it: it failed for five days, or answered 410. Null when the account did.';
comment on column public.webhooks.secret is 'Sealed by the server.';
comment on column public.webhooks.previous_secret is 'Sealed; signs too until previous_secret_until, 24 hours after the rotation.';

create table public.webhook_deliveries (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  webhook_id uuid references public.webhooks (id) on delete cascade,
  url text not null,
  event_type text not null,
  data jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  log jsonb not null default '[]',
  lease_id uuid,
  due_at timestamptz default now(),
  retry_until timestamptz not null default now() + interval '24 hours',
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  check ((status = 'pending') = (due_at is not null))
);

create index webhook_deliveries_due on public.webhook_deliveries (account_id, due_at)
  where due_at is not null;
create index webhook_deliveries_leased on public.webhook_deliveries (account_id)
  where lease_id is not null;
create index webhook_deliveries_pending on public.webhook_deliveries (webhook_id)
  where due_at is not null;
create index webhook_deliveries_newest on public.webhook_deliveries
  (webhook_id, created_at desc, id desc);
create index webhook_deliveries_finished on public.webhook_deliveries (finished_at)
  where finished_at is not null;
comment on table public.webhook_deliveries is 'Events to deliver, and the log of delivered ones. Their data are ids and states, and the output of a run with a schema.';
comment on column public.webhook_deliveries.webhook_id is 'Null for the webhook_url of a run that is not the URL of a webhook.';
comment on column public.webhook_deliveries.attempts is 'Attempts since delivery was last requested. The log has the completed ones.';
comment on column public.webhook_deliveries.log is 'The last attempts, oldest first: [{attempted_at, status_code, duration_ms, error, response}].';
comment on column public.webhook_deliveries.lease_id is 'The attempt under way, which ends at due_at at the latest: then the process has died.';
comment on column public.webhook_deliveries.due_at is 'When it is to be attempted; null when it is finished.';

-- Webhooks ----------------------------------------------------------------------------------------

create function public.webhook_row(p_webhook public.webhooks) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_webhook.id, 'url', p_webhook.url, 'events', p_webhook.events,
    'enabled', p_webhook.enabled, 'disabled_reason', p_webhook.disabled_reason,
    'failing_since', p_webhook.failing_since,
    'previous_secret_until', case when p_webhook.previous_secret_until > now()
      then p_webhook.previous_secret_until end,
    'created_at', p_webhook.created_at, 'updated_at', p_webhook.updated_at)
$$;
comment on function public.webhook_row is 'The columns of a webhook without its secrets. previous_secret_until is null once it has passed. Inlined, hence no search_path.';

create function public.create_webhook(
  p_account_id uuid, p_id uuid, p_url text, p_events text[], p_enabled boolean, p_secret text,
  p_max integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_webhook public.webhooks;
begin
  -- Two requests at once cannot pass the limit together.
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261160));
  if (select count(*) from public.webhooks where account_id = p_account_id) >= p_max then
    return jsonb_build_object('refused', 'full');
  end if;
  insert into public.webhooks (id, account_id, url, events, enabled, secret)
  values (p_id, p_account_id, p_url, p_events, p_enabled, p_secret)
  on conflict (account_id, url) do nothing
  returning * into v_webhook;
  if not found then
    return jsonb_build_object('refused', 'taken');
  end if;
  return jsonb_build_object('webhook', public.webhook_row(v_webhook));
end
$$;
comment on function public.create_webhook is 'Creates a webhook of an account that has fewer than p_max: {webhook} or {refused: full | taken}.';

create function public.list_webhooks(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(array(
    select public.webhook_row(w)
    from public.webhooks w
    where w.account_id = p_account_id
      and (w.created_at, w.id) < (p_after_at, p_after_id)
    order by w.created_at desc, w.id desc
    limit p_limit + 1))
$$;
comment on function public.list_webhooks is 'A page of an account''s webhooks, newest first, with one more row if another page follows.';

create function public.get_webhook(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(
    (select jsonb_build_object('webhook', public.webhook_row(w)) from public.webhooks w
      where w.id = p_id and w.account_id = p_account_id),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.get_webhook is 'A webhook of an account: {webhook} or {refused: missing}.';

create function public.update_webhook(
  p_account_id uuid, p_id uuid, p_url text, p_events text[], p_enabled boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_webhook public.webhooks;
begin
  update public.webhooks set
    url = coalesce(p_url, url),
    events = coalesce(p_events, events),
    enabled = coalesce(p_enabled, enabled),
    disabled_reason = case when p_enabled is null then disabled_reason end,
    failing_since = case when p_enabled is null then failing_since end,
    updated_at = now()
  where id = p_id and account_id = p_account_id
  returning * into v_webhook;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  if p_url is not null then
    update public.webhook_deliveries set url = p_url
    where webhook_id = p_id and due_at is not null and url <> p_url;
  end if;
  if not v_webhook.enabled then
    perform public.drop_webhook_deliveries(p_id);
  end if;
  return jsonb_build_object('webhook', public.webhook_row(v_webhook));
exception when unique_violation then
  return jsonb_build_object('refused', 'taken');
end
$$;
comment on function public.update_webhook is 'Changes the fields that are not null: {webhook} or {refused: missing | taken}. Deliveries that wait go to the new URL, or fail when the webhook is disabled.';

create function public.drop_webhook_deliveries(p_webhook_id uuid) returns void
language sql volatile set search_path = '' as $$
  update public.webhook_deliveries set status = 'failed', due_at = null, finished_at = now()
  where webhook_id = p_webhook_id and due_at is not null and lease_id is null
$$;
comment on function public.drop_webhook_deliveries is 'Ends the deliveries that wait for a webhook that is disabled. Those under way end with their attempt.';

create function public.delete_webhook(p_account_id uuid, p_id uuid) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  delete from public.webhooks where id = p_id and account_id = p_account_id;
  return found;
end
$$;
comment on function public.delete_webhook is 'Deletes a webhook of an account with its deliveries; false when there is none.';

create function public.rotate_webhook_secret(p_account_id uuid, p_id uuid, p_secret text)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_webhook public.webhooks;
begin
  update public.webhooks set
    previous_secret = secret,
    previous_secret_until = now() + interval '24 hours',
    secret = p_secret,
    updated_at = now()
  where id = p_id and account_id = p_account_id
  returning * into v_webhook;
  return case when found then jsonb_build_object('webhook', public.webhook_row(v_webhook))
    else jsonb_build_object('refused', 'missing') end;
end
$$;
comment on function public.rotate_webhook_secret is 'Replaces the secret of a webhook; the old one signs too for 24 hours: {webhook} or {refused: missing}.';

-- Events ------------------------------------------------------------------------------------------

create function public.enqueue_webhook_event(
  p_account_id uuid, p_type text, p_data jsonb, p_webhook_url text default null
) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.webhook_deliveries (account_id, webhook_id, url, event_type, data)
  select p_account_id, w.id, w.url, p_type, p_data
  from public.webhooks w
  where w.account_id = p_account_id
    and (w.url = p_webhook_url or (w.enabled and p_type = any (w.events)))
  union all
  select p_account_id, null, p_webhook_url, p_type, p_data
  where p_webhook_url is not null and not exists (
    select from public.webhooks w where w.account_id = p_account_id and w.url = p_webhook_url);
end
$$;
comment on function public.enqueue_webhook_event is 'Queues an event for the webhooks of an account that want it, and for p_webhook_url: once, through the webhook that has this URL, if there is one. To be called in the transaction that makes the event true. p_data has ids and states, and no content but the output of a run with a schema.';

create function public.turn_event(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'run_id', p_turn.run_id,
      'kind', p_turn.kind,
      'status', p_turn.status,
      'session_id', p_turn.session_id,
      'chat_id', p_turn.chat_id,
      'artist_id', p_turn.artist_id,
      'created_at', public.iso_date(p_turn.created_at),
      'finished_at', public.iso_date(p_turn.finished_at)));
end
$$;
comment on function public.turn_event is 'What the events of a turn have in common.';

create function public.enqueue_turn_event() returns trigger
language plpgsql set search_path = '' as $$
begin
  perform public.enqueue_webhook_event(new.account_id, 'run.' || new.status,
    public.turn_event(new)
      || case when new.output is null then '{}'
        else jsonb_build_object('output', new.output) end
      || case when new.options ? 'outcome'
        then jsonb_build_object('verdicts', public.verdicts_of_turn(new)) else '{}' end,
    new.webhook_url);
  return null;
end
$$;
comment on function public.enqueue_turn_event is 'Queues the event of a turn that ends, with its output and verdicts if it has any.';
-- A turn without a run was never started.
create trigger enqueue_turn_event after update of finished_at on public.turns
  for each row when (
    old.finished_at is null and new.finished_at is not null and new.run_id is not null)
  execute function public.enqueue_turn_event();

create function public.enqueue_generation_event() returns trigger
language plpgsql set search_path = '' as $$
declare
  v_status constant text := case when new.status = 'COMPLETED' then 'completed' else 'failed' end;
begin
  perform public.enqueue_webhook_event(new.account_id, 'generation.' || v_status,
    jsonb_build_object(
      'run_id', new.id,
      'kind', case new.task_identifier when 'generate-image' then 'image' else 'video' end,
      'status', v_status,
      'created_at', public.iso_date(new.created_at),
      'finished_at', public.iso_date(new.finished_at)));
  return null;
end
$$;
comment on function public.enqueue_generation_event is 'Queues the event of a generation that ends.';
create trigger enqueue_generation_event after update of lease_until on public.task_runs
  for each row when (
    old.lease_until is not null and new.lease_until is null
    and new.task_identifier in ('generate-image', 'generate-video'))
  execute function public.enqueue_generation_event();

create function public.has_due_webhooks(p_account_id uuid) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return (
    select exists (
      select from public.webhook_deliveries
      where account_id = p_account_id and due_at <= clock_timestamp()));
end
$$;
comment on function public.has_due_webhooks is 'Whether a worker is to be woken for an account, after a statement that may have queued an event.';

-- Deliveries --------------------------------------------------------------------------------------

create function public.list_webhook_deliveries(
  p_account_id uuid, p_webhook_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select case
    when not exists (
      select from public.webhooks w where w.id = p_webhook_id and w.account_id = p_account_id)
    then jsonb_build_object('refused', 'missing')
    else to_jsonb(array(
      select to_jsonb(d)
      from public.webhook_deliveries d
      where d.webhook_id = p_webhook_id
        and (d.created_at, d.id) < (p_after_at, p_after_id)
      order by d.created_at desc, d.id desc
      limit p_limit + 1))
    end
$$;
comment on function public.list_webhook_deliveries is 'A page of the deliveries of an account''s webhook, newest first, with one more row if another page follows; or {refused: missing}.';

create function public.test_webhook(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_delivery public.webhook_deliveries;
begin
  insert into public.webhook_deliveries
    (account_id, webhook_id, url, event_type, data, retry_until)
  select w.account_id, w.id, w.url, 'webhook.test', jsonb_build_object('webhook_id', w.id), now()
  from public.webhooks w where w.id = p_id and w.account_id = p_account_id
  returning * into v_delivery;
  return case when found
    then jsonb_build_object('delivery', to_jsonb(v_delivery))
    else jsonb_build_object('refused', 'missing') end;
end
$$;
comment on function public.test_webhook is 'Queues a test event, which is attempted once: {delivery} or {refused: missing}.';

create function public.redeliver_webhook(p_account_id uuid, p_webhook_id uuid, p_id uuid)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_delivery public.webhook_deliveries;
begin
  update public.webhook_deliveries d set
    status = 'pending',
    -- An attempt under way is not doubled.
    due_at = case when d.lease_id is null then now() else d.due_at end,
    url = w.url,
    attempts = 0,
    retry_until = now() + interval '24 hours',
    finished_at = null
  from public.webhooks w
  where d.id = p_id and d.webhook_id = p_webhook_id
    and w.id = d.webhook_id and w.account_id = p_account_id
  returning d.* into v_delivery;
  return case when found
    then jsonb_build_object('delivery', to_jsonb(v_delivery))
    else jsonb_build_object('refused', 'missing') end;
end
$$;
comment on function public.redeliver_webhook is 'Makes a delivery due, whether it has ended or waits for another attempt: {delivery} or {refused: missing}.';

create function public.appended_attempt(p_log jsonb, p_attempt jsonb) returns jsonb
language sql immutable set search_path = '' as $$
  select (case when jsonb_array_length(p_log) >= 30 then p_log - 0 else p_log end) || p_attempt
$$;
comment on function public.appended_attempt is 'A log with one more attempt; it keeps the last 30.';

create function public.claim_webhook_deliveries(
  p_after uuid, p_limit integer, p_per_account integer, p_lease_seconds integer
) returns jsonb
language sql volatile set search_path = '' as $$
  -- The accounts that have something due, each found by one look into the index.
  with recursive accounts as (
    (select d.account_id from public.webhook_deliveries d
      where d.account_id > p_after and d.due_at <= now()
      order by d.account_id limit 1)
    union all
    select (select d.account_id from public.webhook_deliveries d
      where d.account_id > a.account_id and d.due_at <= now()
      order by d.account_id limit 1)
    from accounts a where a.account_id is not null
  ),
  due as (
    select d.id
    from (select a.account_id from accounts a where a.account_id is not null limit p_limit) a
    cross join lateral (
      select d.id from public.webhook_deliveries d
      where d.account_id = a.account_id and d.due_at <= now()
      order by d.due_at
      limit greatest(0, p_per_account - (
        select count(*) from public.webhook_deliveries f
        where f.account_id = a.account_id and f.lease_id is not null and f.due_at > now()))
      for update skip locked
    ) d
    limit p_limit
  ),
  claimed as (
    update public.webhook_deliveries d set
      lease_id = gen_random_uuid(),
      attempts = d.attempts + 1,
      due_at = now() + make_interval(secs => p_lease_seconds),
      -- The process that made the attempt before has died.
      log = case when d.lease_id is null then d.log else public.appended_attempt(d.log,
        jsonb_build_object(
          'attempted_at', public.iso_date(d.due_at - make_interval(secs => p_lease_seconds)),
          'status_code', null, 'duration_ms', null,
          'error', 'interrupted', 'response', null)) end
    from due where d.id = due.id
    returning d.*
  )
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', c.id,
    'accountId', c.account_id,
    'leaseId', c.lease_id,
    'webhookId', c.webhook_id,
    'url', c.url,
    'type', c.event_type,
    'data', c.data,
    'createdAt', public.iso_date(c.created_at),
    'attempt', c.attempts,
    'secrets', case when w.id is null then '[]' else jsonb_build_array(w.secret)
      || case when w.previous_secret_until > now()
        then jsonb_build_array(w.previous_secret) else '[]' end end)
    order by c.account_id), '[]')
  from claimed c left join public.webhooks w on w.id = c.webhook_id
$$;
comment on function public.claim_webhook_deliveries is 'Leases deliveries that are due, of accounts whose ids follow p_after, and of each account so many that at most p_per_account are under way. A lease that ends makes the delivery due again. Deliveries with sealed secrets, in the order of their accounts.';

create function public.record_webhook_attempt(
  p_id uuid, p_lease_id uuid, p_attempt jsonb, p_outcome text, p_retry_seconds double precision
) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_retry_at constant timestamptz := now() + make_interval(secs => p_retry_seconds);
  v_webhook public.webhooks;
  v_delivery public.webhook_deliveries;
  v_status text;
begin
  select * into v_webhook from public.webhooks
  where id = (select webhook_id from public.webhook_deliveries where id = p_id)
  for no key update;
  select * into v_delivery from public.webhook_deliveries
  where id = p_id and lease_id = p_lease_id for update;
  if not found then
    return false;
  end if;
  v_status := case
    when p_outcome = 'delivered' then 'delivered'
    when p_outcome = 'failed' and v_retry_at <= v_delivery.retry_until
      and v_webhook.enabled is not false then 'pending'
    else 'failed' end;
  update public.webhook_deliveries set
    status = v_status,
    log = public.appended_attempt(log, p_attempt),
    lease_id = null,
    due_at = case when v_status = 'pending' then v_retry_at end,
    finished_at = case when v_status <> 'pending' then now() end
  where id = p_id;
  perform public.judge_webhook(v_webhook, p_outcome);
  return true;
end
$$;
comment on function public.record_webhook_attempt is 'Ends the attempt that has the lease: p_outcome is delivered, failed, or gone when the endpoint wants no more. A failure is repeated after p_retry_seconds, unless that is too late or the webhook is disabled. False when the lease was lost.';

create function public.judge_webhook(p_webhook public.webhooks, p_outcome text) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_reason constant text := case
    when p_outcome = 'gone' then 'gone'
    when p_outcome = 'failed' and p_webhook.failing_since < now() - interval '5 days'
      then 'failing' end;
begin
  if p_outcome = 'delivered' then
    update public.webhooks set failing_since = null
    where id = p_webhook.id and failing_since is not null;
    return;
  end if;
  update public.webhooks set failing_since = coalesce(failing_since, now())
  where id = p_webhook.id and failing_since is null;
  if v_reason is not null and p_webhook.enabled then
    update public.webhooks
    set enabled = false, disabled_reason = v_reason, updated_at = now()
    where id = p_webhook.id;
    perform public.drop_webhook_deliveries(p_webhook.id);
  end if;
end
$$;
comment on function public.judge_webhook is 'Notes how an attempt at a webhook ended, and disables one that has failed for five days or is gone.';
