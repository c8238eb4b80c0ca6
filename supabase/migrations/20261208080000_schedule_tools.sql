-- Tasks that the agent creates: their approvals, their end, and the runs that cannot create any; and the media of a
-- call that a crash has cut.

create or replace function public.default_policy(p_category text) returns text
language sql immutable as $$
  select case when p_category in ('connectors', 'mcp', 'schedules') then 'ask' else 'auto' end
$$;
comment on function public.default_policy is 'The policy of a category for which none is set. Inlined, hence no search_path.';

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

create or replace function public.fire_task(
  p_task_id uuid, p_expected timestamptz, p_next timestamptz, p_now timestamptz
) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_task public.scheduled_prompts;
begin
  update public.scheduled_prompts
  set next_run_at = case
      when p_next <= coalesce((options ->> 'ends_at')::timestamptz, 'infinity') then p_next end,
    enabled = coalesce(
      p_next <= coalesce((options ->> 'ends_at')::timestamptz, 'infinity'), false)
  where id = p_task_id and enabled and next_run_at = p_expected
  returning * into v_task;
  if not found or exists (
    select 1 from public.scheduled_firings where task_id = p_task_id and fires_at = p_expected)
  then
    return false;
  end if;
  -- An account that is refused one firing after another must not get them all at once later.
  perform public.end_firing(f.id, 'EXPIRED', 'superseded', f.refusal)
  from public.scheduled_firings f
  where f.task_id = p_task_id and f.attempt_at is not null and f.refusal is not null;
  perform public.queue_firing(
    v_task, gen_random_uuid(), p_expected, coalesce(p_now, clock_timestamp()), null);
  return true;
end
$$;
comment on function public.fire_task is 'Moves a task from the time p_expected to the next one and leaves a waiting firing of that time, both or neither; false when another server has done so. Without a next time, or with one after the option ends_at, the task is disabled.';

comment on column public.scheduled_prompts.options is 'The options of the runs, as of runOptions in lib/contract/run-options.ts, with deliver and ends_at. Those that are absent are the template''s.';

create function public.find_generation(p_account_id uuid, p_effect_id uuid) returns text
language sql stable set search_path = '' as $$
  select r.id from public.task_runs r
  where r.account_id = p_account_id and r.effect_id = p_effect_id
  order by r.created_at desc limit 1
$$;
comment on function public.find_generation is 'The newest run with an effect, however it has ended; null for none.';

drop function public.create_session(uuid, uuid, uuid, text, text);

create function public.create_session(
  p_account_id uuid, p_organization_id uuid, p_artist_id uuid, p_title text, p_model_id text,
  p_options jsonb default '{}'
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_session public.sessions;
  v_chat public.chats;
begin
  insert into public.sessions (account_id, organization_id, artist_id, title)
  values (p_account_id, p_organization_id, p_artist_id, p_title)
  returning * into v_session;
  insert into public.chats (session_id, account_id, model_id, options)
  values (v_session.id, p_account_id, p_model_id, jsonb_strip_nulls(p_options))
  returning * into v_chat;
  return jsonb_build_object('session', to_jsonb(v_session), 'chat', public.chat_row(v_chat));
end
$$;
comment on function public.create_session is 'Creates a session and its first chat: {session, chat}. The caller has checked that the artist may be used.';

-- A sandbox that has met no workspace has to be given its folder.
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
        where f.workspace_id = v_owner and f.content_id is not null
          and (v.untrusted or v.account_id is distinct from p_account_id)
        order by f.path limit 20) u),
    'is_dirty', coalesce(v_known.is_dirty, false),
    'is_current',
      coalesce(v_known.workspace_id = v_owner and v_known.sandbox = p_sandbox, false)
      and not coalesce(v_known.is_dirty, false)
      and coalesce(v_revision, 0) <= coalesce(v_known.revision, 0));
end
$$;
comment on function public.begin_workspace_use is 'Notes that a turn is about to change files of its sandbox (p_writes), and returns whether the sandbox has all files of the workspace, and none that is to be stored: {is_current, is_dirty, untrusted} | {refused: missing}. untrusted has the files that another account has written, or a run from untrusted content, as sources of the turn, 20 at most. is_dirty, an earlier turn may have left changes.';
