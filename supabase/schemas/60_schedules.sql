-- Scheduled prompts, their firings, and jobs of an external task service.

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
  options jsonb not null default '{}',
  template_version integer,
  constraint scheduled_prompts_next check (enabled = (next_run_at is not null))
);

create index scheduled_prompts_account_newest
  on public.scheduled_prompts (account_id, created_at desc, id desc);
create index scheduled_prompts_due on public.scheduled_prompts (next_run_at) where enabled;
create index scheduled_prompts_artist on public.scheduled_prompts (artist_id) where artist_id is not null;
comment on table public.scheduled_prompts is 'Prompts that start a headless run of their account at the times of a schedule.';
comment on column public.scheduled_prompts.template_id is 'The agent template that instructs the agent; no foreign key, because a template that is gone fails the next firing and is named there.';
comment on column public.scheduled_prompts.template_version is 'The version of the template that the task keeps; null for the one of applied_template_version.';
comment on column public.scheduled_prompts.artist_id is 'The artist that the work is for; access to it is asked again at each firing.';
comment on column public.scheduled_prompts.next_run_at is 'When the task fires next; null while it is disabled.';
comment on column public.scheduled_prompts.options is 'The options of the runs, as in `runOptions`, with deliver and ends_at. Those that are absent are the template''s.';

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

create index scheduled_firings_account on public.scheduled_firings (account_id);
create index scheduled_firings_task_newest on public.scheduled_firings (task_id, created_at desc);
create index scheduled_firings_task_run on public.scheduled_firings (task_run_id);
create index scheduled_firings_waiting
  on public.scheduled_firings (attempt_at) where attempt_at is not null;
comment on table public.scheduled_firings is 'The firings of scheduled prompts. Each is shown as the task run that it names.';
comment on column public.scheduled_firings.id is 'The effect id of the run.';
comment on column public.scheduled_firings.task_id is 'Null once the task is deleted.';
comment on column public.scheduled_firings.fires_at is 'The time of the schedule that it is for; null for one that a request asked for.';
comment on column public.scheduled_firings.attempt_at is 'When its run may be started; a lease postpones it. Null once the run has started or the firing has been given up.';
comment on column public.scheduled_firings.refusal is 'Why the account could not have the run at the last attempt; null while nothing has refused it.';

create table public.task_jobs (
  run_id text primary key references public.task_runs (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  job jsonb not null,
  created_at timestamptz not null default clock_timestamp()
);

create index task_jobs_account on public.task_jobs (account_id);
comment on table public.task_jobs is 'The input of a generation''s durable run, from the creation of its task run until the durable run starts.';
comment on column public.task_jobs.job is 'Its request is sealed.';

-- Tasks -------------------------------------------------------------------------------------------

create function public.task_row(p_task public.scheduled_prompts) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(p_task) || jsonb_build_object('last_run', (
    select public.firing_row(f)
    from public.scheduled_firings f
    where f.task_id = p_task.id
    order by f.created_at desc limit 1))
    || public.template_state(p_task.account_id, p_task.template_id, p_task.template_version)
$$;
comment on function public.task_row is 'A scheduled prompt with the firing_row of its last run, and the state of its template.';

create function public.create_task(
  p_account_id uuid, p_id uuid, p_title text, p_prompt text, p_template_id uuid, p_artist_id uuid,
  p_model_id text, p_schedule text, p_timezone text, p_next_run_at timestamptz, p_max_tasks integer,
  p_options jsonb default '{}', p_template_version integer default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_version integer;
  v_task public.scheduled_prompts;
begin
  -- One at a time for each account, because the count must not change.
  perform pg_advisory_xact_lock(hashtextextended('tasks ' || p_account_id, 0));
  select * into v_task from public.scheduled_prompts
  where id = p_id and account_id = p_account_id;
  if found then
    return jsonb_build_object('task', public.task_row(v_task));
  end if;
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('refused', 'template');
  end if;
  if p_max_tasks <= (
    select count(*) from public.scheduled_prompts where account_id = p_account_id)
  then
    return jsonb_build_object('refused', 'full');
  end if;
  v_version := public.choose_template_version(p_account_id, p_template_id, p_template_version);
  if v_version is null then
    return jsonb_build_object('refused', 'template_version');
  end if;
  insert into public.scheduled_prompts (id, account_id, title, prompt, template_id,
    template_version, artist_id, model_id, schedule, timezone, enabled, next_run_at, options)
  values (p_id, p_account_id, p_title, p_prompt, p_template_id, nullif(v_version, 0), p_artist_id,
    p_model_id, p_schedule, p_timezone, p_next_run_at is not null, p_next_run_at,
    jsonb_strip_nulls(p_options))
  returning * into v_task;
  return jsonb_build_object('task', public.task_row(v_task));
end
$$;
comment on function public.create_task is 'Creates a scheduled prompt, enabled if it has a next time: {task} | {refused: template | template_version | full}. The template is taken in the version of choose_template_version. It can be repeated with the same id.';

create function public.list_tasks(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(array(
    select public.task_row(t)
    from public.scheduled_prompts t
    where t.account_id = p_account_id and (t.created_at, t.id) < (p_after_at, p_after_id)
    order by t.created_at desc, t.id desc
    limit p_limit + 1))
$$;
comment on function public.list_tasks is 'One page of the account''s scheduled prompts, newest first, with one more row if another page follows.';

create function public.get_task(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(
    (select jsonb_build_object('task', public.task_row(t)) from public.scheduled_prompts t
      where t.id = p_id and t.account_id = p_account_id),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.get_task is 'A scheduled prompt of the account: {task} | {refused: missing}.';

create function public.update_task(
  p_account_id uuid, p_id uuid, p_title text, p_prompt text, p_template_id uuid, p_artist_id uuid,
  p_model_id text, p_schedule text, p_timezone text, p_clear text[],
  p_reschedules boolean, p_next_run_at timestamptz, p_expected_updated_at timestamptz,
  p_options jsonb default '{}', p_template_version integer default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_task public.scheduled_prompts;
  v_template_id uuid;
begin
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('refused', 'template');
  end if;
  select * into v_task from public.scheduled_prompts
  where id = p_id and account_id = p_account_id
  for no key update;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  if date_trunc('milliseconds', v_task.updated_at) <> p_expected_updated_at then
    return jsonb_build_object('refused', 'changed');
  end if;
  v_template_id := case when not 'template_id' = any (p_clear)
    then coalesce(p_template_id, v_task.template_id) end;
  -- The same template once more accepts no newer version.
  if v_template_id is distinct from v_task.template_id or p_template_version is not null then
    v_task.template_version := public.choose_template_version(
      p_account_id, v_template_id, p_template_version);
    if v_task.template_version is null then
      return jsonb_build_object('refused', 'template_version');
    end if;
  end if;
  update public.scheduled_prompts
  set title = coalesce(p_title, title),
    prompt = coalesce(p_prompt, prompt),
    template_id = v_template_id,
    template_version = nullif(v_task.template_version, 0),
    artist_id = case when not 'artist_id' = any (p_clear) then coalesce(p_artist_id, artist_id) end,
    model_id = case when not 'model' = any (p_clear) then coalesce(p_model_id, model_id) end,
    schedule = coalesce(p_schedule, schedule),
    timezone = coalesce(p_timezone, timezone),
    enabled = case when p_reschedules then p_next_run_at is not null else enabled end,
    next_run_at = case when p_reschedules then p_next_run_at else next_run_at end,
    options = jsonb_strip_nulls(options || p_options),
    updated_at = clock_timestamp()
  where id = p_id and account_id = p_account_id
  returning * into v_task;
  return jsonb_build_object('task', public.task_row(v_task));
end
$$;
comment on function public.update_task is 'Changes a scheduled prompt unless it was changed since it was read: {task} | {refused: changed | missing | template | template_version}. A new template is taken in the version of choose_template_version. Null leaves a field as it is, and p_clear (template_id, artist_id, model) removes it; the next time is set only with p_reschedules, and null disables the task. p_options changes the options that it names, and removes those that are null.';

create function public.delete_task(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  delete from public.scheduled_prompts where id = p_id and account_id = p_account_id;
  return case when found then jsonb_build_object('deleted', true)
    else jsonb_build_object('refused', 'missing') end;
end
$$;
comment on function public.delete_task is 'Deletes a scheduled prompt: {deleted: true} | {refused: missing}. Its task runs stay; a waiting firing is given up when it is taken.';

create function public.pause_tasks_of_artist() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  update public.scheduled_prompts
  set artist_id = null, enabled = false, next_run_at = null, updated_at = clock_timestamp()
  where artist_id = old.id;
  return null;
end
$$;
comment on function public.pause_tasks_of_artist is 'Disables the scheduled prompts of an artist that is deleted: without the artist they would be other work.';
create trigger pause_tasks_of_artist after delete on public.accounts
  for each row when (old.kind = 'artist') execute function public.pause_tasks_of_artist();

create function public.firing_row(p_firing public.scheduled_firings) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(p_firing) || jsonb_build_object(
    'run_status', r.status, 'run_error', left(r.error ->> 'message', 500),
    'run_created_at', r.created_at, 'run_finished_at', r.finished_at)
  from public.task_runs r where r.id = p_firing.task_run_id
$$;
comment on function public.firing_row is 'A firing with the state of its task run.';

create function public.list_task_firings(
  p_account_id uuid, p_task_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select case
    when not exists (
      select from public.scheduled_prompts t where t.id = p_task_id and t.account_id = p_account_id)
    then jsonb_build_object('refused', 'missing')
    else to_jsonb(array(
      select public.firing_row(f)
      from public.scheduled_firings f
      where f.task_id = p_task_id
        and (f.created_at, f.id) < (p_after_at, p_after_id)
      order by f.created_at desc, f.id desc
      limit p_limit + 1))
    end
$$;
comment on function public.list_task_firings is 'A page of the runs of an account''s scheduled prompt, newest first, with one more row if another page follows; or {refused: missing}.';

-- Firings -----------------------------------------------------------------------------------------

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
comment on function public.due_tasks is 'The tasks whose time has come, of all accounts: {now, tasks: [{id, schedule, timezone, nextRunAt}]}. The clock is the database''s, which all servers share, unless p_now is given.';

create function public.fire_task(
  p_task_id uuid, p_expected timestamptz, p_next timestamptz, p_now timestamptz
) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_task public.scheduled_prompts;
begin
  update public.scheduled_prompts
  set next_run_at = case
      when p_next <= coalesce((options ->> 'ends_at')::timestamptz, 'infinity') then p_next end,
    enabled = coalesce(
      p_next <= coalesce((options ->> 'ends_at')::timestamptz, 'infinity'), false)
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
comment on function public.fire_task is 'Moves a task from the time p_expected to the next one and leaves a waiting firing of that time, both or neither; false when another server has done so. Without a next time, or with one after the option ends_at, the task is disabled.';

create function public.fire_task_now(
  p_account_id uuid, p_id uuid, p_firing_id uuid, p_lease_seconds integer, p_idempotency_key text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_task public.scheduled_prompts;
  v_firing public.scheduled_firings;
begin
  select * into v_task from public.scheduled_prompts
  where id = p_id and account_id = p_account_id for update;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  select * into v_firing from public.scheduled_firings
  where id = p_firing_id and account_id = p_account_id;
  if not found then
    perform public.queue_firing(v_task, p_firing_id, null,
      clock_timestamp() + make_interval(secs => p_lease_seconds), p_idempotency_key);
    select * into strict v_firing from public.scheduled_firings where id = p_firing_id;
  end if;
  return jsonb_build_object('firing', public.firing_json(v_firing));
end
$$;
comment on function public.fire_task_now is 'Creates a firing that a request asks for, leased to it, or finds the one of an earlier attempt: {firing} | {refused: missing}. Should the request die, the firing is taken like any other.';

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
comment on function public.queue_firing is 'Creates a waiting firing of a task, with the task run that shows it.';

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
comment on function public.take_firings is 'Leases waiting firings of all accounts, the longest waiting first. Who dies with one leaves it to the next when its lease has ended.';

create function public.firing_json(p_firing public.scheduled_firings) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'id', p_firing.id,
    'accountId', p_firing.account_id,
    'taskRunId', p_firing.task_run_id,
    'isHandedOver', exists (
      select from public.task_runs r
      where r.id = p_firing.task_run_id and r.metadata ? 'triggerRunId'),
    'runId', p_firing.run_id,
    'chatId', p_firing.chat_id,
    'sessionId', p_firing.session_id,
    'event', (select e.content from public.trigger_events e where e.id = p_firing.id),
    'task', (
      select jsonb_build_object('prompt', t.prompt, 'templateId', t.template_id,
        -- Null follows an own template.
        'templateVersion', coalesce(t.template_version, (
          select 1 from public.agent_templates a
          where a.id = t.template_id and a.account_id <> t.account_id)),
        'artistId', t.artist_id, 'modelId', t.model_id, 'options', t.options,
        'seesArtist', t.artist_id is null or (public.access_verdicts(
          t.account_id, false, null, null, t.artist_id) ->> 'artist')::boolean)
      from public.scheduled_prompts t where t.id = p_firing.task_id));
end
$$;
comment on function public.firing_json is 'A firing with what its run is started with, and whether another service has been given its task; the task is null once it is deleted, and the event unless one was received.';

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
comment on function public.refuse_firing is 'Puts off a firing that could not be started now, or gives it up when it has waited for too long. Without a refusal, such as when a server exits, it is never given up.';

create function public.discard_firing(p_id uuid) returns void
language sql volatile set search_path = '' as $$
  delete from public.task_runs r using public.scheduled_firings f
  where f.id = p_id and f.task_run_id = r.id and r.status = 'QUEUED'
    and not exists (select from public.turns t where t.effect_id = f.id and t.run_id is not null)
$$;
comment on function public.discard_firing is 'Takes back a firing whose run a request was refused, with its task run.';

create function public.end_firing(p_id uuid, p_status text, p_code text, p_message text)
returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_firing public.scheduled_firings;
  v_turn public.turns;
begin
  select * into v_turn from public.turns where effect_id = p_id and run_id is not null;
  if found then
    perform public.record_started_run(p_id, v_turn.run_id, v_turn.chat_id, v_turn.session_id);
    return;
  end if;
  update public.scheduled_firings set attempt_at = null
  where id = p_id and attempt_at is not null
  returning * into v_firing;
  update public.task_runs
  set status = p_status, finished_at = clock_timestamp(), updated_at = clock_timestamp(),
    error = jsonb_build_object('name', p_code, 'message', p_message, 'stackTrace', '')
  where id = v_firing.task_run_id and status = 'QUEUED';
  update public.trigger_events set content = null where id = p_id and content is not null;
end
$$;
comment on function public.end_firing is 'Gives up a waiting firing; without effect on one that has been settled. One whose run has started is settled.';

create function public.record_started_run(
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
    status = case when output is null then 'EXECUTING' else status end,
    error = case when output is not null then error end,
    finished_at = case when output is not null then finished_at end,
    started_at = coalesce(started_at, clock_timestamp()),
    updated_at = clock_timestamp()
  where id = v_firing.task_run_id;
  -- The run has stored it.
  update public.trigger_events set content = null where id = p_id and content is not null;
end
$$;
comment on function public.record_started_run is 'Records the run that a firing has started, even if it was given up. It is safe to repeat.';

create function public.end_scheduled_task_run() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  update public.task_runs r
  set status = case
      when tg_op = 'DELETE' or new.status = 'cancelled' then 'CANCELED'
      when new.status = 'completed' then 'COMPLETED'
      else 'FAILED' end,
    error = case when tg_op = 'UPDATE' and new.status = 'failed' then
      jsonb_build_object('name', 'failed', 'message', coalesce(new.error, ''), 'stackTrace', '') end,
    output = jsonb_build_object(
      'runId', old.run_id, 'chatId', old.chat_id, 'sessionId', old.session_id),
    started_at = coalesce(r.started_at, old.created_at),
    finished_at = clock_timestamp(),
    updated_at = clock_timestamp(),
    duration_ms = extract(epoch from date_trunc('milliseconds', clock_timestamp())
      - date_trunc('milliseconds', coalesce(r.started_at, old.created_at))) * 1000
  from public.scheduled_firings f
  where f.id = old.effect_id and r.id = f.task_run_id
    and (r.finished_at is null or r.output is null);
  return null;
end
$$;
comment on function public.end_scheduled_task_run is 'Ends the task run of a scheduled prompt when its turn has ended, or was deleted while it ran.';
create trigger end_scheduled_task_run
  after update of finished_at on public.turns
  for each row
  when (old.finished_at is null and new.finished_at is not null
    and new.kind = 'task' and new.run_id is not null)
  execute function public.end_scheduled_task_run();
create trigger end_deleted_scheduled_task_run
  after delete on public.turns
  for each row
  when (old.finished_at is null and old.kind = 'task' and old.run_id is not null)
  execute function public.end_scheduled_task_run();

-- Background jobs of a task service ---------------------------------------------------------------

create function public.queue_task_job(p_account_id uuid, p_run_id text, p_job jsonb) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.task_jobs (run_id, account_id, job)
  select id, account_id, p_job from public.task_runs
  where id = p_run_id and account_id = p_account_id;
  -- Of runs whose process has died and that no request has read.
  delete from public.task_jobs
  where account_id = p_account_id and created_at < clock_timestamp() - interval '1 day';
end
$$;
comment on function public.queue_task_job is 'Keeps the job of a task run for whoever starts it.';

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
comment on function public.take_task_run is 'The state of a task run, and its pending work: {status, finishedAt, firing, job}. A firing is leased; one that was refused is tried again at its time. Null without such a run.';

create function public.take_task_job(p_account_id uuid, p_run_id text) returns jsonb
language sql volatile set search_path = '' as $$
  delete from public.task_jobs j using public.task_runs r
  where j.run_id = p_run_id and j.account_id = p_account_id
    and r.id = j.run_id and r.lease_until > clock_timestamp()
  returning j.job
$$;
comment on function public.take_task_job is 'Gives the job of an active task run to one of all that ask; null to the others.';

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
comment on function public.hand_over_firing is 'Records that another service runs the task of a firing, and puts the firing off: should it not be asked for by then, it is taken like any other.';

create function public.record_remote_run(p_account_id uuid, p_id text, p_remote_run_id text)
returns void
language sql volatile set search_path = '' as $$
  update public.task_runs
  set metadata = metadata || jsonb_build_object('triggerRunId', p_remote_run_id)
  where id = p_id and account_id = p_account_id
$$;
comment on function public.record_remote_run is 'Records the run with which another service runs a task.';
