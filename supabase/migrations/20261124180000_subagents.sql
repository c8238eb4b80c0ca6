-- Subagents are a durable part of their turn: their steps are recorded like its own.

create table public.subagent_steps (
  turn_id uuid not null references public.turns (id) on delete cascade,
  tool_call_id text not null,
  index integer not null check (index >= 0),
  result jsonb not null,
  primary key (turn_id, tool_call_id, index)
);
alter table public.subagent_steps enable row level security;
comment on table public.subagent_steps is 'The results of the model calls of a subagent, as turn_steps of its turn; its own tool calls are in tool_runs.';
comment on column public.subagent_steps.tool_call_id is 'The call of the subagent, as in tool_runs.';

create function public.load_subagent(p_account_id uuid, p_turn_id uuid, p_tool_call_id text)
returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'steps', (
      select coalesce(jsonb_agg(s.result order by s.index), '[]')
      from public.subagent_steps s
      where s.turn_id = t.id and s.tool_call_id = p_tool_call_id),
    'compaction', (
      select jsonb_build_object('id', c.id, 'kind', c.kind, 'state', c.state, 'isOwn', true,
        'tokensBefore', c.tokens_before, 'tokensAfter', c.tokens_after)
      from public.compactions c
      where c.chat_id = t.chat_id and c.turn_id = t.id and c.tool_call_id = p_tool_call_id
      order by c.id desc limit 1))
  from public.turns t where t.id = p_turn_id and t.account_id = p_account_id
$$;
comment on function public.load_subagent is 'What a subagent continues with, at its start and after a crash: {steps, compaction}; null when the turn is gone.';

create function public.complete_subagent_call(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_tool_call_id text, p_index integer,
  p_result jsonb, p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- Usage counts, even if another process has loaded the turn since.
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('superseded', true);
  end if;
  perform from public.turns
  where id = p_turn_id and loads = p_load and finished_at is null for share;
  if not found then
    return jsonb_build_object('superseded', true);
  end if;
  insert into public.subagent_steps (turn_id, tool_call_id, index, result)
  values (p_turn_id, p_tool_call_id, p_index, p_result)
  on conflict do nothing;
  return jsonb_build_object('superseded', false);
end
$$;
comment on function public.complete_subagent_call is 'Records the result and the usage of a model call of a subagent: {superseded}. Superseded, the turn is gone, has ended or was loaded again since this load, and only the usage is recorded.';

create or replace function public.close_turn(p_turn_id uuid, p_status text, p_error text) returns void
language plpgsql set search_path = '' as $$
begin
  update public.api_keys k set revoked_at = now()
  from public.turns t where t.id = p_turn_id and k.id = t.key_id and k.revoked_at is null;
  update public.turns set status = p_status, error = p_error, history = null, finished_at = now()
  where id = p_turn_id and finished_at is null;
  delete from public.turn_steps where turn_id = p_turn_id;
  delete from public.subagent_steps where turn_id = p_turn_id;
  delete from public.tool_runs where turn_id = p_turn_id;
  -- Each turn leaves one dead key behind and clears away a few old ones.
  delete from public.api_keys where id in (
    select id from public.api_keys
    where scope = 'run' and revoked_at < now() - interval '1 day'
    order by revoked_at limit 10 for update skip locked);
end
$$;

create function public.trace_of_step(p_turn public.turns, p_index integer, p_result jsonb, p_call_id text)
returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'index', p_index,
    'started_at', p_result #> '{trace,startedAt}',
    'finished_at', p_result #> '{trace,finishedAt}',
    'model_id', coalesce(p_result #>> '{trace,modelId}', p_turn.model_id),
    'finish_reason', p_result ->> 'finishReason',
    'usage', jsonb_build_object(
      'input_tokens', coalesce(p_result #> '{usage,inputTokens}', '0'),
      'cached_input_tokens', coalesce(p_result #> '{usage,cachedInputTokens}', '0'),
      'output_tokens', coalesce(p_result #> '{usage,outputTokens}', '0'),
      'total_tokens', coalesce(p_result #> '{usage,totalTokens}', '0')),
    'cost_usd', p_result #> '{trace,costUsd}',
    'attempts', coalesce(p_result #> '{trace,attempts}', '1'),
    'tool_calls', (
      -- A call is recorded by the next step, under its index.
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', left(c.value ->> 'id', 200),
        'name', left(c.value ->> 'name', 100),
        'state', case
          when r.turn_id is null then 'pending'
          when not r.finished then 'running'
          when r.output #> '{value,error}' is not null then 'failed'
          else 'completed' end,
        'started_at', r.started_at,
        'finished_at', r.finished_at,
        'error', left(r.output #>> '{value,error}', 500))
        || case when c.value ->> 'name' = 'task' and p_call_id is null
          then jsonb_build_object('steps', (
            select coalesce(jsonb_agg(
              public.trace_of_step(p_turn, s.index, s.result, s.tool_call_id) order by s.index), '[]')
            from public.subagent_steps s
            where s.turn_id = p_turn.id and s.tool_call_id = r.tool_call_id))
          else '{}' end
        order by c.ordinality), '[]')
      from jsonb_array_elements(coalesce(p_result -> 'calls', '[]')) with ordinality as c
      left join public.tool_runs r
        on r.turn_id = p_turn.id
        and r.tool_call_id = coalesce(p_call_id || '/', '') || (p_index + 1) || ' ' || (c.value ->> 'id')));
end
$$;
comment on function public.trace_of_step is 'A step as the trace has it, with the steps of the subagents that it calls. p_call_id is the call of the subagent whose step it is, null for the turn''s own.';

create or replace function public.run_steps(p_turn_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(public.trace_of_step(t, s.index, s.result, null) order by s.index), '[]')
  from public.turn_steps s join public.turns t on t.id = s.turn_id
  where s.turn_id = p_turn_id
$$;
