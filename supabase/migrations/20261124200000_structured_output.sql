-- Headless runs may have a JSON Schema for their output. finish_turn gets an argument with a default, so servers
-- of the version before call it as they did.

alter table public.turns add column output_schema text, add column output jsonb;
comment on column public.turns.output_schema is 'The JSON Schema of the output, null for a turn without one. As text, because models write the fields in the order of the schema, which jsonb does not keep.';
comment on column public.turns.output is 'The output that the model has submitted, valid under output_schema. Written by finish_turn only, in the transaction that completes the turn; null for none, which JSON null is not.';

drop function public.finish_turn(
  uuid, uuid, integer, text, text, jsonb, jsonb, integer, jsonb, jsonb);

create function public.set_turn_output_schema(p_account_id uuid, p_turn_id uuid, p_schema text)
returns void
language sql volatile set search_path = '' as $$
  update public.turns set output_schema = p_schema
  where id = p_turn_id and account_id = p_account_id
$$;
comment on function public.set_turn_output_schema is 'Sets the JSON Schema of the output of a headless run, before the run starts.';

create function public.finish_turn(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_status text, p_error text, p_parts jsonb,
  p_metadata jsonb, p_index integer, p_step jsonb, p_usage jsonb, p_output jsonb default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_finishes boolean;
begin
  perform from public.accounts where id = p_account_id for key share;
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns
  where id = p_turn_id and account_id = p_account_id for update;

  -- Usage counts, even if another process has loaded the turn since.
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('superseded', false, 'finished', false, 'webhooks_due', false);
  end if;
  if v_turn.loads <> p_load then
    return jsonb_build_object('superseded', true, 'finished', false, 'webhooks_due', false);
  end if;

  v_finishes := v_turn.finished_at is null;
  if v_finishes then
    -- For the trace, which a trigger keeps before close_turn deletes the steps.
    insert into public.turn_steps (turn_id, index, result)
    select p_turn_id, p_index, p_step where p_step is not null
    on conflict do nothing;
    insert into public.messages (chat_id, id, role, parts, metadata, parent_id)
    values (v_turn.chat_id, v_turn.assistant_message_id, 'assistant', p_parts, p_metadata,
      public.leaf_of_chat(v_turn.chat_id))
    on conflict (chat_id, id) do update set parts = excluded.parts, metadata = excluded.metadata
    where messages.role = 'assistant';
    update public.chats set active_stream_id = null, claimed_at = null,
      last_assistant_message_at = now(), updated_at = now()
    where id = v_turn.chat_id
      and active_stream_id in (v_turn.run_id, 'pending:' || p_turn_id);
    -- Before the turn is closed, because a trigger then queues the event that has it.
    if p_status = 'completed' and p_output is not null then
      update public.turns set output = p_output -> 'value' where id = p_turn_id;
    end if;
    perform public.close_turn(p_turn_id, p_status, p_error);
  end if;
  return jsonb_build_object(
    'superseded', false,
    'finished', v_finishes,
    'webhooks_due', public.has_due_webhooks(p_account_id),
    'awaited_chat_id', (
      select q.chat_id from public.queued_turns q where q.chat_id = v_turn.chat_id limit 1));
end
$$;
comment on function public.finish_turn is 'Stores the assistant''s message with the last step (null if it made no model call) and its usage, and the output {value} of a completed turn (null for none), releases the claim and closes the turn: {superseded, finished, webhooks_due, awaited_chat_id}. awaited_chat_id is the chat if messages wait in it. It is safe to repeat. Superseded, the turn was loaded again since this load, and only the usage is recorded.';

create or replace function public.turn_state(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'load', p_turn.loads,
    'account_id', p_turn.account_id,
    'session_id', p_turn.session_id,
    'chat_id', p_turn.chat_id,
    'message_id', p_turn.message_id,
    'assistant_message_id', p_turn.assistant_message_id,
    'model_id', p_turn.model_id,
    'instructions', p_turn.instructions,
    'context_limit', p_turn.context_limit,
    'headless', p_turn.headless,
    'has_key', p_turn.key_id is not null,
    'has_budget', public.has_budget(p_turn.account_id),
    'created_at', public.iso_date(p_turn.created_at),
    'stop_requested', p_turn.stop_requested_at is not null,
    'artist_id', s.artist_id,
    'compaction', public.compaction_of_turn(p_turn),
    'output_schema', p_turn.output_schema,
    'sandbox_state', s.sandbox_state)
  from public.sessions s where s.id = p_turn.session_id
$$;
comment on function public.turn_state is 'A turn as its run continues with it, without its history and steps.';

create or replace function public.get_run(p_account_id uuid, p_run_id text) returns jsonb
language sql stable set search_path = '' as $$
  select public.run_row(t) || jsonb_build_object('output', t.output) from public.turns t
  where t.run_id = p_run_id and t.account_id = p_account_id
$$;
comment on function public.get_run is 'A run of the account as run_row with its output; null when it has no such run.';

create or replace function public.get_run_trace(p_account_id uuid, p_run_id text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'run', public.run_with_usage(t) || jsonb_build_object(
      'output', t.output,
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
        else jsonb_build_object('output', new.output) end,
    new.webhook_url);
  return null;
end
$$;
comment on function public.enqueue_turn_event is 'Queues the event of a turn that ends, with its output if it has one.';

comment on function public.enqueue_webhook_event is 'Queues an event for the webhooks of an account that want it, and for p_webhook_url: once, through the webhook that has this URL, if there is one. To be called in the transaction that makes the event true. p_data has ids and states, and no content but the output of a run with a schema.';
comment on table public.webhook_deliveries is 'Events to deliver, and the log of delivered ones. Their data are ids and states, and the output of a run with a schema.';
