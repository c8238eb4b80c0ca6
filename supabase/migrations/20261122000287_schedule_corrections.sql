-- A schedule may lose its artist and its model, it pauses when its artist is deleted, and a run that was
-- started counts as started.

-- Changes ----------------------------------------------------------------------------------------

create function public.update_task(
  p_account_id uuid, p_id uuid, p_title text, p_prompt text, p_template_id uuid, p_artist_id uuid,
  p_model_id text, p_schedule text, p_timezone text, p_clear text[],
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
    template_id = case when not 'template_id' = any (p_clear)
      then coalesce(p_template_id, template_id) end,
    artist_id = case when not 'artist_id' = any (p_clear) then coalesce(p_artist_id, artist_id) end,
    model_id = case when not 'model' = any (p_clear) then coalesce(p_model_id, model_id) end,
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
comment on function public.update_task(
  uuid, uuid, text, text, uuid, uuid, text, text, text, text[], boolean, timestamptz, timestamptz
) is
  'Changes a scheduled prompt that nobody else has changed since it was read: {task} | {refused: changed | missing | template}. Null leaves a field as it is, and p_clear (template_id, artist_id, model) removes it; the next time is set only with p_reschedules, and null disables the task.';

create or replace function public.update_task(
  p_account_id uuid, p_id uuid, p_title text, p_prompt text, p_template_id uuid,
  p_removes_template boolean, p_artist_id uuid, p_model_id text, p_schedule text, p_timezone text,
  p_reschedules boolean, p_next_run_at timestamptz, p_expected_updated_at timestamptz
) returns jsonb
language sql volatile set search_path = '' as $$
  select public.update_task(p_account_id, p_id, p_title, p_prompt, p_template_id, p_artist_id,
    p_model_id, p_schedule, p_timezone,
    case when p_removes_template then array['template_id'] else array[]::text[] end,
    p_reschedules, p_next_run_at, p_expected_updated_at)
$$;
comment on function public.update_task(
  uuid, uuid, text, text, uuid, boolean, uuid, text, text, text, boolean, timestamptz, timestamptz
) is
  'Superseded by update_task with p_clear; kept for servers of the version before.';

-- Firings ----------------------------------------------------------------------------------------
-- A server that takes longer than its lease starts a run while another one tries the same. What the other
-- one meets with, such as an artist that was deleted meanwhile, must not end the firing of a run that goes
-- on. A firing that was given up has no output; one whose turn has ended does.

create or replace function public.settle_firing(
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
end
$$;
comment on function public.settle_firing is
  'Records the run that a firing has started, also when it was given up meanwhile. It is safe to repeat.';

create or replace function public.end_firing(p_id uuid, p_status text, p_code text, p_message text)
returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_firing public.scheduled_firings;
  v_turn public.turns;
begin
  select * into v_turn from public.turns where effect_id = p_id and run_id is not null;
  if found then
    perform public.settle_firing(p_id, v_turn.run_id, v_turn.chat_id, v_turn.session_id);
    return;
  end if;
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
  'Gives up a waiting firing; without effect on one that has been settled. One whose run has started is settled.';

create or replace function public.discard_firing(p_id uuid) returns void
language sql volatile set search_path = '' as $$
  delete from public.task_runs r using public.scheduled_firings f
  where f.id = p_id and f.task_run_id = r.id and r.status = 'QUEUED'
    and not exists (select from public.turns t where t.effect_id = f.id and t.run_id is not null)
$$;

create or replace function public.end_scheduled_task_run() returns trigger
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

-- Artists ----------------------------------------------------------------------------------------

create function public.pause_tasks_of_artist() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  update public.scheduled_prompts
  set artist_id = null, enabled = false, next_run_at = null, updated_at = clock_timestamp()
  where artist_id = old.id;
  return null;
end
$$;
comment on function public.pause_tasks_of_artist is
  'Disables the scheduled prompts of an artist that is deleted: without the artist they would be other work.';
create trigger pause_tasks_of_artist after delete on public.accounts
  for each row when (old.kind = 'artist') execute function public.pause_tasks_of_artist();
