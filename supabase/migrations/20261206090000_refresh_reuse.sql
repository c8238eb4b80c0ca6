-- A turn whose key or artist was lost does not continue: not by an approval, and not by a process that loads it.

create function public.stop_without_authority(p_turn public.turns) returns public.turns
language plpgsql volatile set search_path = '' as $$
begin
  if p_turn.stop_requested_at is null and not public.has_turn_authority(p_turn) then
    update public.turns set stop_requested_at = now() where id = p_turn.id returning * into p_turn;
  end if;
  return p_turn;
end
$$;
comment on function public.stop_without_authority is 'Asks an unfinished turn to stop if its authority has ended, and returns it. The caller holds its lock.';

create or replace function public.load_turn(
  p_turn_id uuid, p_run_id text, p_has_history boolean default false, p_ends boolean default false
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns where id = p_turn_id for update;
  if not found then
    return jsonb_build_object('outcome', 'lost');
  elsif v_turn.run_id <> p_run_id then
    return jsonb_build_object('outcome', 'lost', 'has_other_run', true);
  end if;
  if v_turn.finished_at is not null then
    return jsonb_build_object(
      'outcome', case when v_turn.run_id is null then 'lost' else 'finished' end,
      'error', v_turn.error,
      'metadata', (select m.metadata from public.messages m
        where m.chat_id = v_turn.chat_id and m.id = v_turn.assistant_message_id));
  end if;
  -- Nothing watches the key of a turn while it waits, or has no process.
  v_turn := public.stop_without_authority(v_turn);
  -- A turn that has not begun waits for nothing.
  if v_turn.status <> 'queued' then
    if public.is_waiting(p_turn_id) and not p_ends then
      return jsonb_build_object('outcome', 'waiting');
    end if;
    with woken as (delete from public.required_actions where turn_id = p_turn_id returning *)
    insert into public.tool_runs (turn_id, tool_call_id, finished, output, finished_at)
    select p_turn_id, w.step || ' ' || (c.value ->> 'id'), true,
      '{"value": {"error": "The client has sent no result in time"}}', clock_timestamp()
    from woken w, jsonb_array_elements(w.tool_calls) c
    where v_turn.stop_requested_at is null
    on conflict do nothing;
  end if;

  update public.chats set active_stream_id = p_run_id
  where id = v_turn.chat_id and active_stream_id in ('pending:' || p_turn_id, p_run_id);
  if not found then
    return jsonb_build_object('outcome', 'lost');
  end if;
  -- A headless turn knows its run before the run starts.
  if v_turn.status = 'queued' then
    v_turn := public.begin_turn(public.prepare_turn(v_turn), p_run_id);
  else
    update public.turns set loads = loads + 1, lost_usd = lost_usd + reserved_usd, reserved_usd = 0
    where id = p_turn_id returning * into v_turn;
  end if;

  return public.turn_state(v_turn) || jsonb_build_object(
    'outcome', 'active',
    'has_asked', v_turn.loads > 1
      and exists (select from public.approvals a where a.turn_id = p_turn_id),
    'history', public.history_of_turn(v_turn),
    'steps', (
      select coalesce(jsonb_agg(s.result order by s.index), '[]')
      from public.turn_steps s where s.turn_id = p_turn_id));
end
$$;
comment on function public.load_turn is 'Turns a claim into the run''s and answers all that the run continues with, at its start and after each crash: {outcome: lost (has_other_run) | finished | waiting | active, …}. The turn of another run has that run''s log, which the caller must leave alone. A turn that waits for its client is waiting, unless it is loaded to be ended (p_ends). p_has_history has no effect; servers of the version before name it.';

create or replace function public.begin_claimed_turn(p_turn_id uuid, p_run_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns
  where id = p_turn_id and coalesce(run_id, p_run_id) = p_run_id and status = 'queued'
    and finished_at is null
  for update;
  if not found then
    return null;
  end if;
  update public.chats set active_stream_id = p_run_id
  where id = v_turn.chat_id and active_stream_id in ('pending:' || p_turn_id, p_run_id);
  if not found then
    return null;
  end if;
  v_turn := public.begin_turn(public.stop_without_authority(v_turn), p_run_id);
  return jsonb_build_object('load', v_turn.loads,
    'stop_requested', v_turn.stop_requested_at is not null);
end
$$;
comment on function public.begin_claimed_turn is 'Turns a claim that has answered with its turn into the run''s: {load, stop_requested}. Null if the turn does not begin with this: it is to be loaded.';

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
    'stop_requested', public.turns_to_stop(array[p_turn_id]) <> '{}',
    'known_calls', public.start_tools(p_turn_id, p_call_ids),
    'superseded', false,
    'has_budget', public.has_budget(p_account_id));
end
$$;
comment on function public.complete_model_call is 'Records the result and the usage of a model call, and the tool calls that start at once: {superseded, stop_requested, known_calls as of start_tools, has_budget}. Superseded, the turn was loaded again since this load, and only the usage is recorded, as for a turn that has ended and is to stop.';

create or replace function public.answer_approvals(
  p_account_id uuid, p_run_id text, p_chat_id uuid, p_answers jsonb, p_answered_by uuid,
  p_answered_key_id uuid, p_max_active integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_answer record;
  v_approval public.approvals;
  v_task_id uuid;
  v_resume_index integer;
begin
  -- The account first, as everywhere: the active turns are counted.
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  select t.* into v_turn
  from public.approvals a join public.turns t on t.id = a.turn_id
  where a.id = (p_answers -> 0 ->> 'id')::uuid and a.account_id = p_account_id
    and (p_run_id is null or t.run_id = p_run_id) and (p_chat_id is null or t.chat_id = p_chat_id)
  for update of t;
  if not found then
    return jsonb_build_object('outcome', 'missing');
  end if;
  select f.task_id into v_task_id from public.scheduled_firings f
  where f.id = v_turn.effect_id and f.account_id = p_account_id;
  for v_answer in
    select a.id, a.approved, a.reason, a.remember
    from jsonb_to_recordset(p_answers) as a (id uuid, approved boolean, reason text, remember text)
  loop
    select * into v_approval from public.approvals a
    where a.id = v_answer.id and a.turn_id = v_turn.id for update;
    if not found then
      raise exception using errcode = 'PT403', message = 'missing';
    end if;
    v_resume_index := v_approval.resume_index;
    if v_answer.remember = 'task' and v_task_id is null then
      raise exception using errcode = 'PT403', message = 'no_task';
    end if;
    if v_answer.remember is not null and not v_approval.is_memorable then
      raise exception using errcode = 'PT403', message = 'not_memorable';
    end if;
    if v_approval.state = 'requested' and v_approval.expires_at > now() then
      if v_answer.approved and not public.has_turn_authority(v_turn) then
        raise exception using errcode = 'PT403', message = 'authority_ended';
      end if;
      update public.approvals a
      set state = case when v_answer.approved then 'approved' else 'denied' end,
        reason = v_answer.reason, answered_at = clock_timestamp(), answered_by = p_answered_by,
        answered_key_id = p_answered_key_id
      where a.id = v_answer.id;
      if v_approval.category = 'delivery' then
        update public.turns set deliver = case
            when v_answer.approved then deliver - array['state', 'reason']
            else deliver || '{"reason": "A person has denied it"}' end
        where id = v_turn.id returning * into v_turn;
        if v_answer.approved then
          perform public.send_results(v_turn);
        end if;
      end if;
      if v_answer.approved and v_answer.remember is not null then
        insert into public.approval_rules (account_id, chat_id, task_id, tool, fields, approval_id)
        values (p_account_id, case when v_answer.remember = 'chat' then v_turn.chat_id end,
          case when v_answer.remember = 'task' then v_task_id end, v_approval.tool,
          v_approval.fields, v_approval.id);
      end if;
    elsif (v_approval.state = 'approved') <> v_answer.approved
      or v_approval.state not in ('approved', 'denied')
    then
      raise exception using errcode = 'PT403', message = case
        when v_approval.state in ('approved', 'denied') then 'answered' else 'over' end;
    end if;
  end loop;
  if public.open_approvals(v_turn.id) is null and exists (
    select from public.required_actions a where a.turn_id = v_turn.id and a.wakes_at > now()
      and jsonb_array_length(a.tool_calls) = 0)
  then
    if p_max_active > 0 and public.count_active_turns(p_account_id) >= p_max_active then
      raise exception using errcode = 'PT403', message = 'too_many_turns';
    end if;
    update public.required_actions set wakes_at = now() where turn_id = v_turn.id;
  end if;
  return jsonb_build_object('outcome', 'recorded', 'turn_id', v_turn.id, 'run_id', v_turn.run_id,
    'resume_index', v_resume_index);
exception when sqlstate 'PT403' then
  -- Nothing has changed.
  if sqlerrm = 'authority_ended' then
    update public.turns set stop_requested_at = now()
    where id = v_turn.id and finished_at is null and stop_requested_at is null;
    -- Servers of the version before know this outcome.
    return jsonb_build_object('outcome', 'over', 'stopped_turn_id', v_turn.id);
  end if;
  return jsonb_build_object('outcome', sqlerrm);
end
$$;
comment on function public.answer_approvals is 'Records answers [{id, approved, reason, remember: chat | task}] to requests of one turn, all or none, and lets it continue after the last one: {outcome: recorded (turn_id, run_id, resume_index) | missing | answered, otherwise | over, because it has expired or its turn has ended, or stopped (stopped_turn_id), because its authority has ended | no_task | not_memorable | too_many_turns}. The same answer may be repeated. A limit of 0 is none.';
