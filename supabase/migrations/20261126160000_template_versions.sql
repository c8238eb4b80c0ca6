-- Versions of agent templates. Chats, tasks and turns keep the one that they use.

-- As in the migration of options: this gives up before PostgreSQL notices a deadlock.
set local lock_timeout = '200ms';
lock table public.chats, public.agent_templates, public.turns, public.scheduled_prompts
  in access exclusive mode;

alter table public.chats add column template_version integer;
comment on column public.chats.template_version is 'The version of the template that the chat keeps; null for the one of applied_template_version.';

alter table public.turns add column template_id uuid, add column template_version integer;
comment on column public.turns.template_id is 'The agent template whose version template_version applied when the turn started; null for none.';

alter table public.scheduled_prompts add column template_version integer;
comment on column public.scheduled_prompts.template_version is 'The version of the template that the task keeps; null for the one of applied_template_version.';

create table public.agent_template_versions (
  id uuid primary key default gen_random_uuid(),
  template_id uuid not null references public.agent_templates (id) on delete cascade,
  version integer not null check (version > 0),
  title text not null,
  description text not null,
  prompt text not null,
  tags text[] not null,
  options jsonb not null,
  is_kept boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  unique (template_id, version)
);
alter table public.agent_template_versions enable row level security;
comment on table public.agent_template_versions is 'The contents that templates have had, written by a trigger. They never change. The first, the newest 500, and those that chats or tasks keep stay.';
comment on column public.agent_template_versions.is_kept is 'Whether a chat or a task has ever kept this version.';

insert into public.agent_template_versions
  (template_id, version, title, description, prompt, tags, options, created_at)
select t.id, 1, t.title, t.description, t.prompt, t.tags, t.options, t.updated_at
from public.agent_templates t;

drop function public.update_chat(
  uuid, uuid, uuid, text, text, text, uuid, boolean, boolean, boolean, jsonb);
drop function public.update_task(
  uuid, uuid, text, text, uuid, uuid, text, text, text, text[], boolean, timestamptz, timestamptz,
  jsonb);

create or replace function public.export_rows(
  p_account_id uuid, p_kind text, p_after text, p_limit integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_ids text[];
  v_items jsonb;
begin
  case p_kind
    when 'templates' then
      v_ids := array(
        select t.id::text from public.agent_templates t
        where t.account_id = p_account_id and t.id::text > p_after
        order by t.id::text limit p_limit);
      v_items := public.agent_template_rows(p_account_id, v_ids::uuid[]);
    when 'template_versions' then
      v_ids := array(
        select v.id::text from public.agent_template_versions v
        join public.agent_templates t on t.id = v.template_id
        where t.account_id = p_account_id and v.id::text > p_after
        order by v.id::text limit p_limit);
      v_items := (
        select jsonb_agg(to_jsonb(v) - array['id', 'is_kept'] order by v.id)
        from public.agent_template_versions v where v.id = any (v_ids::uuid[]));
    when 'task_runs' then
      v_ids := array(
        select r.id from public.task_runs r
        where r.account_id = p_account_id and r.id > p_after
        order by r.id limit p_limit);
      v_items := (
        select jsonb_agg(to_jsonb(r) - array['account_id', 'lease_until', 'effect_id'] order by r.id)
        from public.task_runs r where r.account_id = p_account_id and r.id = any (v_ids));
    when 'turns' then
      v_ids := array(
        select t.id::text from public.turns t
        where t.account_id = p_account_id and t.id::text > p_after
        order by t.id::text limit p_limit);
      v_items := (
        select jsonb_agg(
          to_jsonb(t) - array['account_id', 'key_id', 'effect_id', 'history'] order by t.id)
        from public.turns t where t.account_id = p_account_id and t.id = any (v_ids::uuid[]));
    when 'media' then
      v_ids := array(
        select f.name from public.media_files f
        join public.task_runs r on r.id = f.run_id and r.status = 'COMPLETED'
        where f.account_id = p_account_id and f.name > p_after
        order by f.name limit p_limit);
      v_items := to_jsonb(v_ids);
  end case;
  return jsonb_build_object(
    'items', coalesce(v_items, '[]'),
    'next', case when cardinality(v_ids) = p_limit then v_ids[p_limit] end);
end
$$;
comment on function public.export_rows is 'One part of the rows that an account owns (templates, template_versions, task_runs, turns, media) after the id p_after: {items, next}; next is null at the end. Without secrets.';

create or replace function public.chat_row(p_chat public.chats) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_chat.id, 'session_id', p_chat.session_id, 'title', p_chat.title,
    'model_id', p_chat.model_id, 'active_stream_id', public.active_stream_id(p_chat),
    'created_at', p_chat.created_at, 'updated_at', p_chat.updated_at,
    'last_assistant_message_at', p_chat.last_assistant_message_at, 'options', p_chat.options,
    'template_id', p_chat.template_id)
    || case when p_chat.template_id is null then '{}' else public.template_state(
      p_chat.account_id, p_chat.template_id, p_chat.template_version) end
$$;
comment on function public.chat_row is 'The columns of a chat that its account sees; active_stream_id is null for a claim that is void. Inlined, hence no search_path.';

create or replace function public.create_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text,
  p_instructions text, p_template_id uuid, p_options jsonb default '{}'
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
  values (coalesce(p_chat_id, gen_random_uuid()), p_session_id, p_account_id, p_title, p_model_id,
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
comment on function public.create_chat is 'Creates a chat: {chat} | {missing: session | template} | {conflict: true} for an id of another session''s chat. With an id of the client''s it can be repeated, and answers the chat unchanged.';

create function public.update_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text,
  p_instructions text, p_template_id uuid, p_removes_template boolean,
  p_archived boolean, p_pinned boolean, p_options jsonb default '{}',
  p_template_version integer default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
  v_template_id uuid;
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
  end if;
  update public.chats
  set title = coalesce(p_title, title),
    model_id = coalesce(p_model_id, model_id),
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
comment on function public.update_chat is 'Changes a chat: {chat} | {missing: session | chat | template | template_version}. Null leaves a field as it is, empty instructions remove them. A new template is taken in its newest version unless p_template_version names one. p_options changes the options that it names, and removes those that are null.';

create or replace function public.agent_template_rows(p_account_id uuid, p_ids uuid[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(
      to_jsonb(t) || jsonb_build_object(
        'version', public.newest_template_version(t.id),
        'creator', jsonb_build_object(
          'id', a.id,
          'name', coalesce(a.name, ''),
          'image', coalesce(a.image, ''),
          -- The admin organization itself, and its members.
          'is_admin', exists (
            select 1 from public.accounts o
            where o.is_admin
              and (
                o.id = a.id
                or exists (
                  select 1 from public.organization_accounts m
                  where m.organization_id = o.id and m.account_id = a.id
                )
              )
          )),
        'is_favourite', exists (
          select 1 from public.agent_template_favorites f
          where f.template_id = t.id and f.account_id = p_account_id
        ),
        'shared_emails', case when t.account_id = p_account_id then
          array(
            select s.email from public.agent_template_shares s
            where s.template_id = t.id order by s.email
          )
          else array[]::text[] end)
      order by t.created_at desc, t.id desc), '[]')
    from public.agent_templates t
    join public.accounts a on a.id = t.account_id
    where t.id = any (p_ids));
end
$$;
comment on function public.agent_template_rows is 'Templates as an account sees them, newest first, each with its creator: only the owner sees the shared addresses.';

create function public.record_agent_template_version() returns trigger
language plpgsql volatile set search_path = '' as $$
declare
  v_version constant integer := coalesce(public.newest_template_version(new.id), 0) + 1;
begin
  insert into public.agent_template_versions
    (template_id, version, title, description, prompt, tags, options)
  values (new.id, v_version, new.title, new.description, new.prompt, new.tags, new.options);
  -- Chats and tasks from before there were versions keep the first.
  delete from public.agent_template_versions v
  where v.template_id = new.id and v.version between 2 and v_version - 500 and not v.is_kept;
  return null;
end
$$;
comment on function public.record_agent_template_version is 'Trigger: adds the content of a template to its versions.';
create trigger record_first_agent_template_version
  after insert on public.agent_templates
  for each row execute function public.record_agent_template_version();
create trigger record_agent_template_version
  after update of title, description, prompt, tags, options on public.agent_templates
  for each row when (
    (old.title, old.description, old.prompt, old.tags, old.options)
    is distinct from (new.title, new.description, new.prompt, new.tags, new.options))
  execute function public.record_agent_template_version();

create function public.newest_template_version(p_template_id uuid) returns integer
language plpgsql stable set search_path = '' as $$
begin
  return (
    select max(v.version) from public.agent_template_versions v
    where v.template_id = p_template_id);
end
$$;
comment on function public.newest_template_version is 'The number of a template''s newest version.';

create function public.seen_template_versions(p_account_id uuid, p_template_id uuid)
returns integer[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select public.newest_template_version(p_template_id)
    union
    select coalesce(c.template_version, 1) from public.chats c
    where c.account_id = p_account_id and c.template_id = p_template_id
    union
    select coalesce(t.template_version, 1) from public.scheduled_prompts t
    where t.account_id = p_account_id and t.template_id = p_template_id);
end
$$;
comment on function public.seen_template_versions is 'The versions of another account''s template that an account sees: the newest, and those that its chats and tasks keep. Earlier ones may be from before the template was shared.';

create function public.can_see_template_version(
  p_account_id uuid, p_template public.agent_templates, p_version integer
) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from public.agent_template_versions v
    where v.template_id = p_template.id and v.version = p_version
  ) and (
    p_template.account_id = p_account_id
    or p_version = any (public.seen_template_versions(p_account_id, p_template.id)));
end
$$;
comment on function public.can_see_template_version is 'Whether a template has this version, and an account that sees the template sees it. The owner sees all.';

create function public.template_version_row(
  p_template public.agent_templates, p_version public.agent_template_versions
) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(p_version) || jsonb_build_object('author_id', p_template.account_id)
$$;
comment on function public.template_version_row is 'A version with its author, who is the owner of the template.';

create function public.list_agent_template_versions(
  p_account_id uuid, p_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_template public.agent_templates;
  v_seen integer[];
begin
  select * into v_template from public.agent_templates where id = p_id;
  if not found or not public.can_see_agent_template(p_account_id, v_template) then
    return jsonb_build_object('refused', 'missing');
  end if;
  if v_template.account_id <> p_account_id then
    v_seen := public.seen_template_versions(p_account_id, p_id);
  end if;
  return to_jsonb(array(
    select public.template_version_row(v_template, v)
    from public.agent_template_versions v
    where v.template_id = p_id and (v.created_at, v.id) < (v_after_at, v_after_id)
      and (v_seen is null or v.version = any (v_seen))
    order by v.created_at desc, v.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_agent_template_versions is 'One page of the versions of a template that the account sees, newest first, with one more row if another page follows; or {refused: missing}.';

create function public.get_agent_template_version(
  p_account_id uuid, p_id uuid, p_version integer, p_compare_to integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_template public.agent_templates;
  v_version public.agent_template_versions;
  v_base public.agent_template_versions;
begin
  select * into v_template from public.agent_templates where id = p_id;
  if not found or not public.can_see_agent_template(p_account_id, v_template) then
    return jsonb_build_object('refused', 'missing');
  end if;
  if not public.can_see_template_version(p_account_id, v_template, p_version)
    or not public.can_see_template_version(
      p_account_id, v_template, coalesce(p_compare_to, p_version))
  then
    return jsonb_build_object('refused', 'version');
  end if;
  select * into v_version from public.agent_template_versions
  where template_id = p_id and version = p_version;
  select * into v_base from public.agent_template_versions
  where template_id = p_id and version = p_compare_to;
  return jsonb_build_object('version', public.template_version_row(v_template, v_version),
    'base', case when found then public.template_version_row(v_template, v_base) end);
end
$$;
comment on function public.get_agent_template_version is 'A version that the account sees, and the one to compare it with, if any: {version, base}, or {refused: missing | version}.';

create function public.restore_agent_template(p_account_id uuid, p_id uuid, p_version integer)
returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update public.agent_templates t
  set title = v.title, description = v.description, prompt = v.prompt, tags = v.tags,
    options = v.options, updated_at = now()
  from public.agent_template_versions v
  where t.id = p_id and t.account_id = p_account_id
    and v.template_id = t.id and v.version = p_version;
  if found then
    return public.found_agent_template(p_account_id, p_id);
  end if;
  return case when exists (
    select from public.agent_templates t where t.id = p_id and t.account_id = p_account_id)
    then jsonb_build_object('refused', 'version')
    else public.refuse_agent_template(p_account_id, p_id) end;
end
$$;
comment on function public.restore_agent_template is 'Makes the content of an earlier version the content of the template, which is its next version: {template}, or {refused: missing | version | not_owner}.';

create function public.choose_template_version(
  p_account_id uuid, p_template_id uuid, p_version integer
) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_template public.agent_templates;
  v_version integer;
begin
  if p_template_id is null then
    return case when p_version is null then 0 end;
  end if;
  select * into v_template from public.agent_templates where id = p_template_id;
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
  v_version := coalesce(p_version, public.newest_template_version(p_template_id));
  update public.agent_template_versions v set is_kept = true
  where v.template_id = p_template_id and v.version = v_version and not v.is_kept;
  return v_version;
end
$$;
comment on function public.choose_template_version is 'The version that a chat or a task keeps, p_version or else the newest; 0 without a template, and for an own one, which is followed unless a version is named. Null if the account does not see the template or the version.';

create function public.applied_template_version(
  p_account_id uuid, p_template_id uuid, p_version integer
) returns public.agent_template_versions
language plpgsql stable set search_path = '' as $$
declare
  v_template public.agent_templates;
  v_version public.agent_template_versions;
begin
  select * into v_template from public.agent_templates where id = p_template_id;
  if found and public.can_see_agent_template(p_account_id, v_template) then
    select * into v_version from public.agent_template_versions v
    where v.template_id = p_template_id and (
      v.version = coalesce(p_version, 1)
      or (p_version is null and v_template.account_id = p_account_id))
    order by v.version desc
    limit 1;
  end if;
  return v_version;
end
$$;
comment on function public.applied_template_version is 'The version of a template that applies in a chat or a task that keeps p_version: without one, the newest of an own template, and the first of another account''s, which was chosen before there were versions. Null if the account no longer sees the template.';

create function public.template_state(p_account_id uuid, p_template_id uuid, p_version integer)
returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_applied constant integer :=
    (public.applied_template_version(p_account_id, p_template_id, p_version)).version;
  v_newest constant integer := public.newest_template_version(p_template_id);
begin
  return jsonb_build_object('template_version', v_applied,
    'template_update',
    case when v_newest > v_applied then jsonb_build_object('version', v_newest) end);
end
$$;
comment on function public.template_state is 'The state of the template of a chat or a task: {template_version, template_update: {version}}, each null for none.';

create or replace function public.chat_instructions(p_account_id uuid, p_chat_id uuid) returns text
language sql stable set search_path = '' as $$
  select nullif(concat_ws(chr(10) || chr(10),
    (public.applied_template_version(p_account_id, c.template_id, c.template_version)).prompt,
    c.instructions), '')
  from public.chats c
  where c.id = p_chat_id and c.account_id = p_account_id
$$;
comment on function public.chat_instructions is 'The instructions of a chat: the prompt of its template, in the version that applies, then its own text; null for nothing.';

create or replace function public.chat_options(p_account_id uuid, p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_strip_nulls(
    case when t.account_id = p_account_id then v.options
      else jsonb_build_object('skills', v.options -> 'skills') end || c.options
    || jsonb_build_object(
      'limits', public.narrowest_limits(array[v.options -> 'limits', c.options -> 'limits']),
      'approvals', public.approval_policies(p_account_id, p_chat_id, c.options,
        case when t.account_id = p_account_id then v.options -> 'approvals' end,
        case when t.account_id <> p_account_id then v.options -> 'approvals' end)))
  from public.chats c
  cross join public.applied_template_version(p_account_id, c.template_id, c.template_version) v
  left join public.agent_templates t on t.id = v.template_id
  where c.id = p_chat_id and c.account_id = p_account_id
$$;
comment on function public.chat_options is 'The options of a chat''s turns: each is the chat''s own, or else its template''s, in the version that applies. A template of another account sets skills and limits only, because models, effort and an outcome can cost more than the account has asked for. Of limits the narrowest applies.';

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
    v_turn.untrusted := public.sources_of_turn(v_turn);
    update public.turns
    set loads = loads + 1, reserved_usd = 0, run_id = p_run_id, status = 'running',
      instructions = public.chat_instructions(account_id, chat_id),
      (template_id, template_version) = (
        select v.template_id, v.version
        from public.chats c
        cross join public.applied_template_version(
          c.account_id, c.template_id, c.template_version) v
        where c.id = chat_id),
      options = v_turn.options, skills = v_turn.skills, untrusted = v_turn.untrusted
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

create or replace function public.run_row(p_turn public.turns) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_turn.id, 'run_id', p_turn.run_id, 'kind', p_turn.kind,
    'status', case when p_turn.status = 'running' and public.is_waiting(p_turn.id)
      then 'requires_action' else p_turn.status end,
    'error', p_turn.error, 'session_id', p_turn.session_id, 'chat_id', p_turn.chat_id,
    'artist_id', p_turn.artist_id, 'model_id', p_turn.model_id,
    'template_id', p_turn.template_id, 'template_version', p_turn.template_version,
    'created_at', p_turn.created_at, 'finished_at', p_turn.finished_at)
$$;
comment on function public.run_row is 'The columns of a turn that its account sees as a run. Inlined, hence no search_path.';

create or replace function public.task_row(p_task public.scheduled_prompts) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(p_task) || jsonb_build_object('last_run', (
    select public.firing_row(f)
    from public.scheduled_firings f
    where f.task_id = p_task.id
    order by f.created_at desc limit 1))
    || public.template_state(p_task.account_id, p_task.template_id, p_task.template_version)
$$;
comment on function public.task_row is 'A scheduled prompt with the firing_row of its last run, and the state of its template.';

create or replace function public.create_task(
  p_account_id uuid, p_id uuid, p_title text, p_prompt text, p_template_id uuid, p_artist_id uuid,
  p_model_id text, p_schedule text, p_timezone text, p_next_run_at timestamptz, p_max_tasks integer,
  p_options jsonb default '{}'
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
  v_version := public.choose_template_version(p_account_id, p_template_id, null);
  if v_version is null then
    return jsonb_build_object('refused', 'template');
  end if;
  if p_max_tasks <= (
    select count(*) from public.scheduled_prompts where account_id = p_account_id)
  then
    return jsonb_build_object('refused', 'full');
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
comment on function public.create_task is 'Creates a scheduled prompt, enabled if it has a next time: {task} | {refused: template | full}. It can be repeated with the same id.';

create function public.update_task(
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
    and date_trunc('milliseconds', updated_at) = p_expected_updated_at
  returning * into v_task;
  if found then
    return jsonb_build_object('task', public.task_row(v_task));
  end if;
  return jsonb_build_object('refused', 'changed');
end
$$;
comment on function public.update_task is 'Changes a scheduled prompt unless it was changed since it was read: {task} | {refused: changed | missing | template | template_version}. A new template is taken in its newest version unless p_template_version names one. Null leaves a field as it is, and p_clear (template_id, artist_id, model) removes it; the next time is set only with p_reschedules, and null disables the task. p_options changes the options that it names, and removes those that are null.';

create or replace function public.firing_json(p_firing public.scheduled_firings) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', p_firing.id,
    'accountId', p_firing.account_id,
    'taskRunId', p_firing.task_run_id,
    'isHandedOver', exists (
      select from public.task_runs r
      where r.id = p_firing.task_run_id and r.metadata ? 'triggerRunId'),
    'runId', p_firing.run_id,
    'chatId', p_firing.chat_id,
    'sessionId', p_firing.session_id,
    'task', (
      select jsonb_build_object('prompt', t.prompt, 'templateId', t.template_id,
        -- Null follows an own template.
        'templateVersion', coalesce(t.template_version, (
          select 1 from public.agent_templates a
          where a.id = t.template_id and a.account_id <> t.account_id)),
        'artistId', t.artist_id, 'modelId', t.model_id, 'options', t.options,
        'seesArtist', t.artist_id is null or (public.access_verdicts(
          t.account_id, false, null, null, t.artist_id) ->> 'artist')::boolean)
      from public.scheduled_prompts t where t.id = p_firing.task_id))
$$;
comment on function public.firing_json is 'A firing with what its run is started with, and whether another service has been given its task; the task is null once it is deleted.';
