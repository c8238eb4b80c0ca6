-- An account is told by webhook, once a month, that it has spent 80 % of its budget.

create function public.warn_of_budget() returns trigger
language plpgsql set search_path = '' as $$
declare
  v_budget constant numeric := (
    select a.monthly_budget_usd from public.accounts a where a.id = new.account_id);
begin
  if v_budget > 0 and new.cost_usd >= 0.8 * v_budget then
    update public.usage_months set warned_at = now()
    where account_id = new.account_id and month = new.month;
    perform public.enqueue_webhook_event(new.account_id, 'budget.warning', jsonb_build_object(
      'month', to_char(new.month, 'YYYY-MM'),
      'monthly_budget_usd', v_budget,
      'cost_usd', new.cost_usd));
  end if;
  return null;
end
$$;
comment on function public.warn_of_budget() is
  'Queues the event of an account that has spent 80 % of its budget.';

create trigger usage_months_warn after insert or update of cost_usd on public.usage_months
for each row when (new.warned_at is null) execute function public.warn_of_budget();
