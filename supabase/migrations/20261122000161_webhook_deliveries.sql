-- What the API and the delivery worker ask of the webhooks. A webhook is locked before its deliveries.

create function public.webhook_json(p_webhook public.webhooks) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_webhook.id,
    'url', p_webhook.url,
    'events', p_webhook.events,
    'enabled', p_webhook.enabled,
    'disabled_reason', p_webhook.disabled_reason,
    'failing_since', public.iso_date(p_webhook.failing_since),
    'previous_secret_expires_at', case when p_webhook.previous_secret_until > now()
      then public.iso_date(p_webhook.previous_secret_until) end,
    'created_at', public.iso_date(p_webhook.created_at),
    'updated_at', public.iso_date(p_webhook.updated_at))
$$;
comment on function public.webhook_json is
  'A webhook in the shape of the API, without its secrets. No search_path, so that it is inlined.';

create function public.webhook_delivery_json(p_delivery public.webhook_deliveries) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_delivery.id,
    'webhook_id', p_delivery.webhook_id,
    'event_type', p_delivery.event_type,
    'data', p_delivery.data,
    'status', p_delivery.status,
    'attempts', p_delivery.log,
    'next_attempt_at', public.iso_date(p_delivery.due_at),
    'created_at', public.iso_date(p_delivery.created_at),
    'finished_at', public.iso_date(p_delivery.finished_at))
$$;
comment on function public.webhook_delivery_json is
  'A delivery in the shape of the API. No search_path, so that it is inlined.';

-- Webhooks ---------------------------------------------------------------------------------------

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
  return jsonb_build_object('webhook', public.webhook_json(v_webhook));
end
$$;
comment on function public.create_webhook is
  'Creates a webhook of an account that has fewer than p_max: {webhook} or {refused: full | taken}.';

create function public.list_webhooks(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select public.page_json('webhooks',
    jsonb_agg(public.webhook_json(page.webhook) order by page.created_at desc, page.id desc),
    array_agg(page.created_at order by page.created_at desc, page.id desc),
    array_agg(page.id order by page.created_at desc, page.id desc),
    p_limit)
  from (
    select w as webhook, w.created_at, w.id
    from public.webhooks w
    where w.account_id = p_account_id
      and (w.created_at, w.id) < (coalesce(p_after_at, 'infinity'),
        coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by w.created_at desc, w.id desc
    limit p_limit + 1
  ) page
$$;
comment on function public.list_webhooks is
  'A page of an account''s webhooks, newest first: {webhooks, next}.';

create function public.get_webhook(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(
    (select jsonb_build_object('webhook', public.webhook_json(w)) from public.webhooks w
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
  return jsonb_build_object('webhook', public.webhook_json(v_webhook));
exception when unique_violation then
  return jsonb_build_object('refused', 'taken');
end
$$;
comment on function public.update_webhook is
  'Changes what is not null: {webhook} or {refused: missing | taken}. Deliveries that wait go to the new URL, or fail when the webhook is disabled.';

create function public.drop_webhook_deliveries(p_webhook_id uuid) returns void
language sql volatile set search_path = '' as $$
  update public.webhook_deliveries set status = 'failed', due_at = null, finished_at = now()
  where webhook_id = p_webhook_id and due_at is not null and lease_id is null
$$;
comment on function public.drop_webhook_deliveries is
  'Ends the deliveries that wait for a webhook that is disabled. Those under way end with their attempt.';

create function public.delete_webhook(p_account_id uuid, p_id uuid) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  delete from public.webhooks where id = p_id and account_id = p_account_id;
  return found;
end
$$;
comment on function public.delete_webhook is
  'Deletes a webhook of an account with its deliveries; false when there is none.';

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
  return case when found then jsonb_build_object('webhook', public.webhook_json(v_webhook))
    else jsonb_build_object('refused', 'missing') end;
end
$$;
comment on function public.rotate_webhook_secret is
  'Replaces the secret of a webhook; the old one signs too for 24 hours: {webhook} or {refused: missing}.';

-- Deliveries -------------------------------------------------------------------------------------

create function public.list_webhook_deliveries(
  p_account_id uuid, p_webhook_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select case
    when not exists (
      select from public.webhooks w where w.id = p_webhook_id and w.account_id = p_account_id)
    then jsonb_build_object('refused', 'missing')
    else (
      select public.page_json('deliveries',
        jsonb_agg(public.webhook_delivery_json(page.delivery)
          order by page.created_at desc, page.id desc),
        array_agg(page.created_at order by page.created_at desc, page.id desc),
        array_agg(page.id order by page.created_at desc, page.id desc),
        p_limit)
      from (
        select d as delivery, d.created_at, d.id
        from public.webhook_deliveries d
        where d.webhook_id = p_webhook_id
          and (d.created_at, d.id) < (coalesce(p_after_at, 'infinity'),
            coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
        order by d.created_at desc, d.id desc
        limit p_limit + 1
      ) page)
    end
$$;
comment on function public.list_webhook_deliveries is
  'A page of the deliveries of an account''s webhook, newest first: {deliveries, next} or {refused: missing}.';

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
    then jsonb_build_object('delivery', public.webhook_delivery_json(v_delivery))
    else jsonb_build_object('refused', 'missing') end;
end
$$;
comment on function public.test_webhook is
  'Queues a test event, which is attempted once: {delivery} or {refused: missing}.';

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
    then jsonb_build_object('delivery', public.webhook_delivery_json(v_delivery))
    else jsonb_build_object('refused', 'missing') end;
end
$$;
comment on function public.redeliver_webhook is
  'Makes a delivery due, whether it has ended or waits for another attempt: {delivery} or {refused: missing}.';

-- The worker -------------------------------------------------------------------------------------

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
          'error', 'The attempt was interrupted', 'response', null)) end
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
comment on function public.claim_webhook_deliveries is
  'Leases deliveries that are due, of accounts whose ids follow p_after, and of each account so many that at most p_per_account are under way. A lease that ends makes the delivery due again. Deliveries with sealed secrets, in the order of their accounts.';

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
comment on function public.record_webhook_attempt is
  'Ends the attempt that has the lease: p_outcome is delivered, failed, or gone when the endpoint wants no more. A failure is repeated after p_retry_seconds, unless that is too late or the webhook is disabled. False when the lease was lost.';

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
comment on function public.judge_webhook is
  'Notes how an attempt at a webhook ended, and disables one that has failed for five days or is gone.';

create function public.sweep_webhook_deliveries(p_batch integer, p_days integer) returns bigint
language sql volatile set search_path = '' as $$
  with forgotten as (
    update public.webhooks set previous_secret = null, previous_secret_until = null
    where previous_secret is not null and previous_secret_until < now()
  ),
  gone as (
    delete from public.webhook_deliveries where id in (
      select d.id from public.webhook_deliveries d
      where d.finished_at < now() - make_interval(days => p_days)
      limit p_batch for update skip locked)
    returning 1
  )
  select count(*) from gone
$$;
comment on function public.sweep_webhook_deliveries is
  'Deletes deliveries that finished more than p_days ago, and replaced secrets; answers how many deliveries.';
