-- An artist may name itself in the catalog, so that its albums and tracks are found by id and not by name.

alter table public.accounts add column catalog_artist_id text;
comment on column public.accounts.catalog_artist_id is
  'The id of an artist in the music catalog; null for an artist without one and for accounts of other kinds.';

create or replace function public.artist_json(p_account_id uuid, p_artist public.accounts)
returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'account_id', p_artist.id,
    'name', coalesce(p_artist.name, ''),
    'label', p_artist.label,
    'image', p_artist.image,
    'catalog_artist_id', p_artist.catalog_artist_id,
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
  insert into public.accounts (kind, name, label, image, catalog_artist_id)
  values ('artist', p_name, p_label, p_image, p_catalog_artist_id)
  returning id into v_id;
  insert into public.organization_accounts (organization_id, account_id) values (v_parent, v_id);
  return public.get_artist(p_account_id, v_id);
end
$$;
comment on function public.create_artist(uuid, text, text, text, text, uuid, integer) is
  'Creates an artist of an organization, or of the account without one: {artist}, or {refused: organization | full}.';

create or replace function public.create_artist(
  p_account_id uuid, p_name text, p_label text, p_image text, p_organization_id uuid, p_max integer
) returns jsonb
language sql volatile set search_path = '' as $$
  select public.create_artist(
    p_account_id, p_name, p_label, p_image, null, p_organization_id, p_max)
$$;
comment on function public.create_artist(uuid, text, text, text, uuid, integer) is
  'Superseded by create_artist with p_catalog_artist_id; kept for servers of the version before.';

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
  return public.get_artist(p_account_id, p_id);
end
$$;
comment on function public.update_artist(uuid, uuid, text, text, text, text, text[]) is
  'Changes what is not null and clears the columns of p_clear (label, image, catalog_artist_id): {artist}, or {refused: missing}.';

create or replace function public.update_artist(
  p_account_id uuid, p_id uuid, p_name text, p_label text, p_image text, p_clear text[]
) returns jsonb
language sql volatile set search_path = '' as $$
  select public.update_artist(p_account_id, p_id, p_name, p_label, p_image, null, p_clear)
$$;
comment on function public.update_artist(uuid, uuid, text, text, text, text[]) is
  'Superseded by update_artist with p_catalog_artist_id; kept for servers of the version before.';
