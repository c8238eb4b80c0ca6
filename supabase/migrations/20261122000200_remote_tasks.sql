-- Tasks that another service runs, such as Trigger.dev. It is told the id of a task run and nothing
-- else, and asks what to do: take_task_run gives the work to one of all that ask, and says whether the
-- run has ended. Work that it has not asked for is done by this service, as without it.

create table public.task_jobs (
  run_id text primary key references public.task_runs (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  job jsonb not null,
  created_at timestamptz not null default clock_timestamp()
);
alter table public.task_jobs enable row level security;
create index task_jobs_account on public.task_jobs (account_id);
comment on table public.task_jobs is
  'What the durable run of a generation starts with, from the beginning of its task run until somebody starts it.';
comment on column public.task_jobs.job is 'Its request is sealed.';

create function public.queue_task_job(p_account_id uuid, p_run_id text, p_job jsonb) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.task_jobs (run_id, account_id, job)
  select id, account_id, p_job from public.task_runs
  where id = p_run_id and account_id = p_account_id;
  -- Of runs whose process has died, and which nobody has asked for.
  delete from public.task_jobs
  where account_id = p_account_id and created_at < clock_timestamp() - interval '1 day';
end
$$;
comment on function public.queue_task_job is
  'Keeps the job of a task run for whoever starts it.';

create function public.take_task_job(p_account_id uuid, p_run_id text) returns jsonb
language sql volatile set search_path = '' as $$
  delete from public.task_jobs j using public.task_runs r
  where j.run_id = p_run_id and j.account_id = p_account_id
    and r.id = j.run_id and r.lease_until > clock_timestamp()
  returning j.job
$$;
comment on function public.take_task_job is
  'Gives the job of an active task run to one of all that ask; null to the others.';

create function public.take_task_run(p_id text, p_lease_seconds integer) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_run public.task_runs;
  v_firing public.scheduled_firings;
  v_now constant timestamptz := clock_timestamp();
  v_lease constant timestamptz := v_now + make_interval(secs => p_lease_seconds);
begin
  perform public.crash_lost_task_runs(account_id) from public.task_runs where id = p_id;
  select * into v_run from public.task_runs where id = p_id;
  if not found then
    return null;
  end if;
  -- One that is handed over has been put off for longer than a lease. Anything between is leased.
  update public.scheduled_firings
  set attempt_at = v_lease
  where task_run_id = p_id and (attempt_at <= v_now or attempt_at > v_lease) and refusal is null
  returning * into v_firing;
  return jsonb_build_object(
    'status', v_run.status,
    'finishedAt', public.iso_date(v_run.finished_at),
    'firing', case when v_firing.id is not null then public.firing_json(v_firing) end,
    'job', public.take_task_job(v_run.account_id, p_id));
end
$$;
comment on function public.take_task_run is
  'The state of a task run, and the work of it that nobody has done yet: {status, finishedAt, firing, job}. A firing is leased; one that was refused is tried again at its time, by whoever takes it then. Null without such a run.';

create function public.record_remote_run(p_account_id uuid, p_id text, p_remote_run_id text)
returns void
language sql volatile set search_path = '' as $$
  update public.task_runs
  set metadata = metadata || jsonb_build_object('triggerRunId', p_remote_run_id)
  where id = p_id and account_id = p_account_id
$$;
comment on function public.record_remote_run is
  'Records the run with which another service runs a task.';

create function public.hand_over_firing(
  p_id uuid, p_now timestamptz, p_patience_seconds integer, p_remote_run_id text
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_firing public.scheduled_firings;
begin
  select * into v_firing from public.scheduled_firings where id = p_id for update;
  perform public.record_remote_run(v_firing.account_id, v_firing.task_run_id, p_remote_run_id);
  -- The other service may have asked for it already, and been refused.
  update public.scheduled_firings
  set attempt_at = coalesce(p_now, clock_timestamp()) + make_interval(secs => p_patience_seconds)
  where id = p_id and attempt_at is not null and refusal is null;
end
$$;
comment on function public.hand_over_firing is
  'Records that another service runs the task of a firing, and puts the firing off: should it not be asked for by then, it is taken like any other.';

create or replace function public.firing_json(p_firing public.scheduled_firings) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', p_firing.id,
    'accountId', p_firing.account_id,
    'taskRunId', p_firing.task_run_id,
    'isHandedOver', exists (
      select from public.task_runs r
      where r.id = p_firing.task_run_id and r.metadata ? 'triggerRunId'),
    'runId', p_firing.run_id,
    'chatId', p_firing.chat_id,
    'sessionId', p_firing.session_id,
    'task', (
      select jsonb_build_object('prompt', t.prompt, 'templateId', t.template_id,
        'artistId', t.artist_id, 'modelId', t.model_id,
        'seesArtist', t.artist_id is null or (public.access_verdicts(
          t.account_id, false, null, null, t.artist_id) ->> 'artist')::boolean)
      from public.scheduled_prompts t where t.id = p_firing.task_id))
$$;
comment on function public.firing_json is
  'A firing with what its run is started with, and whether another service has been given its task; the task is null once it is deleted.';
