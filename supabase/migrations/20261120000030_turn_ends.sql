-- The key of a turn's sandbox dies with the turn, also when the turn goes with its chat or session
-- before it has ended.
create function public.drop_key_of_turn() returns trigger
language plpgsql set search_path = '' as $$
begin
  delete from public.api_keys where id = old.key_id and scope = 'run';
  return null;
end
$$;

create trigger turns_drop_key after delete on public.turns
for each row when (old.key_id is not null) execute function public.drop_key_of_turn();

-- As before, and exact when two processes record the same calls at once, as when one of them was
-- taken for dead: only the one whose row was inserted may run a call.
create or replace function public.start_tools(p_turn_id uuid, p_call_ids text[]) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_fresh text[];
begin
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
