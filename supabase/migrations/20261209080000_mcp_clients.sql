-- OAuth clients that were registered by hand with MCP servers.

alter table public.mcp_servers add column client_id text, add column client text;
comment on column public.mcp_servers.client_id is 'Of an OAuth client that was registered by hand; null for none.';
comment on column public.mcp_servers.client is 'That client with its secret and, once an authorization has been started, its issuer, sealed by the server.';

create or replace function public.mcp_server_row(p_server public.mcp_servers) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(p_server) - array['secret', 'client', 'tokens_leased_until'] || jsonb_build_object(
    'has_secret', p_server.secret is not null,
    'tool_counts', (
      select jsonb_build_object(
        'known', count(*) filter (where t.confirmed_sha256 = t.sha256),
        'changed', count(*) filter (where t.confirmed_sha256 <> t.sha256),
        'new', count(*) filter (where t.confirmed_sha256 is null))
      from public.mcp_tools t where t.server_id = p_server.id and t.is_listed))
$$;
comment on function public.mcp_server_row is 'An MCP server without its secret, with the numbers of its tools.';

drop function public.create_mcp_server(uuid, uuid, text, text, text, text[], text, boolean, integer);

create function public.create_mcp_server(
  p_account_id uuid, p_id uuid, p_name text, p_url text, p_auth_type text, p_header_names text[],
  p_secret text, p_enabled boolean, p_max integer, p_client_id text default null,
  p_client text default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_server public.mcp_servers;
begin
  -- Two requests at once cannot pass the limit together.
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261138));
  if (select count(*) from public.mcp_servers where account_id = p_account_id) >= p_max then
    return jsonb_build_object('refused', 'full');
  end if;
  insert into public.mcp_servers
    (id, account_id, name, url, auth_type, header_names, secret, client_id, client, enabled)
  values (p_id, p_account_id, p_name, p_url, p_auth_type, p_header_names, p_secret, p_client_id,
    p_client, p_enabled)
  on conflict (account_id, name) do nothing
  returning * into v_server;
  if not found then
    return jsonb_build_object('refused', 'taken');
  end if;
  return public.found_mcp_server(v_server);
end
$$;
comment on function public.create_mcp_server is 'Creates an MCP server of an account that has fewer than p_max: {server, tools} or {refused: full | taken}.';

create or replace function public.update_mcp_server(p_account_id uuid, p_id uuid, p_changes jsonb)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_changed public.mcp_servers;
  v_server public.mcp_servers;
begin
  select * into v_server from public.mcp_servers
  where id = p_id and account_id = p_account_id for update;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  v_changed := jsonb_populate_record(v_server, p_changes);
  -- A secret is for the address that it was given for.
  if v_changed.url <> v_server.url and not p_changes ? 'auth_type' and v_server.auth_type <> 'none' then
    return jsonb_build_object('refused', 'auth_missing');
  end if;
  update public.mcp_servers set
    name = v_changed.name, url = v_changed.url, auth_type = v_changed.auth_type,
    header_names = v_changed.header_names, secret = v_changed.secret,
    client_id = v_changed.client_id, client = v_changed.client,
    enabled = v_changed.enabled, updated_at = now()
  where id = p_id returning * into v_server;
  return public.found_mcp_server(v_server);
exception when unique_violation then
  return jsonb_build_object('refused', 'taken');
end
$$;
comment on function public.update_mcp_server is 'Changes the columns of an MCP server that p_changes names: {server, tools} or {refused: missing | taken | auth_missing}.';

drop function public.start_mcp_authorization(uuid, uuid, text, text, text);

create function public.start_mcp_authorization(
  p_account_id uuid, p_id uuid, p_state_hash text, p_url text, p_sealed text,
  p_client text default null
) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  -- From now on the client is for the issuer that it names.
  update public.mcp_servers set client = p_client
  where id = p_id and account_id = p_account_id and url = p_url and client_id is not null
    and p_client is not null;
  insert into public.mcp_authorizations (server_id, state_hash, url, sealed)
  select s.id, p_state_hash, p_url, p_sealed from public.mcp_servers s
  where s.id = p_id and s.account_id = p_account_id
  on conflict (server_id) do update set state_hash = excluded.state_hash, url = excluded.url,
    sealed = excluded.sealed, created_at = now();
  return found;
end
$$;
comment on function public.start_mcp_authorization is 'Stores an authorization in place of an earlier one of the server, and its client with the issuer that it is for. Returns whether the account has the server.';
