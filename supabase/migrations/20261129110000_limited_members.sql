-- Members and viewers of an organization can be limited to some of its artists.

alter table public.organization_accounts add column artist_ids uuid[];
comment on column public.organization_accounts.artist_ids is 'The artists to which a member or viewer is limited; null for the organization with all of them, as for every owner.';
alter table public.organization_invitations add column artist_ids uuid[];
comment on column public.organization_invitations.artist_ids is 'As organization_accounts.artist_ids.';

create function public.is_limited(p_account_id uuid, p_organization_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select from public.organization_accounts m
    where m.organization_id = p_organization_id and m.account_id = p_account_id
      and m.artist_ids is not null)
$$;
comment on function public.is_limited is 'Whether a member of an organization is limited to some of its artists.';

create function public.has_strange_artist(p_organization_id uuid, p_artist_ids uuid[]) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select from unnest(p_artist_ids) i (id)
    where not exists (
      select from public.organization_accounts l
      join public.accounts a on a.id = l.account_id and a.kind = 'artist'
      where l.organization_id = p_organization_id and l.account_id = i.id))
$$;
comment on function public.has_strange_artist is 'Whether one of the ids is no artist of the organization.';

create or replace function public.is_related(p_caller uuid, p_target uuid, p_roles text[]) returns boolean
language sql stable set search_path = '' as $$
  select p_caller = p_target
    or exists (
      select 1 from public.organization_accounts m
      where (m.account_id = p_caller and m.organization_id = p_target and m.role = any (p_roles)
          and m.artist_ids is null)
         or (m.organization_id = p_caller and m.account_id = p_target)
    )
    or exists (
      select 1
      from public.organization_accounts mine
      join public.organization_accounts theirs on theirs.organization_id = mine.organization_id
      where mine.account_id = p_caller and theirs.account_id = p_target
        and mine.role = any (p_roles)
        and (mine.artist_ids is null or p_target = any (mine.artist_ids))
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
                and m.role = any (p_roles) and m.artist_ids is null
            )
          )
      )
      and exists (select 1 from public.accounts t where t.id = p_target)
    )
$$;
comment on function public.is_related is 'Whether an account is another, or has one of the roles in its organization, in one that it is linked to, or in the admin organization. Who is limited to artists is related to these only.';

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
    v_verdicts := v_verdicts || jsonb_build_object('organization',
      coalesce(v_role in ('owner', 'member'), false)
        and not public.is_limited(p_caller, p_organization_id));
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

-- With more arguments, which calls of the version before leave out.
drop function public.organization_row(public.accounts, text);
create function public.organization_row(
  p_organization public.accounts, p_role text, p_artist_ids uuid[] default null
) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_organization.id, 'name', coalesce(p_organization.name, ''),
    'image', p_organization.image, 'role', p_role, 'artist_ids', p_artist_ids,
    'created_at', p_organization.created_at)
$$;
comment on function public.organization_row is 'The columns of an organization that its members see, with the role and the limits of one. Inlined, hence no search_path.';

create or replace function public.get_account(p_account_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'account', jsonb_build_object(
      'id', a.id, 'kind', a.kind, 'email', a.email, 'name', a.name, 'image', a.image,
      'monthly_budget_usd', a.monthly_budget_usd,
      'allow_unpriced_models', a.allow_unpriced_models, 'approvals', a.approvals,
      'network', a.network, 'auto_accept_memory', a.auto_accept_memory,
      'mail_when_waiting', a.mail_when_waiting,
      'timezone', a.timezone, 'created_at', a.created_at),
    'organizations', coalesce((
      select jsonb_agg(public.organization_row(o, m.role, m.artist_ids)
        order by o.created_at desc, o.id desc)
      from public.organization_accounts m
      join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
      where m.account_id = a.id), '[]'))
  from public.accounts a where a.id = p_account_id
$$;
comment on function public.get_account is 'The account as its owner sees it, with its organizations: {account, organizations}.';

create or replace function public.found_organization(p_account_id uuid, p_organization_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce((
    select jsonb_build_object('organization',
      public.organization_row(o, m.role, m.artist_ids))
    from public.organization_accounts m
    join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
    where m.organization_id = p_organization_id and m.account_id = p_account_id),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.found_organization is '{organization} for its members, {refused: missing} for everyone else.';

create or replace function public.list_organizations(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return to_jsonb(array(
    select public.organization_row(o, m.role, m.artist_ids)
    from public.organization_accounts m
    join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
    where m.account_id = p_account_id and (o.created_at, o.id) < (v_after_at, v_after_id)
    order by o.created_at desc, o.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_organizations is 'One page of the account''s organizations, newest first, with one more row if another page follows.';

create or replace function public.list_organization_members(
  p_account_id uuid, p_organization_id uuid,
  p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  if public.organization_role(p_account_id, p_organization_id) is null then
    return jsonb_build_object('refused', 'missing');
  end if;
  return to_jsonb(array(
    select jsonb_build_object('id', a.id, 'email', a.email, 'name', a.name, 'role', m.role,
      'artist_ids', m.artist_ids, 'created_at', m.created_at)
    from public.organization_accounts m
    join public.accounts a on a.id = m.account_id and a.kind = 'personal'
    where m.organization_id = p_organization_id and (m.created_at, a.id) < (v_after_at, v_after_id)
    order by m.created_at desc, a.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_organization_members is 'One page of the people of an organization, newest first, with one more row if another page follows; or {refused: missing}.';

drop function public.set_organization_role(uuid, uuid, uuid, text);
create function public.set_organization_role(
  p_account_id uuid, p_organization_id uuid, p_member_id uuid, p_role text,
  p_limits boolean default false, p_artist_ids uuid[] default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.refuse_member_change(
    p_account_id, p_organization_id, p_member_id, coalesce(p_role <> 'owner', false));
  v_member public.organization_accounts;
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  if p_limits and public.has_strange_artist(p_organization_id, p_artist_ids) then
    return jsonb_build_object('refused', 'strange_artist');
  end if;
  update public.organization_accounts m
  set role = coalesce(p_role, m.role), updated_at = now(),
    artist_ids = case
      when coalesce(p_role, m.role) = 'owner' then null
      when p_limits then p_artist_ids
      else m.artist_ids end
  where m.organization_id = p_organization_id and m.account_id = p_member_id
  returning * into v_member;
  return (
    select jsonb_build_object('member', jsonb_build_object(
      'id', a.id, 'email', a.email, 'name', a.name, 'role', v_member.role,
      'artist_ids', v_member.artist_ids))
    from public.accounts a where a.id = p_member_id);
end
$$;
comment on function public.set_organization_role is 'Changes the role of a member where it is not null, and with p_limits the artists to which it is limited, null for all, as those of an owner: {member}, {refused: strange_artist}, or as refuse_member_change.';

drop function public.create_invitation(uuid, uuid, text, text, integer, integer, integer, integer);
create function public.create_invitation(
  p_account_id uuid, p_organization_id uuid, p_email text, p_role text, p_valid_days integer,
  p_max_pending integer, p_max_a_day integer, p_max_mails_a_day integer,
  p_artist_ids uuid[] default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.refuse_invitation(
    p_account_id, p_organization_id, p_email, p_max_pending, p_max_a_day);
  v_mails integer;
  v_invitation public.organization_invitations;
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  if public.has_strange_artist(p_organization_id, p_artist_ids) then
    return jsonb_build_object('refused', 'strange_artist');
  end if;
  select count(*) into v_mails from public.organization_invitations i
  where i.email = p_email and i.created_at > now() - interval '1 day';
  update public.organization_invitations i set status = 'withdrawn'
  where i.organization_id = p_organization_id and i.email = p_email and i.status = 'pending';
  insert into public.organization_invitations
    (organization_id, invited_by, email, role, artist_ids, expires_at)
  values (p_organization_id, p_account_id, p_email, p_role,
    case when p_role <> 'owner' then p_artist_ids end,
    clock_timestamp() + make_interval(days => p_valid_days))
  returning * into v_invitation;
  return jsonb_build_object(
    'invitation', to_jsonb(v_invitation),
    'mail', v_mails < p_max_mails_a_day,
    'organization_name', (
      select coalesce(o.name, '') from public.accounts o where o.id = p_organization_id),
    'inviter', (select coalesce(a.email, a.name) from public.accounts a where a.id = p_account_id));
end
$$;
comment on function public.create_invitation is 'Invites an address in place of an earlier invitation: {invitation, mail, organization_name, inviter}, {refused: strange_artist}, or as refuse_invitation. mail is false when the address has had enough mails today.';

create or replace function public.accept_invitation(
  p_account_id uuid, p_id uuid, p_max_organizations integer, p_max_members integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_organization_id constant uuid := (
    select i.organization_id from public.organization_invitations i where i.id = p_id);
  v_invitation public.organization_invitations;
  v_full text;
begin
  -- Before the invitation, as those lock who withdraw it.
  perform public.lock_organization(p_account_id, v_organization_id);
  v_invitation := public.take_invitation(p_account_id, p_id, 'accepted');
  if v_invitation.id is null then
    return jsonb_build_object('refused', 'missing_invitation');
  end if;
  -- Only owners invite. The lock keeps the role of the inviter until this transaction ends.
  if public.organization_role(v_invitation.invited_by, v_organization_id) is distinct from 'owner' then
    update public.organization_invitations i set status = 'withdrawn' where i.id = p_id;
    return jsonb_build_object('refused', 'missing_invitation');
  end if;
  if p_max_members <= (
    select count(*) from public.organization_accounts m
    join public.accounts a on a.id = m.account_id and a.kind = 'personal'
    where m.organization_id = v_organization_id)
  then
    v_full := 'organization_full';
  elsif not public.has_organization_room(p_account_id, p_max_organizations) then
    v_full := 'account_full';
  end if;
  if v_full is not null then
    update public.organization_invitations i set status = 'pending' where i.id = p_id;
    return jsonb_build_object('refused', v_full);
  end if;
  insert into public.organization_accounts (organization_id, account_id, role, artist_ids)
  values (v_organization_id, p_account_id, v_invitation.role, v_invitation.artist_ids)
  on conflict (organization_id, account_id) do nothing;
  return public.found_organization(p_account_id, v_organization_id);
end
$$;
comment on function public.accept_invitation is 'Makes the invited account a member: {organization}, or {refused: missing_invitation | organization_full | account_full}.';

create or replace function public.list_artists(
  p_account_id uuid, p_organization_id uuid,
  p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return to_jsonb(array(
    with linked as (
      select l.account_id from public.organization_accounts l
      where l.organization_id = p_account_id
        and coalesce(p_organization_id = p_account_id, true)
      union
      select l.account_id
      from public.organization_accounts m
      join public.organization_accounts l on l.organization_id = m.organization_id
      where m.account_id = p_account_id
        and coalesce(m.organization_id = p_organization_id, true)
        and (m.artist_ids is null or l.account_id = any (m.artist_ids))
        -- Whoever may act for an artist need not know the others: its link is no membership.
        and not exists (
          select from public.accounts a where a.id = p_account_id and a.kind = 'artist')
    )
    select public.artist_row(p_account_id, a)
    from linked
    join public.accounts a on a.id = linked.account_id and a.kind = 'artist'
    where (a.created_at, a.id) < (v_after_at, v_after_id)
    order by a.created_at desc, a.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_artists is 'One page of the artists of the account and of its organizations, or of one of them, newest first, with one more row if another page follows.';

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
    and (coalesce(public.organization_role(p_account_id, v_parent), 'viewer') = 'viewer'
      or public.is_limited(p_account_id, v_parent))
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

drop trigger stop_turns_of_viewer on public.organization_accounts;
create trigger stop_turns_of_viewer after update of role, artist_ids on public.organization_accounts
  for each row when (new.role = 'viewer' or new.artist_ids is not null) execute function public.stop_turns_without_artist();
