-- Only owners change roles and limits, and who is limited to artists knows only the members that share them.

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

create or replace function public.list_organization_members(
  p_account_id uuid, p_organization_id uuid,
  p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
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
    where m.organization_id = p_organization_id and (m.created_at, a.id) < (v_after_at, v_after_id)
      and public.sees_member(p_account_id, p_organization_id, a.id)
    order by m.created_at desc, a.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_organization_members is 'One page of the people of an organization that the caller may know (sees_member), newest first, with one more row if another page follows; or {refused: missing}. A caller who is limited to artists gets no ids of others in artist_ids.';

create or replace function public.refuse_member_change(
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

create or replace function public.remove_organization_member(
  p_account_id uuid, p_organization_id uuid, p_member_id uuid
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.refuse_member_change(
    p_account_id, p_organization_id, p_member_id, true);
begin
  -- Who is not an owner may still leave.
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

create or replace function public.recipient_fault(p_account_id uuid, p_address text) returns text
language sql stable set search_path = '' as $$
  select case
    when b.reason = 'unsubscribed' then 'The recipient has unsubscribed'
    when b.reason = 'bounced' then 'Mail to the recipient has bounced'
    when not exists (
      select from public.accounts a where a.id = p_account_id and a.email = p_address)
    and not exists (
      select from public.delivery_addresses d
      where d.account_id = p_account_id and d.address = p_address and d.confirmed_at is not null)
    and not exists (
      select from public.accounts a
      join public.organization_accounts m on m.account_id = a.id
      join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
      where a.kind = 'personal' and a.email = p_address
        and (o.id = p_account_id or public.sees_member(p_account_id, o.id, a.id)))
    then 'The recipient is no member and has not confirmed' end
  from (select 1) one
  left join public.delivery_blocks b on b.account_id = p_account_id and b.address = p_address
$$;
comment on function public.recipient_fault is 'Why an account may not mail results to an address; null if it may: to its own address, members of its organizations that it may know, and confirmed addresses. It does not depend on whether other addresses have accounts.';
