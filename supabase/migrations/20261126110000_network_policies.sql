-- The network policies of accounts, templates, chats and runs.
set check_function_bodies = off;
alter table public.accounts add column network jsonb;
comment on column public.accounts.network is 'Which hosts the agents of the account may reach, as of networkPolicy in lib/contract/network-policy.ts; null for every host.';
