-- Task runs: the `Idempotency-Key` of the request that asked for a run is one of the run's raw fields,
-- and a cost is shown only where one is known.
--
-- The text of the key stands here and nowhere else: idempotency_keys has its HMAC only. A run, and
-- with it the key, is shown to the run's account alone.

-- Nothing has priced an own run so far: the zeros were invented.
alter table public.task_runs
  alter column cost_in_cents drop not null,
  alter column cost_in_cents drop default,
  alter column base_cost_in_cents drop not null,
  alter column base_cost_in_cents drop default,
  add constraint task_runs_idempotency_key_length check (char_length(idempotency_key) between 1 and 255);
update public.task_runs set cost_in_cents = null, base_cost_in_cents = null
where cost_in_cents = 0 and base_cost_in_cents = 0;

comment on column public.task_runs.idempotency_key is
  'The Idempotency-Key of the request, as the caller wrote it; null when it had none.';
comment on column public.task_runs.cost_in_cents is
  'Null as long as nothing has priced the run: the field is then left out.';
comment on column public.task_runs.base_cost_in_cents is
  'Null as long as nothing has priced the run: the field is then left out.';

drop function public.start_task_run(text, uuid, text, jsonb, jsonb, integer, uuid, integer);

-- The new argument has a default: a server of the version before calls it without.
create function public.start_task_run(
  p_id text, p_account_id uuid, p_task_identifier text, p_payload jsonb, p_metadata jsonb,
  p_lease_seconds integer, p_effect_id uuid, p_at_once integer, p_idempotency_key text default null
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_now timestamptz;
  v_earlier public.task_runs;
begin
  -- One at a time for each account: what is counted and looked up here does not change meanwhile.
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
    tags, metadata, payload, attempts, lease_until, effect_id, idempotency_key)
  values (
    p_id, p_account_id, 'EXECUTING', p_task_identifier, v_now, v_now, v_now,
    array['account:' || p_account_id], p_metadata, p_payload,
    jsonb_build_array(jsonb_build_object(
      'id', replace(p_id, 'run_', 'attempt_'),
      'status', 'EXECUTING',
      'createdAt', public.iso_date(v_now),
      'updatedAt', public.iso_date(v_now),
      'startedAt', public.iso_date(v_now))),
    v_now + make_interval(secs => p_lease_seconds), p_effect_id, p_idempotency_key);
  return jsonb_build_object('outcome', 'begun');
end
$$;

comment on function public.start_task_run(text, uuid, text, jsonb, jsonb, integer, uuid, integer, text) is
  'Begins a run: {outcome: begun}; {outcome: earlier, run_id, output} when another run has the effect; {outcome: busy} at the account''s limit.';
