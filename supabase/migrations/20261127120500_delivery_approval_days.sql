-- How long the delivery of a result waits for an approval, as APPROVAL_DAYS says.

drop function public.set_turn_deliver(uuid, uuid, jsonb);

create or replace function public.ask_delivery(p_turn public.turns) returns text
language plpgsql volatile set search_path = '' as $$
declare
  v_policy constant text :=
    coalesce(p_turn.options -> 'approvals' ->> 'delivery', public.default_policy('delivery'));
  v_to constant jsonb := (
    select jsonb_agg(recipient.value order by recipient.value)
    from jsonb_array_elements(p_turn.deliver -> 'entries') as entry,
      jsonb_array_elements_text(entry.value -> 'to') as recipient);
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
    jsonb_build_object('to', v_to), p_turn.untrusted, 0,
    now() + make_interval(days => coalesce((p_turn.deliver ->> 'approval_days')::integer, 7)),
    case when r.id is null then 'requested' else 'approved' end, r.id,
    case when r.id is not null then clock_timestamp() end
  from (select) one
  left join lateral (
    select r.id from public.approval_rules r
    where r.account_id = p_turn.account_id and r.tool = 'deliver'
      and r.fields = jsonb_build_object('to', v_to)
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

create function public.set_turn_deliver(
  p_account_id uuid, p_turn_id uuid, p_entries jsonb, p_approval_days integer default 7
) returns void
language sql volatile set search_path = '' as $$
  update public.turns set
    deliver = jsonb_build_object('entries', p_entries, 'approval_days', p_approval_days)
  where id = p_turn_id and account_id = p_account_id
$$;
comment on function public.set_turn_deliver is 'Sets who gets the result of a turn, and how long its delivery waits for an approval, before its run starts.';

comment on column public.turns.deliver is 'Who gets the result: {entries: [{kind, to, subject, attach, format}], approval_days}, null for no one. With state and reason once it is withheld, or its deliveries have expired.';
