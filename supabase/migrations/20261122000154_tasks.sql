-- What an account does with its scheduled prompts.

create function public.task_json(p_task public.scheduled_prompts) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', p_task.id,
    'title', p_task.title,
    'prompt', p_task.prompt,
    'template_id', p_task.template_id,
    'schedule', p_task.schedule,
    'timezone', p_task.timezone,
    'artist_id', p_task.artist_id,
    'model', p_task.model_id,
    'enabled', p_task.enabled,
    'next_run_at', public.iso_date(p_task.next_run_at),
    'last_run', (
      select jsonb_build_object(
        'task_run_id', f.task_run_id,
        'run_id', f.run_id,
        'chat_id', f.chat_id,
        'status', r.status,
        'scheduled_for', public.iso_date(f.fires_at),
        'created_at', public.iso_date(r.created_at),
        'finished_at', public.iso_date(r.finished_at))
      from public.scheduled_firings f
      join public.task_runs r on r.id = f.task_run_id
      where f.task_id = p_task.id
      order by f.created_at desc limit 1),
    'created_at', public.iso_date(p_task.created_at),
    'updated_at', public.iso_date(p_task.updated_at))
$$;
comment on function public.task_json is 'A scheduled prompt in the shape of the API.';

create function public.create_task(
  p_account_id uuid, p_id uuid, p_title text, p_prompt text, p_template_id uuid, p_artist_id uuid,
  p_model_id text, p_schedule text, p_timezone text, p_next_run_at timestamptz, p_max_tasks integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_task public.scheduled_prompts;
begin
  -- One at a time for each account, so that what is counted does not change meanwhile.
  perform pg_advisory_xact_lock(hashtextextended('tasks ' || p_account_id, 0));
  select * into v_task from public.scheduled_prompts
  where id = p_id and account_id = p_account_id;
  if found then
    return jsonb_build_object('task', public.task_json(v_task));
  end if;
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('refused', 'template');
  end if;
  if p_max_tasks <= (
    select count(*) from public.scheduled_prompts where account_id = p_account_id)
  then
    return jsonb_build_object('refused', 'full');
  end if;
  insert into public.scheduled_prompts (id, account_id, title, prompt, template_id, artist_id,
    model_id, schedule, timezone, enabled, next_run_at)
  values (p_id, p_account_id, p_title, p_prompt, p_template_id, p_artist_id,
    p_model_id, p_schedule, p_timezone, p_next_run_at is not null, p_next_run_at)
  returning * into v_task;
  return jsonb_build_object('task', public.task_json(v_task));
end
$$;
comment on function public.create_task is
  'Creates a scheduled prompt, enabled if it has a next time: {task} | {refused: template | full}. It can be repeated with the same id.';

create function public.list_tasks(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  with page as (
    select t, row_number() over (order by t.created_at desc, t.id desc) as place
    from public.scheduled_prompts t
    where t.account_id = p_account_id and (t.created_at, t.id) < (
      coalesce(p_after_at, 'infinity'),
      coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by t.created_at desc, t.id desc
    limit p_limit + 1
  )
  select jsonb_build_object(
    'tasks', coalesce(
      jsonb_agg(public.task_json(page.t) order by place) filter (where place <= p_limit), '[]'),
    'next', case when count(*) > p_limit then
      max(public.page_cursor((page.t).created_at, (page.t).id)) filter (where place = p_limit) end)
  from page
$$;
comment on function public.list_tasks is
  'One page of the account''s scheduled prompts, newest first: {tasks, next}.';

create function public.get_task(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(
    (select jsonb_build_object('task', public.task_json(t)) from public.scheduled_prompts t
      where t.id = p_id and t.account_id = p_account_id),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.get_task is
  'A scheduled prompt of the account: {task} | {refused: missing}.';

create function public.update_task(
  p_account_id uuid, p_id uuid, p_title text, p_prompt text, p_template_id uuid,
  p_removes_template boolean, p_artist_id uuid, p_model_id text, p_schedule text, p_timezone text,
  p_reschedules boolean, p_next_run_at timestamptz, p_expected_updated_at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_task public.scheduled_prompts;
begin
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('refused', 'template');
  end if;
  update public.scheduled_prompts
  set title = coalesce(p_title, title),
    prompt = coalesce(p_prompt, prompt),
    template_id = case when not p_removes_template then coalesce(p_template_id, template_id) end,
    artist_id = coalesce(p_artist_id, artist_id),
    model_id = coalesce(p_model_id, model_id),
    schedule = coalesce(p_schedule, schedule),
    timezone = coalesce(p_timezone, timezone),
    enabled = case when p_reschedules then p_next_run_at is not null else enabled end,
    next_run_at = case when p_reschedules then p_next_run_at else next_run_at end,
    updated_at = clock_timestamp()
  where id = p_id and account_id = p_account_id
    and date_trunc('milliseconds', updated_at) = p_expected_updated_at
  returning * into v_task;
  if found then
    return jsonb_build_object('task', public.task_json(v_task));
  end if;
  return case when public.get_task(p_account_id, p_id) ? 'task'
    then jsonb_build_object('refused', 'changed')
    else jsonb_build_object('refused', 'missing') end;
end
$$;
comment on function public.update_task is
  'Changes a scheduled prompt that nobody else has changed since it was read: {task} | {refused: changed | missing | template}. Null leaves a field as it is; the next time is set only with p_reschedules, and null disables the task.';

create function public.delete_task(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  delete from public.scheduled_prompts where id = p_id and account_id = p_account_id;
  return case when found then jsonb_build_object('deleted', true)
    else jsonb_build_object('refused', 'missing') end;
end
$$;
comment on function public.delete_task is
  'Deletes a scheduled prompt: {deleted: true} | {refused: missing}. Its task runs stay; a waiting firing is given up by whoever takes it.';

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
comment on function public.fire_task_now is
  'Creates a firing that a request asks for, leased to it, or finds the one of an earlier attempt: {firing} | {refused: missing}. Should the request die, the firing is taken like any other.';

create function public.discard_firing(p_id uuid) returns void
language sql volatile set search_path = '' as $$
  delete from public.task_runs r using public.scheduled_firings f
  where f.id = p_id and f.task_run_id = r.id and r.status = 'QUEUED'
$$;
comment on function public.discard_firing is
  'Takes back a firing whose run a request was refused, with its task run.';
