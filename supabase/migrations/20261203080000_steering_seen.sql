-- A tool that ends also reports whether messages wait to steer its turn, so that most model calls need not ask.

create or replace function public.finish_tool(
  p_turn_id uuid, p_call_id text, p_output jsonb, p_account_id uuid default null,
  p_sources jsonb default null
) returns jsonb
language plpgsql set search_path = '' as $$
begin
  if p_sources is not null then
    perform public.mark_turn_untrusted(p_account_id, p_turn_id, p_sources);
  end if;
  update public.tool_runs r
  set finished = true, output = p_output, finished_at = clock_timestamp()
  from public.turns t
  where r.turn_id = p_turn_id and r.tool_call_id = p_call_id
    and t.id = r.turn_id and t.account_id = coalesce(p_account_id, t.account_id);
  -- A command may have met more by the API, and a budget may have been set since.
  return (
    select jsonb_build_object('untrusted', t.untrusted,
      'has_budget', a.monthly_budget_usd is not null,
      'has_steering', exists (
        select from public.queued_turns q where q.chat_id = t.chat_id and q.steers = t.id))
    from public.turns t join public.accounts a on a.id = t.account_id
    where t.id = p_turn_id and t.account_id = p_account_id);
end
$$;
comment on function public.finish_tool is 'Records the output of a tool call, and the untrusted content [{kind, name}] that it has, null for none. Returns {untrusted, has_budget} of the turn, and as has_steering whether messages wait to steer it. p_account_id is null from the version before.';
