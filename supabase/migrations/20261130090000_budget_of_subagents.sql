-- A subagent heeds a budget that was set since it started.
create or replace function public.complete_subagent_call(
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
  return jsonb_build_object('superseded', false, 'has_budget', public.has_budget(p_account_id));
end
$$;
comment on function public.complete_subagent_call is 'Records the result and the usage of a model call of a subagent: {superseded, has_budget}. Superseded, the turn is gone, has ended or was loaded again since this load, and only the usage is recorded.';
