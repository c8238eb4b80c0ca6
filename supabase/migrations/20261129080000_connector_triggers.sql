-- Triggers of scheduled prompts at events of connected accounts.
set check_function_bodies = off;

create table public.event_checks (
  account_id uuid primary key,
  changed_at timestamptz not null default clock_timestamp(),
  lease_until timestamptz
);
alter table public.event_checks enable row level security;
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

create or replace function public.trigger_row(p_trigger public.task_triggers) returns jsonb
language sql stable as $$
  select jsonb_build_object('id', p_trigger.id, 'task_id', p_trigger.task_id,
    'kind', p_trigger.kind, 'signature', p_trigger.signature,
    'secret_in_url', p_trigger.secret_in_url, 'connector', p_trigger.connector,
    'event', p_trigger.event, 'config', p_trigger.config, 'created_at', p_trigger.created_at)
$$;
comment on function public.trigger_row is 'The columns of a trigger without its secret. Inlined, hence no search_path.';

create or replace function public.list_task_triggers(
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
        and (t.created_at, t.id) < (coalesce(p_after_at, 'infinity'),
          coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
      order by t.created_at desc, t.id desc
      limit p_limit + 1))
    end
$$;
comment on function public.list_task_triggers is 'A page of the triggers of an account''s scheduled prompt, newest first, with one more row if another page follows; or {refused: task}.';

create or replace function public.open_trigger(p_id uuid, p_address text, p_address_limit integer)
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

create function public.due_event_checks(p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(array(
    select account_id from public.event_checks
    where coalesce(lease_until, '-infinity') < clock_timestamp()
    order by changed_at limit p_batch))
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

alter table public.task_triggers
  add column connector text,
  add column event text,
  add column config jsonb,
  add column source_id text,
  alter column secret drop not null,
  alter column secret_in_url set default false,
  drop constraint task_triggers_kind_check,
  add constraint task_triggers_kind check (
    (kind = 'webhook' and secret is not null)
    or (kind = 'connector' and num_nulls(connector, event, config) = 0)) not valid;
comment on table public.task_triggers is 'What starts runs of scheduled prompts: requests of others to a URL (webhook), or events of a connected account (connector).';
comment on column public.task_triggers.source_id is 'The subscription at the provider of connectors, which triggers with the same event and config share. Null while it is being made: such a trigger is not listed.';
create trigger mark_event_check after delete on public.task_triggers
  for each row when (old.kind = 'connector') execute function public.mark_event_check();
