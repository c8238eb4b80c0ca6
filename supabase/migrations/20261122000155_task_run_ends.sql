-- The task run of a firing ends with the turn that the firing has started.

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
  where f.id = old.effect_id and r.id = f.task_run_id and r.finished_at is null;
  return null;
end
$$;
comment on function public.end_scheduled_task_run is
  'Ends the task run of a scheduled prompt when its turn has ended, or was deleted while it ran.';

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
