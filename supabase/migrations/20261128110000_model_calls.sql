-- The results of model calls are kept with the trace of their run, so that a model call can be read with its messages.

create function public.past_history(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    with recursive path as (
      select m.id, m.role, m.parts, m.created_at, public.parent_of_message(m) as follows
      from public.messages m where m.chat_id = p_turn.chat_id and m.id = p_turn.message_id
      union all
      select m.id, m.role, m.parts, m.created_at, public.parent_of_message(m)
      from path p join public.messages m on m.chat_id = p_turn.chat_id and m.id = p.follows
    )
    select coalesce(jsonb_agg(jsonb_build_object('id', p.id, 'role', p.role, 'parts', p.parts)
      order by p.created_at, p.id), '[]')
    from path p);
end
$$;
comment on function public.past_history is 'The stored messages up to and with the one that a turn has answered, whichever path the chat shows now: [{id, role, parts}].';

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

create or replace function public.close_turn(p_turn_id uuid, p_status text, p_error text) returns void
language plpgsql set search_path = '' as $$
begin
  update public.api_keys k set revoked_at = now()
  from public.turns t where t.id = p_turn_id and k.id = t.key_id and k.revoked_at is null;
  update public.turns set status = p_status, error = p_error, history = null, mcp_tools = null,
    finished_at = now()
  where id = p_turn_id and finished_at is null;
  update public.approvals set state = 'cancelled', answered_at = clock_timestamp()
  where turn_id = p_turn_id and state = 'requested' and category <> 'delivery';
  delete from public.tool_runs where turn_id = p_turn_id;
  update public.steering_messages set parts = null where turn_id = p_turn_id;
  -- Each turn leaves one dead key behind and clears away a few old ones.
  delete from public.api_keys where id in (
    select id from public.api_keys
    where scope = 'run' and revoked_at < now() - interval '1 day'
    order by revoked_at limit 10 for update skip locked);
end
$$;
comment on function public.close_turn is 'Ends a turn: revokes its credential and deletes its working rows.';

create or replace function public.sweep_run_traces(p_batch integer, p_days integer) returns bigint
language sql volatile set search_path = '' as $$
  with deleted as (
    delete from public.run_traces where turn_id in (
      select r.turn_id from public.run_traces r
      where r.created_at < clock_timestamp() - make_interval(days => p_days)
      limit p_batch for update skip locked)
    returning turn_id), steps as (
    delete from public.turn_steps where turn_id in (select turn_id from deleted)), of_subagents as (
    delete from public.subagent_steps where turn_id in (select turn_id from deleted))
  select count(*) from deleted
$$;
comment on function public.sweep_run_traces is 'Deletes at most p_batch traces that are older than p_days, with the results of their model calls, and returns their number.';

comment on table public.turn_steps is 'The results of the model calls of a turn, in the form that the next call is given. They are deleted with its trace.';
