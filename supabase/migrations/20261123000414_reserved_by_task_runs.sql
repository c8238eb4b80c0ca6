alter table public.task_runs add column reserved_usd numeric;
comment on column public.task_runs.reserved_usd is
  'What the generation may still cost, while the run has a lease; null for nothing.';
