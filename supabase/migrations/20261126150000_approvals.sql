-- Approvals of effects, and the untrusted content of turns.
set check_function_bodies = off;
alter table public.accounts add column approvals jsonb not null default '{}';
comment on column public.accounts.approvals is 'The policies of effects of the account''s agents: {category: auto | ask | ask_when_untrusted | deny}, the defaults where absent.';
alter table public.sessions add column untrusted jsonb not null default '[]';
comment on column public.sessions.untrusted is 'The untrusted content that turns of the session have met, whose words may be in its files and messages: as turns.untrusted.';
alter table public.turns add column untrusted jsonb not null default '[]';
comment on column public.turns.untrusted is 'The untrusted content that the turn has met: [{kind, name}], such as {web, example.com}. Empty for a turn that is trusted.';
alter table public.workspace_versions add column untrusted boolean not null default false;
comment on column public.workspace_versions.untrusted is 'Whether the run that has written it had met untrusted content, or the version whose content it has.';

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
alter table public.approvals enable row level security;
comment on table public.approvals is 'Calls that an agent has asked to make, with the description that was shown and who has answered. An approval covers exactly its input.';
comment on column public.approvals.call_id is 'The call, as in tool_runs.';
comment on column public.approvals.tool_call_id is 'The call, as the model has named it.';
comment on column public.approvals.effect is 'The description that is shown: [{label, value}].';
comment on column public.approvals.fields is 'The fields in which a call must be equal for a remembered approval to apply: the recipient, the host and the like.';
comment on column public.approvals.sources is 'The untrusted content of the turn when it asked, as in turns.untrusted.';
comment on column public.approvals.resume_index is 'The index of the chunk with which the stream of the turn continues after the answer.';
comment on column public.approvals.reason is 'Why it was denied, in the words of who denied it; null for none.';
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
alter table public.approval_rules enable row level security;
comment on table public.approval_rules is 'Remembered approvals of a chat or a task: calls of the tool with these fields are not asked for again.';
comment on column public.approval_rules.approval_id is 'The approval that was remembered. No foreign key: the rule outlives it.';

-- Policies ----------------------------------------------------------------------------------------

create function public.strictest_policy(p_policies text[]) returns text
language sql immutable as $$
  select p from unnest(p_policies) p
  order by array_position(array['deny', 'ask', 'ask_when_untrusted', 'auto'], p) limit 1
$$;
comment on function public.strictest_policy is 'The strictest of some policies, any of which may be null. Inlined, hence no search_path.';

create function public.default_policy(p_category text) returns text
language sql immutable as $$
  select case when p_category in ('connectors', 'mcp') then 'ask' else 'auto' end
$$;
comment on function public.default_policy is 'The policy of a category for which none is set. Inlined, hence no search_path.';

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
  if p_foreign is not null then
    v_policies := v_policies || (
      select coalesce(jsonb_object_agg(f.key,
        public.strictest_policy(array[f.value,
          coalesce(v_policies ->> f.key, public.default_policy(f.key))])), '{}')
      from jsonb_each_text(p_foreign) f);
  end if;
  return nullif(v_policies, '{}');
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
        join public.agent_templates t on t.id = c.template_id and t.account_id <> c.account_id
        where c.id = p_turn.chat_id and public.can_see_agent_template(c.account_id, t)), '[]')
      || coalesce((
        select '[{"kind": "memory", "name": "MEMORY.md"}]'::jsonb
        from public.workspace_files f
        join public.workspace_versions v on v.file_id = f.id and v.number = f.version
        where f.workspace_id = coalesce(p_turn.artist_id, p_turn.account_id)
          and f.path = 'MEMORY.md' and v.untrusted
          and p_turn.options ->> 'workspace' is distinct from 'off'), '[]')
      || coalesce((
        select jsonb_agg(jsonb_build_object('kind', 'skill', 'name', k.value -> 'name'))
        from jsonb_array_elements(p_turn.skills -> 'loaded') k
        where public.is_foreign_skill(p_turn.account_id, k.value ->> 'name')), '[]')
    from public.sessions s where s.id = p_turn.session_id));
end
$$;
comment on function public.sources_of_turn is 'The untrusted content of a turn: that which it has met, and at its start that of the earlier turns of its session, another account''s template or skill, and a memory that was written from untrusted content.';

create function public.is_foreign_skill(p_account_id uuid, p_name text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from public.known_skills(p_account_id) k
    join public.skill_versions v on v.skill_id = k.id and v.version = k.version
    where k.name = p_name and (v.origin is not null or v.author_id is distinct from p_account_id));
end
$$;
comment on function public.is_foreign_skill is 'Whether the skill of this name that the account uses was imported or written by another account.';

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

create function public.run_asks(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(p.key), '[]')
    from jsonb_each_text(
      -- A connector may have been named since the turn has started.
      case when exists (select from public.chat_connectors c where c.chat_id = p_turn.chat_id
          and c.account_id = p_turn.account_id and cardinality(c.connectors) > 0)
        then '{"connectors": "ask"}'::jsonb else '{}' end
      || coalesce(p_turn.options -> 'approvals', '{}')) p
    where p.value in ('ask', 'deny') or (p.value = 'ask_when_untrusted'
      and public.sources_of_turn(p_turn) <> '[]'));
end
$$;
comment on function public.run_asks is 'The categories of effects for which a turn now needs an approval, or that it must not have.';

-- Requests and answers ----------------------------------------------------------------------------

create function public.ask_approvals(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_calls jsonb, p_resume_index integer,
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
    input, effect, fields, sources, resume_index, expires_at, state, rule_id, answered_at)
  select c.id, p_account_id, p_turn_id, c.call_id, c.tool_call_id, c.tool, c.category, c.input,
    c.effect, c.fields, v_turn.untrusted, p_resume_index, now() + make_interval(days => p_days),
    case when r.id is null then 'requested' else 'approved' end, r.id,
    case when r.id is not null then clock_timestamp() end
  from jsonb_to_recordset(p_calls) as c (id uuid, call_id text, tool_call_id text, tool text,
    category text, input jsonb, effect jsonb, fields jsonb)
  left join lateral (
    select r.id from public.approval_rules r
    where r.account_id = p_account_id and (r.chat_id = v_turn.chat_id or r.task_id = v_task_id)
      and r.tool = c.tool and r.fields = c.fields
    order by r.created_at limit 1) r on true
  on conflict (turn_id, call_id) do nothing;
  -- What was approved is denied if its policy has become so since.
  update public.approvals a set state = 'denied', reason = 'Its policy denies it now'
  where a.turn_id = p_turn_id and a.state = 'approved'
    and a.call_id in (select c.value ->> 'call_id' from jsonb_array_elements(p_calls) c)
    and public.chat_options(p_account_id, v_turn.chat_id) -> 'approvals' ->> a.category = 'deny';
  return jsonb_build_object('superseded', false, 'decisions', (
    select jsonb_agg(jsonb_build_object(
      'id', a.id, 'call_id', a.call_id, 'state', a.state, 'reason', a.reason))
    from public.approvals a
    where a.turn_id = p_turn_id
      and a.call_id in (select c.value ->> 'call_id' from jsonb_array_elements(p_calls) c)));
end
$$;
comment on function public.ask_approvals is 'Asks for calls [{id, call_id, tool_call_id, tool, category, input, effect, fields}] of a turn, each once, unless a remembered approval applies, and answers how each stands: {superseded, decisions: [{id, call_id, state, reason}]}.';

create function public.open_approvals(p_turn_id uuid) returns jsonb
language sql stable as $$
  select jsonb_agg(jsonb_build_object('id', a.id, 'tool_call_id', a.tool_call_id, 'tool', a.tool,
    'category', a.category, 'input', a.input, 'effect', a.effect, 'sources', a.sources,
    'expires_at', public.iso_date(a.expires_at)) order by a.requested_at, a.id)
  from public.approvals a
  where a.turn_id = p_turn_id and a.state = 'requested' and a.expires_at > now()
$$;
comment on function public.open_approvals is 'The calls of a turn that wait for an answer; null for none. Inlined, hence no search_path.';

create function public.awaits_approval(p_turn_id uuid) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return public.is_waiting(p_turn_id) and public.open_approvals(p_turn_id) is not null;
end
$$;
comment on function public.awaits_approval is 'Whether a turn waits, without a process, for an approval.';

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
    if v_approval.state = 'requested' and v_approval.expires_at > now() then
      update public.approvals a
      set state = case when v_answer.approved then 'approved' else 'denied' end,
        reason = v_answer.reason, answered_at = clock_timestamp(), answered_by = p_answered_by,
        answered_key_id = p_answered_key_id
      where a.id = v_answer.id;
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
  return jsonb_build_object('outcome', sqlerrm);
end
$$;
comment on function public.answer_approvals is 'Records answers [{id, approved, reason, remember: chat | task}] to requests of one turn, all or none, and lets it continue after the last one: {outcome: recorded (turn_id, run_id, resume_index) | missing | answered, otherwise | over, because it has expired or its turn has ended | no_task | too_many_turns}. The same answer may be repeated. A limit of 0 is none.';

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
      and (a.requested_at, a.id) < (coalesce(p_after_at, 'infinity'),
        coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by a.requested_at desc, a.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_approvals is 'One page of the requests of an account''s agents, newest first, of a state if p_state is given, with one more row if another page follows.';

create function public.list_approval_rules(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return to_jsonb(array(
    select to_jsonb(r) from public.approval_rules r
    where r.account_id = p_account_id
      and (r.created_at, r.id) < (coalesce(p_after_at, 'infinity'),
        coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
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

-- Functions that know of them -----------------------------------------------------------------------

drop function public.update_account(uuid, text, text, numeric, boolean, text, text[], jsonb);
drop function public.finish_tool(uuid, text, jsonb);

create or replace function public.get_account(p_account_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'account', jsonb_build_object(
      'id', a.id, 'kind', a.kind, 'email', a.email, 'name', a.name, 'image', a.image,
      'monthly_budget_usd', a.monthly_budget_usd,
      'allow_unpriced_models', a.allow_unpriced_models, 'approvals', a.approvals,
      'network', a.network, 'timezone', a.timezone, 'created_at', a.created_at),
    'organizations', coalesce((
      select jsonb_agg(public.organization_row(o, m.role)
        order by o.created_at desc, o.id desc)
      from public.organization_accounts m
      join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
      where m.account_id = a.id), '[]'))
  from public.accounts a where a.id = p_account_id
$$;
comment on function public.get_account is 'The account as its owner sees it, with its organizations: {account, organizations}.';

create function public.update_account(
  p_account_id uuid, p_name text, p_image text, p_monthly_budget_usd numeric,
  p_allow_unpriced_models boolean, p_timezone text, p_clear text[],
  p_approvals jsonb default null, p_network jsonb default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update public.accounts a
  set name = coalesce(p_name, a.name),
    image = case when 'image' = any (p_clear) then null else coalesce(p_image, a.image) end,
    monthly_budget_usd = case when 'monthly_budget_usd' = any (p_clear) then null
      else coalesce(p_monthly_budget_usd, a.monthly_budget_usd) end,
    allow_unpriced_models = coalesce(p_allow_unpriced_models, a.allow_unpriced_models),
    approvals = coalesce(p_approvals, a.approvals),
    timezone = case when 'timezone' = any (p_clear) then null
      else coalesce(p_timezone, a.timezone) end,
    network = case when 'network' = any (p_clear) then null
      else coalesce(p_network, a.network) end,
    updated_at = now()
  where a.id = p_account_id;
  return public.get_account(p_account_id);
end
$$;
comment on function public.update_account is 'Changes the fields that are not null and clears the columns of p_clear (image, monthly_budget_usd, network, timezone); answers as get_account.';

create or replace function public.authenticate_key(
  p_hash text,
  p_account_id uuid default null,
  p_organization_id uuid default null,
  p_artist_id uuid default null,
  p_address text default null,
  p_address_limit integer default 0,
  p_account_limit integer default 0
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_key public.api_keys;
  v_turn public.turns;
  v_rate jsonb;
begin
  if p_address is not null and p_address_limit > 0 then
    v_rate := public.take_from_bucket('address:' || p_address, p_address_limit);
    if v_rate ->> 'retry_after' is not null then
      return jsonb_build_object('outcome', 'limited', 'by', 'address', 'rate', v_rate);
    end if;
  end if;

  select * into v_key from public.api_keys
  where hash = p_hash
    and (revoked_at is null or revoked_at > now())
    and (expires_at is null or expires_at > now());
  if not found then
    return jsonb_build_object('outcome', 'unknown');
  end if;
  if v_key.scope = 'run' then
    select * into v_turn from public.turns t
    where t.key_id = v_key.id and t.account_id = v_key.account_id
      and t.finished_at is null and t.stop_requested_at is null and public.has_turn_authority(t);
    if not found then
      return jsonb_build_object('outcome', 'unknown');
    end if;
  end if;

  -- At most one write a minute; a caller that finds the row locked skips it.
  if v_key.last_used_at is null or v_key.last_used_at < now() - interval '1 minute' then
    update public.api_keys set last_used_at = now()
    where id in (
      select id from public.api_keys
      where id = v_key.id and (last_used_at is null or last_used_at < now() - interval '1 minute')
      for update skip locked
    );
  end if;

  return jsonb_build_object('key_id', v_key.id, 'scope', v_key.scope,
      'session_id', v_turn.session_id, 'chat_id', v_turn.chat_id,
      'run_id', coalesce(v_turn.run_id, v_turn.id::text), 'artist_id', v_turn.artist_id,
      'workspace', coalesce(v_turn.options ->> 'workspace', 'write'),
      'turn_id', v_turn.id, 'asks', public.run_asks(v_turn),
      'network', coalesce(v_turn.options -> 'network_policies', '[]'))
    || public.admit_account(v_key.account_id, v_key.scope = 'full',
      p_account_id, p_organization_id, p_artist_id, p_account_limit);
end
$$;
comment on function public.authenticate_key is 'Authenticates a key, with its limits and access. A run''s key is valid while its turn is active.';

create or replace function public.chat_options(p_account_id uuid, p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_strip_nulls(
    case when t.account_id = p_account_id then t.options
      else jsonb_build_object('skills', t.options -> 'skills') end || c.options
    || jsonb_build_object(
      'limits', public.narrowest_limits(array[t.options -> 'limits', c.options -> 'limits']),
      'approvals', public.approval_policies(p_account_id, p_chat_id, c.options,
        case when t.account_id = p_account_id then t.options -> 'approvals' end,
        case when t.account_id <> p_account_id then t.options -> 'approvals' end))
    || jsonb_build_object('network_policies', (
      select jsonb_agg(p.policy || jsonb_build_object('of', p.name) order by p.name)
      from (values
        ('account', (select a.network from public.accounts a where a.id = p_account_id)),
        ('template', t.options -> 'network'),
        ('chat', c.options -> 'network')) p (name, policy)
      where p.policy ->> 'mode' <> 'open')))
  from public.chats c
  left join public.agent_templates t
    on t.id = c.template_id and public.can_see_agent_template(p_account_id, t)
  where c.id = p_chat_id and c.account_id = p_account_id
$$;
comment on function public.chat_options is 'The options of a chat''s turns: each is the chat''s own, or else its template''s. A template of another account sets skills, limits and network policies only, because models, effort and an outcome can cost more than the account has asked for. Of limits the narrowest applies. network_policies has the policies of the account, the template and the chat that are not open, all of which must allow a host.';

create or replace function public.change_workspace_file(
  p_account_id uuid, p_artist_id uuid, p_path text, p_content_id uuid, p_text text, p_run_id text,
  p_expected integer, p_conflict_of text, p_max_files integer, p_max_versions integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_owner constant uuid := public.workspace_owner(p_account_id, p_artist_id);
  v_file public.workspace_files;
  v_version public.workspace_versions;
  v_exists boolean;
begin
  perform from public.workspaces where id = v_owner for update;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  select * into v_file from public.workspace_files where workspace_id = v_owner and path = p_path;
  v_exists := v_file.content_id is not null;
  if p_content_id is null and not v_exists then
    return jsonb_build_object('refused', 'missing');
  end if;
  if p_content_id is not null then
    update public.workspace_contents set is_stored = true, text = coalesce(p_text, text)
    where id = p_content_id and workspace_id = v_owner;
    -- Deleted with the last version that had it, after this request had reserved it.
    if not found then
      return jsonb_build_object('refused', 'content');
    end if;
  end if;
  if v_file.content_id = p_content_id then
    select * into v_version from public.workspace_versions
    where file_id = v_file.id and number = v_file.version;
    return jsonb_build_object('file', public.workspace_version_row(v_file, v_version),
      'is_new', false);
  end if;
  if p_expected <> (case when v_exists then v_file.version else 0 end) then
    return jsonb_build_object('refused', 'changed');
  end if;
  if not v_exists then
    if p_max_files <= (
      select count(*) from public.workspace_files
      where workspace_id = v_owner and content_id is not null)
    then
      return jsonb_build_object('refused', 'too_many');
    end if;
    if exists (
      select from public.workspace_files f
      where f.workspace_id = v_owner and f.content_id is not null and (
        -- "/" is followed by "0".
        (f.path > p_path || '/' and f.path < p_path || '0')
        or f.path in (
          select array_to_string(parts[:n], '/')
          from string_to_array(p_path, '/') parts, generate_series(1, cardinality(parts) - 1) n)))
    then
      return jsonb_build_object('refused', 'folder');
    end if;
  end if;

  update public.workspaces set revision = revision + 1 where id = v_owner;
  insert into public.workspace_files as f (workspace_id, path, version, content_id, updated_at)
  values (v_owner, p_path, 1, p_content_id, clock_timestamp())
  on conflict (workspace_id, path) do update
  set version = f.version + 1, content_id = p_content_id, updated_at = excluded.updated_at
  returning * into v_file;
  insert into public.workspace_versions
    (file_id, number, content_id, account_id, run_id, conflict_of, created_at, untrusted)
  values (v_file.id, v_file.version, p_content_id, p_account_id, p_run_id, p_conflict_of,
    v_file.updated_at,
    exists (
      select from public.turns t
      where t.run_id = p_run_id and t.account_id = p_account_id and t.untrusted <> '[]')
    or exists (
      select from public.workspace_versions v
      where v.file_id = v_file.id and v.content_id = p_content_id and v.untrusted))
  returning * into v_version;
  delete from public.workspace_versions
  where file_id = v_file.id and number <= v_file.version - p_max_versions;
  return jsonb_build_object('file', public.workspace_version_row(v_file, v_version),
    'is_new', not v_exists);
end
$$;
comment on function public.change_workspace_file is 'Adds a version to a file, null for p_content_id to delete it: {file, is_new}, or {refused: missing | changed, when p_expected is not the newest version, 0 for none | content, which must be stored again | too_many | folder, when the path or a part of it is one}. The content that the file has already makes no version, whatever p_expected is. Only the newest p_max_versions stay.';

create or replace function public.begin_workspace_use(
  p_account_id uuid, p_session_id uuid, p_artist_id uuid, p_sandbox text, p_writes boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_owner constant uuid := public.workspace_owner(p_account_id, p_artist_id);
  v_known public.workspace_checkouts;
  v_revision bigint;
begin
  perform from public.sessions where id = p_session_id and account_id = p_account_id;
  if not found or v_owner is null then
    return jsonb_build_object('refused', 'missing');
  end if;
  select * into v_known from public.workspace_checkouts where session_id = p_session_id for update;
  if p_writes then
    insert into public.workspace_checkouts (session_id, workspace_id, sandbox, is_dirty)
    values (p_session_id, v_owner, p_sandbox, true)
    on conflict (session_id) do update set is_dirty = true;
  end if;
  select revision into v_revision from public.workspaces where id = v_owner;
  return jsonb_build_object(
    'untrusted', (
      select coalesce(jsonb_agg(jsonb_build_object('kind', 'workspace', 'name', u.path)), '[]')
      from (
        select f.path from public.workspace_files f
        join public.workspace_versions v on v.file_id = f.id and v.number = f.version
        where f.workspace_id = v_owner and f.content_id is not null and v.untrusted
        order by f.path limit 20) u),
    'is_dirty', coalesce(v_known.is_dirty, false),
    'is_current',
      coalesce(v_known.workspace_id = v_owner and v_known.sandbox = p_sandbox, true)
      and not coalesce(v_known.is_dirty, false)
      and coalesce(v_revision, 0) <= coalesce(v_known.revision, 0));
end
$$;
comment on function public.begin_workspace_use is 'Notes that a turn is about to change files of its sandbox (p_writes), and returns whether the sandbox has all files of the workspace, and none that is to be stored: {is_current, is_dirty, untrusted} | {refused: missing}. untrusted has the files that were written from untrusted content, as sources of the turn, 20 at most. is_dirty, an earlier turn may have left changes.';

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

  -- Who sends another message has not approved: a turn of a chat that waits for an approval is stopped.
  if v_busy ->> 'outcome' = 'active' and p_on_busy in ('reject', 'steer') and not v_waited
    and v_claim.parts_before is null and not v_active.headless
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
      v_turn.untrusted := public.sources_of_turn(v_turn);
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
comment on function public.claim_turn is 'Claims a chat for a new turn and stores the message that the turn answers. p_claim has the fields of turn_claim and client_tools, as JSON because not every REST server passes on records. With p_with_turn a claim returns the turn, as load_turn will. While the chat is busy it queues the turn, unless p_on_busy is reject, lets the active one take its message with steer, and stops the active one with interrupt: {outcome: claimed (turn) | queued (turn_id, active_turn_id, run_id, interrupts) | active (turn_id, run_id, message_id) | waiting | queue_full}. For a message that was sent before also {outcome: answered (turn_id, run_id, message_id) | content_differs}. All other outcomes change nothing: session_missing | chat_missing | sandbox_missing | id_taken | answer_stale | parent_missing | parent_differs | budget_reached | too_many_turns | messages_full | chat_full. A turn that waited is not checked again, except for p_max_active. A limit of 0 is none.';

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
    'untrusted', p_turn.untrusted,
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
  -- A turn that has not begun waits for nothing.
  if v_turn.status <> 'queued' then
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
    v_turn.untrusted := public.sources_of_turn(v_turn);
    update public.turns
    set loads = loads + 1, reserved_usd = 0, run_id = p_run_id, status = 'running',
      instructions = public.chat_instructions(account_id, chat_id),
      options = v_turn.options, skills = v_turn.skills, untrusted = v_turn.untrusted,
      mcp_tools = v_turn.mcp_tools
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
    'has_asked', v_turn.loads > 1
      and exists (select from public.approvals a where a.turn_id = p_turn_id),
    'history', case when p_has_history then '[]' else public.history_of_turn(v_turn) end,
    'steps', (
      select coalesce(jsonb_agg(s.result order by s.index), '[]')
      from public.turn_steps s where s.turn_id = p_turn_id));
end
$$;
comment on function public.load_turn is 'Turns a claim into the run''s and answers all that the run continues with, at its start and after each crash, without the history if the process has it from the claim: {outcome: lost | finished | waiting | active, …}. A turn that waits for its client is waiting, unless it is loaded to be ended (p_ends).';

create or replace function public.load_skill(p_account_id uuid, p_turn_id uuid, p_name text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_skill jsonb;
begin
  select jsonb_build_object('name', k.name,
    'source', case when k.organization_id is null then 'account' else 'organization' end,
    'version', v.version, 'sha256', v.sha256, 'files', v.files,
    'isForeign', v.origin is not null or v.author_id is distinct from p_account_id)
  into v_skill
  from public.known_skills(p_account_id) k
  join public.skill_versions v on v.skill_id = k.id and v.version = k.version
  where k.name = p_name and k.enabled
  order by k.rank
  limit 1;
  if found then
    perform public.record_turn_skill(p_account_id, p_turn_id, v_skill);
  end if;
  return v_skill;
end
$$;
comment on function public.load_skill is 'Loads a stored skill for a turn: {name, source, version, sha256, files, isForeign, whether it was imported or written by another account}; null for a name that the account cannot use.';

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
  return v_turn;
end
$$;
comment on function public.next_turn_of_chat is 'The turn that a message would start now in a chat, without that message: it answers the newest one. It is not stored.';

create function public.finish_tool(
  p_turn_id uuid, p_call_id text, p_output jsonb, p_account_id uuid default null,
  p_sources jsonb default null
) returns jsonb
language plpgsql set search_path = '' as $$
begin
  if p_sources is not null then
    perform public.mark_turn_untrusted(p_account_id, p_turn_id, p_sources);
  end if;
  update public.tool_runs r
  set finished = true, output = p_output, finished_at = clock_timestamp()
  from public.turns t
  where r.turn_id = p_turn_id and r.tool_call_id = p_call_id
    and t.id = r.turn_id and t.account_id = coalesce(p_account_id, t.account_id);
  -- A command may have met more by the API.
  return coalesce(
    (select t.untrusted from public.turns t where t.id = p_turn_id and t.account_id = p_account_id),
    '[]');
end
$$;
comment on function public.finish_tool is 'Records the output of a tool call, and the untrusted content [{kind, name}] that it has, null for none. Returns all of the turn. p_account_id is null from the version before.';

create or replace function public.suspend_turn(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_step integer, p_tool_calls jsonb,
  p_wait_seconds integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_wakes_at timestamptz := now() + make_interval(secs => p_wait_seconds);
begin
  select * into v_turn from public.turns
  where id = p_turn_id and account_id = p_account_id and finished_at is null for update;
  if not found or v_turn.loads <> p_load then
    return jsonb_build_object('superseded', true, 'webhooks_due', false);
  end if;
  insert into public.required_actions (turn_id, account_id, step, tool_calls, wakes_at)
  values (p_turn_id, p_account_id, p_step, p_tool_calls,
    case when v_turn.stop_requested_at is null
        and (p_tool_calls <> '[]' or public.open_approvals(p_turn_id) is not null)
      then v_wakes_at else now() end);
  -- The run has its usual time after the wait.
  update public.api_keys set expires_at = v_wakes_at + interval '1 day' where id = v_turn.key_id;
  perform public.enqueue_webhook_event(p_account_id, 'run.requires_action',
    public.turn_event(v_turn) || '{"status": "requires_action"}', v_turn.webhook_url);
  return jsonb_build_object(
    'superseded', false, 'webhooks_due', public.has_due_webhooks(p_account_id));
end
$$;
comment on function public.suspend_turn is 'Lets a turn wait until its client has sent the results of the tool calls [{id, name, input}], or if there are none until its requests for approval are answered, for p_wait_seconds at most: {superseded, webhooks_due}. Superseded, the turn was loaded again since this load or has ended.';

create or replace function public.required_action_of(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object('tool_calls', w.tool_calls, 'approvals', coalesce(w.approvals, '[]'))
  from (
    select public.open_approvals(a.turn_id) as approvals, coalesce((
        select jsonb_agg(c.value order by c.ordinality)
        from jsonb_array_elements(a.tool_calls) with ordinality as c
        where not exists (
          select from public.tool_runs r
          where r.turn_id = a.turn_id and r.tool_call_id = a.step || ' ' || (c.value ->> 'id'))),
      '[]') as tool_calls
    from public.required_actions a
    where a.turn_id = p_turn.id and a.wakes_at > now()) w
  where w.approvals is not null or w.tool_calls <> '[]'
$$;
comment on function public.required_action_of is 'What the client of a turn is to do: {tool_calls: [{id, name, input}], approvals}, those without a result or an answer; null for nothing.';

create or replace function public.close_turn(p_turn_id uuid, p_status text, p_error text) returns void
language plpgsql set search_path = '' as $$
begin
  update public.api_keys k set revoked_at = now()
  from public.turns t where t.id = p_turn_id and k.id = t.key_id and k.revoked_at is null;
  update public.turns set status = p_status, error = p_error, history = null, mcp_tools = null,
    finished_at = now()
  where id = p_turn_id and finished_at is null;
  update public.approvals set state = 'cancelled', answered_at = clock_timestamp()
  where turn_id = p_turn_id and state = 'requested';
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
