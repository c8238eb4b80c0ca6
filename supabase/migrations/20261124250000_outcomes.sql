-- Runs with an outcome show the verdicts on their work, which are parts of the answer.

create function public.verdicts_of_turn(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(part.value -> 'data' order by part.ordinality), '[]')
  from public.messages m, jsonb_array_elements(m.parts) with ordinality as part
  where p_turn.options ? 'outcome' and m.chat_id = p_turn.chat_id
    and m.id = p_turn.assistant_message_id and part.value ->> 'type' = 'data-outcome'
    and part.value ->> 'id' like p_turn.id || '/%'
$$;
comment on function public.verdicts_of_turn is 'The verdicts on the work of a turn with an outcome, oldest first; none until its answer is stored.';

create or replace function public.get_run(p_account_id uuid, p_run_id text) returns jsonb
language sql stable set search_path = '' as $$
  select public.run_row(t)
    || jsonb_build_object('output', t.output, 'verdicts', public.verdicts_of_turn(t))
  from public.turns t
  where t.run_id = p_run_id and t.account_id = p_account_id
$$;
comment on function public.get_run is 'A run of the account as run_row with its output and verdicts; null when it has no such run.';

create or replace function public.get_run_trace(p_account_id uuid, p_run_id text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'run', public.run_with_usage(t) || jsonb_build_object(
      'output', t.output,
      'verdicts', public.verdicts_of_turn(t),
      'prompt', (
        select left(public.words_of_parts(m.parts), 10000) from public.messages m
        where m.chat_id = t.chat_id and m.id = t.message_id and m.role = 'user')),
    'steps', coalesce(
      (select r.steps from public.run_traces r where r.turn_id = t.id),
      public.run_steps(t.id)))
  from public.turns t
  where t.run_id = p_run_id and t.account_id = p_account_id
$$;

create or replace function public.enqueue_turn_event() returns trigger
language plpgsql set search_path = '' as $$
begin
  perform public.enqueue_webhook_event(new.account_id, 'run.' || new.status,
    jsonb_build_object(
      'run_id', new.run_id,
      'kind', new.kind,
      'status', new.status,
      'session_id', new.session_id,
      'chat_id', new.chat_id,
      'artist_id', new.artist_id,
      'created_at', public.iso_date(new.created_at),
      'finished_at', public.iso_date(new.finished_at))
      || case when new.output is null then '{}'
        else jsonb_build_object('output', new.output) end
      || case when new.options ? 'outcome'
        then jsonb_build_object('verdicts', public.verdicts_of_turn(new)) else '{}' end,
    new.webhook_url);
  return null;
end
$$;
comment on function public.enqueue_turn_event is 'Queues the event of a turn that ends, with its output and verdicts if it has any.';
