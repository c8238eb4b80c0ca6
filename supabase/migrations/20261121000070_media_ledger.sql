-- The media ledger: every stored file of an account, how many bytes it takes, and which generation
-- it belongs to. It is what the quota counts and what a deletion deletes.
--
-- A file has its row before its first byte is stored (reserve_media), so nothing is ever stored that
-- is not counted. The row stands for good when its run is COMPLETED; a run that ends otherwise,
-- because it failed or because its process died, gives its reservation back in the same transaction.
-- A row that goes, for whatever reason, leaves a removal behind, which lasts until the file is gone.

create table public.media_usage (
  account_id uuid primary key references public.accounts (id) on delete cascade,
  bytes bigint not null default 0 check (bytes >= 0)
);
comment on table public.media_usage is
  'Bytes of media of each account, kept by triggers on media_files; its row serializes reservations.';

create table public.media_files (
  account_id uuid not null references public.accounts (id) on delete cascade,
  name text not null check (name ~ '^[0-9a-f]{32}\.(mp4|png|jpg|webp)$'),
  run_id text not null references public.task_runs (id) on delete cascade,
  bytes bigint not null check (bytes >= 0),
  checked_at timestamptz not null default clock_timestamp(),
  primary key (account_id, name)
);
create index media_files_run on public.media_files (run_id);
create index media_files_checked on public.media_files (checked_at);
comment on table public.media_files is
  'A file of the media storage, or the room that is reserved for it while its run is under way.';
comment on column public.media_files.checked_at is
  'When the storage was last asked whether it has the file, and how large it is.';

create table public.media_removals (
  account_id uuid not null,
  name text not null,
  removed_at timestamptz,
  primary key (account_id, name)
);
comment on table public.media_removals is
  'Files that the storage is to lose. No foreign key: a removal outlives the account.';
comment on column public.media_removals.removed_at is
  'When the file was removed; it is removed once more an hour later, in case a process that was taken for dead stored it meanwhile.';
create index media_removals_due on public.media_removals (removed_at);

alter table public.media_usage enable row level security;
alter table public.media_files enable row level security;
alter table public.media_removals enable row level security;
revoke all on table public.media_usage, public.media_files, public.media_removals
  from anon, authenticated;
grant all on table public.media_usage, public.media_files, public.media_removals to service_role;

create function public.count_media() returns trigger
language plpgsql set search_path = '' as $$
begin
  if tg_op = 'INSERT' then
    insert into public.media_usage as u (account_id, bytes) values (new.account_id, new.bytes)
    on conflict (account_id) do update set bytes = u.bytes + excluded.bytes;
  elsif tg_op = 'UPDATE' then
    update public.media_usage set bytes = greatest(0, bytes + new.bytes - old.bytes)
    where account_id = new.account_id;
  else
    update public.media_usage set bytes = greatest(0, bytes - old.bytes)
    where account_id = old.account_id;
    insert into public.media_removals (account_id, name) values (old.account_id, old.name)
    on conflict (account_id, name) do update set removed_at = null;
  end if;
  return null;
end
$$;
comment on function public.count_media() is
  'Keeps media_usage, and turns a deleted row into a removal.';

create trigger count_new_media after insert on public.media_files
  for each row execute function public.count_media();
create trigger count_resized_media after update of bytes on public.media_files
  for each row when (old.bytes <> new.bytes) execute function public.count_media();
create trigger count_gone_media after delete on public.media_files
  for each row execute function public.count_media();

-- What installations have stored so far, by the outputs of their runs. A file that several runs name
-- is the first one's: the others took it as an input. Sizes are measured by the retention job.
insert into public.media_files (account_id, name, run_id, bytes, checked_at)
select distinct on (r.account_id, found.parts[2])
  r.account_id, found.parts[2], r.id, 0, '-infinity'
from public.task_runs r
cross join lateral regexp_matches(
  r.output::text, '/([0-9a-f-]{36})/([0-9a-f]{32}\.(?:mp4|png|jpg|webp))', 'g') as found (parts)
where r.status = 'COMPLETED' and r.task_identifier in ('generate-image', 'generate-video')
  and found.parts[1] = r.account_id::text
order by r.account_id, found.parts[2], r.created_at, r.id;

create function public.reserve_media(
  p_account_id uuid, p_run_id text, p_files jsonb, p_limit_bytes bigint
) returns text
language plpgsql volatile set search_path = '' as $$
declare
  v_wanted bigint;
  v_used bigint;
begin
  -- Locked against its end, which would leave the reservation to nobody.
  perform from public.task_runs
  where id = p_run_id and account_id = p_account_id and lease_until is not null
  for share;
  if not found then
    return 'ended';
  end if;
  select coalesce(sum((f ->> 'bytes')::bigint), 0) into v_wanted from jsonb_array_elements(p_files) f;
  insert into public.media_usage (account_id) values (p_account_id)
  on conflict (account_id) do nothing;
  -- One reservation of an account at a time: two that race cannot both take the last room.
  select bytes into v_used from public.media_usage where account_id = p_account_id for update;
  if p_limit_bytes > 0 and v_used + v_wanted > p_limit_bytes then
    return 'full';
  end if;
  insert into public.media_files (account_id, name, run_id, bytes)
  select p_account_id, f ->> 'name', p_run_id, (f ->> 'bytes')::bigint
  from jsonb_array_elements(p_files) f;
  return 'reserved';
end
$$;
comment on function public.reserve_media(uuid, text, jsonb, bigint) is
  'Counts files [{name, bytes}] of a run that is under way before they are stored: reserved, full, or ended when the run is not under way. A limit of 0 is none.';

create function public.delete_media(p_caller uuid, p_account_id uuid, p_name text) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  if not public.may_act_for(p_caller, p_account_id) then
    return false;
  end if;
  delete from public.media_files f using public.task_runs r
  where f.account_id = p_account_id and f.name = p_name
    and r.id = f.run_id and r.status = 'COMPLETED';
  -- A removal that was begun and not finished can be asked for again.
  return found or exists (
    select from public.media_removals
    where account_id = p_account_id and name = p_name and removed_at is null);
end
$$;
comment on function public.delete_media(uuid, uuid, text) is
  'Deletes a file''s row for a caller who may act for its account; false for anyone else and when there is none. The file itself is then to be removed.';

create function public.settle_media_removal(p_account_id uuid, p_name text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  delete from public.media_removals
  where account_id = p_account_id and name = p_name and removed_at < now() - interval '1 hour';
  update public.media_removals set removed_at = clock_timestamp()
  where account_id = p_account_id and name = p_name and removed_at is null;
end
$$;
comment on function public.settle_media_removal(uuid, text) is
  'Notes that the storage has removed the file: the removal ends with its second time.';

drop function public.start_task_run(text, uuid, text, jsonb, jsonb, integer, uuid, integer, text);

create function public.start_task_run(
  p_id text, p_account_id uuid, p_task_identifier text, p_payload jsonb, p_metadata jsonb,
  p_lease_seconds integer, p_effect_id uuid, p_at_once integer, p_idempotency_key text default null,
  p_media_limit_bytes bigint default 0
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_now timestamptz;
  v_earlier public.task_runs;
begin
  -- One at a time for each account: what is counted and looked up here does not change meanwhile.
  perform pg_advisory_xact_lock(hashtextextended('task_runs ' || p_account_id, 0));
  perform public.crash_lost_task_runs(p_account_id);

  select * into v_earlier from public.task_runs r
  where r.account_id = p_account_id and r.effect_id = p_effect_id
    and r.status in ('EXECUTING', 'COMPLETED');
  if found then
    return jsonb_build_object(
      'outcome', 'earlier', 'run_id', v_earlier.id, 'output', v_earlier.output);
  end if;

  if p_media_limit_bytes > 0 and exists (
    select from public.media_usage u
    where u.account_id = p_account_id and u.bytes >= p_media_limit_bytes)
  then
    return jsonb_build_object('outcome', 'full');
  end if;
  if p_at_once > 0 and p_at_once <= (
    select count(*) from public.task_runs r
    where r.account_id = p_account_id and r.lease_until is not null)
  then
    return jsonb_build_object('outcome', 'busy');
  end if;

  v_now := clock_timestamp();
  insert into public.task_runs (
    id, account_id, status, task_identifier, created_at, updated_at, started_at,
    tags, metadata, payload, attempts, lease_until, effect_id, idempotency_key)
  values (
    p_id, p_account_id, 'EXECUTING', p_task_identifier, v_now, v_now, v_now,
    array['account:' || p_account_id], p_metadata, p_payload,
    jsonb_build_array(jsonb_build_object(
      'id', replace(p_id, 'run_', 'attempt_'),
      'status', 'EXECUTING',
      'createdAt', public.iso_date(v_now),
      'updatedAt', public.iso_date(v_now),
      'startedAt', public.iso_date(v_now))),
    v_now + make_interval(secs => p_lease_seconds), p_effect_id, p_idempotency_key);
  return jsonb_build_object('outcome', 'begun');
end
$$;
comment on function public.start_task_run(
  text, uuid, text, jsonb, jsonb, integer, uuid, integer, text, bigint
) is
  'Begins a run: {outcome: begun}; {outcome: earlier, run_id, output} when another run has the effect; {outcome: full} when the account has no room for media; {outcome: busy} at its limit of runs. A limit of 0 is none.';

create or replace function public.end_task_run(
  p_id text, p_status text, p_output jsonb, p_error jsonb
) returns void
language sql set search_path = '' as $$
  with ended as (
    update public.task_runs r
    set status = p_status,
      output = p_output,
      error = p_error,
      updated_at = at.now,
      finished_at = at.now,
      -- Between the two moments as they are shown: to the millisecond.
      duration_ms = extract(epoch from
        date_trunc('milliseconds', at.now) - date_trunc('milliseconds', r.started_at)) * 1000,
      attempts = jsonb_build_array(
        (r.attempts -> 0)
        || jsonb_build_object(
          'status', case when p_status = 'COMPLETED' then 'COMPLETED' else 'FAILED' end,
          'updatedAt', public.iso_date(at.now),
          'completedAt', public.iso_date(at.now))
        || case when p_error is null then '{}' else jsonb_build_object('error', p_error) end),
      lease_until = null
    from (select clock_timestamp() as now) at
    where r.id = p_id and r.lease_until is not null
    returning r.id, r.status
  )
  -- Nobody knows what a run has stored that did not complete: its room is given back.
  delete from public.media_files f using ended
  where f.run_id = ended.id and ended.status <> 'COMPLETED'
$$;
comment on function public.end_task_run(text, text, jsonb, jsonb) is
  'Ends a run, once: what has ended stays as it ended. Media of a run that did not complete are given back.';
