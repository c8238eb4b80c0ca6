-- Whether an account gets a mail when a run waits for a person.

alter table public.accounts add column mail_when_waiting boolean not null default false;
comment on column public.accounts.mail_when_waiting is 'Whether the account gets a mail when a run waits for a person.';
