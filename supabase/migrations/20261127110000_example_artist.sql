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
