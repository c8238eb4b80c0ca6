-- A remembered approval covers inputs that are equal but for their texts, and no destructive calls.

create or replace function public.ask_approvals(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_calls jsonb, p_request_index integer,
  p_days integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_task_id uuid;
begin
  select * into v_turn from public.turns
  where id = p_turn_id and account_id = p_account_id and finished_at is null for update;
  if not found or v_turn.loads <> p_load then
    return jsonb_build_object('superseded', true);
  end if;
  select f.task_id into v_task_id from public.scheduled_firings f
  where f.id = v_turn.effect_id and f.account_id = p_account_id;
  update public.approvals a set state = 'expired', answered_at = clock_timestamp()
  where a.turn_id = p_turn_id and a.state = 'requested' and a.expires_at <= now();
  insert into public.approvals (id, account_id, turn_id, call_id, tool_call_id, tool, category,
    input, effect, fields, is_memorable, sources, resume_index, expires_at, state, rule_id,
    answered_at)
  select c.id, p_account_id, p_turn_id, c.call_id, c.tool_call_id, c.tool, c.category, c.input,
    c.effect, c.fields, coalesce(c.is_memorable, true), v_turn.untrusted,
    p_request_index + count(*) filter (where r.id is null) over (),
    now() + make_interval(days => p_days),
    case when r.id is null then 'requested' else 'approved' end, r.id,
    case when r.id is not null then clock_timestamp() end
  from rows from (jsonb_to_recordset(p_calls) as (id uuid, call_id text, tool_call_id text,
    tool text, category text, input jsonb, effect jsonb, fields jsonb, is_memorable boolean))
    with ordinality
    as c (id, call_id, tool_call_id, tool, category, input, effect, fields, is_memorable, place)
  left join lateral (
    select r.id from public.approval_rules r
    where r.account_id = p_account_id and (r.chat_id = v_turn.chat_id or r.task_id = v_task_id)
      and r.tool = c.tool and r.fields = c.fields and c.is_memorable is not false
    order by r.created_at limit 1) r on true
  -- A call that has started was allowed, even if its turn has become untrusted since.
  where not exists (
    select from public.tool_runs u where u.turn_id = p_turn_id and u.tool_call_id = c.call_id)
  order by c.place
  on conflict (turn_id, call_id) do nothing;
  -- An approved call that has not started is denied if its policy has become so since.
  update public.approvals a set state = 'denied', reason = 'Its policy denies it now'
  where a.turn_id = p_turn_id and a.state = 'approved'
    and exists (
      select from jsonb_array_elements(p_calls) c,
        jsonb_array_elements_text(
          coalesce(c.value -> 'categories', jsonb_build_array(a.category))) k
      where c.value ->> 'call_id' = a.call_id
        and public.chat_options(p_account_id, v_turn.chat_id) -> 'approvals' ->> k.value = 'deny')
    and not exists (
      select from public.tool_runs u where u.turn_id = p_turn_id and u.tool_call_id = a.call_id);
  return jsonb_build_object('superseded', false, 'decisions', (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', a.id, 'call_id', a.call_id, 'state', a.state, 'reason', a.reason)), '[]')
    from public.approvals a
    where a.turn_id = p_turn_id
      and a.call_id in (select c.value ->> 'call_id' from jsonb_array_elements(p_calls) c)));
end
$$;
comment on function public.ask_approvals is 'Asks for calls [{id, call_id, tool_call_id, tool, category, categories, input, effect, fields, is_memorable}] of a turn, each once, unless it has started or a remembered approval applies, and answers how each that was asked for stands: {superseded, decisions: [{id, call_id, state, reason}]}. p_request_index is the index of the chunk of the first request.';

create or replace function public.ask_delivery(p_turn public.turns) returns text
language plpgsql volatile set search_path = '' as $$
declare
  v_policy constant text :=
    coalesce(p_turn.options -> 'approvals' ->> 'delivery', public.default_policy('delivery'));
  v_to constant jsonb := (
    select jsonb_agg(recipient.value order by recipient.value)
    from jsonb_array_elements(p_turn.deliver -> 'entries') as entry,
      jsonb_array_elements_text(entry.value -> 'to') as recipient);
  -- All but the subject: other attachments are another effect.
  v_fields constant jsonb := jsonb_build_object('entries', (
    select jsonb_agg(
      e.value || case when e.value ? 'subject' then '{"subject": null}' else '{}' end::jsonb
      order by e.ordinality)
    from jsonb_array_elements(p_turn.deliver -> 'entries') with ordinality e));
  v_state text;
begin
  if v_policy = 'deny' then
    return 'The policy of the account denies it (approvals.delivery)';
  end if;
  if v_policy = 'auto' or (v_policy = 'ask_when_untrusted' and p_turn.untrusted = '[]') then
    return null;
  end if;
  insert into public.approvals (id, account_id, turn_id, call_id, tool_call_id, tool, category,
    input, effect, fields, sources, resume_index, expires_at, state, rule_id, answered_at)
  select gen_random_uuid(), p_turn.account_id, p_turn.id, 'deliver', 'deliver', 'deliver',
    'delivery', p_turn.deliver -> 'entries',
    jsonb_build_array(jsonb_build_object('label', 'Mail to', 'value',
      array_to_string(array(select jsonb_array_elements_text(v_to)), ', '))),
    v_fields, p_turn.untrusted, 0,
    now() + make_interval(days => coalesce((p_turn.deliver ->> 'approval_days')::integer, 7)),
    case when r.id is null then 'requested' else 'approved' end, r.id,
    case when r.id is not null then clock_timestamp() end
  from (select) one
  left join lateral (
    select r.id from public.approval_rules r
    where r.account_id = p_turn.account_id and r.tool = 'deliver'
      and r.fields = v_fields
      and (r.chat_id = p_turn.chat_id or r.task_id = (
        select f.task_id from public.scheduled_firings f
        where f.id = p_turn.effect_id and f.account_id = p_turn.account_id))
    order by r.created_at limit 1) r on true
  on conflict (turn_id, call_id) do nothing
  returning state into v_state;
  return case when v_state = 'requested' then 'It waits for an approval' end;
end
$$;
comment on function public.ask_delivery is 'Why the result of a completed turn is not mailed, because of a policy or until it is approved; null if it is.';

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
  return jsonb_build_object('outcome', sqlerrm);
end
$$;
comment on function public.answer_approvals is 'Records answers [{id, approved, reason, remember: chat | task}] to requests of one turn, all or none, and lets it continue after the last one: {outcome: recorded (turn_id, run_id, resume_index) | missing | answered, otherwise | over, because it has expired or its turn has ended | no_task | not_memorable | too_many_turns}. The same answer may be repeated. A limit of 0 is none.';

create or replace function public.open_approvals(p_turn_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_agg(jsonb_build_object('id', a.id, 'tool_call_id', a.tool_call_id, 'tool', a.tool,
      'category', a.category, 'input', a.input, 'effect', a.effect, 'sources', a.sources,
      'is_memorable', a.is_memorable, 'expires_at', public.iso_date(a.expires_at)) order by a.requested_at, a.id)
    from public.approvals a
    where a.turn_id = p_turn_id and a.state = 'requested' and a.expires_at > now());
end
$$;
comment on function public.open_approvals is 'The calls of a turn that wait for an answer; null for none.';

comment on column public.approvals.fields is 'The fields in which a call must be equal for a remembered approval to apply: all of its input but the texts, such as the body of a mail.';

alter table public.approvals add column is_memorable boolean not null default true;
comment on column public.approvals.is_memorable is 'False for a call that is asked for each time, such as a destructive one.';
