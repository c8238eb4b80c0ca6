-- MCP servers: services of others whose tools the agents of an account can call.

create table public.mcp_servers (
  id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  name text not null,
  url text not null check (octet_length(url) <= 2048),
  auth_type text not null check (auth_type in ('none', 'headers', 'oauth')),
  header_names text[] not null default '{}',
  secret text,
  client_id text,
  client text,
  enabled boolean not null,
  is_legacy boolean not null default false,
  refreshed_at timestamptz,
  refresh_error text,
  tokens_leased_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (account_id, name)
);
comment on table public.mcp_servers is 'The MCP servers of accounts.';
comment on column public.mcp_servers.id is 'Chosen by the server, which seals the secret for it.';
comment on column public.mcp_servers.secret is 'The headers, or the OAuth tokens, sealed by the server; null without any.';
comment on column public.mcp_servers.client is 'That client with its secret and, once an authorization has been started, its issuer, sealed by the server.';
comment on column public.mcp_servers.tokens_leased_until is 'Until then one caller refreshes the tokens; null for none.';
comment on column public.mcp_servers.is_legacy is 'Whether the server has last spoken a revision of the protocol with a handshake.';

create table public.mcp_tools (
  server_id uuid not null references public.mcp_servers (id) on delete cascade,
  name text not null,
  definition text not null,
  sha256 text not null,
  fault text,
  is_listed boolean not null default true,
  confirmed text,
  confirmed_sha256 text,
  primary key (server_id, name)
);
comment on table public.mcp_tools is 'The tools of MCP servers, as the servers have last listed them.';
comment on column public.mcp_tools.definition is 'JSON {title, description, input_schema, read_only}. As text, because models write the fields in the order of the schema, which jsonb does not keep.';
comment on column public.mcp_tools.fault is 'Why no agent gets the tool; null for none.';
comment on column public.mcp_tools.is_listed is 'False for a tool that the server no longer lists. The row stays: a tool that returns changed is withheld.';
comment on column public.mcp_tools.confirmed is 'The definition at the first use, or the one that the account has confirmed since; null before. Another one is withheld.';

create table public.mcp_authorizations (
  server_id uuid primary key references public.mcp_servers (id) on delete cascade,
  state_hash text not null unique,
  url text not null,
  sealed text not null,
  created_at timestamptz not null default now()
);
comment on table public.mcp_authorizations is 'Authorizations at MCP servers that a person has been sent to. The newest of each server counts, once and for ten minutes.';
comment on column public.mcp_authorizations.sealed is 'What completes it, sealed by the server.';

create function public.mcp_server_row(p_server public.mcp_servers) returns jsonb
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

create function public.found_mcp_server(p_server public.mcp_servers) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'server', public.mcp_server_row(p_server),
    'tools', (
      select coalesce(jsonb_agg(to_jsonb(t) - 'server_id' order by t.name), '[]')
      from public.mcp_tools t where t.server_id = p_server.id and t.is_listed))
$$;
comment on function public.found_mcp_server is 'The answer {server, tools} of a function that has found its MCP server.';

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

create function public.list_mcp_servers(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(array(
    select public.mcp_server_row(s)
    from public.mcp_servers s
    where s.account_id = p_account_id
      and (s.created_at, s.id) < (p_after_at, p_after_id)
    order by s.created_at desc, s.id desc
    limit p_limit + 1))
$$;
comment on function public.list_mcp_servers is 'A page of an account''s MCP servers, newest first, with one more row if another page follows.';

create function public.get_mcp_server(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(
    (select public.found_mcp_server(s) from public.mcp_servers s
      where s.id = p_id and s.account_id = p_account_id),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.get_mcp_server is 'An MCP server of an account with its tools: {server, tools} or {refused: missing}.';

create function public.update_mcp_server(p_account_id uuid, p_id uuid, p_changes jsonb)
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

create function public.delete_mcp_server(p_account_id uuid, p_id uuid) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  delete from public.mcp_servers where id = p_id and account_id = p_account_id;
  return found;
end
$$;
comment on function public.delete_mcp_server is 'Deletes an MCP server of an account with its tools. Returns whether there was one.';

create function public.mcp_server_access(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(
    (select jsonb_build_object('access', to_jsonb(s)) from public.mcp_servers s
      where s.id = p_id and s.account_id = p_account_id),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.mcp_server_access is 'What the server needs to reach an MCP server, with its sealed secret: {access} or {refused: missing}.';

create function public.store_mcp_tools(
  p_account_id uuid, p_id uuid, p_url text, p_tools jsonb, p_is_legacy boolean, p_error text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_server public.mcp_servers;
begin
  update public.mcp_servers
  set refreshed_at = clock_timestamp(), refresh_error = p_error,
    is_legacy = coalesce(p_is_legacy, is_legacy)
  where id = p_id and account_id = p_account_id and url = p_url
  returning * into v_server;
  if not found then
    return public.get_mcp_server(p_account_id, p_id);
  end if;
  if p_tools is not null then
    delete from public.mcp_tools t
    where t.server_id = p_id and t.confirmed is null
      and not exists (
        select from jsonb_array_elements(p_tools) l where l ->> 'name' = t.name);
    update public.mcp_tools t set is_listed = false
    where t.server_id = p_id
      and not exists (
        select from jsonb_array_elements(p_tools) l where l ->> 'name' = t.name);
    insert into public.mcp_tools as t (server_id, name, definition, sha256, fault)
    select p_id, l ->> 'name', l ->> 'definition', l ->> 'sha256', l ->> 'fault'
    from jsonb_array_elements(p_tools) l
    order by l ->> 'name'
    on conflict (server_id, name) do update set
      definition = excluded.definition, sha256 = excluded.sha256, fault = excluded.fault,
      is_listed = true;
  end if;
  return public.found_mcp_server(v_server);
end
$$;
comment on function public.store_mcp_tools is 'Stores the tools [{name, definition, sha256, fault}] that an MCP server has listed at p_url, or why it did not, unless it has another URL now: {server, tools} or {refused: missing}.';

create function public.confirm_mcp_tools(p_account_id uuid, p_id uuid, p_tools jsonb)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_server public.mcp_servers;
  v_confirmed integer;
begin
  select * into v_server from public.mcp_servers
  where id = p_id and account_id = p_account_id for no key update;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  update public.mcp_tools t set confirmed = t.definition, confirmed_sha256 = t.sha256
  from jsonb_array_elements(p_tools) c
  where t.server_id = p_id and t.is_listed
    and t.name = c ->> 'name' and t.sha256 = c ->> 'sha256';
  get diagnostics v_confirmed = row_count;
  if v_confirmed < jsonb_array_length(p_tools) then
    raise exception using errcode = 'PT409';
  end if;
  return public.found_mcp_server(v_server);
exception when sqlstate 'PT409' then
  return jsonb_build_object('refused', 'differs');
end
$$;
comment on function public.confirm_mcp_tools is 'Confirms definitions [{name, sha256}] of tools, all or none: {server, tools} or {refused: missing | differs}.';

create function public.missing_mcp_servers(p_account_id uuid, p_names text[]) returns text[]
language sql stable set search_path = '' as $$
  select array(
    select n from unnest(p_names) n
    where not exists (
      select from public.mcp_servers s where s.account_id = p_account_id and s.name = n))
$$;
comment on function public.missing_mcp_servers is 'The names that no MCP server of the account has.';

-- In plpgsql, which keeps its plan, because a turn calls it at its start.
create function public.mcp_tools_of_turn(p_account_id uuid, p_names jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  if p_names is null or p_names = '[]' then
    return null;
  end if;
  return (
    select jsonb_agg(jsonb_build_object('server_id', o.id, 'server', o.server, 'tool', o.tool,
      'sha256', o.sha256, 'definition', o.definition) order by o.server, o.tool)
    from (
      select s.id, s.name as server, t.name as tool, t.sha256, t.definition,
        sum(octet_length(t.definition)) over (order by s.name, t.name) as bytes
      from public.mcp_servers s
      join public.mcp_tools t on t.server_id = s.id
      where s.account_id = p_account_id and s.enabled and p_names ? s.name
        and t.is_listed and t.fault is null
        and coalesce(t.confirmed_sha256, t.sha256) = t.sha256) o
    -- Bounded, because the turn keeps a copy.
    where o.bytes <= 1048576);
end
$$;
comment on function public.mcp_tools_of_turn is 'The tools of the MCP servers with these names that a turn can call: [{server_id, server, tool, sha256, definition}], null without any. Changed tools that the account has not confirmed are left out.';

create function public.use_mcp_tool(
  p_account_id uuid, p_server_id uuid, p_tool text, p_sha256 text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_server public.mcp_servers;
  v_tool public.mcp_tools;
begin
  select * into v_server from public.mcp_servers
  where id = p_server_id and account_id = p_account_id and enabled;
  select * into v_tool from public.mcp_tools
  where server_id = v_server.id and name = p_tool and is_listed and fault is null;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  if v_tool.sha256 <> p_sha256 or v_tool.confirmed_sha256 <> p_sha256 then
    return jsonb_build_object('refused', 'changed');
  end if;
  if v_tool.confirmed is null then
    update public.mcp_tools set confirmed = definition, confirmed_sha256 = sha256
    where server_id = v_server.id and name = p_tool and sha256 = p_sha256
      and confirmed is null;
  end if;
  return jsonb_build_object('access', to_jsonb(v_server));
end
$$;
comment on function public.use_mcp_tool is 'Notes the use of the definition of a tool that a turn was given: {access}, as in mcp_server_access, or {refused: missing | changed}.';

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

create function public.take_mcp_authorization(p_account_id uuid, p_state_hash text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_taken public.mcp_authorizations;
  v_server public.mcp_servers;
begin
  delete from public.mcp_authorizations a using public.mcp_servers s
  where a.state_hash = p_state_hash and s.id = a.server_id and s.account_id = p_account_id
  returning a.* into v_taken;
  select * into v_server from public.mcp_servers
  where id = v_taken.server_id and url = v_taken.url and auth_type = 'oauth';
  if not found or v_taken.created_at < now() - interval '10 minutes' then
    return jsonb_build_object('refused', 'expired');
  end if;
  return jsonb_build_object('access', to_jsonb(v_server), 'sealed', v_taken.sealed);
end
$$;
comment on function public.take_mcp_authorization is 'Takes an authorization of the account: {access, sealed} or {refused: expired}.';

create function public.lease_mcp_tokens(p_account_id uuid, p_id uuid, p_secret text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_server public.mcp_servers;
begin
  select * into v_server from public.mcp_servers
  where id = p_id and account_id = p_account_id and auth_type = 'oauth' for no key update;
  if v_server.secret is null then
    return jsonb_build_object('outcome', 'missing');
  elsif v_server.secret <> p_secret then
    return jsonb_build_object('access', to_jsonb(v_server));
  elsif v_server.tokens_leased_until > clock_timestamp() then
    return jsonb_build_object('outcome', 'wait');
  end if;
  update public.mcp_servers set tokens_leased_until = clock_timestamp() + interval '30 seconds'
  where id = p_id;
  return jsonb_build_object('outcome', 'leased');
end
$$;
comment on function public.lease_mcp_tokens is 'Lets one caller at a time refresh the tokens in p_secret: {outcome: leased | wait | missing}, or {access} if they are others by now.';

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
