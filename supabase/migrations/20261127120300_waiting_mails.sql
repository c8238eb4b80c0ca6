-- Mails about runs that wait for a person.

drop function public.update_account(
  uuid, text, text, numeric, boolean, text, text[], jsonb, jsonb, boolean);

create or replace function public.get_account(p_account_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'account', jsonb_build_object(
      'id', a.id, 'kind', a.kind, 'email', a.email, 'name', a.name, 'image', a.image,
      'monthly_budget_usd', a.monthly_budget_usd,
      'allow_unpriced_models', a.allow_unpriced_models, 'approvals', a.approvals,
      'network', a.network, 'auto_accept_memory', a.auto_accept_memory,
      'mail_when_waiting', a.mail_when_waiting,
      'timezone', a.timezone, 'created_at', a.created_at),
    'organizations', coalesce((
      select jsonb_agg(public.organization_row(o, m.role)
        order by o.created_at desc, o.id desc)
      from public.organization_accounts m
      join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
      where m.account_id = a.id), '[]'))
  from public.accounts a where a.id = p_account_id
$$;
comment on function public.get_account is 'The account as its owner sees it, with its organizations: {account, organizations}.';

create function public.update_account(
  p_account_id uuid, p_name text, p_image text, p_monthly_budget_usd numeric,
  p_allow_unpriced_models boolean, p_timezone text, p_clear text[], p_approvals jsonb default null,
  p_network jsonb default null, p_auto_accept_memory boolean default null,
  p_mail_when_waiting boolean default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update public.accounts a
  set name = coalesce(p_name, a.name),
    image = case when 'image' = any (p_clear) then null else coalesce(p_image, a.image) end,
    monthly_budget_usd = case when 'monthly_budget_usd' = any (p_clear) then null
      else coalesce(p_monthly_budget_usd, a.monthly_budget_usd) end,
    allow_unpriced_models = coalesce(p_allow_unpriced_models, a.allow_unpriced_models),
    approvals = coalesce(p_approvals, a.approvals),
    auto_accept_memory = coalesce(p_auto_accept_memory, a.auto_accept_memory),
    mail_when_waiting = coalesce(p_mail_when_waiting, a.mail_when_waiting),
    timezone = case when 'timezone' = any (p_clear) then null
      else coalesce(p_timezone, a.timezone) end,
    network = case when 'network' = any (p_clear) then null
      else coalesce(p_network, a.network) end,
    updated_at = now()
  where a.id = p_account_id;
  return public.get_account(p_account_id);
end
$$;
comment on function public.update_account is 'Changes the fields that are not null and clears the columns of p_clear (image, monthly_budget_usd, network, timezone); answers as get_account.';

create function public.queue_waiting_mail(p_turn public.turns) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.deliveries (account_id, turn_id, run_id, kind, recipient, entry, due_at)
  select p_turn.account_id, p_turn.id, p_turn.run_id, 'waiting', a.email, '{}',
    -- Who is in the chat answers there.
    now() + case when p_turn.kind = 'chat' then interval '2 minutes' else interval '0' end
  from public.accounts a
  where a.id = p_turn.account_id and a.mail_when_waiting and a.email is not null
  on conflict (turn_id, kind, recipient) do update
  set status = 'pending', error = null, due_at = excluded.due_at, finished_at = null,
    retry_until = excluded.retry_until
  where deliveries.status = 'failed' and deliveries.sending_at is null
    and deliveries.error = 'The run no longer waits';
end
$$;
comment on function public.queue_waiting_mail is 'Queues a mail to the owner that a run waits for a person, if the account wants it: once for a run, but again if the mail was not sent because the run no longer waited.';

create or replace function public.suspend_turn(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_step integer, p_tool_calls jsonb,
  p_wait_seconds integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_wakes_at timestamptz := now() + make_interval(secs => p_wait_seconds);
begin
  select * into v_turn from public.turns
  where id = p_turn_id and account_id = p_account_id and finished_at is null for update;
  if not found or v_turn.loads <> p_load then
    return jsonb_build_object('superseded', true, 'webhooks_due', false);
  end if;
  insert into public.required_actions (turn_id, account_id, step, tool_calls, wakes_at)
  values (p_turn_id, p_account_id, p_step, p_tool_calls,
    case when v_turn.stop_requested_at is null
        and (p_tool_calls <> '[]' or public.open_approvals(p_turn_id) is not null)
      then v_wakes_at else now() end);
  -- The run has its usual time after the wait.
  update public.api_keys set expires_at = v_wakes_at + interval '1 day' where id = v_turn.key_id;
  perform public.enqueue_webhook_event(p_account_id, 'run.requires_action',
    public.turn_event(v_turn) || '{"status": "requires_action"}', v_turn.webhook_url);
  perform public.queue_waiting_mail(v_turn);
  return jsonb_build_object(
    'superseded', false, 'webhooks_due', public.has_due_webhooks(p_account_id));
end
$$;
comment on function public.suspend_turn is 'Lets a turn wait until its client has sent the results of the tool calls [{id, name, input}], or if there are none until its requests for approval are answered, for p_wait_seconds at most: {superseded, webhooks_due}. Superseded, the turn was loaded again since this load or has ended.';

create or replace function public.delivery_fault(p_delivery public.deliveries, p_max_a_day integer)
returns text
language sql stable set search_path = '' as $$
  select case
    when p_delivery.status = 'sending' then 'outcome unknown'
    when p_delivery.turn_id is null then 'The run was deleted'
    when p_delivery.kind = 'waiting' and not public.is_waiting(p_delivery.turn_id)
      then 'The run no longer waits'
    else coalesce(
      public.recipient_fault(p_delivery.account_id, p_delivery.recipient),
      case when p_max_a_day <= (
        select count(*) from public.deliveries d
        where d.account_id = p_delivery.account_id and d.sending_at > now() - interval '1 day')
      then 'The account has reached its limit of ' || p_max_a_day || ' mails a day' end) end
$$;
comment on function public.delivery_fault is 'Why a delivery can no longer be sent; null if it can.';

comment on column public.deliveries.kind is 'email for the result of a run; notice for a mail to the owner about a result that was withheld; waiting for one that the run waits for a person.';
alter table public.deliveries drop constraint deliveries_kind_check;
alter table public.deliveries add constraint deliveries_kind_check
  check (kind in ('email', 'notice', 'waiting')) not valid;
