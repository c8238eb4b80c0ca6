-- A generation may be for an artist: the one that its request names, or else the one that the run is for whose
-- agent has asked for it. It shows as the tag artist:<id> of its task run.

alter table public.task_runs add column artist_id uuid;
comment on column public.task_runs.artist_id is
  'The artist that the work is for, also when it is deleted later; null for none.';

create or replace function public.task_run_json(p_run public.task_runs) returns jsonb
language sql stable set search_path = '' as $$
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
      'tags', p_run.tags || case when p_run.artist_id is null then '{}'
        else array['artist:' || p_run.artist_id] end,
      'metadata', p_run.metadata,
      'env', p_run.env,
      'attempts', p_run.attempts,
      'relatedRuns', p_run.related_runs)
    || case when p_run.payload is null then '{}' else jsonb_build_object('payload', p_run.payload) end
    || case when p_run.schedule is null then '{}' else jsonb_build_object('schedule', p_run.schedule) end
$$;

create function public.start_task_run_for(
  p_artist_id uuid, p_credential_id uuid, p_id text, p_account_id uuid, p_task_identifier text,
  p_payload jsonb, p_metadata jsonb, p_lease_seconds integer, p_effect_id uuid, p_at_once integer,
  p_idempotency_key text, p_media_limit_bytes bigint
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_answer constant jsonb := public.start_task_run_within_budget(
    p_id, p_account_id, p_task_identifier, p_payload, p_metadata, p_lease_seconds, p_effect_id,
    p_at_once, p_idempotency_key, p_media_limit_bytes);
  v_artist_id constant uuid := coalesce(p_artist_id, (
    select t.artist_id from public.turns t
    where t.key_id = p_credential_id and t.account_id = p_account_id));
begin
  if v_artist_id is not null and v_answer ->> 'outcome' = 'begun' then
    update public.task_runs set artist_id = v_artist_id
    where id = p_id and account_id = p_account_id;
  end if;
  return v_answer;
end
$$;
comment on function public.start_task_run_for is
  'start_task_run_within_budget for an artist, by default the one of the run whose credential this is.';
comment on function public.start_task_run_within_budget is
  'start_task_run, unless the account has spent its budget: {outcome: over_budget} has changed nothing. Servers of the version before call it themselves.';

create or replace function public.record_generation(
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
end
$$;
comment on function public.record_generation is
  'Records images or a video once, for the artist of its task run. What a run has made with its own credential counts for the API key of the run.';

create function public.list_artist_task_runs(p_account_id uuid, p_artist_id uuid, p_limit integer)
returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  perform public.crash_lost_task_runs(p_account_id);
  return (
    select coalesce(
      jsonb_agg(public.task_run_json(r) order by r.created_at desc, r.id desc), '[]')
    from (
      select * from public.task_runs
      where account_id = p_account_id and artist_id = p_artist_id
      order by created_at desc, id desc
      limit p_limit
    ) r);
end
$$;
comment on function public.list_artist_task_runs is
  'The task runs of an account that are for an artist, newest first, as list_task_runs.';
