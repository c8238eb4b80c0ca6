-- The holder of an account chooses its name: the consent page also shows its address.

create or replace function public.pending_connection(p_state_hash text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'connector', c.connector,
    'callback_url', c.callback_url,
    'account', coalesce(a.name, a.email, a.id::text),
    'address', coalesce(
      a.email, (select s.email from public.accounts s where s.id = c.started_by), a.id::text)
  )
  from public.connections c join public.accounts a on a.id = c.account_id
  where c.state_hash = p_state_hash and c.expires_at > now()
    and public.may_connect(c.account_id, c.started_by, c.key_id)
$$;
comment on function public.pending_connection is 'The request behind a consent link: {connector, callback_url, account, address}, with the address of who has asked for it if the account has none; null when it cannot be decided.';
