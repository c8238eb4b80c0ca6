-- The retention job: leases, so that of several servers one does it, and the batches that it deletes
-- or looks up. Every function takes a batch size and skips rows that are locked.

create table public.background_jobs (
  name text primary key,
  holder uuid,
  lease_until timestamptz,
  finished_at timestamptz
);
alter table public.background_jobs enable row level security;
revoke all on table public.background_jobs from anon, authenticated;
grant all on table public.background_jobs to service_role;
comment on table public.background_jobs is
  'Who does a recurring job now, until when, and when it was last finished.';

create table public.installation (
  id uuid primary key default gen_random_uuid(),
  only_row boolean not null unique default true check (only_row)
);
alter table public.installation enable row level security;
revoke all on table public.installation from anon, authenticated;
grant all on table public.installation to service_role;
comment on table public.installation is
  'Identifies this database: a folder that belongs to another one is left alone.';
insert into public.installation default values;

create index task_runs_inputs on public.task_runs (finished_at) where payload is not null;
create index task_runs_lease on public.task_runs (lease_until) where lease_until is not null;
create index connections_undecided on public.connections (updated_at) where status <> 'active';

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
comment on function public.take_job(text, uuid, integer, integer) is
  'Leases a job that is due and that nobody does; false otherwise.';

create function public.end_job(p_name text, p_holder uuid) returns void
language sql volatile set search_path = '' as $$
  update public.background_jobs
  set holder = null, lease_until = null, finished_at = clock_timestamp()
  where name = p_name and holder = p_holder
$$;
comment on function public.end_job(text, uuid) is
  'Ends a lease, so that the job is due again after its interval; without effect for who lost it.';

create function public.sweep_rows(
  p_batch integer, p_input_days integer, p_connection_days integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_counts jsonb := '{}';
  v_count integer;
  v_account uuid;
begin
  -- Past the 24 hours that a key is remembered; one that is in use is not touched.
  delete from public.idempotency_keys where (account_id, key_hash) in (
    select k.account_id, k.key_hash from public.idempotency_keys k
    where k.created_at < v_now - interval '24 hours' and coalesce(k.lease_until, '-infinity') < v_now
    limit p_batch for update skip locked);
  get diagnostics v_count = row_count;
  v_counts := v_counts || jsonb_build_object('idempotencyKeys', v_count);

  -- An hour after its end a code counts for no limit of mails any more.
  delete from public.signup_codes where email in (
    select c.email from public.signup_codes c
    where c.expires_at < v_now - interval '1 hour'
    limit p_batch for update skip locked);
  get diagnostics v_count = row_count;
  v_counts := v_counts || jsonb_build_object('signupCodes', v_count);

  delete from public.rate_limits where bucket in (
    select b.bucket from public.rate_limits b
    where b.empty_at < date_part('epoch', v_now)
    limit p_batch for update skip locked);
  get diagnostics v_count = row_count;
  v_counts := v_counts || jsonb_build_object('rateLimits', v_count);

  -- What nobody decided in time, and what was refused.
  delete from public.connections where id in (
    select c.id from public.connections c
    where c.status <> 'active' and c.updated_at < v_now - make_interval(days => p_connection_days)
      and (c.status = 'failed' or c.expires_at < v_now)
    limit p_batch for update skip locked);
  get diagnostics v_count = row_count;
  v_counts := v_counts || jsonb_build_object('connections', v_count);

  -- Keys of runs that ended without their end being stored.
  delete from public.api_keys where id in (
    select k.id from public.api_keys k
    where k.scope = 'run' and k.revoked_at < v_now - interval '1 day'
    limit p_batch for update skip locked);
  get diagnostics v_count = row_count;
  v_counts := v_counts || jsonb_build_object('runKeys', v_count);

  update public.task_runs set payload = null where id in (
    select r.id from public.task_runs r
    where r.payload is not null and r.finished_at < v_now - make_interval(days => p_input_days)
    limit p_batch for update skip locked);
  get diagnostics v_count = row_count;
  v_counts := v_counts || jsonb_build_object('taskRunInputs', v_count);

  v_count := 0;
  for v_account in
    select distinct r.account_id from (
      select account_id from public.task_runs where lease_until < v_now limit p_batch
    ) r
  loop
    perform public.crash_lost_task_runs(v_account);
    v_count := v_count + 1;
  end loop;
  return v_counts || jsonb_build_object('accountsWithLostRuns', v_count);
end
$$;
comment on function public.sweep_rows(integer, integer, integer) is
  'Deletes at most p_batch rows of each kind that nobody needs any more, and says how many.';

create function public.due_media_removals(p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('accountId', r.account_id, 'name', r.name)), '[]')
  from (
    select account_id, name from public.media_removals
    where removed_at is null or removed_at < now() - interval '1 hour'
    limit p_batch
  ) r
$$;
comment on function public.due_media_removals(integer) is
  'Files that the storage is to remove, for the first time or the last.';

create function public.media_to_check(p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('accountId', f.account_id, 'name', f.name)), '[]')
  from (
    select f.account_id, f.name
    from public.media_files f join public.task_runs r on r.id = f.run_id
    where f.checked_at < now() - interval '1 day' and r.status = 'COMPLETED'
    order by f.checked_at
    limit p_batch
  ) f
$$;
comment on function public.media_to_check(integer) is
  'Files of completed runs that the storage has not been asked about for a day.';

create function public.note_media_check(p_account_id uuid, p_name text, p_bytes bigint) returns void
language plpgsql volatile set search_path = '' as $$
begin
  if p_bytes is null then
    delete from public.media_files where account_id = p_account_id and name = p_name;
  else
    update public.media_files set bytes = p_bytes, checked_at = clock_timestamp()
    where account_id = p_account_id and name = p_name;
  end if;
end
$$;
comment on function public.note_media_check(uuid, text, bigint) is
  'What the storage has of a file: its size, or null when it is not there and its row goes.';

create function public.unowned_media(p_files jsonb) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(f), '[]') from jsonb_array_elements(p_files) f
  where not exists (
    select from public.media_files m
    where m.account_id = (f ->> 'accountId')::uuid and m.name = f ->> 'name')
$$;
comment on function public.unowned_media(jsonb) is
  'Those of the files [{accountId, name}] that have no row.';

create function public.unowned_sandboxes(p_session_ids uuid[]) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(s.id), '[]') from unnest(p_session_ids) s (id)
  where not exists (select from public.sessions x where x.id = s.id)
$$;
comment on function public.unowned_sandboxes(uuid[]) is
  'Those of the session ids that no session has.';

create function public.installation_id() returns uuid
language sql stable set search_path = '' as $$
  select id from public.installation
$$;
comment on function public.installation_id() is 'The identity of this database.';

-- A session that goes, with its account too, leaves its sandbox behind for the job to destroy.
create table public.sandbox_removals (
  session_id uuid primary key,
  sandbox jsonb not null
);
alter table public.sandbox_removals enable row level security;
revoke all on table public.sandbox_removals from anon, authenticated;
grant all on table public.sandbox_removals to service_role;
comment on table public.sandbox_removals is
  'Sandboxes of sessions that were deleted, until they are destroyed. No foreign key: a removal outlives the session.';

create function public.note_sandbox_removal() returns trigger
language plpgsql set search_path = '' as $$
begin
  insert into public.sandbox_removals (session_id, sandbox) values (old.id, old.sandbox_state)
  on conflict (session_id) do update set sandbox = excluded.sandbox;
  return null;
end
$$;
comment on function public.note_sandbox_removal() is
  'Turns a deleted session with a sandbox into a removal.';
create trigger note_sandbox_removal after delete on public.sessions
  for each row when (old.sandbox_state is not null)
  execute function public.note_sandbox_removal();

create function public.due_sandbox_removals(p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(r.sandbox || jsonb_build_object('sessionId', r.session_id)), '[]')
  from (select session_id, sandbox from public.sandbox_removals limit p_batch) r
$$;
comment on function public.due_sandbox_removals(integer) is
  'States of sandboxes that are to be destroyed, each with its sessionId.';

create function public.settle_sandbox_removal(p_session_id uuid) returns void
language sql volatile set search_path = '' as $$
  delete from public.sandbox_removals where session_id = p_session_id
$$;
comment on function public.settle_sandbox_removal(uuid) is 'Notes that a sandbox is destroyed.';
