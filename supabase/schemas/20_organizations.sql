-- Organizations, their members and invitations, and artists.

create table public.organization_invitations (
  id uuid primary key default gen_random_uuid(),
  organization_id uuid not null references public.accounts (id) on delete cascade,
  invited_by uuid references public.accounts (id) on delete set null,
  email text not null check (email = lower(email)),
  role text not null check (role in ('owner', 'member', 'viewer')),
  artist_ids uuid[],
  status text not null default 'pending'
    check (status in ('pending', 'accepted', 'declined', 'withdrawn')),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);

create unique index organization_invitations_pending
  on public.organization_invitations (organization_id, email) where status = 'pending';
create index organization_invitations_newest
  on public.organization_invitations (organization_id, created_at desc, id desc);
create index organization_invitations_email
  on public.organization_invitations (email, created_at desc, id desc);
create index organization_invitations_inviter
  on public.organization_invitations (invited_by, created_at);
create index organization_invitations_expires on public.organization_invitations (expires_at);
comment on table public.organization_invitations is 'Invitations by e-mail to join an organization. One that has ended stays until it expires, because it counts for the limits of mails.';
comment on column public.organization_invitations.artist_ids is 'As organization_accounts.artist_ids.';
comment on column public.organization_invitations.email is 'In lower case. It need not have an account yet, and nothing that a caller sees depends on that.';

-- Organizations -----------------------------------------------------------------------------------

create function public.lock_organization(p_account_id uuid, p_organization_id uuid) returns text
language plpgsql volatile set search_path = '' as $$
begin
  perform from public.accounts
  where id = p_organization_id and kind = 'organization'
  for no key update;
  -- Read after the wait, to see changes of others.
  return public.organization_role(p_account_id, p_organization_id);
end
$$;
comment on function public.lock_organization is 'Locks an organization against other changes of its members, and answers the caller''s role in it.';

create function public.organization_refusal(p_role text) returns jsonb
language sql immutable set search_path = '' as $$
  select case
    when p_role is null then jsonb_build_object('refused', 'missing')
    when p_role <> 'owner' then jsonb_build_object('refused', 'not_owner')
  end
$$;
comment on function public.organization_refusal is 'Why who has this role may not do what only owners may: missing, not_owner; null for an owner.';

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

create function public.found_organization(p_account_id uuid, p_organization_id uuid) returns jsonb
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

create function public.has_organization_room(p_account_id uuid, p_max integer) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  -- One at a time for each account: two at once cannot both take the last room.
  perform from public.accounts where id = p_account_id for no key update;
  return p_max > (
    select count(*) from public.organization_accounts m
    join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
    where m.account_id = p_account_id);
end
$$;
comment on function public.has_organization_room is 'True while the account belongs to fewer organizations than this; it stays so until the transaction ends.';

create function public.create_organization(
  p_account_id uuid, p_name text, p_max integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_id uuid;
begin
  if not exists (select from public.accounts where id = p_account_id and kind = 'personal') then
    return jsonb_build_object('refused', 'not_personal');
  end if;
  if not public.has_organization_room(p_account_id, p_max) then
    return jsonb_build_object('refused', 'account_full');
  end if;
  insert into public.accounts (kind, name) values ('organization', p_name) returning id into v_id;
  insert into public.organization_accounts (organization_id, account_id, role)
  values (v_id, p_account_id, 'owner');
  return public.found_organization(p_account_id, v_id);
end
$$;
comment on function public.create_organization is 'Makes an organization that the account owns: {organization}, or {refused: not_personal | account_full}.';

create function public.list_organizations(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return to_jsonb(array(
    select public.organization_row(o, m.role, m.artist_ids)
    from public.organization_accounts m
    join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
    where m.account_id = p_account_id and (o.created_at, o.id) < (p_after_at, p_after_id)
    order by o.created_at desc, o.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_organizations is 'One page of the account''s organizations, newest first, with one more row if another page follows.';

create function public.update_organization(
  p_account_id uuid, p_organization_id uuid, p_name text, p_image text, p_clear_image boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.organization_refusal(
    public.lock_organization(p_account_id, p_organization_id));
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  update public.accounts a
  set name = coalesce(p_name, a.name),
    image = case when p_clear_image then null else coalesce(p_image, a.image) end,
    updated_at = now()
  where a.id = p_organization_id;
  return public.found_organization(p_account_id, p_organization_id);
end
$$;
comment on function public.update_organization is 'Changes the fields that are not null, for an owner: {organization}, or {refused: missing | not_owner}.';

create function public.delete_organization(p_account_id uuid, p_organization_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.organization_refusal(
    public.lock_organization(p_account_id, p_organization_id));
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  -- Its artists and workspaces that belong to no other account would be out of everyone's reach.
  delete from public.accounts a
  using public.organization_accounts m
  where m.organization_id = p_organization_id and a.id = m.account_id
    and a.kind in ('artist', 'workspace')
    and not exists (
      select from public.organization_accounts x
      where x.account_id = a.id and x.organization_id <> p_organization_id);
  delete from public.accounts where id = p_organization_id;
  return jsonb_build_object('done', true);
end
$$;
comment on function public.delete_organization is 'Deletes an organization with its artists and workspaces, for an owner: {done}, or {refused: missing | not_owner}.';

-- Members -----------------------------------------------------------------------------------------

create function public.sees_member(p_account_id uuid, p_organization_id uuid, p_member_id uuid)
returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select from public.organization_accounts mine
    join public.organization_accounts theirs on theirs.organization_id = mine.organization_id
    where mine.organization_id = p_organization_id and mine.account_id = p_account_id
      and theirs.account_id = p_member_id
      and (mine.artist_ids is null or theirs.account_id = mine.account_id or theirs.role = 'owner'
        or exists (
          select from public.organization_accounts l
          where l.organization_id = p_organization_id and l.account_id = any (mine.artist_ids)
            and (theirs.artist_ids is null or l.account_id = any (theirs.artist_ids)))))
$$;
comment on function public.sees_member is 'Whether a member of an organization may know another: always, except that one who is limited to artists knows only itself, the owners and those who share one of its artists.';

create function public.list_organization_members(
  p_account_id uuid, p_organization_id uuid,
  p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_limit constant uuid[] := (
    select m.artist_ids from public.organization_accounts m
    where m.organization_id = p_organization_id and m.account_id = p_account_id);
begin
  if public.organization_role(p_account_id, p_organization_id) is null then
    return jsonb_build_object('refused', 'missing');
  end if;
  return to_jsonb(array(
    select jsonb_build_object('id', a.id, 'email', a.email, 'name', a.name, 'role', m.role,
      'artist_ids', case
        when v_limit is null or m.artist_ids is null then m.artist_ids
        else array(select i from unnest(m.artist_ids) i where i = any (v_limit)) end,
      'created_at', m.created_at)
    from public.organization_accounts m
    join public.accounts a on a.id = m.account_id and a.kind = 'personal'
    where m.organization_id = p_organization_id and (m.created_at, a.id) < (p_after_at, p_after_id)
      and public.sees_member(p_account_id, p_organization_id, a.id)
    order by m.created_at desc, a.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_organization_members is 'One page of the people of an organization that the caller may know (sees_member), newest first, with one more row if another page follows; or {refused: missing}. A caller who is limited to artists gets no ids of others in artist_ids.';

create function public.is_last_owner(p_organization_id uuid, p_member_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select from public.organization_accounts m
    where m.organization_id = p_organization_id and m.account_id = p_member_id
      and m.role = 'owner')
  and not exists (
    select from public.organization_accounts m
    where m.organization_id = p_organization_id and m.account_id <> p_member_id
      and m.role = 'owner')
$$;
comment on function public.is_last_owner is 'True when the organization would have no owner without this account.';

create function public.refuse_member_change(
  p_account_id uuid, p_organization_id uuid, p_member_id uuid, p_loses_owner boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_role constant text := public.lock_organization(p_account_id, p_organization_id);
begin
  if v_role is null then
    return jsonb_build_object('refused', 'missing');
  end if;
  if not exists (
    select from public.organization_accounts m
    join public.accounts a on a.id = m.account_id and a.kind = 'personal'
    where m.organization_id = p_organization_id and m.account_id = p_member_id)
  then
    return jsonb_build_object('refused', 'missing_member');
  end if;
  if v_role <> 'owner' then
    return jsonb_build_object('refused', 'not_owner');
  end if;
  if p_loses_owner and public.is_last_owner(p_organization_id, p_member_id) then
    return jsonb_build_object('refused', 'last_owner');
  end if;
  return null;
end
$$;
comment on function public.refuse_member_change is 'Locks the organization, and answers why the caller may not change a member: {refused: missing | missing_member | not_owner | last_owner}, or null.';

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

create function public.remove_organization_member(
  p_account_id uuid, p_organization_id uuid, p_member_id uuid
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.refuse_member_change(
    p_account_id, p_organization_id, p_member_id, true);
begin
  -- A member who is not an owner may still leave.
  if v_refusal is not null
    and not (v_refusal ->> 'refused' = 'not_owner' and p_member_id = p_account_id)
  then
    return v_refusal;
  end if;
  delete from public.organization_accounts
  where organization_id = p_organization_id and account_id = p_member_id;
  return jsonb_build_object('done', true);
end
$$;
comment on function public.remove_organization_member is 'Removes a member, or lets the caller leave: {done}, or as refuse_member_change.';

-- Invitations -------------------------------------------------------------------------------------

create function public.refuse_invitation(
  p_account_id uuid, p_organization_id uuid, p_email text, p_max_pending integer, p_max_a_day integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.organization_refusal(
    public.lock_organization(p_account_id, p_organization_id));
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  if exists (
    select from public.organization_accounts m
    join public.accounts a on a.id = m.account_id and a.kind = 'personal'
    where m.organization_id = p_organization_id and a.email = p_email)
  then
    return jsonb_build_object('refused', 'member');
  end if;
  if p_max_pending <= (
    select count(*) from public.organization_invitations i
    where i.organization_id = p_organization_id and i.status = 'pending' and i.expires_at > now()
      and i.email <> p_email)
  then
    return jsonb_build_object('refused', 'invitations_full');
  end if;
  -- The account's own row serializes its invitations to several organizations.
  perform from public.accounts where id = p_account_id for no key update;
  if p_max_a_day <= (
    select count(*) from public.organization_invitations i
    where i.invited_by = p_account_id and i.created_at > now() - interval '1 day')
  then
    return jsonb_build_object('refused', 'limited');
  end if;
  return null;
end
$$;
comment on function public.refuse_invitation is 'Locks the organization, and answers why the caller may not invite: {refused: missing | not_owner | member | invitations_full | limited}, or null.';

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

create function public.list_organization_invitations(
  p_account_id uuid, p_organization_id uuid,
  p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_refusal constant jsonb := public.organization_refusal(
    public.organization_role(p_account_id, p_organization_id));
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  return to_jsonb(array(
    select to_jsonb(i)
    from public.organization_invitations i
    where i.organization_id = p_organization_id and i.status = 'pending' and i.expires_at > now()
      and (i.created_at, i.id) < (p_after_at, p_after_id)
    order by i.created_at desc, i.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_organization_invitations is 'One page of the invitations that are open, newest first, with one more row if another page follows, for an owner; or {refused: missing | not_owner}.';

create function public.withdraw_invitation(
  p_account_id uuid, p_organization_id uuid, p_id uuid
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.organization_refusal(
    public.lock_organization(p_account_id, p_organization_id));
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  update public.organization_invitations i set status = 'withdrawn'
  where i.id = p_id and i.organization_id = p_organization_id and i.status = 'pending'
    and i.expires_at > now();
  if not found then
    return jsonb_build_object('refused', 'missing_invitation');
  end if;
  return jsonb_build_object('done', true);
end
$$;
comment on function public.withdraw_invitation is 'Ends an open invitation, for an owner: {done}, or {refused: missing | not_owner | missing_invitation}.';

create function public.list_invitations(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return to_jsonb(array(
    select to_jsonb(i) || jsonb_build_object('organization_name', coalesce(o.name, ''))
    from public.accounts a
    join public.organization_invitations i on i.email = a.email
    join public.accounts o on o.id = i.organization_id
    where a.id = p_account_id and a.kind = 'personal'
      and i.status = 'pending' and i.expires_at > now()
      and (i.created_at, i.id) < (p_after_at, p_after_id)
    order by i.created_at desc, i.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_invitations is 'One page of the open invitations of the account''s address, newest first, with one more row if another page follows.';

create function public.take_invitation(
  p_account_id uuid, p_id uuid, p_status text
) returns public.organization_invitations
language sql volatile set search_path = '' as $$
  update public.organization_invitations i set status = p_status
  from public.accounts a
  where a.id = p_account_id and a.kind = 'personal'
    and i.id = p_id and i.email = a.email and i.status = 'pending' and i.expires_at > now()
  returning i.*
$$;
comment on function public.take_invitation is 'Ends an open invitation of the account''s address, and answers it; null when there is none.';

create function public.decline_invitation(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_invitation constant public.organization_invitations :=
    public.take_invitation(p_account_id, p_id, 'declined');
begin
  if v_invitation.id is null then
    return jsonb_build_object('refused', 'missing_invitation');
  end if;
  return jsonb_build_object('done', true);
end
$$;
comment on function public.decline_invitation is 'Declines an invitation of the account''s address: {done}, or {refused: missing_invitation}.';

create function public.accept_invitation(
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

create function public.withdraw_invitations_of_inviter() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  update public.organization_invitations i set status = 'withdrawn'
  where i.organization_id = old.organization_id and i.invited_by = old.account_id
    and i.status = 'pending';
  return null;
end
$$;
comment on function public.withdraw_invitations_of_inviter is 'Trigger of organization_accounts: withdraws the open invitations of an owner who is removed or becomes a member.';
create trigger withdraw_invitations_of_removed after delete on public.organization_accounts
  for each row execute function public.withdraw_invitations_of_inviter();
create trigger withdraw_invitations_of_demoted after update of role on public.organization_accounts
  for each row when (old.role = 'owner' and new.role <> 'owner')
  execute function public.withdraw_invitations_of_inviter();

-- Artists -----------------------------------------------------------------------------------------

create function public.artist_row(p_account_id uuid, p_artist public.accounts) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', p_artist.id, 'name', coalesce(p_artist.name, ''), 'label', p_artist.label,
    'image', p_artist.image, 'catalog_artist_id', p_artist.catalog_artist_id,
    'organization_id', (
      select l.organization_id
      from public.organization_accounts l
      join public.accounts o on o.id = l.organization_id and o.kind = 'organization'
      where l.account_id = p_artist.id
      -- Of several, one of the caller's.
      order by public.organization_role(p_account_id, o.id) is null, l.created_at, o.id
      limit 1),
    'created_at', p_artist.created_at)
$$;
comment on function public.artist_row is 'The columns of an artist, with its organization: one of the account''s if there are several.';

create function public.get_artist(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce((
    select jsonb_build_object('artist', public.artist_row(p_account_id, a))
    from public.accounts a
    where a.id = p_id and a.kind = 'artist' and public.may_see(p_account_id, p_id)),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.get_artist is '{artist} for who may see it, {refused: missing} for everyone else.';

create function public.list_artists(
  p_account_id uuid, p_organization_id uuid,
  p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
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
        -- An artist's link to an organization does not reveal its other artists.
        and not exists (
          select from public.accounts a where a.id = p_account_id and a.kind = 'artist')
    )
    select public.artist_row(p_account_id, a)
    from linked
    join public.accounts a on a.id = linked.account_id and a.kind = 'artist'
    where (a.created_at, a.id) < (p_after_at, p_after_id)
    order by a.created_at desc, a.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_artists is 'One page of the artists of the account and of its organizations, or of one of them, newest first, with one more row if another page follows.';

create function public.create_artist(
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

create function public.find_or_create_artist(p_account_id uuid, p_name text, p_label text, p_max integer)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_id uuid;
begin
  -- One at a time: two at once cannot both create it.
  perform from public.accounts where id = p_account_id for no key update;
  select a.id into v_id from public.organization_accounts l
  join public.accounts a on a.id = l.account_id and a.kind = 'artist'
  where l.organization_id = p_account_id and a.name = p_name
  order by a.created_at
  limit 1;
  if v_id is not null then
    return public.get_artist(p_account_id, v_id);
  end if;
  return public.create_artist(p_account_id, p_name, p_label, null, null, null, p_max);
end
$$;
comment on function public.find_or_create_artist is 'The artist of the account that has the name, or a new one: {artist}, or {refused: full}.';

create function public.update_artist(
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

create function public.delete_artist(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_found constant jsonb := public.get_artist(p_account_id, p_id);
begin
  if v_found ->> 'refused' is not null then
    return v_found;
  end if;
  if not exists (
    select from public.organization_accounts l
    where l.account_id = p_id
      and (l.organization_id = p_account_id
        or public.organization_role(p_account_id, l.organization_id) = 'owner'))
  then
    return jsonb_build_object('refused', 'not_owner');
  end if;
  delete from public.accounts where id = p_id and kind = 'artist';
  return jsonb_build_object('done', true);
end
$$;
comment on function public.delete_artist is 'Deletes an artist with everything that it owns, for the owners of its organization or the account that it belongs to: {done}, or {refused: missing | not_owner}.';

create function public.organization_of_run(p_account_id uuid, p_artist_id uuid) returns uuid
language plpgsql stable set search_path = '' as $$
declare
  v_ids constant uuid[] := array(
    select o.id
    from (
      select m.organization_id as id from public.organization_accounts m
      join public.accounts a on a.id = m.organization_id and a.kind = 'organization'
      where m.account_id = p_account_id
      union
      select a.id from public.accounts a where a.id = p_account_id and a.kind = 'organization') o
    where p_artist_id is null or exists (
      select from public.organization_accounts l
      where l.organization_id = o.id and l.account_id = p_artist_id)
    limit 2);
begin
  return case when cardinality(v_ids) = 1 then v_ids[1] end;
end
$$;
comment on function public.organization_of_run is 'The only organization of an account, or the only one of these that has the artist; null for none or several.';
