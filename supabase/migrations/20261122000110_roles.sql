-- What a person may do in an organization, and what an account lets its turns cost in a month.

alter table public.organization_accounts add column role text not null default 'member';
alter table public.organization_accounts
  add constraint organization_accounts_role check (role in ('owner', 'member')) not valid;
comment on column public.organization_accounts.role is
  'What a person may do in the organization: owner or member. It has no meaning for artists and workspaces.';

alter table public.accounts add column monthly_budget_usd numeric;
alter table public.accounts
  add constraint accounts_monthly_budget check (monthly_budget_usd >= 0) not valid;
comment on column public.accounts.monthly_budget_usd is
  'What the turns of a calendar month may cost in US dollars; null for no budget.';
