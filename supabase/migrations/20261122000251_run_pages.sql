-- What the pages of runs and schedules show: a run with its prompt, the runs of one scheduled prompt, and
-- the time zone of the account.

create or replace function public.get_account(p_account_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'account', jsonb_build_object(
      'id', a.id,
      'kind', a.kind,
      'email', a.email,
      'name', a.name,
      'image', a.image,
      'monthly_budget_usd', a.monthly_budget_usd,
      'timezone', a.timezone,
      'created_at', public.iso_date(a.created_at)),
    'organizations', coalesce((
      select jsonb_agg(jsonb_build_object(
        'organization_id', o.id, 'organization_name', coalesce(o.name, ''), 'role', m.role)
        order by o.created_at desc, o.id desc)
      from public.organization_accounts m
      join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
      where m.account_id = a.id), '[]'))
  from public.accounts a where a.id = p_account_id
$$;

create function public.update_account(
  p_account_id uuid, p_name text, p_image text, p_monthly_budget_usd numeric, p_timezone text,
  p_clear text[]
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update public.accounts a
  set name = coalesce(p_name, a.name),
    image = case when 'image' = any (p_clear) then null else coalesce(p_image, a.image) end,
    monthly_budget_usd = case when 'monthly_budget_usd' = any (p_clear) then null
      else coalesce(p_monthly_budget_usd, a.monthly_budget_usd) end,
    timezone = case when 'timezone' = any (p_clear) then null
      else coalesce(p_timezone, a.timezone) end,
    updated_at = now()
  where a.id = p_account_id;
  return public.get_account(p_account_id);
end
$$;
comment on function public.update_account(uuid, text, text, numeric, text, text[]) is
  'Changes what is not null and clears the columns of p_clear (image, monthly_budget_usd, timezone); answers as get_account.';
comment on function public.update_account(uuid, text, text, numeric, text[]) is
  'Superseded by update_account with p_timezone.';

create function public.get_run_trace(p_account_id uuid, p_run_id text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'run', public.run_item_json(t) || jsonb_build_object(
      'artist_id', t.artist_id,
      'prompt', (
        select left(public.words_of_parts(m.parts), 10000) from public.messages m
        where m.chat_id = t.chat_id and m.id = t.message_id and m.role = 'user')),
    'steps', coalesce(
      (select r.steps from public.run_traces r where r.turn_id = t.id),
      public.run_steps_json(t.id)))
  from public.turns t
  where t.run_id = p_run_id and t.account_id = p_account_id
$$;
comment on function public.get_run_trace is
  'A run with its prompt, and its trace, which is empty when it has expired: {run, steps}. Null when the account has no such run.';
comment on function public.get_run_steps is 'Superseded by get_run_trace.';

-- Runs of a scheduled prompt ---------------------------------------------------------------------

create function public.firing_run_json(p_firing public.scheduled_firings) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'task_run_id', p_firing.task_run_id,
    'run_id', p_firing.run_id,
    'chat_id', p_firing.chat_id,
    'session_id', p_firing.session_id,
    'status', r.status,
    'error', left(r.error ->> 'message', 500),
    'scheduled_for', public.iso_date(p_firing.fires_at),
    'created_at', public.iso_date(r.created_at),
    'finished_at', public.iso_date(r.finished_at))
  from public.task_runs r where r.id = p_firing.task_run_id
$$;
comment on function public.firing_run_json is 'The run of a firing in the shape of the API.';

create or replace function public.task_json(p_task public.scheduled_prompts) returns jsonb
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
      select public.firing_run_json(f)
      from public.scheduled_firings f
      where f.task_id = p_task.id
      order by f.created_at desc limit 1),
    'created_at', public.iso_date(p_task.created_at),
    'updated_at', public.iso_date(p_task.updated_at))
$$;

create function public.list_task_firings(
  p_account_id uuid, p_task_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select case
    when not exists (
      select from public.scheduled_prompts t where t.id = p_task_id and t.account_id = p_account_id)
    then jsonb_build_object('refused', 'missing')
    else (
      select public.page_json('runs',
        jsonb_agg(public.firing_run_json(page.firing) order by page.created_at desc, page.id desc),
        array_agg(page.created_at order by page.created_at desc, page.id desc),
        array_agg(page.id order by page.created_at desc, page.id desc),
        p_limit)
      from (
        select f as firing, f.created_at, f.id
        from public.scheduled_firings f
        where f.task_id = p_task_id
          and (f.created_at, f.id) < (coalesce(p_after_at, 'infinity'),
            coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
        order by f.created_at desc, f.id desc
        limit p_limit + 1
      ) page)
    end
$$;
comment on function public.list_task_firings is
  'A page of the runs of an account''s scheduled prompt, newest first: {runs, next} or {refused: missing}.';
