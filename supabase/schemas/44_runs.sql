-- Turns as their accounts see them: runs, their traces, and the requests of their model calls.

-- Runs --------------------------------------------------------------------------------------------

create function public.run_row(p_turn public.turns) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_turn.id, 'run_id', p_turn.run_id, 'kind', p_turn.kind,
    'status', case when p_turn.status = 'running' and public.is_waiting(p_turn.id)
      then 'requires_action' else p_turn.status end,
    'error', p_turn.error, 'session_id', p_turn.session_id, 'chat_id', p_turn.chat_id,
    'artist_id', p_turn.artist_id, 'model_id', p_turn.model_id,
    'template_id', p_turn.template_id, 'template_version', p_turn.template_version,
    'created_at', p_turn.created_at, 'finished_at', p_turn.finished_at)
$$;
comment on function public.run_row is 'The columns of a turn that its account sees as a run. Inlined, hence no search_path.';

create function public.run_with_usage(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select public.run_row(p_turn) || jsonb_build_object(
    'title', (select c.title from public.chats c where c.id = p_turn.chat_id),
    'input_tokens', coalesce(sum(u.input), 0),
    'cached_input_tokens', coalesce(sum(u.cached), 0),
    'output_tokens', coalesce(sum(u.output), 0),
    'cost_usd', public.summed_cost(count(*), count(*) filter (where u.cost is null), sum(u.cost)),
    'unpriced_calls', count(*) filter (where u.cost is null))
  from (
    select least(greatest(e.input_tokens, 0), 100000000) as input,
      least(greatest(e.cached_input_tokens, 0), 100000000) as cached,
      least(greatest(e.output_tokens, 0), 100000000) as output,
      case when e.cost_usd between 0 and 1000000 then e.cost_usd end as cost
    from public.usage_entries e
    where e.account_id = p_turn.account_id and e.source = p_turn.id::text) u
$$;
comment on function public.run_with_usage is 'A run_row with the title of its chat and the sums of its model calls.';

create function public.verdicts_of_turn(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(part.value -> 'data' order by part.ordinality), '[]')
  from public.messages m, jsonb_array_elements(m.parts) with ordinality as part
  where p_turn.options ? 'outcome' and m.chat_id = p_turn.chat_id
    and m.id = p_turn.assistant_message_id and part.value ->> 'type' = 'data-outcome'
    and part.value ->> 'id' like p_turn.id || '/%'
$$;
comment on function public.verdicts_of_turn is 'The verdicts on the work of a turn with an outcome, oldest first; none until its answer is stored.';

create function public.get_run(p_account_id uuid, p_run_id text) returns jsonb
language sql stable set search_path = '' as $$
  select public.run_row(t)
    || jsonb_build_object('output', t.output, 'verdicts', public.verdicts_of_turn(t),
      'required_action', public.required_action_of(t), 'skills', (
        select coalesce(jsonb_agg(jsonb_build_object('name', s.name, 'source', s.source,
          'version', s.version, 'sha256', s.sha256) order by s.loaded_at, s.name), '[]')
        from public.turn_skills s where s.turn_id = t.id))
    || public.delivery_of_turn(t)
  from public.turns t
  where t.run_id = p_run_id and t.account_id = p_account_id
$$;
comment on function public.get_run is 'A run of the account as run_row with its output, its verdicts, what it waits for, the skills it has loaded, and what became of its result; null when it has no such run.';

create function public.list_runs(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid,
  p_status text, p_kind text, p_chat_id uuid, p_artist_id uuid, p_since timestamptz,
  p_skill text default null
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_page jsonb;
begin
  -- Planned for the given filters, each of which has its index.
  execute format($query$
    select to_jsonb(array(
      select public.run_with_usage(t)
      from public.turns t %s
      where t.account_id = $1 and t.run_id is not null
        and (t.created_at, t.id) < ($3, $4)
        and ($5 is null or t.status = replace($5, 'requires_action', 'running'))
        and ($5 is null or t.status <> 'running'
          or public.is_waiting(t.id) = ($5 = 'requires_action'))
        and ($6 is null or t.kind = $6)
        and ($7 is null or t.chat_id = $7)
        and ($8 is null or t.artist_id = $8)
        and ($9 is null or t.created_at >= $9)
      order by t.created_at desc, t.id desc
      limit $2 + 1))
  $query$, case when p_skill is not null then
    'join public.turn_skills k on k.turn_id = t.id and k.account_id = $1 and k.name = $10' end) into v_page using p_account_id, p_limit,
    p_after_at, p_after_id,
    p_status, p_kind, p_chat_id, p_artist_id, p_since, p_skill;
  return v_page;
end
$$;
comment on function public.list_runs is 'Runs of an account, newest first, of a status, a kind, a chat, an artist, since a time and with a loaded skill where these are given: a page of run_with_usage, with one more row if another page follows.';

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

create function public.run_steps(p_turn_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(public.trace_of_step(t, s.index, s.result, null) order by s.index), '[]')
    from public.turn_steps s join public.turns t on t.id = s.turn_id
    where s.turn_id = p_turn_id);
end
$$;
comment on function public.run_steps is 'The steps of a running turn, as its trace stores them.';

create function public.keep_run_trace() returns trigger
language plpgsql set search_path = '' as $$
begin
  insert into public.run_traces (turn_id, account_id, steps)
  select new.id, new.account_id, public.run_steps(new.id)
  where exists (select from public.turn_steps where turn_id = new.id)
  on conflict do nothing;
  return null;
end
$$;
comment on function public.keep_run_trace is 'Keeps the trace of a turn that ends, before its working rows are deleted.';
create trigger turns_keep_trace after update of finished_at on public.turns
for each row when (old.finished_at is null and new.finished_at is not null)
execute function public.keep_run_trace();

create function public.get_run_trace(p_account_id uuid, p_run_id text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'run', public.run_with_usage(t) || jsonb_build_object(
      'output', t.output,
      'verdicts', public.verdicts_of_turn(t),
      'required_action', public.required_action_of(t),
      'prompt', (
        select left(public.words_of_parts(m.parts), 10000) from public.messages m
        where m.chat_id = t.chat_id and m.id = t.message_id and m.role = 'user')),
    'steps', coalesce(
      (select r.steps from public.run_traces r where r.turn_id = t.id),
      public.run_steps(t.id)))
  from public.turns t
  where t.run_id = p_run_id and t.account_id = p_account_id
$$;
comment on function public.get_run_trace is 'A run with its prompt and its output, and its trace, which is empty when it has expired: {run, steps}. Null when the account has no such run.';

create function public.get_model_call(
  p_account_id uuid, p_run_id text, p_index integer, p_tool_call_id text, p_subagent_index integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_turn public.turns;
  v_steps jsonb;
begin
  select * into v_turn from public.turns where run_id = p_run_id and account_id = p_account_id;
  if not found then
    return null;
  end if;
  if p_tool_call_id is null then
    select coalesce(jsonb_agg(s.result order by s.index), '[]') into v_steps
    from public.turn_steps s where s.turn_id = v_turn.id and s.index <= p_index;
  else
    -- A call is recorded by the next step, under its index.
    select coalesce(jsonb_agg(s.result order by s.index), '[]') into v_steps
    from public.subagent_steps s
    where s.turn_id = v_turn.id and s.index <= p_subagent_index
      and s.tool_call_id = (p_index + 1) || ' ' || p_tool_call_id;
  end if;
  return jsonb_build_object(
    'turn', public.turn_state(v_turn) || jsonb_build_object(
      'history', case when p_tool_call_id is null
        then coalesce(v_turn.history, public.past_history(v_turn)) else '[]' end,
      'steering', (
        select coalesce(jsonb_agg(jsonb_build_object('step', s.step, 'id', s.message_id,
          'parts', coalesce(s.parts, p.value -> 'parts', '[]')) order by s.step, s.position), '[]')
        from public.steering_messages s
        left join public.messages a
          on a.chat_id = s.chat_id and a.id = v_turn.assistant_message_id
        left join lateral jsonb_array_elements(a.parts) p
          on p.value ->> 'type' = 'steering-message' and p.value ->> 'id' = s.message_id
        where s.turn_id = v_turn.id)),
    'steps', v_steps,
    'summary', (
      select c.state #>> '{summary,text}' from public.compactions c
      where c.chat_id = v_turn.chat_id
        and c.id = (v_steps #>> '{-1,request,compaction}')::bigint),
    'instructions', (
      select call.value #>> '{input,instructions}'
      from public.turn_steps s, jsonb_array_elements(s.result -> 'calls') call
      where s.turn_id = v_turn.id and s.index = p_index and call.value ->> 'id' = p_tool_call_id
      limit 1),
    'steps_since', (
      select count(*) from public.turns t join public.turn_steps s on s.turn_id = t.id
      where t.chat_id = v_turn.chat_id and t.assistant_message_id = v_turn.assistant_message_id
        and t.finished_at is not null and t.created_at >= v_turn.created_at));
end
$$;
comment on function public.get_model_call is 'What the request of a model call of a run is put together from: {turn, steps until the call, summary of its compaction, instructions of its subagent, steps_since}. steps_since counts the steps that the stored message of the answer has of this turn and later ones. With p_tool_call_id a call of the subagent that this call of the step has started. Null when the account has no such run.';

create function public.past_history(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    with recursive path as (
      select m.id, m.role, m.parts, m.facts, m.created_at, public.parent_of_message(m) as follows
      from public.messages m where m.chat_id = p_turn.chat_id and m.id = p_turn.message_id
      union all
      select m.id, m.role, m.parts, m.facts, m.created_at, public.parent_of_message(m)
      from path p join public.messages m on m.chat_id = p_turn.chat_id and m.id = p.follows
    )
    select coalesce(jsonb_agg(jsonb_build_object('id', p.id, 'role', p.role, 'parts', p.parts, 'facts', p.facts)
      order by p.created_at, p.id), '[]')
    from path p);
end
$$;
comment on function public.past_history is 'The stored messages up to and with the one that a turn has answered, whichever path the chat shows now: [{id, role, parts, facts}].';

create function public.run_of_turn(p_turn_id uuid) returns text
language sql stable set search_path = '' as $$
  select t.run_id from public.turns t where t.id = p_turn_id
$$;
comment on function public.run_of_turn is 'The run that executes the turn; null before its first step has started.';
