-- Media that the account has uploaded, which no run has made. The next migration checks the names, so that no
-- write waits for it.

alter table public.media_files alter column run_id drop not null;
comment on column public.media_files.run_id is 'The run that made the file; null for one that the account has uploaded.';
alter table public.media_files drop constraint media_files_name_check;
alter table public.media_files add constraint media_files_name_check
  check (name ~ '^[0-9a-f]{32}\.(mp4|png|jpg|webp|gif|mov|webm|mp3|m4a|wav|ogg|flac|aac)$') not valid;

create or replace function public.export_rows(
  p_account_id uuid, p_kind text, p_after text, p_limit integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_ids text[];
  v_items jsonb;
begin
  case p_kind
    when 'templates' then
      v_ids := array(
        select t.id::text from public.agent_templates t
        where t.account_id = p_account_id and t.id::text > p_after
        order by t.id::text limit p_limit);
      v_items := public.agent_template_rows(p_account_id, v_ids::uuid[]);
    when 'template_versions' then
      v_ids := array(
        select v.id::text from public.agent_template_versions v
        join public.agent_templates t on t.id = v.template_id
        where t.account_id = p_account_id and v.id::text > p_after
        order by v.id::text limit p_limit);
      v_items := (
        select jsonb_agg(to_jsonb(v) - array['id', 'is_kept'] order by v.id)
        from public.agent_template_versions v where v.id = any (v_ids::uuid[]));
    when 'task_runs' then
      v_ids := array(
        select r.id from public.task_runs r
        where r.account_id = p_account_id and r.id > p_after
        order by r.id limit p_limit);
      v_items := (
        select jsonb_agg(to_jsonb(r) - array['account_id', 'lease_until', 'effect_id'] order by r.id)
        from public.task_runs r where r.account_id = p_account_id and r.id = any (v_ids));
    when 'turns' then
      v_ids := array(
        select t.id::text from public.turns t
        where t.account_id = p_account_id and t.id::text > p_after
        order by t.id::text limit p_limit);
      v_items := (
        select jsonb_agg(
          to_jsonb(t) - array['account_id', 'key_id', 'effect_id', 'history'] order by t.id)
        from public.turns t where t.account_id = p_account_id and t.id = any (v_ids::uuid[]));
    when 'media' then
      v_ids := array(
        select f.name from public.media_files f
        left join public.task_runs r on r.id = f.run_id
        where f.account_id = p_account_id and f.name > p_after
          and (f.run_id is null or r.status = 'COMPLETED')
        order by f.name limit p_limit);
      v_items := to_jsonb(v_ids);
  end case;
  return jsonb_build_object(
    'items', coalesce(v_items, '[]'),
    'next', case when cardinality(v_ids) = p_limit then v_ids[p_limit] end);
end
$$;
comment on function public.export_rows is 'One part of the rows that an account owns (templates, template_versions, task_runs, turns, media) after the id p_after: {items, next}; next is null at the end. Without secrets.';

create or replace function public.reserve_media(
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

create or replace function public.delete_media(p_caller uuid, p_account_id uuid, p_name text) returns boolean
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
    select from public.media_removals
    where account_id = p_account_id and name = p_name and removed_at is null);
end
$$;
comment on function public.delete_media is 'Deletes a file''s row for a caller who may act for its account; false for anyone else and when there is none. The file itself is then to be removed.';

create or replace function public.media_to_check(p_batch integer) returns jsonb
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

