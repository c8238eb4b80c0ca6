-- The steps of a turn: how its run loads it, and records its model calls and tool calls.

-- Steps -------------------------------------------------------------------------------------------

create function public.lock_chat_of_turn(p_turn_id uuid) returns void
language plpgsql set search_path = '' as $$
begin
  perform 1 from public.chats
  where id = (select chat_id from public.turns where id = p_turn_id)
  for update;
end
$$;
comment on function public.lock_chat_of_turn is 'Locks the chat of a turn for the transaction. To be called before the turn itself is locked.';

create function public.turn_state(p_turn public.turns) returns jsonb
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
      'decisions', public.policy_decisions(p_turn.options -> 'approvals'),
      'skills', p_turn.skills,
      'mcp_tools', p_turn.mcp_tools,
      'limit_note', p_turn.limit_note,
      'untrusted', p_turn.untrusted,
      'facts', p_turn.facts,
      'context_limit', p_turn.context_limit,
      'headless', p_turn.headless,
      'is_of_task', coalesce(p_turn.kind = 'task', false),
      'has_key', p_turn.key_id is not null,
      'key_id', p_turn.key_id,
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

create function public.history_of_turn(p_turn public.turns) returns jsonb
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

create function public.prepare_turn(p_turn public.turns) returns public.turns
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

create function public.begin_turn(p_turn public.turns, p_run_id text) returns public.turns
language plpgsql volatile set search_path = '' as $$
begin
  update public.turns
  set loads = loads + 1, reserved_usd = 0, run_id = p_run_id, status = 'running'
  where id = p_turn.id returning * into p_turn;
  -- Its words will be in the messages and files of the session.
  if p_turn.untrusted <> '[]' then
    update public.sessions s set untrusted = public.with_sources(s.untrusted, p_turn.untrusted)
    where s.id = p_turn.session_id and not s.untrusted @> p_turn.untrusted;
  end if;
  perform public.record_turn_skill(p_turn.account_id, p_turn.id, l.value)
  from jsonb_array_elements(p_turn.skills -> 'loaded') l;
  update public.api_keys set run_id = p_run_id where id = p_turn.key_id;
  return p_turn;
end
$$;
comment on function public.begin_turn is 'Has a turn, which was prepared, begin in a run.';

create function public.begin_claimed_turn(p_turn_id uuid, p_run_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns
  where id = p_turn_id and coalesce(run_id, p_run_id) = p_run_id and status = 'queued'
    and finished_at is null
  for update;
  if not found then
    return null;
  end if;
  update public.chats set active_stream_id = p_run_id
  where id = v_turn.chat_id and active_stream_id in ('pending:' || p_turn_id, p_run_id);
  if not found then
    return null;
  end if;
  v_turn := public.begin_turn(public.stop_without_authority(v_turn), p_run_id);
  return jsonb_build_object('load', v_turn.loads,
    'stop_requested', v_turn.stop_requested_at is not null);
end
$$;
comment on function public.begin_claimed_turn is 'Turns a claim that has answered with its turn into the run''s: {load, stop_requested}. Null if the turn does not begin with this: it is to be loaded.';

create function public.load_turn(
  p_turn_id uuid, p_run_id text, p_ends boolean default false
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns where id = p_turn_id for update;
  if not found then
    return jsonb_build_object('outcome', 'lost');
  elsif v_turn.run_id <> p_run_id then
    return jsonb_build_object('outcome', 'lost', 'has_other_run', true);
  end if;
  if v_turn.finished_at is not null then
    return jsonb_build_object(
      'outcome', case when v_turn.run_id is null then 'lost' else 'finished' end,
      'error', v_turn.error,
      'metadata', (select m.metadata from public.messages m
        where m.chat_id = v_turn.chat_id and m.id = v_turn.assistant_message_id));
  end if;
  -- Nothing watches the key of a turn while it waits, or has no process.
  v_turn := public.stop_without_authority(v_turn);
  -- A turn that has not started waits for nothing.
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
    v_turn := public.begin_turn(public.prepare_turn(v_turn), p_run_id);
  else
    update public.turns set loads = loads + 1, lost_usd = lost_usd + reserved_usd, reserved_usd = 0
    where id = p_turn_id returning * into v_turn;
  end if;

  return public.turn_state(v_turn) || jsonb_build_object(
    'outcome', 'active',
    'has_asked', v_turn.loads > 1
      and exists (select from public.approvals a where a.turn_id = p_turn_id),
    'history', public.history_of_turn(v_turn),
    'steps', (
      select coalesce(jsonb_agg(s.result order by s.index), '[]')
      from public.turn_steps s where s.turn_id = p_turn_id));
end
$$;
comment on function public.load_turn is 'Turns a claim into the run''s and answers all that the run continues with, at its start and after each crash: {outcome: lost (has_other_run) | finished | waiting | active, …}. The turn of another run has that run''s log, which the caller must leave alone. A turn that waits for its client is waiting, unless it is loaded to be ended (p_ends).';

create function public.record_turn_skill(p_account_id uuid, p_turn_id uuid, p_skill jsonb)
returns void
language sql volatile set search_path = '' as $$
  insert into public.turn_skills (turn_id, account_id, name, source, version, sha256)
  select t.id, t.account_id, p_skill ->> 'name', p_skill ->> 'source',
    (p_skill ->> 'version')::integer, p_skill ->> 'sha256'
  from public.turns t where t.id = p_turn_id and t.account_id = p_account_id
  on conflict do nothing
$$;
comment on function public.record_turn_skill is 'Records that a turn has loaded a skill {name, source, version, sha256}. The first version that it loads counts.';

create function public.load_skill(p_account_id uuid, p_turn_id uuid, p_name text) returns jsonb
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

create function public.take_steering_messages(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_step integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_taken jsonb;
begin
  -- Most model calls find none, and take no lock.
  if not exists (
    select from public.queued_turns q join public.turns t on t.chat_id = q.chat_id
    where t.id = p_turn_id and q.steers = p_turn_id)
  then
    return '[]';
  end if;
  -- With the chat, also the loads and the end of the turn wait.
  perform public.lock_chat_of_turn(p_turn_id);
  -- The rest starts a turn, which ends if the key of the message has ended. A row that is locked is
  -- being dropped by a transaction that then needs the chat.
  with waiting as (
    select q.turn_id from public.queued_turns q
    join public.turns t on t.id = q.steers and t.chat_id = q.chat_id
    where t.id = p_turn_id and q.account_id = p_account_id and q.begun_at is null
      and t.account_id = p_account_id and t.loads = p_load
      and t.finished_at is null and t.stop_requested_at is null
      and public.is_key_in_force((q.claim).caller_key_id)
      and not exists (
        select from public.messages m where m.chat_id = q.chat_id and m.id = q.message_id)
    for update of q skip locked),
  taken as (
    delete from public.queued_turns q using waiting where q.turn_id = waiting.turn_id
    returning q.*),
  stored as (
    insert into public.steering_messages as s
      (chat_id, message_id, turn_id, queued_turn_id, step, position, parts, sent_digest)
    select chat_id, message_id, p_turn_id, turn_id, p_step, position, (claim).parts,
      public.digest_of_parts((claim).parts)
    from taken
    -- An earlier turn that took it has failed or was stopped.
    on conflict (chat_id, message_id) do update set turn_id = excluded.turn_id,
      queued_turn_id = excluded.queued_turn_id, step = excluded.step,
      position = excluded.position, parts = excluded.parts
    returning s.message_id, s.position, s.parts)
  select coalesce(jsonb_agg(
    jsonb_build_object('step', p_step, 'id', message_id, 'parts', parts) order by position), '[]')
  into v_taken from stored;
  return v_taken;
end
$$;
comment on function public.take_steering_messages is 'Moves the queued messages that steer a running turn to it, before its model call p_step: [{step, id, parts}]. Takes none for a turn that was stopped or loaded again since this load.';

create function public.store_steering_files(p_turn_id uuid, p_messages jsonb) returns void
language sql volatile set search_path = '' as $$
  update public.steering_messages s set parts = changed.parts
  from jsonb_to_recordset(p_messages) as changed(id text, parts jsonb)
  where s.turn_id = p_turn_id and s.message_id = changed.id and s.parts is not null
$$;
comment on function public.store_steering_files is 'Replaces the parts of messages [{id, parts}] that a running turn has taken, once their files are stored. Without effect when the turn has ended.';

create function public.complete_model_call(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_index integer, p_result jsonb,
  p_call_ids text[], p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_has_ended boolean;
begin
  -- Usage counts, even if another process has loaded or ended the turn since.
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('superseded', false, 'stop_requested', true, 'known_calls', '[]'::jsonb);
  end if;
  -- Locked, because the turn must not be loaded again before this is committed.
  select finished_at is not null into v_has_ended from public.turns
  where id = p_turn_id and loads = p_load for share;
  if v_has_ended is not false then
    return jsonb_build_object('superseded', v_has_ended is null,
      'stop_requested', v_has_ended is not null, 'known_calls', '[]'::jsonb);
  end if;
  -- Nothing of the turn is in flight: its tools have ended before the model call.
  update public.turns set reserved_usd = 0 where id = p_turn_id and reserved_usd > 0;
  insert into public.turn_steps (turn_id, index, result) values (p_turn_id, p_index, p_result)
  on conflict do nothing;
  return jsonb_build_object(
    'stop_requested', public.turns_to_stop(array[p_turn_id]) <> '{}',
    'known_calls', public.start_tools(p_turn_id, p_call_ids),
    'superseded', false,
    'has_budget', public.has_budget(p_account_id));
end
$$;
comment on function public.complete_model_call is 'Records the result and the usage of a model call, and the tool calls that start at once: {superseded, stop_requested, known_calls as in start_tools, has_budget}. Superseded, the turn was loaded again since this load, and only the usage is recorded, as for a turn that has ended and is to stop.';

create function public.load_subagent(p_account_id uuid, p_turn_id uuid, p_tool_call_id text)
returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'steps', (
      select coalesce(jsonb_agg(s.result order by s.index), '[]')
      from public.subagent_steps s
      where s.turn_id = t.id and s.tool_call_id = p_tool_call_id),
    'compaction', (
      select jsonb_build_object('id', c.id, 'kind', c.kind, 'state', c.state, 'isOwn', true,
        'tokensBefore', c.tokens_before, 'tokensAfter', c.tokens_after)
      from public.compactions c
      where c.chat_id = t.chat_id and c.turn_id = t.id and c.tool_call_id = p_tool_call_id
      order by c.id desc limit 1))
  from public.turns t where t.id = p_turn_id and t.account_id = p_account_id
$$;
comment on function public.load_subagent is 'What a subagent continues with, at its start and after a crash: {steps, compaction}; null when the turn is gone.';

create function public.complete_subagent_call(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_tool_call_id text, p_index integer,
  p_result jsonb, p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- Usage counts, even if another process has loaded the turn since.
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('superseded', true);
  end if;
  perform from public.turns
  where id = p_turn_id and loads = p_load and finished_at is null for share;
  if not found then
    return jsonb_build_object('superseded', true);
  end if;
  insert into public.subagent_steps (turn_id, tool_call_id, index, result)
  values (p_turn_id, p_tool_call_id, p_index, p_result)
  on conflict do nothing;
  return jsonb_build_object('superseded', false, 'has_budget', public.has_budget(p_account_id));
end
$$;
comment on function public.complete_subagent_call is 'Records the result and the usage of a model call of a subagent: {superseded, has_budget}. Superseded, the turn is gone, has ended or was loaded again since this load, and only the usage is recorded.';

-- Two processes record the same calls when one was taken for dead: only the process whose row was inserted
-- may run a call.
create function public.start_tools(p_turn_id uuid, p_call_ids text[]) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_fresh text[];
begin
  -- Locked, because the end of a turn removes the records of its calls.
  perform from public.turns where id = p_turn_id and finished_at is null for share;
  if not found then
    return (
      select coalesce(jsonb_agg(jsonb_build_object('id', id, 'finished', false, 'output', null)), '[]')
      from unnest(p_call_ids) id);
  end if;
  with fresh as (
    insert into public.tool_runs (turn_id, tool_call_id)
    select p_turn_id, id from unnest(p_call_ids) id order by id
    on conflict do nothing returning tool_call_id)
  select coalesce(array_agg(tool_call_id), '{}') into v_fresh from fresh;
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', r.tool_call_id, 'finished', r.finished, 'output', r.output)), '[]')
    from public.tool_runs r
    where r.turn_id = p_turn_id and r.tool_call_id = any (p_call_ids)
      and r.tool_call_id <> all (v_fresh));
end
$$;
comment on function public.start_tools is 'Records tool calls before they start, and returns the ones recorded earlier, which must not run again: [{id, finished, output}]. All are returned for a turn that has ended: none may start.';

create function public.finish_tool(
  p_account_id uuid, p_turn_id uuid, p_call_id text, p_output jsonb, p_sources jsonb
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
    and t.id = r.turn_id and t.account_id = p_account_id;
  -- A command may have met more by the API, and a budget may have been set since.
  return (
    select jsonb_build_object('untrusted', t.untrusted,
      'has_budget', a.monthly_budget_usd is not null,
      'has_steering', exists (
        select from public.queued_turns q where q.chat_id = t.chat_id and q.steers = t.id))
    from public.turns t join public.accounts a on a.id = t.account_id
    where t.id = p_turn_id and t.account_id = p_account_id);
end
$$;
comment on function public.finish_tool is 'Records the output of a tool call, and the untrusted content [{kind, name}] that it has, null for none. Returns {untrusted, has_budget} of the turn, and as has_steering whether messages wait to steer it.';

create function public.finished_tools(p_turn_id uuid, p_call_ids text[]) returns text[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(r.tool_call_id), '{}') from public.tool_runs r
  where r.turn_id = p_turn_id and r.tool_call_id = any (p_call_ids) and r.finished
$$;
comment on function public.finished_tools is 'The ids of the given tool calls that have an output.';

create function public.suspend_turn(
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
  perform public.queue_waiting_mail(v_turn);
  return jsonb_build_object(
    'superseded', false, 'webhooks_due', public.has_due_webhooks(p_account_id));
end
$$;
comment on function public.suspend_turn is 'Lets a turn wait until its client has sent the results of the tool calls [{id, name, input}], or if there are none until its requests for approval are answered, for p_wait_seconds at most: {superseded, webhooks_due}. Superseded, the turn was loaded again since this load or has ended.';

create function public.required_action_of(p_turn public.turns) returns jsonb
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

create function public.answer_tool_calls(
  p_account_id uuid, p_run_id text, p_results jsonb, p_max_active integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_action public.required_actions;
  v_place integer;
  v_is_known boolean;
begin
  -- The account first, as everywhere: the active turns are counted.
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  select * into v_turn from public.turns
  where run_id = p_run_id and account_id = p_account_id for update;
  if not found then
    return jsonb_build_object('outcome', 'missing');
  end if;
  select * into v_action from public.required_actions
  where turn_id = v_turn.id and wakes_at > now();
  -- The same result may be repeated, even if the run has continued with it.
  select r.ordinality - 1, exists (
      select from public.tool_runs t
      where t.turn_id = v_turn.id
        and substr(t.tool_call_id, strpos(t.tool_call_id, ' ') + 1) = r.value ->> 'id')
  into v_place, v_is_known
  from jsonb_array_elements(p_results) with ordinality as r
  where not exists (
      select from jsonb_array_elements(v_action.tool_calls) c
      where c.value -> 'id' = r.value -> 'id')
    and not exists (
      select from public.tool_runs t
      where t.turn_id = v_turn.id and t.output = r.value -> 'output'
        and substr(t.tool_call_id, strpos(t.tool_call_id, ' ') + 1) = r.value ->> 'id')
  order by r.ordinality limit 1;
  if found then
    return jsonb_build_object('place', v_place, 'outcome', case
      when v_is_known then 'answered'
      when v_action.turn_id is null then 'not_waiting' else 'unknown_call' end);
  end if;
  if exists (
    select from jsonb_array_elements(p_results) r
    join public.tool_runs t
      on t.turn_id = v_turn.id and t.tool_call_id = v_action.step || ' ' || (r.value ->> 'id')
    where t.output is distinct from r.value -> 'output')
  then
    return jsonb_build_object('outcome', 'answered');
  end if;
  insert into public.tool_runs (turn_id, tool_call_id, finished, output, started_at, finished_at)
  select v_turn.id, v_action.step || ' ' || (r.value ->> 'id'), true, r.value -> 'output',
    null, clock_timestamp()
  from jsonb_array_elements(p_results) r, jsonb_array_elements(v_action.tool_calls) c
  where c.value -> 'id' = r.value -> 'id'
  on conflict do nothing;
  if v_action.turn_id is not null and public.required_action_of(v_turn) is null then
    if p_max_active > 0 and public.count_active_turns(p_account_id) >= p_max_active then
      raise exception using errcode = 'PT403', message = 'too_many_turns';
    end if;
    update public.required_actions set wakes_at = now() where turn_id = v_turn.id;
  end if;
  return jsonb_build_object('outcome', 'recorded', 'turn_id', v_turn.id);
exception when sqlstate 'PT403' then
  -- Nothing has changed.
  return jsonb_build_object('outcome', sqlerrm);
end
$$;
comment on function public.answer_tool_calls is 'Records results [{id, output: {value}}] of calls that a run waits for, and lets it continue after the last one: {outcome: recorded (turn_id) | missing | not_waiting | unknown_call (place) | answered | too_many_turns}. All but recorded change nothing. A limit of 0 is none.';

create function public.wake_stopped_turn() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  update public.required_actions set wakes_at = now()
  where turn_id = new.id and wakes_at > now();
  return null;
end
$$;
comment on function public.wake_stopped_turn is 'Trigger of turns: a turn that waits ends when its stop is requested.';
create trigger wake_stopped_turn after update of stop_requested_at on public.turns
for each row when (old.stop_requested_at is null and new.stop_requested_at is not null)
execute function public.wake_stopped_turn();

create function public.turns_to_wake(p_limit integer, p_due_seconds integer) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(due.turn_id), '{}') from (
    select a.turn_id from public.required_actions a
    where a.wakes_at < now() - make_interval(secs => p_due_seconds)
    order by a.wakes_at limit p_limit) due
$$;
comment on function public.turns_to_wake is 'The turns that should have been woken p_due_seconds ago, oldest first.';
