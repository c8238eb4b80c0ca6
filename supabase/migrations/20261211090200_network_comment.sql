comment on column public.accounts.network is 'Which hosts the agents of the account may reach, as of networkPolicy in the code; null for every host.';
