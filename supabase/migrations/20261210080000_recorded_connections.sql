-- Connections at a vendor stay recorded, because it may no longer say whose they are; its notices reach their accounts.

alter table public.connector_links alter column started_by drop not null;
comment on table public.connector_links is 'The connections of accounts at a vendor, for as long as it has them: it may not say whose they are.';
comment on column public.connector_links.started_by is 'The account whose credential started it; null once it was seen active while that account had the right. No foreign key: a deleted account has lost the right.';

alter table public.trigger_events
  drop constraint trigger_events_refusal_check,
  add constraint trigger_events_refusal_check
    check (refusal in ('rate_limited', 'task_disabled', 'source_disabled')) not valid;
comment on column public.trigger_events.refusal is 'Why the event was not accepted. Such a row stands for all refusals of its kind within an hour, but source_disabled for a message of the provider that it sends no more events.';

create or replace function public.record_connector_link(
  p_account_id uuid, p_connection_id text, p_started_by uuid, p_key_id uuid
) returns void
language sql volatile set search_path = '' as $$
  insert into public.connector_links (account_id, connection_id, started_by, key_id)
  values (p_account_id, p_connection_id, p_started_by, p_key_id)
  -- A list may have seen it at the vendor already.
  on conflict (account_id, connection_id) do update
  set started_by = excluded.started_by, key_id = excluded.key_id
$$;
comment on function public.record_connector_link is 'Records a connection at a vendor with its starter, before anyone can complete it.';

create function public.recorded_connections(p_account_id uuid, p_limit integer) returns text[]
language sql stable set search_path = '' as $$
  select array(
    select connection_id from public.connector_links
    where account_id = p_account_id
    order by started_by is null desc, created_at desc
    limit p_limit)
$$;
comment on function public.recorded_connections is 'The ids of an account''s connections at a vendor: the ones seen active first, then the newest.';

drop function public.refused_connections(uuid, text[]);

create function public.refused_connections(
  p_account_id uuid, p_active_ids text[], p_found_ids text[] default '{}'
) returns text[]
language plpgsql volatile set search_path = '' as $$
begin
  -- Of connections that were made before all were recorded.
  insert into public.connector_links (account_id, connection_id)
  select a.id, found_id from public.accounts a, unnest(p_found_ids) found_id
  where a.id = p_account_id
  on conflict do nothing;
  -- Completed while the right to it lasted: from now on it is the account's.
  update public.connector_links l set started_by = null, key_id = null
  where l.account_id = p_account_id and l.connection_id = any (p_active_ids)
    and l.started_by is not null
    and public.may_connect(l.account_id, l.started_by, l.key_id);
  return array(
    select l.connection_id from public.connector_links l
    where l.account_id = p_account_id and l.connection_id = any (p_active_ids)
      and l.started_by is not null);
end
$$;
comment on function public.refused_connections is 'Returns the active connections of an account at a vendor whose starter had lost the right before they were first seen active. Records further ones that were found at the vendor.';

create function public.forget_connections(
  p_account_id uuid, p_connection_ids text[], p_min_age_seconds integer
) returns void
language sql volatile set search_path = '' as $$
  delete from public.connector_links
  where account_id = p_account_id and connection_id = any (p_connection_ids)
    and created_at <= now() - make_interval(secs => p_min_age_seconds)
$$;
comment on function public.forget_connections is 'Forgets connections that the vendor no longer has, if they were recorded so long ago.';

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
