-- The facts at the start of a turn: the date, the account, its organizations and the artist.
alter table public.turns add column facts jsonb;
comment on column public.turns.facts is 'The facts at the start of the turn, as facts_of_turn returns them; null for a turn of an earlier version.';
alter table public.messages add column facts jsonb;
comment on column public.messages.facts is 'The facts at the start of the newest turn that answers it, as facts_of_turn returns them; null for a message that no turn has answered.';

create function public.facts_of_turn(p_account_id uuid, p_artist_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_strip_nulls(jsonb_build_object(
      'at', public.iso_date(clock_timestamp()),
      'timezone', a.timezone,
      'name', a.name,
      'organizations', (
        select jsonb_agg(jsonb_build_object('name', o.name, 'role', o.role) order by o.name, o.id)
        from (
          select g.id, g.name, m.role
          from public.organization_accounts m
          join public.accounts g on g.id = m.organization_id and g.kind = 'organization'
          where m.account_id = p_account_id
          order by g.name, g.id limit 3) o),
      'artist', (
        select jsonb_build_object('id', t.id, 'name', t.name, 'label', t.label)
        from public.accounts t where t.id = p_artist_id)))
    from public.accounts a where a.id = p_account_id);
end
$$;
comment on function public.facts_of_turn is 'The facts at the start of a turn: {at, timezone, name, organizations: [{name, role}], artist: {id, name, label}}, each absent where there is none. Of many organizations it has three.';

create or replace function public.turn_state(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
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
      'untrusted', p_turn.untrusted,
      'facts', p_turn.facts,
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
    from public.sessions s where s.id = p_turn.session_id);
end
$$;
comment on function public.turn_state is 'A turn as its run continues with it, without its history and steps.';

create or replace function public.history_of_turn(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  -- The messages that the chat shows up to and with the one that is answered.
  return (
    select coalesce(p_turn.history, (
      select coalesce(jsonb_agg(
        jsonb_build_object('id', m.id, 'role', m.role, 'parts', m.parts, 'facts', m.facts)
        order by m.created_at, m.id), '[]')
      from public.messages m
      join public.messages newest
        on newest.chat_id = m.chat_id and newest.id = p_turn.message_id
      where m.chat_id = p_turn.chat_id and m.on_path
        and (m.created_at, m.id) <= (newest.created_at, newest.id))));
end
$$;
comment on function public.history_of_turn is 'The conversation that the model of a turn gets: [{id, role, parts, facts}].';

create or replace function public.prepare_turn(p_turn public.turns) returns public.turns
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
  v_version public.agent_template_versions;
  v_own constant jsonb := jsonb_build_object('own', p_turn.options -> 'own');
begin
  select * into v_chat from public.chats where id = p_turn.chat_id;
  v_version := public.applied_template_version(
    v_chat.account_id, v_chat.template_id, v_chat.template_version);
  p_turn.instructions := public.chat_instructions(p_turn.account_id, p_turn.chat_id);
  p_turn.options := jsonb_strip_nulls(v_own || public.chat_options(
    p_turn.account_id, p_turn.chat_id, coalesce(p_turn.options -> 'own', '{}')));
  p_turn.skills := public.skills_of_turn(p_turn.account_id, p_turn.options -> 'skills');
  p_turn.mcp_tools := public.mcp_tools_of_turn(p_turn.account_id, p_turn.options -> 'mcp_servers');
  p_turn.untrusted := public.sources_of_turn(p_turn);
  update public.turns
  set instructions = p_turn.instructions, options = p_turn.options, skills = p_turn.skills,
    mcp_tools = p_turn.mcp_tools, untrusted = p_turn.untrusted,
    facts = public.facts_of_turn(p_turn.account_id, p_turn.artist_id),
    template_id = v_version.template_id, template_version = v_version.version,
    -- The template can have set both since a headless run was provisioned.
    model_id = case when headless then v_chat.model_id else model_id end,
    output_schema = coalesce(
      output_schema, case when headless then (v_version.options -> 'output_schema')::text end)
  where id = p_turn.id returning * into p_turn;
  -- Later turns show the message as this one does, which keeps it in the cache of providers.
  update public.messages set facts = p_turn.facts
  where chat_id = p_turn.chat_id and id = p_turn.message_id and role = 'user';
  return p_turn;
end
$$;
comment on function public.prepare_turn is 'Gives a turn what its chat, template, account and skills say at its start, which then stays.';

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
  v_turn.untrusted := '[]';
  v_turn.mcp_tools := public.mcp_tools_of_turn(p_chat.account_id, v_turn.options -> 'mcp_servers');
  v_turn.headless := false;
  v_turn.loads := 0;
  v_turn.created_at := now();
  v_turn.artist_id := (
    select s.artist_id from public.sessions s
    where s.id = p_chat.session_id and public.may_act_for(p_chat.account_id, s.artist_id));
  v_turn.facts := public.facts_of_turn(v_turn.account_id, v_turn.artist_id);
  return v_turn;
end
$$;
comment on function public.next_turn_of_chat is 'The turn that a message would start now in a chat, without that message: it answers the newest one. It is not stored.';

create or replace function public.past_history(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    with recursive path as (
      select m.id, m.role, m.parts, m.facts, m.created_at, public.parent_of_message(m) as follows
      from public.messages m where m.chat_id = p_turn.chat_id and m.id = p_turn.message_id
      union all
      select m.id, m.role, m.parts, m.facts, m.created_at, public.parent_of_message(m)
      from path p join public.messages m on m.chat_id = p_turn.chat_id and m.id = p.follows
    )
    select coalesce(jsonb_agg(jsonb_build_object('id', p.id, 'role', p.role, 'parts', p.parts, 'facts', p.facts)
      order by p.created_at, p.id), '[]')
    from path p);
end
$$;
comment on function public.past_history is 'The stored messages up to and with the one that a turn has answered, whichever path the chat shows now: [{id, role, parts, facts}].';
