-- Artists that people create. An artist belongs to an organization, or to the account that made it:
-- in both cases by a row of organization_accounts, which may_act_for reads.

create function public.artist_json(p_account_id uuid, p_artist public.accounts) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'account_id', p_artist.id,
    'name', coalesce(p_artist.name, ''),
    'label', p_artist.label,
    'image', p_artist.image,
    'organization_id', (
      select l.organization_id
      from public.organization_accounts l
      join public.accounts o on o.id = l.organization_id and o.kind = 'organization'
      where l.account_id = p_artist.id
      -- Of several, one of the caller's.
      order by public.organization_role(p_account_id, o.id) is null, l.created_at, o.id
      limit 1),
    'created_at', public.iso_date(p_artist.created_at))
$$;

create function public.get_artist(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce((
    select jsonb_build_object('artist', public.artist_json(p_account_id, a))
    from public.accounts a
    where a.id = p_id and a.kind = 'artist' and public.may_act_for(p_account_id, p_id)),
    jsonb_build_object('refused', 'missing'))
$$;

create function public.list_artists(
  p_account_id uuid, p_organization_id uuid,
  p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return (
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
    ),
    page as (
      select a, row_number() over (order by a.created_at desc, a.id desc) as place
      from linked
      join public.accounts a on a.id = linked.account_id and a.kind = 'artist'
      where (a.created_at, a.id) < (v_after_at, v_after_id)
      order by a.created_at desc, a.id desc
      limit p_limit + 1
    )
    select jsonb_build_object(
      'items', coalesce(
        jsonb_agg(public.artist_json(p_account_id, a) order by place)
          filter (where place <= p_limit), '[]'),
      'next', case when count(*) > p_limit then
        max(public.page_cursor((a).created_at, (a).id)) filter (where place = p_limit) end)
    from page);
end
$$;

create function public.create_artist(
  p_account_id uuid, p_name text, p_label text, p_image text, p_organization_id uuid, p_max integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_parent constant uuid := coalesce(p_organization_id, p_account_id);
  v_id uuid;
begin
  -- One at a time for each parent: two at once cannot both take the last room.
  perform from public.accounts where id = v_parent for no key update;
  -- The request was checked before; the membership may have ended since.
  if v_parent <> p_account_id and public.organization_role(p_account_id, v_parent) is null then
    return jsonb_build_object('refused', 'organization');
  end if;
  if p_max <= (
    select count(*) from public.organization_accounts l
    join public.accounts a on a.id = l.account_id and a.kind = 'artist'
    where l.organization_id = v_parent)
  then
    return jsonb_build_object('refused', 'full');
  end if;
  insert into public.accounts (kind, name, label, image)
  values ('artist', p_name, p_label, p_image)
  returning id into v_id;
  insert into public.organization_accounts (organization_id, account_id) values (v_parent, v_id);
  return public.get_artist(p_account_id, v_id);
end
$$;

create function public.update_artist(
  p_account_id uuid, p_id uuid, p_name text, p_label text, p_image text, p_clear text[]
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update public.accounts a
  set name = coalesce(p_name, a.name),
    label = case when 'label' = any (p_clear) then null else coalesce(p_label, a.label) end,
    image = case when 'image' = any (p_clear) then null else coalesce(p_image, a.image) end,
    updated_at = now()
  where a.id = p_id and a.kind = 'artist' and public.may_act_for(p_account_id, p_id);
  return public.get_artist(p_account_id, p_id);
end
$$;

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

comment on function public.artist_json(uuid, public.accounts) is
  'An artist as this account sees it.';
comment on function public.get_artist(uuid, uuid) is
  '{artist} for who may act for it, {refused: missing} for everyone else.';
comment on function public.list_artists(uuid, uuid, integer, timestamptz, uuid) is
  'One page of the artists of the account and of its organizations, or of one of them, newest first: {items, next}.';
comment on function public.create_artist(uuid, text, text, text, uuid, integer) is
  'Creates an artist of an organization, or of the account without one: {artist}, or {refused: organization | full}.';
comment on function public.update_artist(uuid, uuid, text, text, text, text[]) is
  'Changes what is not null and clears the columns of p_clear (label, image): {artist}, or {refused: missing}.';
comment on function public.delete_artist(uuid, uuid) is
  'Deletes an artist with everything that it owns, for the owners of its organization or the account that it belongs to: {done}, or {refused: missing | not_owner}.';
