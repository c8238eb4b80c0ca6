-- What models and generations use and cost, once for each call however a step is repeated, and the trace
-- of a run by step. Both are written in the transactions that store the results.
--
-- Locks are taken in the order account, chat, turn, month, as the deletion of an account takes them.

-- Usage ------------------------------------------------------------------------------------------

create table public.usage_entries (
  account_id uuid not null references public.accounts (id) on delete cascade,
  source text not null,
  step integer not null,
  tool integer not null,
  call integer not null,
  kind text not null check (kind in ('chat', 'headless', 'task', 'image', 'video')),
  model_id text not null,
  api_key_id uuid,
  artist_id uuid,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  images integer not null default 0,
  videos integer not null default 0,
  cost_usd numeric,
  estimated boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (account_id, source, step, tool, call)
);
create index usage_entries_time on public.usage_entries (account_id, created_at);

comment on table public.usage_entries is
  'What each model call and each generation has used. It outlives the chat, the API key and the artist that it was for.';
comment on column public.usage_entries.source is
  'The id of the turn, or the id of the task run of a generation.';
comment on column public.usage_entries.step is
  'The index of the step in the turn; 0 for a generation.';
comment on column public.usage_entries.tool is
  '0 for the step''s own model call; for the calls of a subagent, its number among the tool calls of the step, from 1.';
comment on column public.usage_entries.call is
  'The number of the model call among those of the step or the subagent, from 0.';
comment on column public.usage_entries.cost_usd is
  'Null where no price is known.';
comment on column public.usage_entries.estimated is
  'Whether the tokens are an estimate, because the answer was cut before the model reported them.';

create table public.usage_months (
  account_id uuid not null references public.accounts (id) on delete cascade,
  month date not null,
  cost_usd numeric not null default 0,
  warned_at timestamptz,
  primary key (account_id, month)
);
comment on table public.usage_months is
  'What an account has spent in a calendar month (UTC): the sum of its usage entries, which the start of a turn compares with the budget.';
comment on column public.usage_months.warned_at is
  'When the account was told that it has spent 80 % of its budget.';

alter table public.usage_entries enable row level security;
alter table public.usage_months enable row level security;
revoke all on table public.usage_entries, public.usage_months from anon, authenticated;
grant all on table public.usage_entries, public.usage_months to service_role;

create function public.usage_month() returns date
language sql stable set search_path = '' as $$
  select date_trunc('month', now() at time zone 'UTC')::date
$$;
comment on function public.usage_month is 'The first day of the current month (UTC).';

create function public.record_usage(
  p_account_id uuid, p_source text, p_kind text, p_api_key_id uuid, p_artist_id uuid, p_calls jsonb
) returns void
language sql volatile set search_path = '' as $$
  with added as (
    insert into public.usage_entries (account_id, source, kind, api_key_id, artist_id, step, tool, call,
      model_id, input_tokens, output_tokens, images, videos, cost_usd, estimated)
    select p_account_id, p_source, p_kind, p_api_key_id, p_artist_id, c.step, c.tool, c.call,
      left(c.model_id, 200), coalesce(c.input_tokens, 0), coalesce(c.output_tokens, 0),
      coalesce(c.images, 0), coalesce(c.videos, 0), c.cost_usd, coalesce(c.estimated, false)
    from jsonb_to_recordset(p_calls) as c (
      step integer, tool integer, call integer, model_id text, input_tokens bigint,
      output_tokens bigint, images integer, videos integer, cost_usd numeric, estimated boolean)
    on conflict do nothing
    returning cost_usd)
  insert into public.usage_months as m (account_id, month, cost_usd)
  select p_account_id, public.usage_month(), sum(a.cost_usd) from added a
  having sum(a.cost_usd) > 0
  on conflict (account_id, month) do update set cost_usd = m.cost_usd + excluded.cost_usd
$$;
comment on function public.record_usage is
  'Records calls [{step, tool, call, model_id, …}] of a turn or a generation, each once, and adds their cost to the month.';

create function public.record_turn_usage(p_account_id uuid, p_turn_id uuid, p_calls jsonb)
returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform from public.accounts where id = p_account_id for key share;
  if not found then
    return false;
  end if;
  select * into v_turn from public.turns
  where id = p_turn_id and account_id = p_account_id for key share;
  -- What was spent counts also when the chat was deleted meanwhile.
  perform public.record_usage(p_account_id, p_turn_id::text,
    coalesce(v_turn.kind, case when v_turn.headless then 'headless' else 'chat' end),
    v_turn.caller_key_id, v_turn.artist_id, p_calls);
  return v_turn.id is not null;
end
$$;
comment on function public.record_turn_usage is
  'Records model calls of a turn, each once, and answers whether the turn is still there.';

-- Trace ------------------------------------------------------------------------------------------

create table public.run_traces (
  turn_id uuid primary key references public.turns (id) on delete cascade,
  account_id uuid not null,
  steps jsonb not null,
  created_at timestamptz not null default now()
);
create index run_traces_age on public.run_traces (created_at);
alter table public.run_traces enable row level security;
revoke all on table public.run_traces from anon, authenticated;
grant all on table public.run_traces to service_role;
comment on table public.run_traces is
  'The steps of turns that have ended, as of run_steps_json: written once when the turn ends, and deleted by the retention job.';
comment on column public.run_traces.account_id is
  'The account of the turn, with which the trace is deleted.';

create function public.duration_ms(p_from timestamptz, p_to timestamptz) returns bigint
language sql immutable set search_path = '' as $$
  -- Of the times as they are shown, so that the difference of these is the duration.
  select (extract(epoch from date_trunc('milliseconds', p_to) - date_trunc('milliseconds', p_from))
    * 1000)::bigint
$$;
comment on function public.duration_ms is 'The milliseconds between two times; null when one is null.';

create function public.tool_call_json(p_call jsonb, p_run public.tool_runs) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', left(p_call ->> 'id', 200),
    'name', left(p_call ->> 'name', 100),
    'state', case
      when p_run.turn_id is null then 'pending'
      when not p_run.finished then 'running'
      when p_run.output #> '{value,error}' is not null then 'failed'
      else 'completed' end,
    'started_at', public.iso_date(p_run.started_at),
    'finished_at', public.iso_date(p_run.finished_at),
    'duration_ms', public.duration_ms(p_run.started_at, p_run.finished_at),
    'error', left(p_run.output #>> '{value,error}', 500))
$$;
comment on function public.tool_call_json is
  'A tool call of a trace, from the call in the model''s answer and its record, if it has one.';

create function public.run_steps_json(p_turn_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'index', s.index,
    'started_at', s.result #> '{trace,startedAt}',
    'finished_at', s.result #> '{trace,finishedAt}',
    'model_id', coalesce(s.result #>> '{trace,modelId}', t.model_id),
    'finish_reason', s.result ->> 'finishReason',
    'usage', jsonb_build_object(
      'input_tokens', coalesce(s.result #> '{usage,inputTokens}', '0'),
      'output_tokens', coalesce(s.result #> '{usage,outputTokens}', '0'),
      'total_tokens', coalesce(s.result #> '{usage,totalTokens}', '0')),
    'cost_usd', s.result #> '{trace,costUsd}',
    'attempts', coalesce(s.result #> '{trace,attempts}', '1'),
    'tool_calls', (
      -- A call is recorded by the next step, under its index.
      select coalesce(jsonb_agg(public.tool_call_json(c.value, r) order by c.ordinality), '[]')
      from jsonb_array_elements(coalesce(s.result -> 'calls', '[]')) with ordinality as c
      left join public.tool_runs r
        on r.turn_id = s.turn_id and r.tool_call_id = (s.index + 1) || ' ' || (c.value ->> 'id'))
    ) order by s.index), '[]')
  from public.turn_steps s join public.turns t on t.id = s.turn_id
  where s.turn_id = p_turn_id
$$;
comment on function public.run_steps_json is
  'The steps of a running turn as GET /api/chat/runs/{runId}/steps has them.';

create function public.keep_run_trace() returns trigger
language plpgsql set search_path = '' as $$
begin
  insert into public.run_traces (turn_id, account_id, steps)
  select new.id, new.account_id, public.run_steps_json(new.id)
  where exists (select from public.turn_steps where turn_id = new.id)
  on conflict do nothing;
  return null;
end
$$;
comment on function public.keep_run_trace is
  'Keeps the trace of a turn that ends, before its working rows are deleted.';

create function public.get_run_steps(p_account_id uuid, p_run_id text) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(
    (select r.steps from public.run_traces r where r.turn_id = t.id),
    public.run_steps_json(t.id))
  from public.turns t
  where t.run_id = p_run_id and t.account_id = p_account_id
$$;
comment on function public.get_run_steps is
  'The trace of a run, or null when the account has no such run. Empty when the trace has expired.';

create function public.sweep_run_traces(p_batch integer, p_days integer) returns bigint
language sql volatile set search_path = '' as $$
  with deleted as (
    delete from public.run_traces where turn_id in (
      select r.turn_id from public.run_traces r
      where r.created_at < clock_timestamp() - make_interval(days => p_days)
      limit p_batch for update skip locked)
    returning 1)
  select count(*) from deleted
$$;
comment on function public.sweep_run_traces is
  'Deletes at most p_batch traces that are older than p_days, and returns their number.';

-- Results ----------------------------------------------------------------------------------------

create function public.complete_model_call(
  p_account_id uuid, p_turn_id uuid, p_index integer, p_result jsonb, p_call_ids text[],
  p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('stop_requested', true, 'known_calls', '[]'::jsonb);
  end if;
  return public.complete_model_call(p_turn_id, p_index, p_result, p_call_ids);
end
$$;
comment on function public.complete_model_call(uuid, uuid, integer, jsonb, text[], jsonb) is
  'Records the result and the usage of a model call, and the tool calls that start at once: {stop_requested, known_calls as of start_tools}. A turn that was deleted is to stop.';
comment on function public.complete_model_call(uuid, integer, jsonb, text[]) is
  'Records the result of a model call, and the tool calls that start at once: {stop_requested, known_calls as of start_tools}. Servers of the version before call it themselves.';

create function public.finish_turn_with_step(
  p_account_id uuid, p_turn_id uuid, p_status text, p_error text, p_parts jsonb, p_metadata jsonb,
  p_index integer, p_step jsonb, p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  perform from public.accounts where id = p_account_id for key share;
  perform public.lock_chat_of_turn(p_turn_id);
  perform from public.turns where id = p_turn_id for update;
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('finished', false, 'webhooks_due', false);
  end if;
  -- For the trace, which is kept before the steps are deleted.
  insert into public.turn_steps (turn_id, index, result)
  select t.id, p_index, p_step from public.turns t
  where t.id = p_turn_id and t.finished_at is null and p_step is not null
  on conflict do nothing;
  return public.finish_turn_with_event(p_turn_id, p_status, p_error, p_parts, p_metadata);
end
$$;
comment on function public.finish_turn_with_step is
  'finish_turn_with_event, with the last step of the turn, which is null when it made no model call, and what that has used.';

create trigger turns_keep_trace after update of finished_at on public.turns
for each row when (old.finished_at is null and new.finished_at is not null)
execute function public.keep_run_trace();
