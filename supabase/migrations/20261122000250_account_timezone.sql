-- The time zone in which an account reads times and plans its schedules.

alter table public.accounts add column timezone text;
comment on column public.accounts.timezone is
  'An IANA time zone; null until the account has chosen one.';
