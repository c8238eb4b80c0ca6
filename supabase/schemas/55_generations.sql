-- Task runs: images and videos that are generated, and executions of scheduled prompts.

create table public.task_runs (
  id text primary key check (id ~ '^run_[A-Za-z0-9]+$'),
  account_id uuid not null references public.accounts (id) on delete cascade,
  status text not null check (status in (
    'PENDING_VERSION', 'QUEUED', 'DEQUEUED', 'EXECUTING', 'WAITING', 'COMPLETED', 'CANCELED',
    'FAILED', 'CRASHED', 'SYSTEM_FAILURE', 'DELAYED', 'EXPIRED', 'TIMED_OUT')),
  task_identifier text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  idempotency_key text check (char_length(idempotency_key) between 1 and 255),
  version text not null default '1',
  is_test boolean not null default false,
  started_at timestamptz,
  finished_at timestamptz,
  delayed_until timestamptz,
  expired_at timestamptz,
  ttl text,
  tags text[] not null,
  metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
  cost_in_cents double precision,
  base_cost_in_cents double precision,
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
  lease_until timestamptz,
  effect_id uuid,
  artist_id uuid,
  reserved_usd numeric,
  -- The external task service knows the account of a run only by its tags.
  check (tags @> array['account:' || account_id])
);

create index task_runs_account_newest on public.task_runs (account_id, created_at desc, id desc);
create index task_runs_leased on public.task_runs (account_id) where lease_until is not null;
-- One run for each effect; another may try only after it has failed.
create unique index task_runs_effect on public.task_runs (effect_id)
  where status in ('EXECUTING', 'COMPLETED');
create index task_runs_inputs on public.task_runs (finished_at) where payload is not null;
create index task_runs_lease on public.task_runs (lease_until) where lease_until is not null;
create index task_runs_by_artist on public.task_runs (account_id, artist_id, created_at desc, id desc)
  where artist_id is not null;
comment on table public.task_runs is 'Runs of the embedded task runner, with a column for each field of the external one''s object.';
comment on column public.task_runs.idempotency_key is 'The Idempotency-Key of the request, as the caller wrote it; null when it had none.';
comment on column public.task_runs.cost_in_cents is 'Null as long as nothing has priced the run: the field is then left out.';
comment on column public.task_runs.base_cost_in_cents is 'Null as long as nothing has priced the run: the field is then left out.';
comment on column public.task_runs.lease_until is 'Until when the process that works on the run has it; null when none does.';
comment on column public.task_runs.effect_id is 'Identifies a repeated request: of the runs with one effect, one succeeds.';
comment on column public.task_runs.artist_id is 'The artist that the work is for, also when it is deleted later; null for none.';
comment on column public.task_runs.reserved_usd is 'The reserved cost of the generation, while the run has a lease; null for none.';

create function public.start_generation(
  p_cost_usd numeric,
  p_artist_id uuid, p_credential_id uuid, p_id text, p_account_id uuid, p_task_identifier text,
  p_payload jsonb, p_metadata jsonb, p_lease_seconds integer, p_effect_id uuid, p_at_once integer,
  p_idempotency_key text, p_media_limit_bytes bigint
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_earlier public.task_runs;
  v_has_budget constant boolean := public.has_budget(p_account_id);
  v_now timestamptz;
begin
  -- One at a time for each account, because the rows that are counted here must not change.
  perform pg_advisory_xact_lock(hashtextextended('task_runs ' || p_account_id, 0));
  perform public.crash_lost_task_runs(p_account_id);

  select * into v_earlier from public.task_runs r
  where r.account_id = p_account_id and r.effect_id = p_effect_id
    and r.status in ('EXECUTING', 'COMPLETED');
  if found then
    return jsonb_build_object(
      'outcome', 'earlier', 'run_id', v_earlier.id, 'output', v_earlier.output);
  end if;

  if p_media_limit_bytes > 0 and exists (
    select from public.media_usage u
    where u.account_id = p_account_id and u.bytes >= p_media_limit_bytes)
  then
    return jsonb_build_object('outcome', 'full');
  end if;
  if p_at_once > 0 and p_at_once <= (
    select count(*) from public.task_runs r
    where r.account_id = p_account_id and r.lease_until is not null)
  then
    return jsonb_build_object('outcome', 'busy');
  end if;
  if v_has_budget then
    perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
    if public.is_budget_reached(p_account_id) then
      return jsonb_build_object('outcome', 'over_budget');
    end if;
    if p_cost_usd is null and not (
      select a.allow_unpriced_models from public.accounts a where a.id = p_account_id)
    then
      return jsonb_build_object('outcome', 'unpriced_model');
    end if;
    if public.unspent_budget(p_account_id) <= 0 then
      return jsonb_build_object('outcome', 'over_budget');
    end if;
  end if;

  v_now := clock_timestamp();
  insert into public.task_runs (
    id, account_id, status, task_identifier, created_at, updated_at, started_at,
    tags, metadata, payload, attempts, lease_until, effect_id, idempotency_key, artist_id,
    reserved_usd)
  values (
    p_id, p_account_id, 'EXECUTING', p_task_identifier, v_now, v_now, v_now,
    array['account:' || p_account_id], p_metadata, p_payload,
    jsonb_build_array(jsonb_build_object(
      'id', replace(p_id, 'run_', 'attempt_'),
      'status', 'EXECUTING',
      'createdAt', public.iso_date(v_now),
      'updatedAt', public.iso_date(v_now),
      'startedAt', public.iso_date(v_now))),
    v_now + make_interval(secs => p_lease_seconds), p_effect_id, p_idempotency_key,
    coalesce(p_artist_id, (
      select t.artist_id from public.turns t
      where t.key_id = p_credential_id and t.account_id = p_account_id)),
    case when v_has_budget then coalesce(p_cost_usd, 0) end);
  return jsonb_build_object('outcome', 'begun');
end
$$;
comment on function public.start_generation is 'Starts a run for an artist, by default the artist of the run whose credential this is, and reserves its cost, null if unknown: {outcome: begun}; {outcome: earlier, run_id, output} when another run has the effect; {outcome: full} when the account has no room for media; {outcome: busy} at its limit of runs; {outcome: over_budget | unpriced_model}. A limit of 0 is none.';

create function public.find_generation(p_account_id uuid, p_effect_id uuid) returns text
language sql stable set search_path = '' as $$
  select r.id from public.task_runs r
  where r.account_id = p_account_id and r.effect_id = p_effect_id
  order by r.created_at desc limit 1
$$;
comment on function public.find_generation is 'The newest run with an effect, however it has ended; null for none.';

create function public.record_generation(
  p_account_id uuid, p_run_id text, p_kind text, p_credential_id uuid, p_call jsonb
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform from public.accounts where id = p_account_id for key share;
  if not found then
    return;
  end if;
  select * into v_turn from public.turns where key_id = p_credential_id and account_id = p_account_id;
  perform public.record_usage(p_account_id, p_run_id, p_kind,
    case when v_turn.id is null then p_credential_id else v_turn.caller_key_id end,
    coalesce(
      (select r.artist_id from public.task_runs r
        where r.id = p_run_id and r.account_id = p_account_id),
      v_turn.artist_id),
    jsonb_build_array(p_call));
  update public.task_runs
  set reserved_usd = greatest(0, reserved_usd - (p_call ->> 'cost_usd')::numeric)
  where id = p_run_id and account_id = p_account_id and reserved_usd > 0;
end
$$;
comment on function public.record_generation is 'Records images or a video once, for the artist of its task run. Usage under the credential of a run counts for the API key of the run.';

create function public.has_generation_authority(
  p_account_id uuid, p_run_id text, p_credential_id uuid
) returns boolean
language sql stable set search_path = '' as $$
  select not exists (
      -- A run's credential stands for the key that started its turn.
      select from public.api_keys k
      where k.scope = 'full' and not public.is_key_in_force(k.id) and k.id = coalesce(
        (select t.caller_key_id from public.turns t
          where t.key_id = p_credential_id and t.account_id = p_account_id),
        p_credential_id))
    and not exists (
      select from public.task_runs r
      where r.id = p_run_id and r.account_id = p_account_id and r.artist_id is not null
        and not public.may_act_for(p_account_id, r.artist_id))
$$;
comment on function public.has_generation_authority is 'Returns whether the key that asked for the generation is in force, and its account may act for its artist.';

create function public.renew_task_leases(p_ids text[], p_lease_seconds integer) returns void
language sql set search_path = '' as $$
  update public.task_runs
  set lease_until = clock_timestamp() + make_interval(secs => p_lease_seconds)
  where id = any (p_ids) and lease_until is not null
$$;
comment on function public.renew_task_leases is 'Extends the leases of runs that a process works on.';

create function public.note_task_progress(p_id text, p_metadata jsonb) returns void
language sql set search_path = '' as $$
  update public.task_runs
  set metadata = metadata || p_metadata, updated_at = clock_timestamp()
  where id = p_id and lease_until is not null
$$;
comment on function public.note_task_progress is 'Merges metadata into a run that is under way.';

create function public.end_task_run(
  p_id text, p_status text, p_output jsonb, p_error jsonb
) returns boolean
language sql volatile set search_path = '' as $$
  with ended as (
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
    returning r.id, r.status
  )
  -- The space of files that an incomplete run has stored is released.
  delete from public.media_files f using ended
  where f.run_id = ended.id and ended.status <> 'COMPLETED';
  select public.has_due_webhooks((select account_id from public.task_runs where id = p_id))
$$;
comment on function public.end_task_run is 'Ends a run, once: without effect on a run that has ended. Media of a run that did not complete are released. Returns whether a webhook delivery is due.';

-- Called before each read of an account's task runs, so no process needs to watch them.
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
comment on function public.crash_lost_task_runs is 'Ends the runs of an account whose process no longer renews their lease, as CRASHED.';

create function public.task_run_row(p_run public.task_runs) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_run.id, 'status', p_run.status, 'task_identifier', p_run.task_identifier,
    'created_at', p_run.created_at, 'updated_at', p_run.updated_at,
    'idempotency_key', p_run.idempotency_key, 'version', p_run.version, 'is_test', p_run.is_test,
    'started_at', p_run.started_at, 'finished_at', p_run.finished_at,
    'delayed_until', p_run.delayed_until, 'expired_at', p_run.expired_at, 'ttl', p_run.ttl,
    'cost_in_cents', p_run.cost_in_cents, 'base_cost_in_cents', p_run.base_cost_in_cents,
    'duration_ms', p_run.duration_ms, 'depth', p_run.depth, 'batch_id', p_run.batch_id,
    'trigger_function', p_run.trigger_function, 'artist_id', p_run.artist_id, 'tags', p_run.tags,
    'metadata', p_run.metadata, 'env', p_run.env, 'attempts', p_run.attempts,
    'related_runs', p_run.related_runs, 'payload', p_run.payload, 'schedule', p_run.schedule)
$$;
comment on function public.task_run_row is 'The columns of a task run that its account sees, without output and error. Inlined, hence no search_path.';

create function public.list_task_runs(p_account_id uuid, p_limit integer, p_artist_id uuid)
returns jsonb
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
begin
  perform public.crash_lost_task_runs(p_account_id);
  return (
    select coalesce(
      jsonb_agg(public.task_run_row(r) order by r.created_at desc, r.id desc), '[]')
    from (
      select * from public.task_runs
      where account_id = p_account_id and (p_artist_id is null or artist_id = p_artist_id)
      order by created_at desc, id desc
      limit p_limit
    ) r);
end
$$;
comment on function public.list_task_runs is 'The runs of an account, or those for an artist if p_artist_id is not null, newest first, without output and error.';

create function public.get_task_run(p_account_id uuid, p_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  perform public.crash_lost_task_runs(p_account_id);
  return (
    select public.task_run_row(r) || jsonb_build_object('output', r.output, 'error', r.error)
    from public.task_runs r where r.id = p_id and r.account_id = p_account_id);
end
$$;
comment on function public.get_task_run is 'One run of an account as task_run_row, with output and error; null when the account has no such run.';
