-- The model and the output schema of agent templates.

drop function public.create_chat(uuid, uuid, uuid, text, text, text, uuid, jsonb);
drop function public.update_chat(
  uuid, uuid, uuid, text, text, text, uuid, boolean, boolean, boolean, jsonb, integer);

create function public.template_model(
  p_account_id uuid, p_template_id uuid, p_version integer
) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select v.options ->> 'model'
    from public.applied_template_version(p_account_id, p_template_id, nullif(p_version, 0)) v
    join public.agent_templates t on t.id = v.template_id
    where t.account_id = p_account_id);
end
$$;
comment on function public.template_model is 'The model of an own template in the version that applies, 0 or null for the newest; null for none, and for a template of another account.';

create function public.create_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text,
  p_instructions text, p_template_id uuid, p_options jsonb default '{}',
  p_default_model_id text default ''
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_version integer;
  v_chat public.chats;
begin
  -- The lock keeps the session there until the chat is: a deletion waits and takes the chat too.
  perform 1 from public.sessions
  where id = p_session_id and account_id = p_account_id
  for key share;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  v_version := public.choose_template_version(p_account_id, p_template_id, null);
  if v_version is null then
    return jsonb_build_object('missing', 'template');
  end if;

  insert into public.chats (id, session_id, account_id, title, model_id, instructions,
    template_id, template_version, options)
  values (coalesce(p_chat_id, gen_random_uuid()), p_session_id, p_account_id, p_title,
    coalesce(p_model_id, public.template_model(p_account_id, p_template_id, v_version),
      p_default_model_id),
    nullif(p_instructions, ''), p_template_id, nullif(v_version, 0), jsonb_strip_nulls(p_options))
  on conflict (id) do nothing
  returning * into v_chat;
  if not found then
    select * into v_chat from public.chats
    where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
    if not found then
      return jsonb_build_object('conflict', true);
    end if;
  end if;
  return jsonb_build_object('chat', public.chat_row(v_chat));
end
$$;
comment on function public.create_chat is 'Creates a chat: {chat} | {missing: session | template} | {conflict: true} for an id of another session''s chat. Without p_model_id it has the model of an own template, or else p_default_model_id. With an id of the client''s it can be repeated, and answers the chat unchanged.';

create function public.update_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text,
  p_instructions text, p_template_id uuid, p_removes_template boolean,
  p_archived boolean, p_pinned boolean, p_options jsonb default '{}',
  p_template_version integer default null, p_default_model_id text default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
  v_template_id uuid;
  v_model_id text := p_model_id;
begin
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('missing', 'template');
  end if;
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for no key update;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  v_template_id := case when not p_removes_template
    then coalesce(p_template_id, v_chat.template_id) end;
  -- The same template once more accepts no newer version.
  if v_template_id is distinct from v_chat.template_id or p_template_version is not null then
    v_chat.template_version := public.choose_template_version(
      p_account_id, v_template_id, p_template_version);
    if v_chat.template_version is null then
      return jsonb_build_object('missing', 'template_version');
    end if;
    if v_model_id is null and v_chat.model_id in ('', p_default_model_id) then
      v_model_id := public.template_model(
        p_account_id, v_template_id, v_chat.template_version);
    end if;
  end if;
  update public.chats
  set title = coalesce(p_title, title),
    model_id = coalesce(v_model_id, model_id),
    instructions = nullif(coalesce(p_instructions, instructions), ''),
    template_id = v_template_id,
    template_version = nullif(v_chat.template_version, 0),
    archived = coalesce(p_archived, archived),
    pinned = coalesce(p_pinned, pinned),
    options = jsonb_strip_nulls(options || p_options),
    updated_at = now()
  where id = p_chat_id and account_id = p_account_id
  returning * into v_chat;
  return jsonb_build_object('chat', public.chat_row(v_chat));
end
$$;
comment on function public.update_chat is 'Changes a chat: {chat} | {missing: session | chat | template | template_version}. Null leaves a field as it is, empty instructions remove them. A new template is taken in its newest version unless p_template_version names one, and an own one sets its model unless p_model_id names one or the chat has another than p_default_model_id. p_options changes the options that it names, and removes those that are null.';

create or replace function public.chat_options(p_account_id uuid, p_chat_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_strip_nulls(
      case when t.account_id = p_account_id then v.options - array['model', 'output_schema']
        else jsonb_build_object('skills', v.options -> 'skills') end || c.options
      || jsonb_build_object(
        'limits', public.narrowest_limits(array[v.options -> 'limits', c.options -> 'limits']),
        'approvals', public.approval_policies(p_account_id, p_chat_id,
          case when t.account_id = p_account_id then v.options else '{}' end || c.options,
          case when t.account_id = p_account_id then v.options -> 'approvals' end,
          case when t.account_id <> p_account_id then v.options -> 'approvals' end))
      || jsonb_build_object('network_policies', (
        select jsonb_agg(p.policy || jsonb_build_object('of', p.name) order by p.name)
        from (values
          ('account', (select a.network from public.accounts a where a.id = p_account_id)),
          ('template', v.options -> 'network'),
          ('chat', c.options -> 'network')) p (name, policy)
        where p.policy ->> 'mode' <> 'open')))
    from public.chats c
    cross join public.applied_template_version(p_account_id, c.template_id, c.template_version) v
    left join public.agent_templates t on t.id = v.template_id
    where c.id = p_chat_id and c.account_id = p_account_id);
end
$$;
comment on function public.chat_options is 'The options of a chat''s turns: each is the chat''s own, or else its template''s, in the version that applies. A template of another account sets skills, limits and network policies only, because models, effort and an outcome can cost more than the account has asked for. Of limits the narrowest applies. network_policies has the policies of the account, the template and the chat that are not open, all of which must allow a host.';

create or replace function public.prepare_turn(p_turn public.turns) returns public.turns
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
  v_version public.agent_template_versions;
begin
  select * into v_chat from public.chats where id = p_turn.chat_id;
  v_version := public.applied_template_version(
    v_chat.account_id, v_chat.template_id, v_chat.template_version);
  p_turn.instructions := public.chat_instructions(p_turn.account_id, p_turn.chat_id);
  p_turn.options := public.chat_options(p_turn.account_id, p_turn.chat_id);
  p_turn.skills := public.skills_of_turn(p_turn.account_id, p_turn.options -> 'skills');
  p_turn.mcp_tools := public.mcp_tools_of_turn(p_turn.account_id, p_turn.options -> 'mcp_servers');
  p_turn.untrusted := public.sources_of_turn(p_turn);
  update public.turns
  set instructions = p_turn.instructions, options = p_turn.options, skills = p_turn.skills,
    mcp_tools = p_turn.mcp_tools, untrusted = p_turn.untrusted,
    template_id = v_version.template_id, template_version = v_version.version,
    -- The template can have set both since a headless run was provisioned.
    model_id = case when headless then v_chat.model_id else model_id end,
    output_schema = coalesce(
      output_schema, case when headless then (v_version.options -> 'output_schema')::text end)
  where id = p_turn.id returning * into p_turn;
  return p_turn;
end
$$;
comment on function public.prepare_turn is 'Gives a turn what its chat, template, account and skills say at its start, which then stays.';
