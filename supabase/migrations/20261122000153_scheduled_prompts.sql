-- Scheduled prompts: tasks that start a headless run at each of their times.
--
-- A firing has two transactions. fire_task moves the task to its next time by compare-and-set and leaves
-- a waiting firing, both or neither: of all servers one makes it. take_firings then leases waiting
-- firings to whoever starts their runs, again and again until one has settled it. The firing's id is the
-- effect id of its run, so that two starts of one firing are one run.

create table public.scheduled_prompts (
  id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  title text not null,
  prompt text not null,
  template_id uuid,
  artist_id uuid,
  model_id text,
  schedule text not null,
  timezone text not null,
  enabled boolean not null,
  next_run_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint scheduled_prompts_next check (enabled = (next_run_at is not null))
);
alter table public.scheduled_prompts enable row level security;
create index scheduled_prompts_account_newest
  on public.scheduled_prompts (account_id, created_at desc, id desc);
create index scheduled_prompts_due on public.scheduled_prompts (next_run_at) where enabled;
comment on table public.scheduled_prompts is
  'Prompts that start a headless run of their account at the times of a schedule.';
comment on column public.scheduled_prompts.template_id is
  'The agent template that instructs the agent; no foreign key, because a template that is gone fails the next firing and is named there.';
comment on column public.scheduled_prompts.artist_id is
  'The artist that the work is for; access to it is asked again at each firing.';
comment on column public.scheduled_prompts.model_id is
  'The model of the runs; null for the default one.';
comment on column public.scheduled_prompts.schedule is 'A cron expression of five fields.';
comment on column public.scheduled_prompts.timezone is
  'The IANA time zone that the schedule is read in.';
comment on column public.scheduled_prompts.next_run_at is
  'When the task fires next; null while it is disabled.';

create table public.scheduled_firings (
  id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  task_id uuid references public.scheduled_prompts (id) on delete set null,
  task_run_id text not null references public.task_runs (id) on delete cascade,
  fires_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  attempt_at timestamptz,
  refusal text,
  run_id text,
  chat_id uuid,
  session_id uuid,
  constraint scheduled_firings_once unique (task_id, fires_at)
);
alter table public.scheduled_firings enable row level security;
create index scheduled_firings_account on public.scheduled_firings (account_id);
create index scheduled_firings_task_newest on public.scheduled_firings (task_id, created_at desc);
create index scheduled_firings_task_run on public.scheduled_firings (task_run_id);
create index scheduled_firings_waiting
  on public.scheduled_firings (attempt_at) where attempt_at is not null;
comment on table public.scheduled_firings is
  'The firings of scheduled prompts. Each is shown as the task run that it names.';
comment on column public.scheduled_firings.id is 'The effect id of the run.';
comment on column public.scheduled_firings.task_id is 'Null once the task is deleted.';
comment on column public.scheduled_firings.fires_at is
  'The time of the schedule that it is for; null for one that a request asked for.';
comment on column public.scheduled_firings.attempt_at is
  'When its run may be started, by whoever takes it; a lease puts it off. Null once the run has started or the firing has been given up.';
comment on column public.scheduled_firings.refusal is
  'Why the account could not have the run at the last attempt; null while nothing has refused it.';

-- Firings ----------------------------------------------------------------------------------------

create function public.queue_firing(
  p_task public.scheduled_prompts, p_firing_id uuid, p_fires_at timestamptz,
  p_attempt_at timestamptz, p_idempotency_key text
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_run_id constant text := 'run_' || left(replace(gen_random_uuid()::text, '-', ''), 24);
  v_facts constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'taskId', p_task.id, 'scheduledFor', public.iso_date(p_fires_at)));
begin
  insert into public.task_runs (id, account_id, status, task_identifier, idempotency_key, tags,
    metadata, payload, effect_id, schedule)
  values (v_run_id, p_task.account_id, 'QUEUED', 'scheduled-prompt', p_idempotency_key,
    array['account:' || p_task.account_id], v_facts,
    v_facts || jsonb_build_object('title', p_task.title, 'prompt', p_task.prompt),
    p_firing_id, jsonb_build_object('id', p_task.id));
  insert into public.scheduled_firings (
    id, account_id, task_id, task_run_id, fires_at, attempt_at)
  values (p_firing_id, p_task.account_id, p_task.id, v_run_id, p_fires_at, p_attempt_at);
end
$$;
comment on function public.queue_firing is
  'Creates a waiting firing of a task, with the task run that shows it.';

create function public.end_firing(p_id uuid, p_status text, p_code text, p_message text)
returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_firing public.scheduled_firings;
begin
  update public.scheduled_firings set attempt_at = null
  where id = p_id and attempt_at is not null
  returning * into v_firing;
  update public.task_runs
  set status = p_status, finished_at = clock_timestamp(), updated_at = clock_timestamp(),
    error = jsonb_build_object('name', p_code, 'message', p_message, 'stackTrace', '')
  where id = v_firing.task_run_id and status = 'QUEUED';
end
$$;
comment on function public.end_firing is
  'Gives up a waiting firing; without effect on one that has been settled.';

create function public.due_tasks(p_now timestamptz, p_limit integer) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'now', public.iso_date(at.now),
    'tasks', (
      select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'schedule', t.schedule,
        'timezone', t.timezone, 'nextRunAt', public.iso_date(t.next_run_at))), '[]')
      from (
        select * from public.scheduled_prompts
        where enabled and next_run_at <= at.now
        order by next_run_at limit p_limit
      ) t))
  from (select coalesce(p_now, clock_timestamp()) as now) at
$$;
comment on function public.due_tasks is
  'The tasks whose time has come, of all accounts: {now, tasks: [{id, schedule, timezone, nextRunAt}]}. The clock is the database''s, which all servers share, unless p_now is given.';

create function public.fire_task(
  p_task_id uuid, p_expected timestamptz, p_next timestamptz, p_now timestamptz
) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_task public.scheduled_prompts;
begin
  update public.scheduled_prompts
  set next_run_at = p_next, enabled = p_next is not null
  where id = p_task_id and enabled and next_run_at = p_expected
  returning * into v_task;
  if not found or exists (
    select 1 from public.scheduled_firings where task_id = p_task_id and fires_at = p_expected)
  then
    return false;
  end if;
  -- An account that is refused one firing after another must not get them all at once later.
  perform public.end_firing(f.id, 'EXPIRED', 'superseded', f.refusal)
  from public.scheduled_firings f
  where f.task_id = p_task_id and f.attempt_at is not null and f.refusal is not null;
  perform public.queue_firing(
    v_task, gen_random_uuid(), p_expected, coalesce(p_now, clock_timestamp()), null);
  return true;
end
$$;
comment on function public.fire_task is
  'Moves a task from the time p_expected to the next one and leaves a waiting firing of that time, both or neither; false when another server has done so. Without a next time the task is disabled.';

create function public.firing_json(p_firing public.scheduled_firings) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', p_firing.id,
    'accountId', p_firing.account_id,
    'taskRunId', p_firing.task_run_id,
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
  'A firing with what its run is started with; the task is null once it is deleted.';

create function public.take_firings(p_now timestamptz, p_lease_seconds integer, p_limit integer)
returns jsonb
language sql volatile set search_path = '' as $$
  with taken as (
    update public.scheduled_firings f
    set attempt_at = coalesce(p_now, clock_timestamp()) + make_interval(secs => p_lease_seconds)
    where f.id in (
      select id from public.scheduled_firings
      where attempt_at <= coalesce(p_now, clock_timestamp())
      order by attempt_at limit p_limit for update skip locked)
    returning f
  )
  select coalesce(jsonb_agg(public.firing_json((taken.f))), '[]') from taken
$$;
comment on function public.take_firings is
  'Leases waiting firings of all accounts, the longest waiting first. Who dies with one leaves it to the next when its lease has ended.';

create function public.settle_firing(
  p_id uuid, p_run_id text, p_chat_id uuid, p_session_id uuid
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_firing public.scheduled_firings;
begin
  update public.scheduled_firings
  set attempt_at = null, run_id = p_run_id, chat_id = p_chat_id, session_id = p_session_id
  where id = p_id returning * into v_firing;
  -- A run that has ended already has ended the task run, too.
  update public.task_runs
  set metadata = metadata || jsonb_build_object(
      'runId', p_run_id, 'chatId', p_chat_id, 'sessionId', p_session_id),
    status = case when status = 'QUEUED' then 'EXECUTING' else status end,
    started_at = coalesce(started_at, clock_timestamp()),
    updated_at = clock_timestamp()
  where id = v_firing.task_run_id;
end
$$;
comment on function public.settle_firing is
  'Records the run that a firing has started. It is safe to repeat.';

create function public.refuse_firing(
  p_id uuid, p_now timestamptz, p_retry_seconds integer, p_max_age_seconds integer, p_refusal text
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_now constant timestamptz := coalesce(p_now, clock_timestamp());
  v_firing public.scheduled_firings;
begin
  update public.scheduled_firings
  set attempt_at = v_now + make_interval(secs => p_retry_seconds),
    refusal = coalesce(p_refusal, refusal)
  where id = p_id and attempt_at is not null
  returning * into v_firing;
  if v_firing.refusal is not null
    and v_firing.created_at < v_now - make_interval(secs => p_max_age_seconds)
  then
    perform public.end_firing(p_id, 'EXPIRED', 'refused', v_firing.refusal);
  end if;
end
$$;
comment on function public.refuse_firing is
  'Puts off a firing that could not be started now, or gives it up when it has waited for too long. Without a refusal, as of a server that exits, it is never given up.';
