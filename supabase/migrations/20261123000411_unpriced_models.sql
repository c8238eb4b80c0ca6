-- False, because who sets a budget expects it to hold.
alter table public.accounts add column allow_unpriced_models boolean not null default false;
comment on column public.accounts.allow_unpriced_models is
  'Whether the account uses models without a known price although it has a budget, which cannot count them.';
