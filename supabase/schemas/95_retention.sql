-- Background jobs, and the deletion of what has expired.

create table public.background_jobs (
  name text primary key,
  holder uuid,
  lease_until timestamptz,
  finished_at timestamptz
);
alter table public.background_jobs enable row level security;
comment on table public.background_jobs is
  'Who does a recurring job now, until when, and when it was last finished.';

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
comment on function public.end_job is
  'Ends a lease, so that the job is due again after its interval; without effect for who lost it.';

create function public.sweep_rows(
  p_batch integer, p_input_days integer, p_connection_days integer
) returns jsonb
language sql volatile set search_path = '' as $$
  select jsonb_build_object(
    'idempotencyKeys', public.sweep_idempotency_keys(p_batch),
    'signupCodes', public.sweep_signup_codes(p_batch),
    'rateLimits', public.sweep_rate_limits(p_batch),
    'connections', public.sweep_connections(p_batch, p_connection_days),
    'runKeys', public.sweep_run_keys(p_batch),
    'taskRunInputs', public.sweep_task_inputs(p_batch, p_input_days),
    'accountsWithLostRuns', public.sweep_lost_task_runs(p_batch))
$$;
comment on function public.sweep_rows is
  'Deletes at most p_batch rows of each kind that nobody needs any more, and says how many.';

create function public.sweep_idempotency_keys(p_batch integer) returns bigint
language sql volatile set search_path = '' as $$
  with gone as (
    delete from public.idempotency_keys where (account_id, key_hash) in (
      select k.account_id, k.key_hash from public.idempotency_keys k
      where k.created_at < now() - interval '24 hours'
        and coalesce(k.lease_until, '-infinity') < now()
      limit p_batch for update skip locked)
    returning 1
  )
  select count(*) from gone
$$;
comment on function public.sweep_idempotency_keys is
  'Deletes idempotency keys that are past their 24 hours and not in use; answers how many.';

create function public.sweep_signup_codes(p_batch integer) returns bigint
language sql volatile set search_path = '' as $$
  with gone as (
    delete from public.signup_codes where email in (
      select c.email from public.signup_codes c
      where c.expires_at < now() - interval '1 hour'
      limit p_batch for update skip locked)
    returning 1
  )
  select count(*) from gone
$$;
comment on function public.sweep_signup_codes is
  'Deletes sign-up codes that expired an hour ago; answers how many.';

create function public.sweep_rate_limits(p_batch integer) returns bigint
language sql volatile set search_path = '' as $$
  with gone as (
    delete from public.rate_limits where bucket in (
      select b.bucket from public.rate_limits b
      where b.empty_at < date_part('epoch', now())
      limit p_batch for update skip locked)
    returning 1
  )
  select count(*) from gone
$$;
comment on function public.sweep_rate_limits is
  'Deletes rate limit buckets that are empty again; answers how many.';

create function public.sweep_connections(p_batch integer, p_days integer) returns bigint
language sql volatile set search_path = '' as $$
  with gone as (
    delete from public.connections where id in (
      select c.id from public.connections c
      where c.status <> 'active'
        and c.updated_at < now() - make_interval(days => p_days)
        and (c.status = 'failed' or c.expires_at < now())
      limit p_batch for update skip locked)
    returning 1
  )
  select count(*) from gone
$$;
comment on function public.sweep_connections is
  'Deletes connections that were refused, or not decided in time, more than p_days ago; answers how many.';

create function public.sweep_run_keys(p_batch integer) returns bigint
language sql volatile set search_path = '' as $$
  with gone as (
    delete from public.api_keys where id in (
      select k.id from public.api_keys k
      where k.scope = 'run' and k.revoked_at < now() - interval '1 day'
      limit p_batch for update skip locked)
    returning 1
  )
  select count(*) from gone
$$;
comment on function public.sweep_run_keys is
  'Deletes run credentials that were revoked a day ago; answers how many.';

create function public.sweep_task_inputs(p_batch integer, p_days integer) returns bigint
language sql volatile set search_path = '' as $$
  with emptied as (
    update public.task_runs set payload = null where id in (
      select r.id from public.task_runs r
      where r.payload is not null
        and r.finished_at < now() - make_interval(days => p_days)
      limit p_batch for update skip locked)
    returning 1
  )
  select count(*) from emptied
$$;
comment on function public.sweep_task_inputs is
  'Removes the inputs of task runs that finished more than p_days ago; answers of how many.';

create function public.sweep_lost_task_runs(p_batch integer) returns bigint
language plpgsql volatile set search_path = '' as $$
declare
  v_accounts constant uuid[] := array(
    select distinct lost.account_id from (
      select r.account_id from public.task_runs r
      where r.lease_until < now() limit p_batch
    ) lost);
begin
  perform public.crash_lost_task_runs(account_id) from unnest(v_accounts) as account_id;
  return cardinality(v_accounts);
end
$$;
comment on function public.sweep_lost_task_runs is
  'Ends task runs whose process has died; answers of how many accounts.';

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
comment on function public.sweep_invitations is
  'Deletes at most p_batch invitations that have expired, and says how many.';

create function public.sweep_run_traces(p_batch integer, p_days integer) returns bigint
language sql volatile set search_path = '' as $$
  with deleted as (
    delete from public.run_traces where turn_id in (
      select r.turn_id from public.run_traces r
      where r.created_at < clock_timestamp() - make_interval(days => p_days)
      limit p_batch for update skip locked)
    returning 1)
  select count(*) from deleted
$$;
comment on function public.sweep_run_traces is
  'Deletes at most p_batch traces that are older than p_days, and returns their number.';

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
comment on function public.sweep_webhook_deliveries is
  'Deletes deliveries that finished more than p_days ago, and replaced secrets; answers how many deliveries.';

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
comment on function public.sweep_requests is
  'Deletes at most p_batch requests that are older than p_days, and returns their number.';

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
comment on function public.sweep_deleted_identities is
  'Forgets accounts that were deleted so many days ago; answers how many.';
