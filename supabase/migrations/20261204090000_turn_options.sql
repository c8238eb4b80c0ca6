-- The options of a run for one turn of a chat, and the version of another account's template that an account
-- has accepted or used last.
drop function public.choose_template_version(uuid, uuid, integer);
drop function public.chat_options(uuid, uuid);
drop function public.may_steer(public.turn_claim);
drop function public.create_chat(uuid, uuid, uuid, text, text, text, uuid, jsonb, text);
drop function public.update_chat(
  uuid, uuid, uuid, text, text, text, uuid, boolean, boolean, boolean, jsonb, integer, text);
drop function public.create_task(
  uuid, uuid, text, text, uuid, uuid, text, text, text, timestamptz, integer, jsonb);

create function public.stricter_policies(p_first jsonb, p_second jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return (
    select jsonb_object_agg(given.category, given.policy)
    from (
      select p.key as category, public.strictest_policy(array_agg(p.value)) as policy
      from (
        select * from jsonb_each_text(p_first) union all select * from jsonb_each_text(p_second)) p
      group by p.key) given);
end
$$;
comment on function public.stricter_policies is 'The stricter policy of each category that either {category: policy} has, of which each may be null; null for none.';

create function public.tightened_policies(p_policies jsonb, p_by jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  if p_by is null then
    return nullif(p_policies, '{}');
  end if;
  return public.stricter_policies((
    select coalesce(jsonb_object_agg(b.key, public.default_policy(b.key)), '{}')
    from jsonb_each_text(p_by) b) || coalesce(p_policies, '{}'), p_by);
end
$$;
comment on function public.tightened_policies is 'Policies {category: policy}, default_policy where absent, each with the stricter one of p_by in its place; null for none.';

create or replace function public.approval_policies(
  p_account_id uuid, p_chat_id uuid, p_options jsonb, p_own jsonb, p_foreign jsonb
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_policies jsonb := '{}';
begin
  if exists (
    select from public.chat_connectors n
    where n.chat_id = p_chat_id and n.account_id = p_account_id and cardinality(n.connectors) > 0)
    or jsonb_array_length(coalesce(p_options -> 'mcp_servers', '[]')) > 0
  then
    v_policies := '{"fetch": "ask_when_untrusted"}';
  end if;
  v_policies := v_policies
    || (select a.approvals from public.accounts a where a.id = p_account_id)
    || coalesce(p_own, '{}') || coalesce(p_options -> 'approvals', '{}');
  return public.tightened_policies(v_policies, p_foreign);
end
$$;
comment on function public.approval_policies is 'The policies of the turns of a chat: {category: auto | ask | ask_when_untrusted | deny}, default_policy where absent. Of a category those of the chat (in p_options) come first, then those of an own template, the account''s and the defaults. Another account''s template only tightens them.';

create or replace function public.seen_template_versions(p_account_id uuid, p_template_id uuid)
returns integer[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select public.newest_template_version(p_template_id)
    union
    select a.version from public.agent_template_acceptances a
    where a.account_id = p_account_id and a.template_id = p_template_id
    union
    select coalesce(c.template_version, 1) from public.chats c
    where c.account_id = p_account_id and c.template_id = p_template_id
    union
    select coalesce(t.template_version, 1) from public.scheduled_prompts t
    where t.account_id = p_account_id and t.template_id = p_template_id);
end
$$;
comment on function public.seen_template_versions is 'The versions of another account''s template that an account sees: the newest, the one that it has accepted last, and those that its chats and tasks keep. Earlier ones may be from before the template was shared.';

create function public.used_template_version(p_account_id uuid, p_template_id uuid)
returns integer
language plpgsql stable set search_path = '' as $$
begin
  return coalesce((
    select a.version from public.agent_template_acceptances a
    where a.account_id = p_account_id and a.template_id = p_template_id
  ), (
    select used.version
    from (
      select coalesce(c.template_version, 1) as version, c.updated_at from public.chats c
      where c.account_id = p_account_id and c.template_id = p_template_id
      union all
      select coalesce(t.template_version, 1), t.updated_at from public.scheduled_prompts t
      where t.account_id = p_account_id and t.template_id = p_template_id) used
    order by used.updated_at desc
    limit 1));
end
$$;
comment on function public.used_template_version is 'The version of another account''s template that an account has accepted or used last; null for none. Chats and tasks from before acceptances were recorded count, too.';

create function public.choose_template_version(
  p_account_id uuid, p_template_id uuid, p_version integer, p_accepts boolean default true
) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_template public.agent_templates;
  v_version integer;
begin
  if p_template_id is null then
    return case when p_version is null then 0 end;
  end if;
  -- Locked, because an acceptance cannot refer to a template that is being deleted.
  select * into v_template from public.agent_templates where id = p_template_id for key share;
  if not found or not public.can_see_agent_template(p_account_id, v_template) then
    return null;
  end if;
  if v_template.account_id = p_account_id and p_version is null then
    return 0;
  end if;
  if p_version is not null
    and not public.can_see_template_version(p_account_id, v_template, p_version)
  then
    return null;
  end if;
  v_version := coalesce(p_version,
    public.used_template_version(p_account_id, p_template_id),
    public.newest_template_version(p_template_id));
  if v_template.account_id <> p_account_id and p_accepts then
    -- Of two first uses at once, the second waits for the first and takes its version.
    insert into public.agent_template_acceptances as a (account_id, template_id, version)
    values (p_account_id, p_template_id, v_version)
    on conflict (account_id, template_id) do update set version = coalesce(p_version, a.version)
    returning a.version into v_version;
  end if;
  update public.agent_template_versions v set is_kept = true
  where v.template_id = p_template_id and v.version = v_version and not v.is_kept;
  return v_version;
end
$$;
comment on function public.choose_template_version is 'The version that a chat or a task keeps. Of another account''s template it is p_version, or else the one that the account has accepted or used last, or else the newest; it is then recorded as accepted, unless p_accepts is false. 0 without a template, and for an own one, which is followed unless a version is named. Null if the account does not see the template or the version.';

create function public.chat_options(
  p_account_id uuid, p_chat_id uuid, p_own jsonb default '{}'
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_strip_nulls(
      case when t.account_id = p_account_id then v.options - array['model', 'output_schema']
        else jsonb_build_object('skills', v.options -> 'skills') end || c.options
      || (p_own - array['model', 'approvals', 'network_policies'])
      || jsonb_build_object(
        'limits', public.narrowest_limits(array[v.options -> 'limits',
          coalesce(c.options -> 'limits', '{}') || coalesce(p_own -> 'limits', '{}')]),
        'approvals', public.tightened_policies(
          public.approval_policies(p_account_id, p_chat_id,
            case when t.account_id = p_account_id then v.options else '{}' end || c.options
            -- A turn without the chat's MCP servers still has their words in its conversation.
            || case when jsonb_array_length(p_own -> 'mcp_servers') > 0
              then jsonb_build_object('mcp_servers', p_own -> 'mcp_servers') else '{}' end,
            case when t.account_id = p_account_id then v.options -> 'approvals' end,
            case when t.account_id <> p_account_id then v.options -> 'approvals' end),
          p_own -> 'approvals'))
      || jsonb_build_object('network_policies', (
        select jsonb_agg(p.policy || jsonb_build_object('of', p.name) order by p.name)
        from (
          values
            ('account', (select a.network from public.accounts a where a.id = p_account_id)),
            ('template', v.options -> 'network'),
            ('chat', c.options -> 'network')
          union all
          -- Servers of the version before know no other name.
          select 'chat', o.value from jsonb_array_elements(p_own -> 'network_policies') o
        ) p (name, policy)
        where p.policy ->> 'mode' <> 'open')))
    from public.chats c
    cross join public.applied_template_version(p_account_id, c.template_id, c.template_version) v
    left join public.agent_templates t on t.id = v.template_id
    where c.id = p_chat_id and c.account_id = p_account_id);
end
$$;
comment on function public.chat_options is 'The options of a chat''s turns: each is the chat''s own, or else its template''s, in the version that applies. A template of another account sets skills, limits and network policies only, because models, effort and an outcome can cost more than the account has asked for. Of limits the narrowest applies. network_policies has the policies of the account, the template and the chat that are not open, all of which must allow a host. p_own are the own options of a turn, as of with_options: they replace the chat''s, but only tighten approvals and network policies, and a limit that they do not name stays.';

create function public.create_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text,
  p_instructions text, p_template_id uuid, p_options jsonb default '{}',
  p_default_model_id text default '', p_template_version integer default null
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
  -- A repeated request accepts no version.
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
  if found then
    return jsonb_build_object('chat', public.chat_row(v_chat));
  end if;
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('missing', 'template');
  end if;
  v_version := public.choose_template_version(p_account_id, p_template_id, p_template_version);
  if v_version is null then
    return jsonb_build_object('missing', 'template_version');
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
comment on function public.create_chat is 'Creates a chat: {chat} | {missing: session | template | template_version} | {conflict: true} for an id of another session''s chat. Without p_model_id it has the model of an own template, or else p_default_model_id. With an id of the client''s it can be repeated, and answers the chat unchanged. The template is taken in the version of choose_template_version.';

create function public.update_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text,
  p_instructions text, p_template_id uuid, p_removes_template boolean,
  p_archived boolean, p_pinned boolean, p_options jsonb default '{}',
  p_template_version integer default null, p_default_model_id text default null,
  p_accepts_version boolean default true
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
      p_account_id, v_template_id, p_template_version, p_accepts_version);
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
comment on function public.update_chat is 'Changes a chat: {chat} | {missing: session | chat | template | template_version}. Null leaves a field as it is, empty instructions remove them. A new template is taken in the version of choose_template_version, and an own one sets its model unless p_model_id names one or the chat has another than p_default_model_id. p_options changes the options that it names, and removes those that are null.';

create function public.create_task(
  p_account_id uuid, p_id uuid, p_title text, p_prompt text, p_template_id uuid, p_artist_id uuid,
  p_model_id text, p_schedule text, p_timezone text, p_next_run_at timestamptz, p_max_tasks integer,
  p_options jsonb default '{}', p_template_version integer default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_version integer;
  v_task public.scheduled_prompts;
begin
  -- One at a time for each account, because the count must not change.
  perform pg_advisory_xact_lock(hashtextextended('tasks ' || p_account_id, 0));
  select * into v_task from public.scheduled_prompts
  where id = p_id and account_id = p_account_id;
  if found then
    return jsonb_build_object('task', public.task_row(v_task));
  end if;
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('refused', 'template');
  end if;
  if p_max_tasks <= (
    select count(*) from public.scheduled_prompts where account_id = p_account_id)
  then
    return jsonb_build_object('refused', 'full');
  end if;
  v_version := public.choose_template_version(p_account_id, p_template_id, p_template_version);
  if v_version is null then
    return jsonb_build_object('refused', 'template_version');
  end if;
  insert into public.scheduled_prompts (id, account_id, title, prompt, template_id,
    template_version, artist_id, model_id, schedule, timezone, enabled, next_run_at, options)
  values (p_id, p_account_id, p_title, p_prompt, p_template_id, nullif(v_version, 0), p_artist_id,
    p_model_id, p_schedule, p_timezone, p_next_run_at is not null, p_next_run_at,
    jsonb_strip_nulls(p_options))
  returning * into v_task;
  return jsonb_build_object('task', public.task_row(v_task));
end
$$;
comment on function public.create_task is 'Creates a scheduled prompt, enabled if it has a next time: {task} | {refused: template | template_version | full}. The template is taken in the version of choose_template_version. It can be repeated with the same id.';

create or replace function public.update_task(
  p_account_id uuid, p_id uuid, p_title text, p_prompt text, p_template_id uuid, p_artist_id uuid,
  p_model_id text, p_schedule text, p_timezone text, p_clear text[],
  p_reschedules boolean, p_next_run_at timestamptz, p_expected_updated_at timestamptz,
  p_options jsonb default '{}', p_template_version integer default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_task public.scheduled_prompts;
  v_template_id uuid;
begin
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('refused', 'template');
  end if;
  select * into v_task from public.scheduled_prompts
  where id = p_id and account_id = p_account_id
  for no key update;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  if date_trunc('milliseconds', v_task.updated_at) <> p_expected_updated_at then
    return jsonb_build_object('refused', 'changed');
  end if;
  v_template_id := case when not 'template_id' = any (p_clear)
    then coalesce(p_template_id, v_task.template_id) end;
  -- The same template once more accepts no newer version.
  if v_template_id is distinct from v_task.template_id or p_template_version is not null then
    v_task.template_version := public.choose_template_version(
      p_account_id, v_template_id, p_template_version);
    if v_task.template_version is null then
      return jsonb_build_object('refused', 'template_version');
    end if;
  end if;
  update public.scheduled_prompts
  set title = coalesce(p_title, title),
    prompt = coalesce(p_prompt, prompt),
    template_id = v_template_id,
    template_version = nullif(v_task.template_version, 0),
    artist_id = case when not 'artist_id' = any (p_clear) then coalesce(p_artist_id, artist_id) end,
    model_id = case when not 'model' = any (p_clear) then coalesce(p_model_id, model_id) end,
    schedule = coalesce(p_schedule, schedule),
    timezone = coalesce(p_timezone, timezone),
    enabled = case when p_reschedules then p_next_run_at is not null else enabled end,
    next_run_at = case when p_reschedules then p_next_run_at else next_run_at end,
    options = jsonb_strip_nulls(options || p_options),
    updated_at = clock_timestamp()
  where id = p_id and account_id = p_account_id
  returning * into v_task;
  return jsonb_build_object('task', public.task_row(v_task));
end
$$;
comment on function public.update_task is 'Changes a scheduled prompt unless it was changed since it was read: {task} | {refused: changed | missing | template | template_version}. A new template is taken in the version of choose_template_version. Null leaves a field as it is, and p_clear (template_id, artist_id, model) removes it; the next time is set only with p_reschedules, and null disables the task. p_options changes the options that it names, and removes those that are null.';

create function public.with_options(p_own jsonb, p_options jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
declare
  v_added constant jsonb := jsonb_strip_nulls(p_options);
begin
  return jsonb_strip_nulls(p_own || (v_added - 'network') || jsonb_build_object(
    'limits', nullif(
      coalesce(p_own -> 'limits', '{}') || coalesce(v_added -> 'limits', '{}'), '{}'),
    'approvals', public.stricter_policies(p_own -> 'approvals', v_added -> 'approvals'),
    'network_policies', (
      select jsonb_agg(distinct n.value)
      from jsonb_array_elements(coalesce(p_own -> 'network_policies', '[]')
        || coalesce(v_added -> 'network_policies', '[]')
        || coalesce(v_added -> 'network', '[]')) n
      where n.value ->> 'mode' <> 'open')));
end
$$;
comment on function public.with_options is 'The own options of a turn with further ones, of which each replaces the own one, limits one by one. Approvals get stricter, and the network policy {mode, hosts} is added to network_policies. Options that are null do not count.';

create function public.has_options(p_turn public.turns, p_own jsonb) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  v_own constant jsonb := coalesce(p_turn.options -> 'own', '{}');
begin
  return public.with_options(v_own, p_own) = v_own;
end
$$;
comment on function public.has_options is 'Returns whether a turn has started with all of these own options, or with stricter ones.';

create function public.answer_with_options(p_answer jsonb, p_own jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case
    when p_own = '{}' or p_answer ->> 'outcome' not in ('active', 'answered') or exists (
      select from public.turns t
      where t.id = (p_answer ->> 'turn_id')::uuid and public.has_options(t, p_own))
      then p_answer
    else '{"outcome": "options_differ"}' end;
end
$$;
comment on function public.answer_with_options is 'The answer of claim_turn to a message that was sent before, unless its turn lacks some of the options that the message has now.';

create function public.may_steer(p_claim public.turn_claim, p_own jsonb) returns boolean
language sql immutable set search_path = '' as $$
  select p_claim.parent_id is null and p_claim.replaces_answer is null and p_own = '{}'
$$;
comment on function public.may_steer is 'Returns false for a message that starts a branch or has own options, which no running turn can take.';

create or replace function public.claim_turn(
  p_claim jsonb, p_on_busy text, p_max_active integer, p_max_queued integer,
  p_max_account_bytes bigint, p_max_chat_bytes bigint, p_with_turn boolean default false
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_claim public.turn_claim := jsonb_populate_record(null::public.turn_claim, p_claim);
  v_own jsonb := public.with_options('{}', coalesce(p_claim -> 'options', '{}'));
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
      if public.with_options(v_queued.options, v_own) <> v_queued.options then
        return jsonb_build_object('outcome', 'options_differ');
      end if;
      if v_message.id is null then
        v_answer := public.answer_of_steering_message(
          v_chat.id, v_claim.message_id, v_claim.parts);
        if v_answer is not null then
          return public.answer_with_options(v_answer, v_own);
        end if;
      end if;
      -- With a parent the client asks for another answer.
      if v_message.id is not null and v_claim.parent_id is null then
        v_answer := public.answer_of_message(v_message, v_claim.replaces_answer);
        if v_answer ->> 'outcome' = 'answered' then
          return public.answer_with_options(v_answer, v_own);
        elsif v_answer is null then
          v_claim.parent_id := public.parent_of_message(v_message);
        end if;
      end if;
    end if;
    if v_claim.parent_id is not null then
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

  -- Who sends another message has not approved: a turn of a chat that waits for an approval is stopped.
  -- After a null, unlike after a false, PostgreSQL would still evaluate the rest.
  if v_busy is not null and v_busy ->> 'outcome' = 'active' and p_on_busy in ('reject', 'steer')
    and not v_waited and v_claim.parts_before is null and not v_active.headless
    and v_busy ->> 'message_id' <> v_claim.message_id
    and public.open_approvals(v_active.id) is not null
  then
    p_on_busy := 'interrupt';
  end if;

  if v_busy is not null then
    if v_queued.turn_id is not null then
      -- It stays queued. The first repetition with interrupt moves it before the others.
      v_answer := jsonb_build_object('outcome', 'queued', 'turn_id', v_queued.turn_id);
      update public.queued_turns set steers = v_active.id
      where turn_id = v_queued.turn_id and p_on_busy = 'steer' and public.may_steer(claim, options);
      if p_on_busy <> 'interrupt' or v_queued.goes_first then
        return v_answer;
      end if;
      update public.queued_turns set goes_first = true, position = default
      where turn_id = v_queued.turn_id;
    else
      if not v_waited and v_busy ->> 'message_id' = v_claim.message_id then
        return public.answer_with_options(v_busy, v_own);
      end if;
      if v_waited or p_on_busy = 'reject' or v_claim.parts_before is not null then
        return v_busy;
      end if;
      if p_max_queued <= (select count(*) from public.queued_turns where chat_id = v_chat.id) then
        return jsonb_build_object('outcome', 'queue_full');
      end if;
      insert into public.queued_turns
        (turn_id, account_id, chat_id, message_id, goes_first, claim, steers, client_tools, options)
      values (v_claim.turn_id, v_claim.account_id, v_chat.id, v_claim.message_id,
        p_on_busy = 'interrupt', v_claim,
        case when p_on_busy = 'steer' and public.may_steer(v_claim, v_own) then v_active.id end,
        p_claim ->> 'client_tools', v_own);
      v_answer := jsonb_build_object('outcome', 'queued', 'turn_id', v_claim.turn_id);
    end if;
    if p_on_busy = 'interrupt' then
      update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
      where id = (v_busy ->> 'turn_id')::uuid and finished_at is null;
    end if;
    v_answer := v_busy || v_answer || jsonb_build_object('active_turn_id', v_busy -> 'turn_id',
      'interrupts', p_on_busy = 'interrupt');
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
      -- The turn continues the one that has asked.
      v_own := public.with_options(coalesce((
        select t.options -> 'own' from public.turns t
        where t.chat_id = v_chat.id and t.assistant_message_id = v_claim.message_id
        order by t.created_at desc limit 1), '{}'), v_own);
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
      client_tools, options)
    values (v_claim.turn_id, v_claim.account_id, v_chat.session_id, v_chat.id, v_claim.message_id,
      v_claim.assistant_message_id,
      coalesce(v_own ->> 'model', nullif(v_chat.model_id, ''), v_claim.default_model_id),
      v_claim.context_limit, v_claim.history,
      public.create_run_key(v_claim.account_id, v_claim.key_hash, v_claim.key_prefix,
        v_claim.key_name, v_claim.key_expires_at),
      v_session.artist_id, v_claim.caller_key_id, p_claim ->> 'client_tools',
      case when v_own = '{}' then '{}' else jsonb_build_object('own', v_own) end)
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
      v_turn := public.prepare_turn(v_turn);
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
comment on function public.claim_turn is 'Claims a chat for a new turn and stores the message that the turn answers. p_claim has the fields of turn_claim, client_tools, and as options {model, …} those of runOptions for this turn only, as JSON because not every REST server passes on records. With p_with_turn a claim returns the turn, as load_turn will. While the chat is busy it queues the turn, unless p_on_busy is reject, lets the active one take its message with steer, and stops the active one with interrupt: {outcome: claimed (turn) | queued (turn_id, active_turn_id, run_id, interrupts) | active (turn_id, run_id, message_id) | waiting | queue_full}. For a message that was sent before also {outcome: answered (turn_id, run_id, message_id) | content_differs | options_differ, where its turn has not all of the options}. All other outcomes change nothing: session_missing | chat_missing | sandbox_missing | id_taken | answer_stale | parent_missing | parent_differs | budget_reached | too_many_turns | messages_full | chat_full. A turn that waited is not checked again, except for p_max_active. A limit of 0 is none.';

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

create or replace function public.begin_queued_turn(
  p_chat_id uuid, p_max_active integer, p_stale_seconds integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_row public.queued_turns;
  v_outcome text;
begin
  perform pg_advisory_xact_lock(hashtextextended(account_id::text, 20261163))
  from public.chats where id = p_chat_id;
  perform 1 from public.chats where id = p_chat_id for update;
  loop
    select * into v_row from public.queued_turns
    where chat_id = p_chat_id
    order by begun_at is null, goes_first desc,
      case when goes_first then -position else position end
    limit 1 for update;
    if not found then
      return null;
    end if;
    if v_row.begun_at is null then
      v_row.claim.key_expires_at := now() + interval '24 hours';
      v_outcome := public.claim_turn(
        to_jsonb(v_row.claim) || jsonb_build_object(
          'client_tools', v_row.client_tools, 'options', v_row.options),
        'reject', p_max_active, 0, 0, 0) ->> 'outcome';
    elsif v_row.begun_at > now() - make_interval(secs => p_stale_seconds) then
      return null;
    else
      -- Its server has died before it started the run.
      update public.chats set claimed_at = clock_timestamp()
      where id = p_chat_id and active_stream_id = 'pending:' || v_row.turn_id
        and exists (
          select from public.turns t where t.id = v_row.turn_id and t.finished_at is null);
      v_outcome := case when found then 'claimed' end;
    end if;
    if v_outcome = 'claimed' then
      update public.queued_turns set begun_at = now() where turn_id = v_row.turn_id;
      return jsonb_build_object('turn_id', v_row.turn_id, 'credential', (v_row.claim).credential);
    end if;
    if v_outcome in ('active', 'waiting', 'too_many_turns') then
      return null;
    end if;
    -- It has been started, or its message can no longer be stored.
    delete from public.queued_turns where turn_id = v_row.turn_id;
  end loop;
end
$$;
comment on function public.begin_queued_turn is 'Claims a free chat for the first turn that waits in it: {turn_id, credential}, whose run must then be started; null when there is none. A turn whose run was not started within p_stale_seconds is returned again.';

create or replace function public.measure_queued_turn() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.bytes := pg_column_size((new.claim).parts)
    + coalesce(pg_column_size((new.claim).history), 0)
    + coalesce(octet_length(new.client_tools), 0) + pg_column_size(new.options);
  return new;
end
$$;
comment on function public.measure_queued_turn is 'Sets the bytes of a turn that waits.';

create function public.asked_with_options(p_account_id uuid, p_approval_id uuid, p_options jsonb)
returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return not exists (
    select from public.approvals a join public.turns t on t.id = a.turn_id
    where a.id = p_approval_id and a.account_id = p_account_id
      and not public.has_options(t, public.with_options('{}', p_options)));
end
$$;
comment on function public.asked_with_options is 'Returns whether the turn of a request has these options already, as of has_options; true without such a request of the account.';

create table public.agent_template_acceptances (
  account_id uuid not null references public.accounts (id) on delete cascade,
  template_id uuid not null references public.agent_templates (id) on delete cascade,
  version integer not null,
  primary key (account_id, template_id)
);

create index agent_template_acceptances_template
  on public.agent_template_acceptances (template_id);
alter table public.agent_template_acceptances enable row level security;
comment on table public.agent_template_acceptances is 'The version of another account''s template that an account has accepted or used last. It outlives the chats and tasks that keep it.';

comment on column public.turns.options is 'The options of the turn since it has started, as of chat_options. Their own, from the claim on, are those that the request has named for this turn, as of with_options; absent without any.';
alter table public.queued_turns add column options jsonb not null default '{}';
comment on column public.queued_turns.options is 'The own options of the turn, as of with_options.';
