-- Approvals: the policies of effects, the requests of agents, and who has answered.

create table public.approvals (
  id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  turn_id uuid not null references public.turns (id) on delete cascade,
  call_id text not null,
  tool_call_id text not null,
  tool text not null,
  category text not null,
  input jsonb not null,
  effect jsonb not null,
  fields jsonb not null,
  is_memorable boolean not null default true,
  sources jsonb not null,
  resume_index integer not null,
  state text not null default 'requested'
    check (state in ('requested', 'approved', 'denied', 'expired', 'cancelled')),
  reason text,
  rule_id uuid,
  requested_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  answered_at timestamptz,
  answered_by uuid,
  answered_key_id uuid,
  unique (turn_id, call_id)
);

create index approvals_newest on public.approvals (account_id, requested_at desc, id desc);
create index approvals_requested on public.approvals (account_id) where state = 'requested';
comment on table public.approvals is 'Calls that an agent has asked to make, with the description that was shown and who has answered. An approval covers exactly its input.';
comment on column public.approvals.call_id is 'The call, as in tool_runs.';
comment on column public.approvals.tool_call_id is 'The call, as the model has named it.';
comment on column public.approvals.effect is 'The description that is shown: [{label, value}].';
comment on column public.approvals.fields is 'The fields in which a call must be equal for a remembered approval to apply: all of its input but the texts, such as the body of a mail.';
comment on column public.approvals.is_memorable is 'False for a call that is asked for each time, such as a destructive one.';
comment on column public.approvals.sources is 'The untrusted content of the turn when it asked, as in turns.untrusted.';
comment on column public.approvals.resume_index is 'The index of the chunk with which the stream of the turn continues after the answer.';
comment on column public.approvals.reason is 'Why it was denied, in the words of who denied it, or policy if its policy has become deny; null for none.';
comment on column public.approvals.rule_id is 'The remembered approval that has answered; null for a person. No foreign key: the record outlives the rule.';
comment on column public.approvals.answered_by is 'The account whose credential has answered. No foreign key, like that of the API key in answered_key_id.';

create table public.approval_rules (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  chat_id uuid references public.chats (id) on delete cascade,
  task_id uuid references public.scheduled_prompts (id) on delete cascade,
  tool text not null,
  fields jsonb not null,
  approval_id uuid not null,
  created_at timestamptz not null default clock_timestamp(),
  check (num_nonnulls(chat_id, task_id) = 1)
);

create index approval_rules_account on public.approval_rules (account_id, created_at desc, id desc);
create index approval_rules_chat on public.approval_rules (chat_id) where chat_id is not null;
create index approval_rules_task on public.approval_rules (task_id) where task_id is not null;
comment on table public.approval_rules is 'Remembered approvals of a chat or a task: calls of the tool with these fields are not asked for again.';
comment on column public.approval_rules.approval_id is 'The approval that was remembered. No foreign key: the rule outlives it.';

-- Policies ----------------------------------------------------------------------------------------

create function public.stricter_policies(p_first jsonb, p_second jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return (
    select jsonb_object_agg(given.category, given.policy)
    from (
      select p.key as category, (array_agg(p.value order by array_position(
          array['deny', 'ask', 'ask_when_untrusted', 'auto'], p.value)))[1] as policy
      from (
        select * from jsonb_each_text(p_first) union all select * from jsonb_each_text(p_second)) p
      group by p.key) given);
end
$$;
comment on function public.stricter_policies is 'The stricter policy of each category that either {category: policy} has, of which each may be null; null for none.';

create function public.default_policy(p_category text) returns text
language sql immutable as $$
  select case when p_category in ('connectors', 'mcp', 'schedules') then 'ask' else 'auto' end
$$;
comment on function public.default_policy is 'The policy of a category for which none is set. Inlined, hence no search_path.';

create function public.policy_decision(p_category text, p_policies jsonb, p_is_untrusted boolean)
returns text
language sql immutable set search_path = '' as $$
  select case coalesce(p_policies ->> p_category, public.default_policy(p_category))
    when 'deny' then 'deny'
    when 'ask' then 'ask'
    when 'ask_when_untrusted' then case when p_is_untrusted then 'ask' else 'run' end
    -- A schedule outlives the turn: no stranger's text may create one without a person.
    else case when p_category = 'schedules' and p_is_untrusted then 'ask' else 'run' end end
$$;
comment on function public.policy_decision is 'What policies {category: policy}, null for none, say of an effect of a turn: run | ask | deny.';

create function public.policy_decisions(p_policies jsonb) returns jsonb
language sql immutable set search_path = '' as $$
  select jsonb_build_object(
    'trusted', jsonb_object_agg(c.category, public.policy_decision(c.category, p_policies, false)),
    'untrusted', jsonb_object_agg(c.category, public.policy_decision(c.category, p_policies, true)))
  from (
    select unnest(array['connectors', 'mcp', 'schedules']) union
    select jsonb_object_keys(p_policies)) c (category)
$$;
comment on function public.policy_decisions is 'The policy_decision of each category, before and after a turn has met untrusted content: {trusted: {category: decision}, untrusted}. Categories that are absent run.';

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

create function public.approval_policies(
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

-- Sources -----------------------------------------------------------------------------------------

create function public.with_sources(p_known jsonb, p_added jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  if p_added is null or p_known @> p_added then
    return p_known;
  end if;
  return (
    select jsonb_agg(s.value order by s.place)
    from (
      select e.value, min(e.ordinality) as place
      from jsonb_array_elements(p_known || p_added) with ordinality e
      group by e.value order by 2 limit 50) s);
end
$$;
comment on function public.with_sources is 'The sources [{kind, name}] with the added ones, each once, 50 at most.';

create function public.sources_of_turn(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_sources jsonb := p_turn.untrusted;
begin
  return public.with_sources(v_sources, (
    select s.untrusted || coalesce((
        select jsonb_build_array(jsonb_build_object('kind', 'template', 'name', t.title))
        from public.chats c
        join public.agent_templates t on t.id = c.template_id
          and (t.account_id <> c.account_id or t.untrusted)
        where c.id = p_turn.chat_id and public.can_see_agent_template(c.account_id, t)), '[]')
      || coalesce((
        select '[{"kind": "memory", "name": "MEMORY.md"}]'::jsonb
        from public.workspace_files f
        join public.workspace_versions v on v.file_id = f.id and v.number = f.version
        where f.workspace_id = coalesce(p_turn.artist_id, p_turn.account_id)
          and f.path = 'MEMORY.md'
          and (v.untrusted or v.account_id is distinct from p_turn.account_id)
          and p_turn.options ->> 'workspace' is distinct from 'off'), '[]')
      || coalesce((
        select jsonb_agg(jsonb_build_object('kind', 'skill', 'name', k.value -> 'name'))
        from jsonb_array_elements(p_turn.skills -> 'loaded') k
        where exists (
          select from public.known_skills(p_turn.account_id) s
          join public.skill_versions v on v.skill_id = s.id and v.version = s.version
          where s.name = k.value ->> 'name'
            and (v.origin is not null or v.author_id is distinct from p_turn.account_id))), '[]')
      || coalesce((
        select jsonb_agg(distinct jsonb_build_object('kind', 'mcp', 'name', m.value -> 'server'))
        from jsonb_array_elements(p_turn.mcp_tools) m), '[]')
    from public.sessions s where s.id = p_turn.session_id));
end
$$;
comment on function public.sources_of_turn is 'The untrusted content of a turn: that which it has met, and at its start that of the earlier turns of its session, a template or skill of another account or from untrusted content, the descriptions of MCP servers'' tools, and a memory that another account has written, or a run from untrusted content.';

create function public.mark_turn_untrusted(p_account_id uuid, p_turn_id uuid, p_sources jsonb)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  update public.turns t set untrusted = public.with_sources(t.untrusted, p_sources)
  where t.id = p_turn_id and t.account_id = p_account_id
  returning * into v_turn;
  update public.sessions s set untrusted = public.with_sources(s.untrusted, p_sources)
  where s.id = v_turn.session_id and not s.untrusted @> p_sources;
  return coalesce(v_turn.untrusted, '[]');
end
$$;
comment on function public.mark_turn_untrusted is 'Records untrusted content [{kind, name}] that a turn has met, for it and for the later turns of its session, and returns all of the turn.';

create function public.record_row_sources(
  p_account_id uuid, p_turn_id uuid, p_kind text, p_rows jsonb, p_artist_id uuid default null
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_keys constant text[] := array(select r.value ->> 'key' from jsonb_array_elements(p_rows) r);
  v_ids constant uuid[] := array(
    select k::uuid from unnest(v_keys) k
    where p_kind in ('chats', 'templates') and k ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$');
  v_sources jsonb;
begin
  case p_kind
    when 'chats' then
      select jsonb_agg(distinct u.value) into v_sources
      from public.sessions s, jsonb_array_elements(s.untrusted) u
      where s.account_id = p_account_id and s.id in (
        select unnest(v_ids)
        union select c.session_id from public.chats c where c.id = any (v_ids)
        union select t.session_id from public.turns t where t.run_id = any (v_keys));
    when 'templates' then
      select jsonb_agg(jsonb_build_object('kind', 'template', 'name', t.title) order by t.id)
      into v_sources
      from public.agent_templates t
      where t.id = any (v_ids) and (t.account_id <> p_account_id or t.untrusted);
    when 'skills' then
      select jsonb_agg(distinct jsonb_build_object('kind', 'skill', 'name', k.name))
      into v_sources
      from public.known_skills(p_account_id) k
      join public.skill_versions v on v.skill_id = k.id
      where k.name = any (v_keys)
        and (v.origin is not null or v.author_id is distinct from p_account_id);
    when 'workspace' then
      select jsonb_agg(distinct jsonb_build_object('kind', 'workspace', 'name', f.path))
      into v_sources
      from jsonb_to_recordset(p_rows) r (key text, version integer)
      join public.workspace_files f
        on f.workspace_id = coalesce(p_artist_id, p_account_id) and f.path = r.key
      join public.workspace_versions v
        on v.file_id = f.id and v.number = coalesce(r.version, f.version)
      where v.untrusted or v.account_id is distinct from p_account_id;
  end case;
  if v_sources is not null then
    perform public.mark_turn_untrusted(p_account_id, p_turn_id, v_sources);
  end if;
end
$$;
comment on function public.record_row_sources is 'Records the untrusted content of rows that a turn has read through the API, [{key, version}]: chats by the ids of sessions, chats and runs, templates by id, skills by name, or files of the workspace by path and version. Rows of the account itself, from trusted turns, add nothing.';

create function public.use_approved_call(p_account_id uuid, p_turn_id uuid, p_call_id text)
returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  update public.tool_runs r set approval_used = true
  from public.turns t
  where r.turn_id = p_turn_id and r.tool_call_id = p_call_id and not r.approval_used
    and not r.finished and t.id = r.turn_id and t.account_id = p_account_id;
  return found;
end
$$;
comment on function public.use_approved_call is 'Lets a call of a turn make its one request to this service that needs an approval; false if it has made it, or has ended.';

create function public.run_asks(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- A connector may have been named since the turn has started.
  v_policies constant jsonb := case when exists (
      select from public.chat_connectors c where c.chat_id = p_turn.chat_id
        and c.account_id = p_turn.account_id and cardinality(c.connectors) > 0)
    then '{"connectors": "ask"}' else '{}' end::jsonb || coalesce(p_turn.options -> 'approvals', '{}');
  v_decisions constant jsonb := public.policy_decisions(v_policies);
begin
  return (
    select coalesce(jsonb_agg(p.category), '[]') from jsonb_object_keys(v_policies) p (category)
    where v_decisions -> 'trusted' ->> p.category <> 'run'
      or (v_decisions -> 'untrusted' ->> p.category <> 'run'
        and public.sources_of_turn(p_turn) <> '[]'));
end
$$;
comment on function public.run_asks is 'The categories of effects for which a turn now needs an approval, or that it must not have.';

-- Requests and answers ----------------------------------------------------------------------------

create function public.ask_approvals(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_calls jsonb, p_request_index integer,
  p_days integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_task_id uuid;
begin
  select * into v_turn from public.turns
  where id = p_turn_id and account_id = p_account_id and finished_at is null for update;
  if not found or v_turn.loads <> p_load then
    return jsonb_build_object('superseded', true);
  end if;
  select f.task_id into v_task_id from public.scheduled_firings f
  where f.id = v_turn.effect_id and f.account_id = p_account_id;
  update public.approvals a set state = 'expired', answered_at = clock_timestamp()
  where a.turn_id = p_turn_id and a.state = 'requested' and a.expires_at <= now();
  insert into public.approvals (id, account_id, turn_id, call_id, tool_call_id, tool, category,
    input, effect, fields, is_memorable, sources, resume_index, expires_at, state, rule_id,
    answered_at)
  select c.id, p_account_id, p_turn_id, c.call_id, c.tool_call_id, c.tool, c.category, c.input,
    c.effect, c.fields, coalesce(c.is_memorable, true), v_turn.untrusted,
    p_request_index + count(*) filter (where r.id is null) over (),
    now() + make_interval(days => p_days),
    case when r.id is null then 'requested' else 'approved' end, r.id,
    case when r.id is not null then clock_timestamp() end
  from rows from (jsonb_to_recordset(p_calls) as (id uuid, call_id text, tool_call_id text,
    tool text, category text, input jsonb, effect jsonb, fields jsonb, is_memorable boolean))
    with ordinality
    as c (id, call_id, tool_call_id, tool, category, input, effect, fields, is_memorable, place)
  left join lateral (
    select r.id from public.approval_rules r
    where r.account_id = p_account_id and (r.chat_id = v_turn.chat_id or r.task_id = v_task_id)
      and r.tool = c.tool and r.fields = c.fields and c.is_memorable is not false
    order by r.created_at limit 1) r on true
  -- A call that has started was allowed, even if its turn has become untrusted since.
  where not exists (
    select from public.tool_runs u where u.turn_id = p_turn_id and u.tool_call_id = c.call_id)
  order by c.place
  on conflict (turn_id, call_id) do nothing;
  -- An approved call that has not started is denied if its policy has become so since.
  update public.approvals a set state = 'denied', reason = 'policy'
  where a.turn_id = p_turn_id and a.state = 'approved'
    and exists (
      select from jsonb_array_elements(p_calls) c,
        jsonb_array_elements_text(
          coalesce(c.value -> 'categories', jsonb_build_array(a.category))) k
      where c.value ->> 'call_id' = a.call_id
        and public.chat_options(p_account_id, v_turn.chat_id) -> 'approvals' ->> k.value = 'deny')
    and not exists (
      select from public.tool_runs u where u.turn_id = p_turn_id and u.tool_call_id = a.call_id);
  return jsonb_build_object('superseded', false, 'decisions', (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', a.id, 'call_id', a.call_id, 'state', a.state, 'reason', a.reason)), '[]')
    from public.approvals a
    where a.turn_id = p_turn_id
      and a.call_id in (select c.value ->> 'call_id' from jsonb_array_elements(p_calls) c)));
end
$$;
comment on function public.ask_approvals is 'Asks for calls [{id, call_id, tool_call_id, tool, category, categories, input, effect, fields, is_memorable}] of a turn, each once, unless it has started or a remembered approval applies, and answers how each that was asked for stands: {superseded, decisions: [{id, call_id, state, reason}]}. p_request_index is the index of the chunk of the first request.';

create function public.ask_delivery(p_turn public.turns) returns text
language plpgsql volatile set search_path = '' as $$
declare
  v_decision constant text := public.policy_decision(
    'delivery', p_turn.options -> 'approvals', p_turn.untrusted <> '[]');
  v_to constant jsonb := (
    select jsonb_agg(recipient.value order by recipient.value)
    from jsonb_array_elements(p_turn.deliver -> 'entries') as entry,
      jsonb_array_elements_text(entry.value -> 'to') as recipient);
  -- All but the subject: other attachments are another effect.
  v_fields constant jsonb := jsonb_build_object('entries', (
    select jsonb_agg(
      e.value || case when e.value ? 'subject' then '{"subject": null}' else '{}' end::jsonb
      order by e.ordinality)
    from jsonb_array_elements(p_turn.deliver -> 'entries') with ordinality e));
  v_state text;
begin
  if v_decision <> 'ask' then
    return case when v_decision = 'deny' then 'policy' end;
  end if;
  insert into public.approvals (id, account_id, turn_id, call_id, tool_call_id, tool, category,
    input, effect, fields, sources, resume_index, expires_at, state, rule_id, answered_at)
  select gen_random_uuid(), p_turn.account_id, p_turn.id, 'deliver', 'deliver', 'deliver',
    'delivery', p_turn.deliver -> 'entries',
    jsonb_build_array(jsonb_build_object('label', 'Mail to', 'value',
      array_to_string(array(select jsonb_array_elements_text(v_to)), ', '))),
    v_fields, p_turn.untrusted, 0,
    now() + make_interval(days => coalesce((p_turn.deliver ->> 'approval_days')::integer, 7)),
    case when r.id is null then 'requested' else 'approved' end, r.id,
    case when r.id is not null then clock_timestamp() end
  from (select) one
  left join lateral (
    select r.id from public.approval_rules r
    where r.account_id = p_turn.account_id and r.tool = 'deliver'
      and r.fields = v_fields
      and (r.chat_id = p_turn.chat_id or r.task_id = (
        select f.task_id from public.scheduled_firings f
        where f.id = p_turn.effect_id and f.account_id = p_turn.account_id))
    order by r.created_at limit 1) r on true
  on conflict (turn_id, call_id) do nothing
  returning state into v_state;
  return case when v_state = 'requested' then 'approval' end;
end
$$;
comment on function public.ask_delivery is 'Why the result of a completed turn is not mailed: policy | approval, until it is approved; null if it is.';

create function public.open_approvals(p_turn_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_agg(jsonb_build_object('id', a.id, 'tool_call_id', a.tool_call_id, 'tool', a.tool,
      'category', a.category, 'input', a.input, 'effect', a.effect, 'sources', a.sources,
      'is_memorable', a.is_memorable, 'expires_at', public.iso_date(a.expires_at)) order by a.requested_at, a.id)
    from public.approvals a
    where a.turn_id = p_turn_id and a.state = 'requested' and a.expires_at > now());
end
$$;
comment on function public.open_approvals is 'The calls of a turn that wait for an answer; null for none.';

create function public.awaits_approval(p_turn_id uuid) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return public.is_waiting(p_turn_id) and public.open_approvals(p_turn_id) is not null;
end
$$;
comment on function public.awaits_approval is 'Whether a turn waits, without a process, for an approval.';

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
comment on function public.asked_with_options is 'Returns whether the turn of a request has these options already, as in has_options; true without such a request of the account.';

create function public.answer_approvals(
  p_account_id uuid, p_run_id text, p_chat_id uuid, p_answers jsonb, p_answered_by uuid,
  p_answered_key_id uuid, p_max_active integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_answer record;
  v_approval public.approvals;
  v_task_id uuid;
  v_resume_index integer;
begin
  -- The account first, as everywhere: the active turns are counted.
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  select t.* into v_turn
  from public.approvals a join public.turns t on t.id = a.turn_id
  where a.id = (p_answers -> 0 ->> 'id')::uuid and a.account_id = p_account_id
    and (p_run_id is null or t.run_id = p_run_id) and (p_chat_id is null or t.chat_id = p_chat_id)
  for update of t;
  if not found then
    return jsonb_build_object('outcome', 'missing');
  end if;
  select f.task_id into v_task_id from public.scheduled_firings f
  where f.id = v_turn.effect_id and f.account_id = p_account_id;
  for v_answer in
    select a.id, a.approved, a.reason, a.remember
    from jsonb_to_recordset(p_answers) as a (id uuid, approved boolean, reason text, remember text)
  loop
    select * into v_approval from public.approvals a
    where a.id = v_answer.id and a.turn_id = v_turn.id for update;
    if not found then
      raise exception using errcode = 'PT403', message = 'missing';
    end if;
    v_resume_index := v_approval.resume_index;
    if v_answer.remember = 'task' and v_task_id is null then
      raise exception using errcode = 'PT403', message = 'no_task';
    end if;
    if v_answer.remember is not null and not v_approval.is_memorable then
      raise exception using errcode = 'PT403', message = 'not_memorable';
    end if;
    if v_approval.state = 'requested' and v_approval.expires_at > now() then
      if v_answer.approved and not public.has_turn_authority(v_turn) then
        raise exception using errcode = 'PT403', message = 'authority_ended';
      end if;
      update public.approvals a
      set state = case when v_answer.approved then 'approved' else 'denied' end,
        reason = v_answer.reason, answered_at = clock_timestamp(), answered_by = p_answered_by,
        answered_key_id = p_answered_key_id
      where a.id = v_answer.id;
      if v_approval.category = 'delivery' then
        update public.turns set deliver = case
            when v_answer.approved then deliver - array['state', 'reason']
            else deliver || '{"reason": "A person has denied it"}' end
        where id = v_turn.id returning * into v_turn;
        if v_answer.approved then
          perform public.send_results(v_turn);
        end if;
      end if;
      if v_answer.approved and v_answer.remember is not null then
        insert into public.approval_rules (account_id, chat_id, task_id, tool, fields, approval_id)
        values (p_account_id, case when v_answer.remember = 'chat' then v_turn.chat_id end,
          case when v_answer.remember = 'task' then v_task_id end, v_approval.tool,
          v_approval.fields, v_approval.id);
      end if;
    elsif (v_approval.state = 'approved') <> v_answer.approved
      or v_approval.state not in ('approved', 'denied')
    then
      raise exception using errcode = 'PT403', message = case
        when v_approval.state in ('approved', 'denied') then 'answered' else 'over' end;
    end if;
  end loop;
  if public.open_approvals(v_turn.id) is null and exists (
    select from public.required_actions a where a.turn_id = v_turn.id and a.wakes_at > now()
      and jsonb_array_length(a.tool_calls) = 0)
  then
    if p_max_active > 0 and public.count_active_turns(p_account_id) >= p_max_active then
      raise exception using errcode = 'PT403', message = 'too_many_turns';
    end if;
    update public.required_actions set wakes_at = now() where turn_id = v_turn.id;
  end if;
  return jsonb_build_object('outcome', 'recorded', 'turn_id', v_turn.id, 'run_id', v_turn.run_id,
    'resume_index', v_resume_index);
exception when sqlstate 'PT403' then
  -- Nothing has changed.
  if sqlerrm = 'authority_ended' then
    update public.turns set stop_requested_at = now()
    where id = v_turn.id and finished_at is null and stop_requested_at is null;
    return jsonb_build_object('outcome', 'over', 'stopped_turn_id', v_turn.id);
  end if;
  return jsonb_build_object('outcome', sqlerrm);
end
$$;
comment on function public.answer_approvals is 'Records answers [{id, approved, reason, remember: chat | task}] to requests of one turn, all or none, and lets it continue after the last one: {outcome: recorded (turn_id, run_id, resume_index) | missing | answered, otherwise | over, because it has expired or its turn has ended, or stopped (stopped_turn_id), because its authority has ended | no_task | not_memorable | too_many_turns}. The same answer may be repeated. A limit of 0 is none.';

create function public.list_approvals(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid, p_state text
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return to_jsonb(array(
    select to_jsonb(a) || jsonb_build_object('created_at', a.requested_at, 'run_id', t.run_id,
      'chat_id', t.chat_id, 'session_id', t.session_id, 'title', c.title,
      'state', case when a.state = 'requested' and a.expires_at <= now() then 'expired'
        else a.state end)
    from public.approvals a
    join public.turns t on t.id = a.turn_id
    join public.chats c on c.id = t.chat_id
    where a.account_id = p_account_id
      and (p_state is null or (a.state = p_state and (p_state <> 'requested' or a.expires_at > now())))
      and (a.requested_at, a.id) < (p_after_at, p_after_id)
    order by a.requested_at desc, a.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_approvals is 'One page of the requests of an account''s agents, newest first, of a state if p_state is given, with one more row if another page follows.';

create function public.count_waiting(p_account_id uuid) returns integer
language plpgsql stable set search_path = '' as $$
begin
  return (
    select count(*) from (
      (select r.turn_id from public.required_actions r
      where r.account_id = p_account_id and r.wakes_at > now() limit 50)
      union
      -- Also of mails, whose runs are completed.
      (select a.turn_id from public.approvals a
      where a.account_id = p_account_id and a.state = 'requested' and a.expires_at > now()
      limit 50)) waiting
  ) + (
    select count(*) from (
      select from public.chats c
      where c.account_id = p_account_id and not c.archived and c.asks_since is not null
        and public.is_asking(c)
      limit 50) asking);
end
$$;
comment on function public.count_waiting is 'How many runs and chats of an account wait for a person or a client, at most 150.';

create function public.list_approval_rules(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return to_jsonb(array(
    select to_jsonb(r) from public.approval_rules r
    where r.account_id = p_account_id
      and (r.created_at, r.id) < (p_after_at, p_after_id)
    order by r.created_at desc, r.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_approval_rules is 'One page of the remembered approvals of an account, newest first, with one more row if another page follows.';

create function public.delete_approval_rule(p_account_id uuid, p_id uuid) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  delete from public.approval_rules where id = p_id and account_id = p_account_id;
  return found;
end
$$;
comment on function public.delete_approval_rule is 'Forgets a remembered approval; false if the account has no such one. Calls that it has approved stay so.';
