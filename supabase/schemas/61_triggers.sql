-- Triggers of scheduled prompts, and the events that they receive.

create table public.task_triggers (
  id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  task_id uuid not null references public.scheduled_prompts (id) on delete cascade,
  kind text not null,
  signature text check (signature in ('standard', 'github', 'slack')),
  secret text,
  secret_in_url boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  connector text,
  event text,
  config jsonb,
  source_id text,
  constraint task_triggers_kind check (
    (kind = 'webhook' and secret is not null)
    or (kind = 'connector' and num_nulls(connector, event, config) = 0))
);

create index task_triggers_account on public.task_triggers (account_id);
create index task_triggers_task_newest on public.task_triggers (task_id, created_at desc, id desc);
comment on table public.task_triggers is 'What starts runs of scheduled prompts: requests of others to a URL (webhook), or events of a connected account (connector).';
comment on column public.task_triggers.id is 'Part of the URL. Chosen by the server, which seals the secret for it.';
comment on column public.task_triggers.signature is 'How its requests are signed; null for those that carry the secret.';
comment on column public.task_triggers.secret is 'Sealed where requests are signed with it, else its HMAC.';
comment on column public.task_triggers.secret_in_url is 'Whether the secret may be a parameter of the URL.';
comment on column public.task_triggers.source_id is 'The subscription at the provider of connectors, which triggers with the same event and config share. Null while it is being made: such a trigger is not listed.';

create table public.trigger_events (
  id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  trigger_id uuid not null references public.task_triggers (id) on delete cascade,
  event_id text,
  content_type text,
  size integer not null,
  sha256 text not null,
  content text,
  refusal text check (refusal in ('rate_limited', 'task_disabled', 'source_disabled')),
  requests integer not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  last_received_at timestamptz not null default clock_timestamp(),
  constraint trigger_events_once unique (trigger_id, event_id)
);

create index trigger_events_account on public.trigger_events (account_id);
create index trigger_events_newest
  on public.trigger_events (trigger_id, created_at desc, id desc);
create index trigger_events_oldest on public.trigger_events (created_at);
comment on table public.trigger_events is 'The events of the last seven days.';
comment on column public.trigger_events.id is 'Also the id of its firing, and so turns.effect_id of the run that it has started. Its content, which a stranger has written, is a file of that run.';
comment on column public.trigger_events.event_id is 'The sender''s id of the event, which starts one run however often it arrives; null without one.';
comment on column public.trigger_events.content is 'The file event.json, until the run has started or been given up.';
comment on column public.trigger_events.refusal is 'Why the event was not accepted. Such a row stands for all refusals of its kind within an hour, but source_disabled for a message of the provider that it sends no more events.';
comment on column public.trigger_events.requests is 'Requests that the row stands for: an event and its repetitions, or refusals.';

create table public.event_checks (
  account_id uuid primary key,
  changed_at timestamptz not null default clock_timestamp(),
  lease_until timestamptz
);
comment on table public.event_checks is 'Accounts whose triggers at events of connected accounts have changed since their subscriptions at the provider were compared with them. No foreign key: a subscription outlives its account.';
comment on column public.event_checks.changed_at is 'The last change. One during a comparison leaves the row for the next.';
comment on column public.event_checks.lease_until is 'Until when a process ends subscriptions of the account. None is made in the meantime, because it could be one of them.';

create function public.mark_event_check() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.event_checks (account_id) values (old.account_id)
  on conflict (account_id) do update set changed_at = clock_timestamp();
  return null;
end
$$;
comment on function public.mark_event_check is 'Notes that a subscription may have lost its last trigger, however the trigger was deleted.';
create trigger mark_event_check after delete on public.task_triggers
  for each row when (old.kind = 'connector') execute function public.mark_event_check();

create function public.trigger_row(p_trigger public.task_triggers) returns jsonb
language sql stable as $$
  select jsonb_build_object('id', p_trigger.id, 'task_id', p_trigger.task_id,
    'kind', p_trigger.kind, 'signature', p_trigger.signature,
    'secret_in_url', p_trigger.secret_in_url, 'connector', p_trigger.connector,
    'event', p_trigger.event, 'config', p_trigger.config, 'created_at', p_trigger.created_at)
$$;
comment on function public.trigger_row is 'The columns of a trigger without its secret. Inlined, hence no search_path.';

create function public.create_task_trigger(
  p_account_id uuid, p_task_id uuid, p_id uuid, p_kind text, p_signature text, p_secret text,
  p_secret_in_url boolean, p_max integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_trigger public.task_triggers;
begin
  -- One at a time for each task, because the count must not change.
  perform from public.scheduled_prompts
  where id = p_task_id and account_id = p_account_id for update;
  if not found then
    return jsonb_build_object('refused', 'task');
  end if;
  if (select count(*) from public.task_triggers where task_id = p_task_id) >= p_max then
    return jsonb_build_object('refused', 'full');
  end if;
  insert into public.task_triggers (
    id, account_id, task_id, kind, signature, secret, secret_in_url)
  values (p_id, p_account_id, p_task_id, p_kind, p_signature, p_secret, p_secret_in_url)
  returning * into v_trigger;
  return jsonb_build_object('trigger', public.trigger_row(v_trigger));
end
$$;
comment on function public.create_task_trigger is 'Creates a trigger of a task that has fewer than p_max: {trigger} | {refused: task | full}.';

create function public.list_task_triggers(
  p_account_id uuid, p_task_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select case
    when not exists (
      select from public.scheduled_prompts t where t.id = p_task_id and t.account_id = p_account_id)
    then jsonb_build_object('refused', 'task')
    else to_jsonb(array(
      select public.trigger_row(t)
      from public.task_triggers t
      where t.task_id = p_task_id and (t.kind = 'webhook' or t.source_id is not null)
        and (t.created_at, t.id) < (p_after_at, p_after_id)
      order by t.created_at desc, t.id desc
      limit p_limit + 1))
    end
$$;
comment on function public.list_task_triggers is 'A page of the triggers of an account''s scheduled prompt, newest first, with one more row if another page follows; or {refused: task}.';

create function public.delete_task_trigger(p_account_id uuid, p_task_id uuid, p_id uuid)
returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  -- The task before its triggers, as where an event is received or a task deleted.
  perform from public.scheduled_prompts
  where id = p_task_id and account_id = p_account_id for update;
  -- A run must not start without its event.
  perform public.end_firing(f.id, 'CANCELED', 'deleted', 'The trigger was deleted')
  from public.task_triggers t
    join public.trigger_events e on e.trigger_id = t.id
    join public.scheduled_firings f on f.id = e.id
  where t.id = p_id and t.task_id = p_task_id and t.account_id = p_account_id
    and f.attempt_at is not null;
  delete from public.task_triggers
  where id = p_id and task_id = p_task_id and account_id = p_account_id;
  return found;
end
$$;
comment on function public.delete_task_trigger is 'Deletes a trigger with its events, and gives up the runs that wait to start; false when there is none.';

create function public.list_trigger_events(
  p_account_id uuid, p_task_id uuid, p_trigger_id uuid, p_limit integer, p_after_at timestamptz,
  p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select case
    when not exists (
      select from public.task_triggers t
      where t.id = p_trigger_id and t.task_id = p_task_id and t.account_id = p_account_id)
    then jsonb_build_object('refused', 'missing')
    else to_jsonb(array(
      select to_jsonb(e) - 'content' || jsonb_build_object(
        'run_id', f.run_id,
        'status', case
          when f.run_id is not null then 'started'
          when f.attempt_at is not null then 'waiting'
          else 'refused' end,
        'reason', case when f.run_id is null then
          coalesce(e.refusal, f.refusal, left(r.error ->> 'message', 500)) end)
      from public.trigger_events e
        left join public.scheduled_firings f on f.id = e.id
        left join public.task_runs r on r.id = f.task_run_id
      where e.trigger_id = p_trigger_id
        and (e.created_at, e.id) < (p_after_at, p_after_id)
      order by e.created_at desc, e.id desc
      limit p_limit + 1))
    end
$$;
comment on function public.list_trigger_events is 'A page of the events of an account''s trigger with the state of their runs, newest first, with one more row if another page follows; or {refused: missing}.';

create function public.open_trigger(p_id uuid, p_address text, p_address_limit integer)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_rate jsonb;
  v_trigger public.task_triggers;
begin
  if p_address_limit > 0 then
    v_rate := public.take_from_bucket('address:' || p_address, p_address_limit);
    if v_rate ->> 'retry_after' is not null then
      return jsonb_build_object('outcome', 'limited', 'rate', v_rate);
    end if;
  end if;
  select * into v_trigger from public.task_triggers where id = p_id and kind = 'webhook';
  if not found then
    return jsonb_build_object('outcome', 'unknown');
  end if;
  return jsonb_build_object('outcome', 'known', 'accountId', v_trigger.account_id,
    'signature', v_trigger.signature, 'secret', v_trigger.secret,
    'secretInUrl', v_trigger.secret_in_url);
end
$$;
comment on function public.open_trigger is 'Counts a request towards the limit of its address, and finds the trigger by which it is to be authenticated: {outcome: limited, rate} | {outcome: unknown} | {outcome: known, accountId, signature, secret, secretInUrl}.';

create function public.receive_trigger_event(
  p_trigger_id uuid, p_id uuid, p_event_id text, p_content_type text, p_size integer,
  p_sha256 text, p_content text, p_max_per_hour integer, p_lease_seconds integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_hour constant interval := '1 hour';
  v_now timestamptz;
  v_task public.scheduled_prompts;
  v_event public.trigger_events;
  v_accepted integer;
  v_oldest timestamptz;
  v_refusal text;
begin
  -- One event of a task at a time: a repeated one finds the first, and the count must not change.
  select * into v_task from public.scheduled_prompts
  where id = (select t.task_id from public.task_triggers t where t.id = p_trigger_id)
  for update;
  if not found or not exists (select from public.task_triggers t where t.id = p_trigger_id) then
    return jsonb_build_object('refused', 'missing');
  end if;
  v_now := clock_timestamp();
  update public.trigger_events set requests = requests + 1, last_received_at = v_now
  where trigger_id = p_trigger_id and event_id = p_event_id
  returning * into v_event;
  if found then
    return public.trigger_event_state(v_event.id) || jsonb_build_object('duplicate', true);
  end if;

  select count(*), min(e.created_at) into v_accepted, v_oldest
  from public.trigger_events e
  where e.trigger_id = p_trigger_id and e.created_at > v_now - v_hour and e.refusal is null;
  v_refusal := case
    when not v_task.enabled then 'task_disabled'
    when v_accepted >= p_max_per_hour then 'rate_limited' end;
  if v_refusal is not null then
    update public.trigger_events set requests = requests + 1, last_received_at = v_now
    where id = (
      select e.id from public.trigger_events e
      where e.trigger_id = p_trigger_id and e.created_at > v_now - v_hour and e.refusal = v_refusal
      order by e.created_at desc limit 1);
    if not found then
      insert into public.trigger_events (
        id, account_id, trigger_id, content_type, size, sha256, refusal)
      values (p_id, v_task.account_id, p_trigger_id, p_content_type, p_size, p_sha256, v_refusal);
    end if;
    return jsonb_build_object('refused', v_refusal,
      'retryAfter', ceil(extract(epoch from v_oldest + v_hour - v_now)));
  end if;

  insert into public.trigger_events (
    id, account_id, trigger_id, event_id, content_type, size, sha256, content)
  values (p_id, v_task.account_id, p_trigger_id, p_event_id, p_content_type, p_size, p_sha256,
    p_content);
  perform public.queue_firing(
    v_task, p_id, null, v_now + make_interval(secs => p_lease_seconds), p_event_id);
  return public.trigger_event_state(p_id) || jsonb_build_object('duplicate', false,
    'firing', (select public.firing_json(f) from public.scheduled_firings f where f.id = p_id));
end
$$;
comment on function public.receive_trigger_event is 'Accepts an event and leaves a firing for it, leased to the caller, both or neither: the trigger_event_state with {duplicate, firing}. Without a firing for one that an earlier request has brought; {refused: missing | task_disabled | rate_limited, retryAfter} otherwise. Should the caller die, the firing is taken like any other.';

create function public.trigger_event_state(p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', f.id,
    'runId', f.run_id,
    'isStarting', f.run_id is null and f.attempt_at is not null and f.refusal is null,
    'error', case when f.run_id is null and f.attempt_at is null then
      jsonb_build_object('code', r.error ->> 'name', 'message', r.error ->> 'message') end)
  from public.scheduled_firings f join public.task_runs r on r.id = f.task_run_id
  where f.id = p_id
$$;
comment on function public.trigger_event_state is 'The run of an event, whether its first start has not ended yet, and the error for which it was given up: {id, runId, isStarting, error}.';

-- Events of connected accounts --------------------------------------------------------------------

create function public.begin_connector_trigger(
  p_account_id uuid, p_task_id uuid, p_id uuid, p_connector text, p_event text, p_config jsonb,
  p_max integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_lease_until timestamptz;
begin
  perform from public.scheduled_prompts
  where id = p_task_id and account_id = p_account_id for update;
  if not found then
    return jsonb_build_object('refused', 'task');
  end if;
  if (select count(*) from public.task_triggers where task_id = p_task_id) >= p_max then
    return jsonb_build_object('refused', 'full');
  end if;
  -- Before the subscription: should the process die, the comparison finds and ends it.
  insert into public.event_checks (account_id) values (p_account_id)
  on conflict (account_id) do update set changed_at = clock_timestamp()
  returning lease_until into v_lease_until;
  if v_lease_until > clock_timestamp() then
    return jsonb_build_object('refused', 'busy');
  end if;
  insert into public.task_triggers (id, account_id, task_id, kind, connector, event, config)
  values (p_id, p_account_id, p_task_id, 'connector', p_connector, p_event, p_config);
  return jsonb_build_object('begun', true);
end
$$;
comment on function public.begin_connector_trigger is 'Creates a trigger whose subscription is to be made next: {begun} | {refused: task | full | busy}.';

create function public.confirm_connector_trigger(
  p_account_id uuid, p_id uuid, p_source_id text, p_max integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_trigger public.task_triggers;
begin
  select * into v_trigger from public.task_triggers
  where id = p_id and account_id = p_account_id and kind = 'connector' and source_id is null
  for update;
  if not found then
    return jsonb_build_object('refused', 'task');
  end if;
  -- One at a time for each account, because the count must not change.
  perform from public.event_checks where account_id = p_account_id for update;
  if p_max <= (select count(*) from public.task_triggers
    where account_id = p_account_id and source_id = p_source_id)
  then
    return jsonb_build_object('refused', 'shared');
  end if;
  update public.task_triggers set source_id = p_source_id where id = p_id
  returning * into v_trigger;
  return jsonb_build_object('trigger', public.trigger_row(v_trigger));
end
$$;
comment on function public.confirm_connector_trigger is 'Gives a trigger its subscription, which fewer than p_max others have: {trigger} | {refused: task | shared}. It is gone where it has taken too long, or its task was deleted.';

create function public.triggers_of_source(
  p_account_id uuid, p_source_id text, p_limit integer
) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'connector', t.connector)), '[]')
  from (
    select id, connector from public.task_triggers
    where account_id = p_account_id and source_id = p_source_id
    order by task_id, id limit p_limit
  ) t
$$;
comment on function public.triggers_of_source is 'The triggers of an account that a subscription at the provider starts: [{id, connector}].';

create function public.send_test_event(
  p_account_id uuid, p_source_id text, p_content text, p_max_triggers integer,
  p_max_per_hour integer
) returns integer
language sql volatile set search_path = '' as $$
  select count(*) filter (where not sent.answer ? 'refused')::integer
  from (
    select public.receive_trigger_event((t.value ->> 'id')::uuid, gen_random_uuid(), null,
      'application/json', octet_length(p_content),
      encode(sha256(convert_to(p_content, 'UTF8')), 'hex'), p_content, p_max_per_hour, 0) as answer
    from jsonb_array_elements(
      public.triggers_of_source(p_account_id, p_source_id, p_max_triggers)) t
  ) sent
$$;
comment on function public.send_test_event is 'Sends an event of the embedded provider to the triggers of an account, whose runs any server starts, and returns how many have accepted it.';

create function public.record_connector_notice(
  p_account_id uuid, p_connection_id text, p_source_id text, p_connector text, p_reason text,
  p_event_id text, p_size integer, p_sha256 text
) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_account_id uuid := coalesce(p_account_id, (
    select account_id from public.connector_links where connection_id = p_connection_id limit 1));
  v_trigger public.task_triggers;
  v_count integer := 0;
begin
  if not exists (select from public.accounts where id = v_account_id) then
    return 0;
  end if;
  if p_source_id is null then
    perform public.enqueue_webhook_event(v_account_id, 'connection.expired',
      jsonb_build_object('connection_id', p_connection_id, 'connector', p_connector));
    return 1;
  end if;
  for v_trigger in
    select * from public.task_triggers
    where account_id = v_account_id and source_id = p_source_id
    order by task_id, id
  loop
    -- The task before its triggers, as where an event is received or a task deleted.
    perform from public.scheduled_prompts where id = v_trigger.task_id for update;
    insert into public.trigger_events (
      id, account_id, trigger_id, event_id, content_type, size, sha256, refusal)
    select gen_random_uuid(), t.account_id, t.id, p_event_id, 'application/json', p_size, p_sha256,
      'source_disabled'
    from public.task_triggers t where t.id = v_trigger.id
    on conflict (trigger_id, event_id) do nothing;
    if found then
      v_count := v_count + 1;
      perform public.enqueue_webhook_event(v_account_id, 'trigger.disabled', jsonb_build_object(
        'trigger_id', v_trigger.id, 'task_id', v_trigger.task_id,
        'connector', v_trigger.connector, 'event', v_trigger.event, 'reason', p_reason));
    end if;
  end loop;
  return v_count;
end
$$;
comment on function public.record_connector_notice is 'Queues connection.expired, or with p_source_id adds to the events of each trigger of this subscription that it is disabled, and queues trigger.disabled, once for a message. The account is p_account_id, or the one for which the connection is recorded. Returns how many webhook events it has queued for.';

create function public.delete_connector_triggers(p_account_id uuid, p_connector text)
returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform public.delete_task_trigger(p_account_id, t.task_id, t.id)
  from (
    select task_id, id from public.task_triggers
    where account_id = p_account_id and connector = p_connector
    order by task_id, id
  ) t;
end
$$;
comment on function public.delete_connector_triggers is 'Deletes the triggers of an account at events of a connector.';

create function public.due_event_checks(p_batch integer) returns uuid[]
language sql stable set search_path = '' as $$
  select array(
    select account_id from public.event_checks
    where coalesce(lease_until, '-infinity') < clock_timestamp()
    order by changed_at limit p_batch)
$$;
comment on function public.due_event_checks is 'Accounts whose subscriptions are to be compared with their triggers, the longest waiting first.';

create function public.take_event_check(p_account_id uuid, p_lease_seconds integer) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_lease constant interval := make_interval(secs => p_lease_seconds);
  v_check public.event_checks;
begin
  -- Of processes that have died.
  delete from public.task_triggers
  where account_id = p_account_id and kind = 'connector' and source_id is null
    and created_at < clock_timestamp() - v_lease;
  select * into v_check from public.event_checks where account_id = p_account_id for update;
  if not found or v_check.lease_until > clock_timestamp() or exists (
    select from public.task_triggers
    where account_id = p_account_id and kind = 'connector' and source_id is null)
  then
    return null;
  end if;
  update public.event_checks set lease_until = clock_timestamp() + v_lease
  where account_id = p_account_id returning * into v_check;
  return jsonb_build_object(
    'changedAt', v_check.changed_at,
    'leaseUntil', v_check.lease_until,
    'sourceIds', to_jsonb(array(
      select distinct t.source_id from public.task_triggers t
      where t.account_id = p_account_id and t.source_id is not null)));
end
$$;
comment on function public.take_event_check is 'Leases the comparison of an account''s subscriptions, of which sourceIds are in use: {changedAt, leaseUntil, sourceIds}. Null without a change, while another process does it, and while a subscription is being made.';

create function public.end_event_check(
  p_account_id uuid, p_lease_until timestamptz, p_changed_at timestamptz
) returns void
language plpgsql volatile set search_path = '' as $$
begin
  delete from public.event_checks
  where account_id = p_account_id and lease_until = p_lease_until and changed_at = p_changed_at;
  update public.event_checks set lease_until = null
  where account_id = p_account_id and lease_until = p_lease_until;
end
$$;
comment on function public.end_event_check is 'Ends a lease. The comparison is due again without p_changed_at, and where triggers have changed since.';
