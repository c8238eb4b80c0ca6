-- The result of a model call and the start of its tool calls are recorded in one round trip.
-- `complete_step` stays for processes of the version before.

create function public.complete_model_call(
  p_turn_id uuid, p_index integer, p_result jsonb, p_call_ids text[]) returns jsonb
language plpgsql set search_path = '' as $$
begin
  return public.complete_step(p_turn_id, p_index, p_result)
    || jsonb_build_object('known_calls', public.start_tools(p_turn_id, p_call_ids));
end
$$;

comment on function public.complete_model_call is
  'Records the result of a model call, and the tool calls that start at once: {stop_requested, known_calls as of start_tools}.';
