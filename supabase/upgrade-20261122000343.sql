-- Changes the tables of an installation whose newest migration is 20261122000343 into the tables of the
-- baseline, and drops its triggers and functions. scripts/embedded/upgrade-history.ts creates the types of
-- the baseline before, and its triggers, functions and comments after it, and compares the result.
set local check_function_bodies = off;

alter table public.accounts rename constraint accounts_monthly_budget to accounts_monthly_budget_usd_check;
alter table public.accounts
  validate constraint accounts_monthly_budget_usd_check,
  add column allow_unpriced_models boolean not null default false;
alter table public.organization_accounts
  rename constraint organization_accounts_role to organization_accounts_role_check;
alter table public.organization_accounts validate constraint organization_accounts_role_check;
alter table public.task_runs
  rename constraint task_runs_idempotency_key_length to task_runs_idempotency_key_check;
alter table public.task_runs add column reserved_usd numeric;
alter table public.connections add column started_by uuid, add column key_id uuid;
alter table public.chats add column message_bytes bigint not null default 0;
alter table public.messages
  add column sent_digest text,
  add column bytes integer not null default 0;

alter table public.queued_turns rename column claim to old_claim;
alter table public.queued_turns
  add column bytes integer not null default 0,
  add column claim public.turn_claim check ((claim).credential in ('key', 'bearer'));
update public.queued_turns q
set claim = jsonb_populate_record(null::public.turn_claim, q.old_claim || to_jsonb(q));
alter table public.queued_turns
  alter column claim set not null,
  drop column old_claim,
  drop column credential;

update public.turns t
set kind = case when t.headless then 'headless' else 'chat' end,
  artist_id = (select s.artist_id from public.sessions s where s.id = t.session_id)
where t.kind is null;
drop index public.turns_without_kind, public.messages_with_files, public.task_runs_made_videos;
alter table public.turns rename constraint turns_kind_known to turns_kind_check;
alter table public.turns
  validate constraint turns_kind_check,
  alter column kind set not null,
  add column reserved_usd numeric not null default 0,
  add column reserved_until timestamptz;

create table public.deleted_identities (
  hash text primary key,
  deleted_at timestamptz not null
);
create index deleted_identities_age on public.deleted_identities (deleted_at);
alter table public.deleted_identities enable row level security;

create table public.connector_links (
  account_id uuid not null references public.accounts (id) on delete cascade,
  connection_id text not null,
  started_by uuid not null,
  key_id uuid,
  created_at timestamptz not null default now(),
  primary key (account_id, connection_id)
);
alter table public.connector_links enable row level security;

-- Steps that were stored before usage was checked.
update public.run_traces set steps = (
  select jsonb_agg(s.step || jsonb_build_object(
    'usage', jsonb_build_object('input_tokens', t.input, 'output_tokens', t.output,
      'total_tokens', t.input + t.output),
    'cost_usd', case when (s.step ->> 'cost_usd')::numeric between 0 and 1000000
      then s.step -> 'cost_usd' end) order by s.place)
  from jsonb_array_elements(steps) with ordinality as s (step, place)
  cross join lateral (
    select least(greatest(round((s.step #>> '{usage,input_tokens}')::numeric), 0), 100000000) as input,
      least(greatest(round((s.step #>> '{usage,output_tokens}')::numeric), 0), 100000000) as output) t)
where steps <> '[]';

create table public.message_usage (
  account_id uuid primary key references public.accounts (id) on delete cascade,
  bytes bigint not null default 0 check (bytes >= 0)
);
alter table public.message_usage enable row level security;

do $$
declare
  v_trigger record;
  v_function regprocedure;
begin
  for v_trigger in
    select t.tgname, t.tgrelid::regclass as table_name from pg_trigger t
    join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = 'public'::regnamespace and not t.tgisinternal
  loop
    execute format('drop trigger %I on %s', v_trigger.tgname, v_trigger.table_name);
  end loop;
  -- Indexes need the others.
  for v_function in
    select p.oid::regprocedure from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and not exists (select from pg_depend d where d.refclassid = 'pg_proc'::regclass and d.refobjid = p.oid)
  loop
    execute format('drop function %s', v_function);
  end loop;
end
$$;

drop domain public."text/plain";
