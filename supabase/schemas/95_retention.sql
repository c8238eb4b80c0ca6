-- Background jobs, and the deletion of expired rows.

create table public.background_jobs (
  name text primary key,
  holder uuid,
  lease_until timestamptz,
  finished_at timestamptz
);
comment on table public.background_jobs is 'Who does a recurring job now, until when, and when it was last finished.';

create function public.take_job(
  p_name text, p_holder uuid, p_lease_seconds integer, p_interval_seconds integer
) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.background_jobs (name) values (p_name) on conflict (name) do nothing;
  update public.background_jobs
  set holder = p_holder, lease_until = clock_timestamp() + make_interval(secs => p_lease_seconds)
  where name = p_name
    and coalesce(lease_until, '-infinity') < clock_timestamp()
    and coalesce(finished_at, '-infinity')
      <= clock_timestamp() - make_interval(secs => p_interval_seconds);
  return found;
end
$$;
comment on function public.take_job is 'Leases a job that is due and that nobody does; false otherwise.';

create function public.end_job(p_name text, p_holder uuid) returns void
language sql volatile set search_path = '' as $$
  update public.background_jobs
  set holder = null, lease_until = null, finished_at = clock_timestamp()
  where name = p_name and holder = p_holder
$$;
comment on function public.end_job is 'Ends a lease: the job is due again after its interval. Without effect for a holder that has lost it.';

create function public.sweep_rows(
  p_batch integer, p_input_days integer, p_connection_days integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_keys integer;
  v_codes integer;
  v_buckets integer;
  v_connections integer;
  v_run_keys integer;
  v_inputs integer;
  v_accounts uuid[];
begin
  delete from public.idempotency_keys where (account_id, key_hash) in (
    select k.account_id, k.key_hash from public.idempotency_keys k
    where k.created_at < now() - interval '24 hours'
      and coalesce(k.lease_until, '-infinity') < now()
    limit p_batch for update skip locked);
  get diagnostics v_keys = row_count;
  delete from public.signup_codes where email in (
    select c.email from public.signup_codes c
    where c.expires_at < now() - interval '1 hour'
    limit p_batch for update skip locked);
  get diagnostics v_codes = row_count;
  delete from public.rate_limits where bucket in (
    select b.bucket from public.rate_limits b
    where b.empty_at < date_part('epoch', now())
    limit p_batch for update skip locked);
  get diagnostics v_buckets = row_count;
  -- Refused, or not decided in time.
  delete from public.connections where id in (
    select c.id from public.connections c
    where c.status <> 'active'
      and c.updated_at < now() - make_interval(days => p_connection_days)
      and (c.status = 'failed' or c.expires_at < now())
    limit p_batch for update skip locked);
  get diagnostics v_connections = row_count;
  delete from public.api_keys where id in (
    select k.id from public.api_keys k
    where k.scope = 'run' and k.revoked_at < now() - interval '1 day'
    limit p_batch for update skip locked);
  get diagnostics v_run_keys = row_count;
  update public.task_runs set payload = null where id in (
    select r.id from public.task_runs r
    where r.payload is not null and r.finished_at < now() - make_interval(days => p_input_days)
    limit p_batch for update skip locked);
  get diagnostics v_inputs = row_count;
  v_accounts := array(
    select distinct lost.account_id from (
      select r.account_id from public.task_runs r where r.lease_until < now() limit p_batch) lost);
  perform public.crash_lost_task_runs(account_id) from unnest(v_accounts) as account_id;
  return jsonb_build_object(
    'idempotencyKeys', v_keys,
    'signupCodes', v_codes,
    'rateLimits', v_buckets,
    'connections', v_connections,
    'runKeys', v_run_keys,
    'taskRunInputs', v_inputs,
    'accountsWithLostRuns', cardinality(v_accounts));
end
$$;
comment on function public.sweep_rows is 'Deletes at most p_batch rows of each kind that have expired, removes the inputs of old task runs, and ends task runs whose process has died. Returns how many of each.';

create function public.sweep_invitations(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_count integer;
begin
  delete from public.organization_invitations where id in (
    select i.id from public.organization_invitations i
    where i.expires_at < now() limit p_batch for update skip locked);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function public.sweep_invitations is 'Deletes at most p_batch invitations that have expired, and says how many.';

create function public.sweep_run_traces(p_batch integer, p_days integer) returns bigint
language sql volatile set search_path = '' as $$
  with deleted as (
    delete from public.run_traces where turn_id in (
      select r.turn_id from public.run_traces r
      where r.created_at < clock_timestamp() - make_interval(days => p_days)
      limit p_batch for update skip locked)
    returning turn_id), steps as (
    delete from public.turn_steps where turn_id in (select turn_id from deleted)), of_subagents as (
    delete from public.subagent_steps where turn_id in (select turn_id from deleted))
  select count(*) from deleted
$$;
comment on function public.sweep_run_traces is 'Deletes at most p_batch traces that are older than p_days, with the results of their model calls, and returns their number.';

create function public.sweep_webhook_deliveries(p_batch integer, p_days integer) returns bigint
language sql volatile set search_path = '' as $$
  with forgotten as (
    update public.webhooks set previous_secret = null, previous_secret_until = null
    where previous_secret is not null and previous_secret_until < now()
  ),
  gone as (
    delete from public.webhook_deliveries where id in (
      select d.id from public.webhook_deliveries d
      where d.finished_at < now() - make_interval(days => p_days)
      limit p_batch for update skip locked)
    returning 1
  )
  select count(*) from gone
$$;
comment on function public.sweep_webhook_deliveries is 'Deletes deliveries that finished more than p_days ago, and replaced secrets; answers how many deliveries.';

create function public.sweep_requests(p_batch integer, p_days integer) returns bigint
language sql volatile set search_path = '' as $$
  with deleted as (
    delete from public.requests where id in (
      select r.id from public.requests r
      where r.created_at < clock_timestamp() - make_interval(days => p_days)
      limit p_batch for update skip locked)
    returning 1)
  select count(*) from deleted
$$;
comment on function public.sweep_requests is 'Deletes at most p_batch requests that are older than p_days, and returns their number.';

create function public.sweep_deleted_identities(p_batch integer, p_days integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_count integer;
begin
  delete from public.deleted_identities where hash in (
    select d.hash from public.deleted_identities d
    where d.deleted_at < now() - make_interval(days => p_days)
    limit p_batch for update skip locked);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function public.sweep_deleted_identities is 'Forgets accounts that were deleted so many days ago; answers how many.';

-- Row-level security, of all tables above ----------------------------------------------------------

do $$
declare
  v_table regclass;
begin
  for v_table in
    select c.oid from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
  loop
    execute format('alter table %s enable row level security', v_table);
  end loop;
end
$$;
