-- A list of runs says for which artist each one works, as the trace of one run does.

create or replace function public.run_item_json(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select public.run_json(p_turn) || jsonb_build_object(
    'kind', coalesce(p_turn.kind, case when p_turn.headless then 'headless' else 'chat' end),
    'title', (select c.title from public.chats c where c.id = p_turn.chat_id),
    'artist_id', p_turn.artist_id,
    'model_id', p_turn.model_id,
    'usage', jsonb_build_object(
      'input_tokens', coalesce(sum(u.input_tokens), 0),
      'output_tokens', coalesce(sum(u.output_tokens), 0),
      'total_tokens', coalesce(sum(u.input_tokens + u.output_tokens), 0)),
    'cost_usd', sum(u.cost_usd),
    'duration_ms', public.duration_ms(p_turn.created_at, p_turn.finished_at))
  from public.usage_entries u
  where u.account_id = p_turn.account_id and u.source = p_turn.id::text
$$;
