-- A refresh that ends late must not replace tokens that the account has changed in the meantime.

drop function public.store_mcp_tokens(uuid, uuid, text, text);
create function public.store_mcp_tokens(
  p_account_id uuid, p_id uuid, p_url text, p_secret text, p_leased text default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update public.mcp_servers
  set secret = p_secret, tokens_leased_until = null, updated_at = now()
  where id = p_id and account_id = p_account_id and url = p_url and auth_type = 'oauth'
    and (p_leased is null or secret is not distinct from p_leased);
  return public.mcp_server_access(p_account_id, p_id);
end
$$;
comment on function public.store_mcp_tokens is 'Stores the tokens of a server, unless it has another URL or no OAuth by now, or other tokens than the leased ones: {access} as it is then, or {refused: missing}.';
