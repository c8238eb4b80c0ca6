-- Content templates, and the ledger of stored media.

create table public.content_templates (
  id text primary key check (id ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
  description text not null,
  position integer not null,
  image jsonb check (jsonb_typeof(image) = 'object'),
  video jsonb check (jsonb_typeof(video) = 'object'),
  caption jsonb check (jsonb_typeof(caption) = 'object'),
  edit jsonb check (jsonb_typeof(edit) = 'object')
);
comment on table public.content_templates is 'Templates of content, the same for every account. supabase/seed.sql keeps them.';

create table public.media_usage (
  account_id uuid primary key references public.accounts (id) on delete cascade,
  bytes bigint not null default 0 check (bytes >= 0)
);
comment on table public.media_usage is 'Bytes of media of each account, kept by triggers on media_files; its row serializes reservations.';

create table public.media_files (
  account_id uuid not null references public.accounts (id) on delete cascade,
  name text not null check (name ~ '^[0-9a-f]{32}\.(mp4|png|jpg|webp|gif|mov|webm|mp3|m4a|wav|ogg|flac|aac)$'),
  run_id text references public.task_runs (id) on delete cascade,
  bytes bigint not null check (bytes >= 0),
  checked_at timestamptz not null default clock_timestamp(),
  primary key (account_id, name)
);

create index media_files_run on public.media_files (run_id);
create index media_files_checked on public.media_files (checked_at);
comment on table public.media_files is 'A file of the media storage, or the room that is reserved for it while its run is under way.';
comment on column public.media_files.run_id is 'The run that made the file; null for one that the account has uploaded.';
comment on column public.media_files.checked_at is 'When the storage was last asked whether it has the file, and how large it is.';

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
    insert into public.removals (kind, owner_id, name) values ('media', old.account_id, old.name)
    on conflict (kind, owner_id, name) do update set removed_at = null;
  end if;
  return null;
end
$$;
comment on function public.count_media is 'Keeps media_usage, and turns a deleted row into a removal.';
create trigger count_new_media after insert on public.media_files
  for each row execute function public.count_media();
create trigger count_resized_media after update of bytes on public.media_files
  for each row when (old.bytes <> new.bytes) execute function public.count_media();
create trigger count_gone_media after delete on public.media_files
  for each row execute function public.count_media();

create function public.reserve_media(
  p_account_id uuid, p_run_id text, p_files jsonb, p_limit_bytes bigint
) returns text
language plpgsql volatile set search_path = '' as $$
declare
  v_wanted bigint;
  v_used bigint;
begin
  if p_run_id is not null then
    -- Locked against its end, which would orphan the reservation.
    perform from public.task_runs
    where id = p_run_id and account_id = p_account_id and lease_until is not null
    for share;
    if not found then
      return 'ended';
    end if;
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
comment on function public.reserve_media is 'Counts files [{name, bytes}] of a run that is under way, or of an upload (null), before they are stored: reserved, full, or ended when the run is not under way. A limit of 0 is none.';

create function public.delete_media(p_caller uuid, p_account_id uuid, p_name text) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  if not public.may_act_for(p_caller, p_account_id) then
    return false;
  end if;
  delete from public.media_files f
  where f.account_id = p_account_id and f.name = p_name
    and (f.run_id is null or exists (
      select from public.task_runs r where r.id = f.run_id and r.status = 'COMPLETED'));
  -- A removal that was not finished can be requested again.
  return found or exists (
    select from public.removals
    where kind = 'media' and owner_id = p_account_id and name = p_name and removed_at is null);
end
$$;
comment on function public.delete_media is 'Deletes a file''s row for a caller who may act for its account; false for anyone else and when there is none. The file itself is then to be removed.';

-- Another process may repeat the step that stores results. Space that its predecessor reserved is released
-- first.
create function public.discard_run_media(p_account_id uuid, p_run_id text, p_kept text[])
returns integer
language sql volatile set search_path = '' as $$
  with discarded as (
    delete from public.media_files f using public.task_runs r
    where f.account_id = p_account_id and f.run_id = p_run_id and not f.name = any (p_kept)
      and r.id = f.run_id and r.lease_until is not null
    returning 1
  )
  select count(*)::integer from discarded
$$;
comment on function public.discard_run_media is 'Gives back the media of a run that is under way, except for those with these names, and returns their number: the files are removed.';

create function public.media_to_check(p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('accountId', f.account_id, 'name', f.name)), '[]')
  from (
    select f.account_id, f.name
    from public.media_files f left join public.task_runs r on r.id = f.run_id
    where f.checked_at < now() - interval '1 day'
      and (f.run_id is null or r.status = 'COMPLETED')
    order by f.checked_at
    limit p_batch
  ) f
$$;
comment on function public.media_to_check is 'Uploads and files of completed runs that the storage has not been asked about for a day.';

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
comment on function public.note_media_check is 'Records the size of a file in the storage, or deletes the row of a file that is missing there (null).';

create function public.unowned_media(p_files jsonb) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(f), '[]') from jsonb_array_elements(p_files) f
  where not exists (
    select from public.media_files m
    where m.account_id = (f ->> 'accountId')::uuid and m.name = f ->> 'name')
$$;
comment on function public.unowned_media is 'Those of the files [{accountId, name}] that have no row.';

create function public.list_content_templates() returns setof public.content_templates
language sql stable set search_path = '' as $$
  select t.* from public.content_templates t order by t.position, t.id
$$;
comment on function public.list_content_templates is 'All content templates in the order of the list. They belong to no account.';
