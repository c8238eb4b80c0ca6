-- An account ends its connections to a service.

create function public.remove_connections(p_account_id uuid, p_connector text) returns integer
language sql volatile set search_path = '' as $$
  with removed as (
    delete from public.connections where account_id = p_account_id and connector = p_connector
    returning 1
  )
  select count(*)::integer from removed
$$;
comment on function public.remove_connections(uuid, text) is
  'Removes every connection of an account to a service, whatever its status, and returns their number. Links to decide on one are dead from then on.';
