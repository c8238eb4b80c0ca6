-- MCP servers, and their tools in turns.
alter table public.turns add column mcp_tools jsonb;
comment on column public.turns.mcp_tools is 'The tools of MCP servers that the turn could call when it started, as of mcp_tools_of_turn; null for none, and once the turn has ended.';

create table public.mcp_servers (
  id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  name text not null,
  url text not null check (octet_length(url) <= 2048),
  auth_type text not null check (auth_type in ('none', 'headers', 'oauth')),
  header_names text[] not null default '{}',
  secret text,
  enabled boolean not null,
  is_legacy boolean not null default false,
  refreshed_at timestamptz,
  refresh_error text,
  tokens_leased_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (account_id, name)
);
alter table public.mcp_servers enable row level security;
comment on table public.mcp_servers is 'The MCP servers of accounts.';
comment on column public.mcp_servers.id is 'Chosen by the server, which seals the secret for it.';
comment on column public.mcp_servers.secret is 'The headers, or the OAuth tokens, sealed by the server; null without any.';
comment on column public.mcp_servers.tokens_leased_until is 'Until then one caller refreshes the tokens; null for none.';
comment on column public.mcp_servers.is_legacy is 'Whether the server has last spoken a revision of the protocol with a handshake.';
comment on column public.mcp_servers.refreshed_at is 'When the tools were last listed, successfully or not; null before.';
comment on column public.mcp_servers.refresh_error is 'Why the last list of the tools failed; null if it did not.';

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
alter table public.mcp_tools enable row level security;
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
alter table public.mcp_authorizations enable row level security;
comment on table public.mcp_authorizations is 'Authorizations at MCP servers that a person has been sent to. The newest of each server counts, once and for ten minutes.';
comment on column public.mcp_authorizations.url is 'The URL of the server that it is for.';
comment on column public.mcp_authorizations.sealed is 'What completes it, sealed by the server.';

create function public.mcp_server_row(p_server public.mcp_servers) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(p_server) - 'secret' - 'tokens_leased_until' || jsonb_build_object(
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
  p_secret text, p_enabled boolean, p_max integer
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
    (id, account_id, name, url, auth_type, header_names, secret, enabled)
  values (p_id, p_account_id, p_name, p_url, p_auth_type, p_header_names, p_secret, p_enabled)
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
      and (s.created_at, s.id) < (coalesce(p_after_at, 'infinity'),
        coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
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

create function public.missing_mcp_servers(p_account_id uuid, p_names text[]) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(array(
    select n from unnest(p_names) n
    where not exists (
      select from public.mcp_servers s where s.account_id = p_account_id and s.name = n)))
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
comment on function public.use_mcp_tool is 'Notes the use of the definition of a tool that a turn was given: {access}, as of mcp_server_access, or {refused: missing | changed}.';

create function public.start_mcp_authorization(
  p_account_id uuid, p_id uuid, p_state_hash text, p_url text, p_sealed text
) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.mcp_authorizations (server_id, state_hash, url, sealed)
  select s.id, p_state_hash, p_url, p_sealed from public.mcp_servers s
  where s.id = p_id and s.account_id = p_account_id
  on conflict (server_id) do update set state_hash = excluded.state_hash, url = excluded.url,
    sealed = excluded.sealed, created_at = now();
  return found;
end
$$;
comment on function public.start_mcp_authorization is 'Stores an authorization in place of an earlier one of the server. Returns whether the account has the server.';

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

create function public.store_mcp_tokens(p_account_id uuid, p_id uuid, p_url text, p_secret text)
returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update public.mcp_servers
  set secret = p_secret, tokens_leased_until = null, updated_at = now()
  where id = p_id and account_id = p_account_id and url = p_url and auth_type = 'oauth';
  return public.mcp_server_access(p_account_id, p_id);
end
$$;
comment on function public.store_mcp_tokens is 'Stores the tokens of a server, unless it has another URL or no OAuth by now: {access} or {refused: missing}.';

create or replace function public.claim_turn(
  p_claim jsonb, p_on_busy text, p_max_active integer, p_max_queued integer,
  p_max_account_bytes bigint, p_max_chat_bytes bigint, p_with_turn boolean default false
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_claim public.turn_claim := jsonb_populate_record(null::public.turn_claim, p_claim);
  v_session public.sessions;
  v_chat public.chats;
  v_turn public.turns;
  v_active public.turns;
  v_message public.messages;
  v_queued public.queued_turns;
  v_waited boolean;
  v_others_wait boolean;
  v_busy jsonb;
  v_answer jsonb;
  v_refusal text;
begin
  -- The account before the chat, as everywhere. The locks make simultaneous claims one after another.
  perform pg_advisory_xact_lock(hashtextextended(v_claim.account_id::text, 20261163));
  select * into v_chat from public.chats
  where id = v_claim.chat_id and session_id = v_claim.session_id and account_id = v_claim.account_id
  for update;
  if not found then
    return jsonb_build_object('outcome',
      public.missing_of_chat(v_claim.account_id, v_claim.session_id) || '_missing');
  end if;
  select * into v_session from public.sessions where id = v_chat.session_id;
  v_active := public.active_turn(v_chat);
  v_waited := exists (select from public.queued_turns where turn_id = v_claim.turn_id);

  if not v_waited then
    -- The same message may have been sent before.
    select * into v_queued from public.queued_turns
    where chat_id = v_chat.id and message_id = v_claim.message_id and begun_at is null;
    if v_claim.parts_before is null then
      select * into v_message from public.messages
      where chat_id = v_chat.id and id = v_claim.message_id and role = 'user';
      if (v_queued.claim).parts <> v_claim.parts
        or (v_message.id is not null and not public.is_same_content(v_message, v_claim.parts))
      then
        return jsonb_build_object('outcome', 'content_differs');
      end if;
      if v_message.id is null then
        v_answer := public.answer_of_steering_message(
          v_chat.id, v_claim.message_id, v_claim.parts);
        if v_answer is not null then
          return v_answer;
        end if;
      end if;
      -- With a parent the client asks for another answer.
      if v_message.id is not null and v_claim.parent_id is null then
        v_answer := public.answer_of_message(v_message, v_claim.replaces_answer);
        if v_answer ->> 'outcome' = 'answered' then
          return v_answer;
        elsif v_answer is null then
          v_claim.parent_id := public.parent_of_message(v_message);
        end if;
      end if;
    end if;
    if v_claim.parent_id <> '' and not exists (
      select from public.messages m where m.chat_id = v_chat.id and m.id = v_claim.parent_id)
    then
      return jsonb_build_object('outcome', 'parent_missing');
    end if;
    if exists (
      select from public.messages m
      where m.chat_id = v_chat.id and m.id = v_claim.message_id
        and v_claim.parent_id <> public.parent_of_message(m))
    then
      return jsonb_build_object('outcome', 'parent_differs');
    end if;
  end if;

  -- A chat is busy while a turn is active, and while others wait that go first.
  v_others_wait := not v_waited and exists (
    select from public.queued_turns where chat_id = v_chat.id and begun_at is null);
  -- The turn of a message that has waited ends with the reason instead.
  if v_session.sandbox_state is null and not v_others_wait and not v_waited then
    return jsonb_build_object('outcome', 'sandbox_missing');
  end if;
  if public.active_stream_id(v_chat) is not null and v_active.id is not null then
    v_busy := jsonb_build_object('outcome', 'active', 'turn_id', v_active.id,
      'run_id', v_active.run_id, 'message_id', v_active.message_id);
  elsif public.active_stream_id(v_chat) is not null or v_others_wait then
    v_busy := jsonb_build_object('outcome', 'waiting');
  end if;

  if v_busy is not null then
    if v_queued.turn_id is not null then
      -- It stays queued. The first repetition with interrupt moves it before the others.
      v_answer := jsonb_build_object('outcome', 'queued', 'turn_id', v_queued.turn_id);
      update public.queued_turns set steers = v_active.id
      where turn_id = v_queued.turn_id and p_on_busy = 'steer' and public.may_steer(claim);
      if p_on_busy <> 'interrupt' or v_queued.goes_first then
        return v_answer;
      end if;
      update public.queued_turns set goes_first = true, position = default
      where turn_id = v_queued.turn_id;
    else
      if v_waited or p_on_busy = 'reject' or v_claim.parts_before is not null
        or v_busy ->> 'message_id' = v_claim.message_id
      then
        return v_busy;
      end if;
      if p_max_queued <= (select count(*) from public.queued_turns where chat_id = v_chat.id) then
        return jsonb_build_object('outcome', 'queue_full');
      end if;
      insert into public.queued_turns
        (turn_id, account_id, chat_id, message_id, goes_first, claim, steers, client_tools)
      values (v_claim.turn_id, v_claim.account_id, v_chat.id, v_claim.message_id,
        p_on_busy = 'interrupt', v_claim,
        case when p_on_busy = 'steer' and public.may_steer(v_claim) then v_active.id end,
        p_claim ->> 'client_tools');
      v_answer := jsonb_build_object('outcome', 'queued', 'turn_id', v_claim.turn_id);
    end if;
    if p_on_busy = 'interrupt' then
      update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
      where id = (v_busy ->> 'turn_id')::uuid and finished_at is null;
    end if;
    v_answer := v_busy || v_answer || jsonb_build_object('active_turn_id', v_busy -> 'turn_id');
  else
    if v_chat.active_stream_id is not null then
      -- The request that made this claim died before it started a run.
      perform public.close_turn(v_active.id, 'failed', 'The turn was never started');
    end if;
    -- A user's message, or the answer to a question that an assistant's message still has.
    if v_claim.parts_before is null then
      insert into public.messages (chat_id, id, role, parts, parent_id)
      values (v_chat.id, v_claim.message_id, 'user', v_claim.parts, public.leaf_of_chat(v_chat.id))
      on conflict (chat_id, id) do nothing;
      if not found and not exists (
        select from public.messages m
        where m.chat_id = v_chat.id and m.id = v_claim.message_id and m.role = 'user'
          and public.is_same_content(m, v_claim.parts))
      then
        return jsonb_build_object('outcome', 'id_taken');
      end if;
    else
      update public.messages set parts = v_claim.parts
      where chat_id = v_chat.id and id = v_claim.message_id and role = 'assistant'
        and parts = v_claim.parts_before;
      if not found then
        return jsonb_build_object('outcome', 'answer_stale');
      end if;
    end if;
    -- A message that is answered is shown.
    if v_claim.parent_id is not null then
      update public.messages set parent_id = v_claim.parent_id
      where chat_id = v_chat.id and id = v_claim.message_id
        and parent_id is distinct from v_claim.parent_id;
      perform public.show_path(v_chat.id, v_claim.message_id, false);
    elsif exists (
      select from public.messages
      where chat_id = v_chat.id and id = v_claim.message_id and not on_path)
    then
      perform public.show_path(v_chat.id, v_claim.message_id, true);
    end if;

    insert into public.turns (id, account_id, session_id, chat_id, message_id,
      assistant_message_id, model_id, context_limit, history, key_id, artist_id, caller_key_id,
      client_tools)
    values (v_claim.turn_id, v_claim.account_id, v_chat.session_id, v_chat.id, v_claim.message_id,
      v_claim.assistant_message_id, coalesce(nullif(v_chat.model_id, ''), v_claim.default_model_id),
      v_claim.context_limit, v_claim.history,
      public.create_run_key(v_claim.account_id, v_claim.key_hash, v_claim.key_prefix,
        v_claim.key_name, v_claim.key_expires_at),
      v_session.artist_id, v_claim.caller_key_id, p_claim ->> 'client_tools')
    returning * into v_turn;
    update public.chats set
      active_stream_id = 'pending:' || v_claim.turn_id,
      claimed_at = clock_timestamp(),
      title = case when title = '' then coalesce(v_claim.title, '') else title end,
      updated_at = now()
    where id = v_chat.id;

    if not v_waited and public.is_budget_reached(v_claim.account_id) then
      raise exception using errcode = 'PT403', message = 'budget_reached';
    end if;
    if p_max_active > 0 and public.count_active_turns(v_claim.account_id) > p_max_active then
      raise exception using errcode = 'PT403', message = 'too_many_turns';
    end if;
    v_answer := jsonb_build_object('outcome', 'claimed');
    if p_with_turn then
      v_turn.instructions := public.chat_instructions(v_turn.account_id, v_turn.chat_id);
      v_turn.options := public.chat_options(v_turn.account_id, v_turn.chat_id);
      v_turn.skills := public.skills_of_turn(v_turn.account_id, v_turn.options -> 'skills');
      v_turn.mcp_tools :=
        public.mcp_tools_of_turn(v_turn.account_id, v_turn.options -> 'mcp_servers');
      v_answer := v_answer || jsonb_build_object('turn',
        public.turn_state(v_turn) || jsonb_build_object('history', public.history_of_turn(v_turn)));
    end if;
  end if;

  -- A message that waited, or was stored before, takes no more room.
  if not v_waited and v_queued.turn_id is null then
    v_refusal := public.message_quota_reached(
      v_claim.account_id, v_chat.id, p_max_account_bytes, p_max_chat_bytes);
    if v_refusal is not null then
      raise exception using errcode = 'PT403', message = v_refusal;
    end if;
  end if;
  return v_answer;
exception when sqlstate 'PT403' then
  -- Nothing has changed.
  return jsonb_build_object('outcome', sqlerrm);
end
$$;
comment on function public.claim_turn is 'Claims a chat for a new turn and stores the message that the turn answers. p_claim has the fields of turn_claim and client_tools, as JSON because not every REST server passes on records. With p_with_turn a claim returns the turn, as load_turn will. While the chat is busy it queues the turn, unless p_on_busy is reject, lets the active one take its message with steer, and stops the active one with interrupt: {outcome: claimed (turn) | queued (turn_id, active_turn_id, run_id) | active (turn_id, run_id, message_id) | waiting | queue_full}. For a message that was sent before also {outcome: answered (turn_id, run_id, message_id) | content_differs}. All other outcomes change nothing: session_missing | chat_missing | sandbox_missing | id_taken | answer_stale | parent_missing | parent_differs | budget_reached | too_many_turns | messages_full | chat_full. A turn that waited is not checked again, except for p_max_active. A limit of 0 is none.';

create or replace function public.turn_state(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'load', p_turn.loads,
    'account_id', p_turn.account_id,
    'session_id', p_turn.session_id,
    'chat_id', p_turn.chat_id,
    'message_id', p_turn.message_id,
    'assistant_message_id', p_turn.assistant_message_id,
    'model_id', p_turn.model_id,
    'instructions', p_turn.instructions,
    'options', p_turn.options,
    'skills', p_turn.skills,
    'mcp_tools', p_turn.mcp_tools,
    'limit_note', p_turn.limit_note,
    'context_limit', p_turn.context_limit,
    'headless', p_turn.headless,
    'has_key', p_turn.key_id is not null,
    'has_budget', public.has_budget(p_turn.account_id),
    'created_at', public.iso_date(p_turn.created_at),
    'stop_requested', p_turn.stop_requested_at is not null,
    'artist_id', s.artist_id,
    'workspace', jsonb_build_object('artist_id', p_turn.artist_id,
      'memory', public.memory_of_workspace(p_turn.account_id, p_turn.artist_id, p_turn.options,
        p_turn.created_at, 8000)),
    'compaction', public.compaction_of_turn(p_turn),
    'output_schema', p_turn.output_schema,
    'client_tools', p_turn.client_tools,
    'steering', (
      select coalesce(jsonb_agg(jsonb_build_object('step', m.step, 'id', m.message_id,
        'parts', m.parts) order by m.step, m.position), '[]')
      from public.steering_messages m where m.turn_id = p_turn.id),
    'sandbox_state', s.sandbox_state)
  from public.sessions s where s.id = p_turn.session_id
$$;
comment on function public.turn_state is 'A turn as its run continues with it, without its history and steps.';

create or replace function public.load_turn(
  p_turn_id uuid, p_run_id text, p_has_history boolean default false, p_ends boolean default false
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns where id = p_turn_id for update;
  if not found or coalesce(v_turn.run_id, p_run_id) <> p_run_id then
    return jsonb_build_object('outcome', 'lost');
  end if;
  if v_turn.finished_at is not null then
    return jsonb_build_object(
      'outcome', case when v_turn.run_id is null then 'lost' else 'finished' end,
      'error', v_turn.error,
      'metadata', (select m.metadata from public.messages m
        where m.chat_id = v_turn.chat_id and m.id = v_turn.assistant_message_id));
  end if;
  if v_turn.client_tools is not null then
    if public.is_waiting(p_turn_id) and not p_ends then
      return jsonb_build_object('outcome', 'waiting');
    end if;
    with woken as (delete from public.required_actions where turn_id = p_turn_id returning *)
    insert into public.tool_runs (turn_id, tool_call_id, finished, output, finished_at)
    select p_turn_id, w.step || ' ' || (c.value ->> 'id'), true,
      '{"value": {"error": "The client has sent no result in time"}}', clock_timestamp()
    from woken w, jsonb_array_elements(w.tool_calls) c
    where v_turn.stop_requested_at is null
    on conflict do nothing;
  end if;

  update public.chats set active_stream_id = p_run_id
  where id = v_turn.chat_id and active_stream_id in ('pending:' || p_turn_id, p_run_id);
  if not found then
    return jsonb_build_object('outcome', 'lost');
  end if;
  -- A headless turn knows its run before the run starts.
  if v_turn.status = 'queued' then
    v_turn.options := public.chat_options(v_turn.account_id, v_turn.chat_id);
    v_turn.skills := public.skills_of_turn(v_turn.account_id, v_turn.options -> 'skills');
    v_turn.mcp_tools :=
      public.mcp_tools_of_turn(v_turn.account_id, v_turn.options -> 'mcp_servers');
    update public.turns
    set loads = loads + 1, reserved_usd = 0, run_id = p_run_id, status = 'running',
      instructions = public.chat_instructions(account_id, chat_id),
      options = v_turn.options, skills = v_turn.skills, mcp_tools = v_turn.mcp_tools
    where id = p_turn_id returning * into v_turn;
    perform public.record_turn_skill(v_turn.account_id, p_turn_id, l.value)
    from jsonb_array_elements(v_turn.skills -> 'loaded') l;
    update public.api_keys set run_id = p_run_id where id = v_turn.key_id;
  else
    update public.turns set loads = loads + 1, lost_usd = lost_usd + reserved_usd, reserved_usd = 0
    where id = p_turn_id returning * into v_turn;
  end if;

  return public.turn_state(v_turn) || jsonb_build_object(
    'outcome', 'active',
    'history', case when p_has_history then '[]' else public.history_of_turn(v_turn) end,
    'steps', (
      select coalesce(jsonb_agg(s.result order by s.index), '[]')
      from public.turn_steps s where s.turn_id = p_turn_id));
end
$$;
comment on function public.load_turn is 'Turns a claim into the run''s and answers all that the run continues with, at its start and after each crash, without the history if the process has it from the claim: {outcome: lost | finished | waiting | active, …}. A turn that waits for its client is waiting, unless it is loaded to be ended (p_ends).';

create or replace function public.next_turn_of_chat(p_chat public.chats, p_default_model_id text)
returns public.turns
language plpgsql stable set search_path = '' as $$
declare
  v_turn public.turns;
begin
  v_turn.account_id := p_chat.account_id;
  v_turn.session_id := p_chat.session_id;
  v_turn.chat_id := p_chat.id;
  v_turn.message_id := public.leaf_of_chat(p_chat.id);
  v_turn.assistant_message_id := '';
  v_turn.model_id := coalesce(nullif(p_chat.model_id, ''), p_default_model_id);
  v_turn.instructions := public.chat_instructions(p_chat.account_id, p_chat.id);
  v_turn.options := public.chat_options(p_chat.account_id, p_chat.id);
  v_turn.skills := public.skills_of_turn(p_chat.account_id, v_turn.options -> 'skills');
  v_turn.mcp_tools := public.mcp_tools_of_turn(p_chat.account_id, v_turn.options -> 'mcp_servers');
  v_turn.headless := false;
  v_turn.loads := 0;
  v_turn.created_at := now();
  v_turn.artist_id := (
    select s.artist_id from public.sessions s
    where s.id = p_chat.session_id and public.may_act_for(p_chat.account_id, s.artist_id));
  return v_turn;
end
$$;
comment on function public.next_turn_of_chat is 'The turn that a message would start now in a chat, without that message: it answers the newest one. It is not stored.';

create or replace function public.close_turn(p_turn_id uuid, p_status text, p_error text) returns void
language plpgsql set search_path = '' as $$
begin
  update public.api_keys k set revoked_at = now()
  from public.turns t where t.id = p_turn_id and k.id = t.key_id and k.revoked_at is null;
  update public.turns set status = p_status, error = p_error, history = null, mcp_tools = null,
    finished_at = now()
  where id = p_turn_id and finished_at is null;
  delete from public.turn_steps where turn_id = p_turn_id;
  delete from public.subagent_steps where turn_id = p_turn_id;
  delete from public.tool_runs where turn_id = p_turn_id;
  update public.steering_messages set parts = null where turn_id = p_turn_id;
  -- Each turn leaves one dead key behind and clears away a few old ones.
  delete from public.api_keys where id in (
    select id from public.api_keys
    where scope = 'run' and revoked_at < now() - interval '1 day'
    order by revoked_at limit 10 for update skip locked);
end
$$;
comment on function public.close_turn is 'Ends a turn: revokes its credential and deletes its working rows.';

