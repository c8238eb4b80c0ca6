-- A process that was taken for dead starts no tool of a turn that another one has ended.
create or replace function public.complete_model_call(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_index integer, p_result jsonb,
  p_call_ids text[], p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_has_ended boolean;
begin
  -- Usage counts, even if another process has loaded or ended the turn since.
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('superseded', false, 'stop_requested', true, 'known_calls', '[]'::jsonb);
  end if;
  -- Locked, because the turn must not be loaded again before this is committed.
  select finished_at is not null into v_has_ended from public.turns
  where id = p_turn_id and loads = p_load for share;
  if v_has_ended is not false then
    return jsonb_build_object('superseded', v_has_ended is null,
      'stop_requested', v_has_ended is not null, 'known_calls', '[]'::jsonb);
  end if;
  -- Nothing of the turn is in flight: its tools have ended before the model call.
  update public.turns set reserved_usd = 0 where id = p_turn_id and reserved_usd > 0;
  insert into public.turn_steps (turn_id, index, result) values (p_turn_id, p_index, p_result)
  on conflict do nothing;
  return jsonb_build_object(
    'stop_requested', exists (
      select from public.turns where id = p_turn_id and stop_requested_at is not null),
    'known_calls', public.start_tools(p_turn_id, p_call_ids),
    'superseded', false,
    'has_budget', public.has_budget(p_account_id));
end
$$;
comment on function public.complete_model_call is 'Records the result and the usage of a model call, and the tool calls that start at once: {superseded, stop_requested, known_calls as of start_tools, has_budget}. Superseded, the turn was loaded again since this load, and only the usage is recorded, as for a turn that has ended and is to stop.';

create or replace function public.start_tools(p_turn_id uuid, p_call_ids text[]) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_fresh text[];
begin
  -- Locked, because the end of a turn removes what is recorded of its calls.
  perform from public.turns where id = p_turn_id and finished_at is null for share;
  if not found then
    return (
      select coalesce(jsonb_agg(jsonb_build_object('id', id, 'finished', false, 'output', null)), '[]')
      from unnest(p_call_ids) id);
  end if;
  with fresh as (
    insert into public.tool_runs (turn_id, tool_call_id)
    select p_turn_id, id from unnest(p_call_ids) id order by id
    on conflict do nothing returning tool_call_id)
  select coalesce(array_agg(tool_call_id), '{}') into v_fresh from fresh;
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', r.tool_call_id, 'finished', r.finished, 'output', r.output)), '[]')
    from public.tool_runs r
    where r.turn_id = p_turn_id and r.tool_call_id = any (p_call_ids)
      and r.tool_call_id <> all (v_fresh));
end
$$;
comment on function public.start_tools is 'Records tool calls before they start, and returns the ones recorded earlier, which must not run again: [{id, finished, output}]. All are returned for a turn that has ended: none may start.';
