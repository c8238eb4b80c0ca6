-- When a tool call started and ended, for the trace of its run.

alter table public.tool_runs add column started_at timestamptz, add column finished_at timestamptz;
alter table public.tool_runs alter column started_at set default clock_timestamp();

create or replace function public.finish_tool(p_turn_id uuid, p_call_id text, p_output jsonb)
returns jsonb
language sql set search_path = '' as $$
  update public.tool_runs set finished = true, output = p_output, finished_at = clock_timestamp()
  where turn_id = p_turn_id and tool_call_id = p_call_id;
  select '{}'::jsonb
$$;
