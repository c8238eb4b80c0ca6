-- The role viewer: who has it reads what a member reads, and changes nothing.

create function public.is_related(p_caller uuid, p_target uuid, p_roles text[]) returns boolean
language sql stable set search_path = '' as $$
  select p_caller = p_target
    or exists (
      select 1 from public.organization_accounts m
      where (m.account_id = p_caller and m.organization_id = p_target and m.role = any (p_roles))
         or (m.organization_id = p_caller and m.account_id = p_target)
    )
    or exists (
      select 1
      from public.organization_accounts mine
      join public.organization_accounts theirs on theirs.organization_id = mine.organization_id
      where mine.account_id = p_caller and theirs.account_id = p_target
        and mine.role = any (p_roles)
    )
    or (
      exists (
        select 1 from public.accounts a
        where a.is_admin
          and (
            a.id = p_caller
            or exists (
              select 1 from public.organization_accounts m
              where m.organization_id = a.id and m.account_id = p_caller
                and m.role = any (p_roles)
            )
          )
      )
      and exists (select 1 from public.accounts t where t.id = p_target)
    )
$$;
comment on function public.is_related is 'Whether an account is another, or has one of the roles in its organization, in one that it is linked to, or in the admin organization.';

create function public.may_see(p_caller uuid, p_target uuid) returns boolean
language sql stable set search_path = '' as $$
  select public.is_related(p_caller, p_target, '{owner,member,viewer}')
$$;
comment on function public.may_see is 'Whether an account may read what another has: where may_act_for is true, and as a viewer of an organization. Only functions that read call it.';

create function public.seen_workspace(p_account_id uuid, p_artist_id uuid) returns uuid
language sql stable set search_path = '' as $$
  select case when p_artist_id is null then public.workspace_owner(p_account_id, null) else (
    select a.id from public.accounts a
    where a.id = p_artist_id and a.kind = 'artist' and public.may_see(p_account_id, p_artist_id)) end
$$;
comment on function public.seen_workspace is 'As workspace_owner, of an artist that the account may see.';

create or replace function public.may_act_for(p_caller uuid, p_target uuid) returns boolean
language sql stable set search_path = '' as $$
  select public.is_related(p_caller, p_target, '{owner,member}')
$$;
comment on function public.may_act_for is 'Whether an account may act for another: itself, its organizations, accounts linked to one of its organizations, or any account for the admin organization. A viewer of an organization may not.';

create or replace function public.access_verdicts(
  p_caller uuid, p_may_switch boolean, p_account_id uuid, p_organization_id uuid, p_artist_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_role text;
  v_is_artist boolean;
  v_may boolean;
  v_verdicts jsonb := '{"account": null, "organization": null, "artist": null}';
  v_seen jsonb := '{}';
begin
  if p_account_id is not null then
    v_may := p_account_id = p_caller
      or (p_may_switch and public.may_act_for(p_caller, p_account_id));
    v_verdicts := v_verdicts || jsonb_build_object('account', v_may);
    v_seen := v_seen || jsonb_build_object('account', v_may
      or (p_may_switch and public.may_see(p_caller, p_account_id)));
  end if;
  if p_organization_id is not null then
    -- Administrators are no exception here: the organization must be the caller's own.
    v_role := case when p_organization_id = p_caller then (
      select 'owner' from public.accounts o where o.id = p_caller and o.kind = 'organization')
      else public.organization_role(p_caller, p_organization_id) end;
    v_verdicts := v_verdicts
      || jsonb_build_object('organization', coalesce(v_role in ('owner', 'member'), false));
    v_seen := v_seen || jsonb_build_object('organization', v_role is not null);
  end if;
  if p_artist_id is not null then
    v_is_artist := exists (
      select 1 from public.accounts a where a.id = p_artist_id and a.kind = 'artist');
    v_may := v_is_artist and public.may_act_for(p_caller, p_artist_id);
    v_verdicts := v_verdicts || jsonb_build_object('artist', v_may);
    v_seen := v_seen || jsonb_build_object('artist', v_may
      or (v_is_artist and public.may_see(p_caller, p_artist_id)));
  end if;
  return v_verdicts || jsonb_build_object('seen', v_seen);
end
$$;
comment on function public.access_verdicts is 'Whether the caller may use the account, organization and artist of a request; each is null when it was not asked for. seen has the same for a request that only reads.';

create or replace function public.get_artist(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce((
    select jsonb_build_object('artist', public.artist_row(p_account_id, a))
    from public.accounts a
    where a.id = p_id and a.kind = 'artist' and public.may_see(p_account_id, p_id)),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.get_artist is '{artist} for who may see it, {refused: missing} for everyone else.';

create or replace function public.create_artist(
  p_account_id uuid, p_name text, p_label text, p_image text, p_catalog_artist_id text,
  p_organization_id uuid, p_max integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_parent constant uuid := coalesce(p_organization_id, p_account_id);
  v_id uuid;
begin
  -- One at a time for each parent: two at once cannot both take the last room.
  perform from public.accounts where id = v_parent for no key update;
  -- The request was checked before; the membership may have ended since.
  if v_parent <> p_account_id
    and coalesce(public.organization_role(p_account_id, v_parent), 'viewer') = 'viewer'
  then
    return jsonb_build_object('refused', 'organization');
  end if;
  if p_max <= (
    select count(*) from public.organization_accounts l
    join public.accounts a on a.id = l.account_id and a.kind = 'artist'
    where l.organization_id = v_parent)
  then
    return jsonb_build_object('refused', 'full');
  end if;
  insert into public.accounts (kind, name, label, image, catalog_artist_id)
  values ('artist', p_name, p_label, p_image, p_catalog_artist_id)
  returning id into v_id;
  insert into public.organization_accounts (organization_id, account_id) values (v_parent, v_id);
  return public.get_artist(p_account_id, v_id);
end
$$;
comment on function public.create_artist is 'Creates an artist of an organization, or of the account without one: {artist}, or {refused: organization | full}.';

create or replace function public.update_artist(
  p_account_id uuid, p_id uuid, p_name text, p_label text, p_image text,
  p_catalog_artist_id text, p_clear text[]
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update public.accounts a
  set name = coalesce(p_name, a.name),
    label = case when 'label' = any (p_clear) then null else coalesce(p_label, a.label) end,
    image = case when 'image' = any (p_clear) then null else coalesce(p_image, a.image) end,
    catalog_artist_id = case when not 'catalog_artist_id' = any (p_clear)
      then coalesce(p_catalog_artist_id, a.catalog_artist_id) end,
    updated_at = now()
  where a.id = p_id and a.kind = 'artist' and public.may_act_for(p_account_id, p_id);
  if not found and public.may_see(p_account_id, p_id) and exists (
    select from public.accounts a where a.id = p_id and a.kind = 'artist')
  then
    return jsonb_build_object('refused', 'viewer');
  end if;
  return public.get_artist(p_account_id, p_id);
end
$$;
comment on function public.update_artist is 'Changes the fields that are not null and clears the columns of p_clear (label, image, catalog_artist_id): {artist}, or {refused: missing | viewer}.';

create or replace function public.list_workspace_files(
  p_account_id uuid, p_artist_id uuid, p_prefix text, p_limit integer, p_after_at timestamptz,
  p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_owner constant uuid := public.seen_workspace(p_account_id, p_artist_id);
begin
  return to_jsonb(array(
    -- In the order of the files, of which a new version moves to the front.
    select public.workspace_version_row(f, v) || jsonb_build_object('id', f.id)
    from public.workspace_files f
    join public.workspace_versions v on v.file_id = f.id and v.number = f.version
    where f.workspace_id = v_owner and f.content_id is not null
      and (f.updated_at, f.id) < (v_after_at, v_after_id)
      and (p_prefix is null or starts_with(f.path, p_prefix))
    order by f.updated_at desc, f.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_workspace_files is 'One page of the files of a workspace, the last changed first, with one more row if another page follows.';

create or replace function public.find_workspace_content(
  p_account_id uuid, p_artist_id uuid, p_path text, p_version integer
) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce((
    select jsonb_build_object('content', jsonb_build_object('workspace_id', c.workspace_id,
      'id', c.id, 'bytes', c.bytes, 'is_text', c.text is not null))
    from public.workspace_files f
    join public.workspace_versions v on v.file_id = f.id and v.number = coalesce(p_version, f.version)
    join public.workspace_contents c on c.id = v.content_id
    where f.workspace_id = public.seen_workspace(p_account_id, p_artist_id) and f.path = p_path),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.find_workspace_content is 'Where the storage has a version of a file, null for the newest one: {content: {workspace_id, id, bytes, is_text}}, or {refused: missing}, also for a deletion.';

create or replace function public.list_workspace_versions(
  p_account_id uuid, p_artist_id uuid, p_path text, p_limit integer, p_after_at timestamptz,
  p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_rows jsonb[];
begin
  v_rows := array(
    select public.workspace_version_row(f, v)
    from public.workspace_files f
    join public.workspace_versions v on v.file_id = f.id
    where f.workspace_id = public.seen_workspace(p_account_id, p_artist_id) and f.path = p_path
      and (v.created_at, v.id) < (v_after_at, v_after_id)
    order by v.created_at desc, v.id desc
    limit p_limit + 1);
  if cardinality(v_rows) = 0 and p_after_at is null then
    return jsonb_build_object('refused', 'missing');
  end if;
  return to_jsonb(v_rows);
end
$$;
comment on function public.list_workspace_versions is 'One page of the versions of a file, newest first, with one more row if another page follows; or {refused: missing}.';

create or replace function public.search_workspace(
  p_account_id uuid, p_artist_id uuid, p_text text, p_limit integer
) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  v_workspace_id constant uuid := public.seen_workspace(p_account_id, p_artist_id);
  v_found jsonb;
  v_text text;
begin
  select coalesce(jsonb_agg(jsonb_build_object('path', found.path, 'version', found.version,
    'snippet', ts_headline('simple'::regconfig, found.text, public.search_query(p_text),
      'StartSel="", StopSel="", MaxWords=24, MinWords=8'))), '[]') into v_found
  from (
    select f.path, f.version, c.text
    from public.workspace_files f
    join public.workspace_contents c on c.id = f.content_id
    where f.workspace_id = v_workspace_id
      and c.text is not null and public.search_of_text(c.text) @@ public.search_query(p_text)
    order by ts_rank(public.search_of_text(c.text), public.search_query(p_text)) desc, f.path
    limit p_limit
  ) found;
  if v_found = '[]' and length(p_text) between 4 and 100 then
    v_text := public.corrected_text(p_text, public.words_of_workspace(v_workspace_id));
  end if;
  return case when v_text is null then v_found
    else public.search_workspace(p_account_id, p_artist_id, v_text, p_limit) end;
end
$$;
comment on function public.search_workspace is 'The text files of a workspace that have all words of p_text, or of its correction if none has, the best first: [{path, version, snippet}].';

create or replace function public.list_memory_proposals(
  p_account_id uuid, p_artist_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return to_jsonb(array(
    select public.memory_proposal_row(p)
    from public.workspace_files f
    join public.memory_proposals p on p.file_id = f.id
    where f.workspace_id = public.seen_workspace(p_account_id, p_artist_id)
      and p.state in ('proposed', 'accepted', 'rejected')
      and (p.created_at, p.id) < (v_after_at, v_after_id)
    order by p.created_at desc, p.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_memory_proposals is 'One page of the proposals for the memory of a workspace, newest first, with one more row if another page follows.';

create or replace function public.decide_connection(p_state_hash text, p_allowed boolean)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_connection public.connections;
begin
  select * into v_connection from public.connections
  where state_hash = p_state_hash and expires_at > now()
  for update;
  -- Serializes this with a concurrent removal of the starter, or one that makes it a viewer.
  perform from public.organization_accounts
  where account_id = v_connection.started_by for share;
  if v_connection.id is null or not public.may_connect(
    v_connection.account_id, v_connection.started_by, v_connection.key_id)
  then
    return null;
  end if;
  if p_allowed then
    -- Two links of one account allowed at once: the later one replaces the earlier.
    perform from public.accounts where id = v_connection.account_id for no key update;
    delete from public.connections
    where account_id = v_connection.account_id and connector = v_connection.connector
      and id <> v_connection.id and status <> 'pending';
  end if;
  update public.connections
  set status = case when p_allowed then 'active' else 'failed' end,
    state_hash = null,
    updated_at = clock_timestamp()
  where id = v_connection.id;
  return jsonb_build_object('connector', v_connection.connector, 'callback_url', v_connection.callback_url);
end
$$;
comment on function public.decide_connection is 'Decides a pending connection, once: {connector, callback_url}; null for every later call.';

comment on function public.organization_role is 'owner, member or viewer; null for who does not belong to the organization, and where there is none.';
comment on column public.organization_accounts.role is 'The role of a person: owner, member, or viewer, who reads and changes nothing. It has no meaning for artists and workspaces.';

alter table public.organization_accounts drop constraint organization_accounts_role_check;
alter table public.organization_accounts add constraint organization_accounts_role_check
  check (role in ('owner', 'member', 'viewer')) not valid;
create trigger stop_turns_of_viewer after update of role on public.organization_accounts
  for each row when (new.role = 'viewer') execute function public.stop_turns_without_artist();
