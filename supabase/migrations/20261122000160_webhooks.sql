-- Webhooks: which endpoints of an account are told of which events, and the outbox of deliveries. A
-- delivery is written by the statement that ends the turn or the generation (triggers at the end of
-- this file), so that no crash can lose it; 20261122000161_webhook_deliveries.sql hands it to a worker.

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
comment on column public.webhooks.disabled_reason is
  'Why the service has disabled it: it failed for five days, or answered 410. Null when the account did.';
comment on column public.webhooks.failing_since is
  'The first failed attempt since the last one that succeeded.';
comment on column public.webhooks.secret is 'Sealed by the server.';
comment on column public.webhooks.previous_secret is
  'Sealed; signs too until previous_secret_until, 24 hours after the rotation.';

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
comment on table public.webhook_deliveries is
  'Events that are to be delivered, and the log of those that were. Their data are ids and states, no content.';
comment on column public.webhook_deliveries.webhook_id is
  'Null for the webhook_url of a run that is not the URL of a webhook.';
comment on column public.webhook_deliveries.attempts is
  'Attempts that have begun since it was last asked for. The log has those that have ended.';
comment on column public.webhook_deliveries.log is
  'The last attempts, oldest first: [{attempted_at, status_code, duration_ms, error, response}].';
comment on column public.webhook_deliveries.lease_id is
  'The attempt under way, which ends at due_at at the latest: then the process has died.';
comment on column public.webhook_deliveries.due_at is 'When it is to be attempted; null when it is finished.';

alter table public.webhooks enable row level security;
alter table public.webhook_deliveries enable row level security;
revoke all on table public.webhooks, public.webhook_deliveries from anon, authenticated;
grant all on table public.webhooks, public.webhook_deliveries to service_role;

-- Events -----------------------------------------------------------------------------------------

create function public.enqueue_webhook_event(
  p_account_id uuid, p_type text, p_data jsonb, p_webhook_url text default null
) returns void
language sql volatile set search_path = '' as $$
  insert into public.webhook_deliveries (account_id, webhook_id, url, event_type, data)
  select p_account_id, w.id, w.url, p_type, p_data
  from public.webhooks w
  where w.account_id = p_account_id
    and (w.url = p_webhook_url or (w.enabled and p_type = any (w.events)))
  union all
  select p_account_id, null, p_webhook_url, p_type, p_data
  where p_webhook_url is not null and not exists (
    select from public.webhooks w where w.account_id = p_account_id and w.url = p_webhook_url)
$$;
comment on function public.enqueue_webhook_event is
  'Queues an event for the webhooks of an account that want it, and for p_webhook_url: once, through the webhook that has this URL, if there is one. To be called in the transaction that makes the event true. p_data has ids and states only.';

create function public.enqueue_turn_event() returns trigger
language plpgsql set search_path = '' as $$
begin
  perform public.enqueue_webhook_event(new.account_id, 'run.' || new.status,
    jsonb_build_object(
      'run_id', new.run_id,
      'kind', coalesce(new.kind, case when new.headless then 'headless' else 'chat' end),
      'status', new.status,
      'session_id', new.session_id,
      'chat_id', new.chat_id,
      'artist_id', new.artist_id,
      'created_at', public.iso_date(new.created_at),
      'finished_at', public.iso_date(new.finished_at)),
    new.webhook_url);
  return null;
end
$$;
comment on function public.enqueue_turn_event() is 'Queues the event of a turn that ends.';

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
comment on function public.enqueue_generation_event() is 'Queues the event of a generation that ends.';

create function public.has_due_webhooks(p_account_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select from public.webhook_deliveries
    where account_id = p_account_id and due_at <= clock_timestamp())
$$;
comment on function public.has_due_webhooks is
  'Whether a worker is to be woken for an account, after a statement that may have queued an event.';

create function public.finish_turn_with_event(
  p_turn_id uuid, p_status text, p_error text, p_parts jsonb, p_metadata jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- A statement of its own, so that the next one sees what it has queued.
  v_answer constant jsonb := public.finish_turn(
    p_turn_id, p_status, p_error, p_parts, p_metadata);
begin
  return v_answer || jsonb_build_object('webhooks_due', public.has_due_webhooks(
    (select account_id from public.turns where id = p_turn_id)));
end
$$;
comment on function public.finish_turn_with_event is
  'finish_turn, and whether a delivery is due: {finished, webhooks_due}.';

create function public.end_task_run_with_event(
  p_id text, p_status text, p_output jsonb, p_error jsonb
) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  perform public.end_task_run(p_id, p_status, p_output, p_error);
  return public.has_due_webhooks((select account_id from public.task_runs where id = p_id));
end
$$;
comment on function public.end_task_run_with_event is
  'end_task_run, and whether a delivery is due.';

create function public.set_turn_webhook(p_account_id uuid, p_turn_id uuid, p_url text)
returns void
language plpgsql volatile set search_path = '' as $$
begin
  update public.turns set webhook_url = p_url
  where id = p_turn_id and account_id = p_account_id;
end
$$;
comment on function public.set_turn_webhook is
  'Sets the URL that is told of the end of a turn, besides the webhooks of its account.';

-- Strong locks come last -------------------------------------------------------------------------

alter table public.turns add column webhook_url text;
comment on column public.turns.webhook_url is
  'Told of the end of the turn, besides the webhooks of the account.';

-- A turn without a run was never started, and nobody knows it.
create trigger enqueue_turn_event after update of finished_at on public.turns
  for each row when (
    old.finished_at is null and new.finished_at is not null and new.run_id is not null)
  execute function public.enqueue_turn_event();

create trigger enqueue_generation_event after update of lease_until on public.task_runs
  for each row when (
    old.lease_until is not null and new.lease_until is null
    and new.task_identifier in ('generate-image', 'generate-video'))
  execute function public.enqueue_generation_event();
