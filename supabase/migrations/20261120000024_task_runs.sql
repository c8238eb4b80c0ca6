-- The runs of the embedded task runner (specification: Task run; decisions, section 8), with a
-- column for each field of the raw object of the external one.

create table public.task_runs (
  id text primary key check (id ~ '^run_[A-Za-z0-9]+$'),
  account_id uuid not null references public.accounts (id) on delete cascade,
  status text not null check (status in (
    'PENDING_VERSION', 'QUEUED', 'DEQUEUED', 'EXECUTING', 'WAITING', 'COMPLETED', 'CANCELED',
    'FAILED', 'CRASHED', 'SYSTEM_FAILURE', 'DELAYED', 'EXPIRED', 'TIMED_OUT')),
  task_identifier text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  idempotency_key text,
  version text not null default '1',
  is_test boolean not null default false,
  started_at timestamptz,
  finished_at timestamptz,
  delayed_until timestamptz,
  expired_at timestamptz,
  ttl text,
  tags text[] not null,
  metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
  cost_in_cents double precision not null default 0,
  base_cost_in_cents double precision not null default 0,
  duration_ms double precision not null default 0,
  env jsonb not null default '{"id": "embedded", "name": "embedded", "user": "embedded"}',
  depth integer not null default 0,
  batch_id text,
  trigger_function text not null default 'trigger',
  payload jsonb,
  output jsonb,
  error jsonb,
  attempts jsonb not null default '[]' check (jsonb_typeof(attempts) = 'array'),
  schedule jsonb,
  related_runs jsonb not null default '{}',
  -- Until when its process has said that it works on it; null when nobody does.
  lease_until timestamptz,
  -- What it brings about for a request that may be repeated (decisions, section 1: Idempotency).
  effect_id uuid,
  -- Whose a run is, is what its tags say: here as there.
  check (tags @> array['account:' || account_id])
);

create index task_runs_account_newest on public.task_runs (account_id, created_at desc, id desc);
create index task_runs_leased on public.task_runs (account_id) where lease_until is not null;
-- One run brings an effect about; only after it has failed another may try.
create unique index task_runs_effect on public.task_runs (effect_id)
  where status in ('EXECUTING', 'COMPLETED');

alter table public.task_runs enable row level security;

-- The raw object, in which a field that has no value is left out. Only the flat part may lose its
-- nulls: what is nested is the task's own.
create function public.task_run_json(p_run public.task_runs) returns jsonb
language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object(
      'id', p_run.id,
      'status', p_run.status,
      'taskIdentifier', p_run.task_identifier,
      'createdAt', public.iso_date(p_run.created_at),
      'updatedAt', public.iso_date(p_run.updated_at),
      'idempotencyKey', p_run.idempotency_key,
      'version', p_run.version,
      'isTest', p_run.is_test,
      'startedAt', public.iso_date(p_run.started_at),
      'finishedAt', public.iso_date(p_run.finished_at),
      'delayedUntil', public.iso_date(p_run.delayed_until),
      'expiredAt', public.iso_date(p_run.expired_at),
      'ttl', p_run.ttl,
      'costInCents', p_run.cost_in_cents,
      'baseCostInCents', p_run.base_cost_in_cents,
      'durationMs', p_run.duration_ms,
      'depth', p_run.depth,
      'batchId', p_run.batch_id,
      'triggerFunction', p_run.trigger_function))
    || jsonb_build_object(
      'tags', p_run.tags,
      'metadata', p_run.metadata,
      'env', p_run.env,
      'attempts', p_run.attempts,
      'relatedRuns', p_run.related_runs)
    || case when p_run.payload is null then '{}' else jsonb_build_object('payload', p_run.payload) end
    || case when p_run.schedule is null then '{}' else jsonb_build_object('schedule', p_run.schedule) end
$$;

-- A run and its first attempt begin, and the answer is {outcome: "begun"}. The process that runs it
-- renews the lease while it lives. When another run has brought the same effect about, or is about
-- to, the answer is that one: {outcome: "earlier", run_id, output}, with the output null until then.
-- {outcome: "busy"} while the account has as many runs under way as it may have; 0 is no limit.
create function public.start_task_run(
  p_id text, p_account_id uuid, p_task_identifier text, p_payload jsonb, p_metadata jsonb,
  p_lease_seconds integer, p_effect_id uuid, p_at_once integer
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_now timestamptz;
  v_earlier public.task_runs;
begin
  -- Of an account one at a time: what is counted and looked for here does not change meanwhile.
  perform pg_advisory_xact_lock(hashtextextended('task_runs ' || p_account_id, 0));
  perform public.crash_lost_task_runs(p_account_id);

  select * into v_earlier from public.task_runs r
  where r.account_id = p_account_id and r.effect_id = p_effect_id
    and r.status in ('EXECUTING', 'COMPLETED');
  if found then
    return jsonb_build_object(
      'outcome', 'earlier', 'run_id', v_earlier.id, 'output', v_earlier.output);
  end if;

  if p_at_once > 0 and p_at_once <= (
    select count(*) from public.task_runs r
    where r.account_id = p_account_id and r.lease_until is not null)
  then
    return jsonb_build_object('outcome', 'busy');
  end if;

  v_now := clock_timestamp();
  insert into public.task_runs (
    id, account_id, status, task_identifier, created_at, updated_at, started_at,
    tags, metadata, payload, attempts, lease_until, effect_id)
  values (
    p_id, p_account_id, 'EXECUTING', p_task_identifier, v_now, v_now, v_now,
    array['account:' || p_account_id], p_metadata, p_payload,
    jsonb_build_array(jsonb_build_object(
      'id', replace(p_id, 'run_', 'attempt_'),
      'status', 'EXECUTING',
      'createdAt', public.iso_date(v_now),
      'updatedAt', public.iso_date(v_now),
      'startedAt', public.iso_date(v_now))),
    v_now + make_interval(secs => p_lease_seconds), p_effect_id);
  return jsonb_build_object('outcome', 'begun');
end
$$;

create function public.renew_task_leases(p_ids text[], p_lease_seconds integer) returns void
language sql set search_path = '' as $$
  update public.task_runs
  set lease_until = clock_timestamp() + make_interval(secs => p_lease_seconds)
  where id = any (p_ids) and lease_until is not null
$$;

create function public.note_task_progress(p_id text, p_metadata jsonb) returns void
language sql set search_path = '' as $$
  update public.task_runs
  set metadata = metadata || p_metadata, updated_at = clock_timestamp()
  where id = p_id and lease_until is not null
$$;

-- Once: what has ended stays as it ended, whoever comes late.
create function public.end_task_run(p_id text, p_status text, p_output jsonb, p_error jsonb)
returns void
language sql set search_path = '' as $$
  update public.task_runs r
  set status = p_status,
    output = p_output,
    error = p_error,
    updated_at = at.now,
    finished_at = at.now,
    -- Between the two moments as they are shown: to the millisecond.
    duration_ms = extract(epoch from
      date_trunc('milliseconds', at.now) - date_trunc('milliseconds', r.started_at)) * 1000,
    attempts = jsonb_build_array(
      (r.attempts -> 0)
      || jsonb_build_object(
        'status', case when p_status = 'COMPLETED' then 'COMPLETED' else 'FAILED' end,
        'updatedAt', public.iso_date(at.now),
        'completedAt', public.iso_date(at.now))
      || case when p_error is null then '{}' else jsonb_build_object('error', p_error) end),
    lease_until = null
  from (select clock_timestamp() as now) at
  where r.id = p_id and r.lease_until is not null
$$;

-- A run whose process has fallen silent has crashed. Asked before every look at an account's runs,
-- so that nobody needs to watch: only the few that are under way are read.
create function public.crash_lost_task_runs(p_account_id uuid) returns void
language plpgsql set search_path = '' as $$
declare
  v_id text;
begin
  for v_id in
    select id from public.task_runs
    where account_id = p_account_id and lease_until < clock_timestamp()
    for update skip locked
  loop
    perform public.end_task_run(v_id, 'CRASHED', null, jsonb_build_object(
      'message', 'The process that ran this task ended',
      'name', 'TaskRunCrashed',
      'stackTrace', ''));
  end loop;
end
$$;

-- The account's runs, newest first, without what only a single look-up shows.
create function public.list_task_runs(p_account_id uuid, p_limit integer) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  perform public.crash_lost_task_runs(p_account_id);
  return (
    select coalesce(
      jsonb_agg(public.task_run_json(r) order by r.created_at desc, r.id desc), '[]')
    from (
      select * from public.task_runs
      where account_id = p_account_id
      order by created_at desc, id desc
      limit p_limit
    ) r);
end
$$;

-- Null when the account has no such run.
create function public.get_task_run(p_account_id uuid, p_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_run public.task_runs;
begin
  perform public.crash_lost_task_runs(p_account_id);
  select * into v_run from public.task_runs where id = p_id and account_id = p_account_id;
  if not found then
    return null;
  end if;
  return public.task_run_json(v_run)
    || case when v_run.output is null then '{}' else jsonb_build_object('output', v_run.output) end
    || case when v_run.error is null then '{}' else jsonb_build_object('error', v_run.error) end;
end
$$;
