-- Which files of its workspace the sandbox of a session has, and the memory of a workspace in the state of a turn.
create table public.workspace_checkouts (
  session_id uuid primary key references public.sessions (id) on delete cascade,
  workspace_id uuid not null,
  sandbox text not null,
  revision bigint not null default 0,
  is_dirty boolean not null default false
);
alter table public.workspace_checkouts enable row level security;
comment on table public.workspace_checkouts is 'Which state of a workspace the sandbox of a session was given. It is kept here, because the sandbox is hostile.';
comment on column public.workspace_checkouts.workspace_id is 'No foreign key: files of a deleted workspace are removed from the sandbox, and must not be stored in another one.';
comment on column public.workspace_checkouts.sandbox is 'Identifies the sandbox. The files of another one are no changes of these.';
comment on column public.workspace_checkouts.revision is 'As of workspaces, when the sandbox was last given its files.';
comment on column public.workspace_checkouts.is_dirty is 'Whether a turn may have changed files that are not stored yet.';

create table public.workspace_checkout_files (
  session_id uuid not null references public.workspace_checkouts (session_id) on delete cascade,
  path text collate "C" not null,
  version integer not null,
  sha256 text not null,
  bytes bigint not null,
  modified_at text not null,
  primary key (session_id, path)
);
alter table public.workspace_checkout_files enable row level security;
comment on table public.workspace_checkout_files is 'The files that the sandbox of a session was given, or from which they were stored.';
comment on column public.workspace_checkout_files.bytes is 'The size and modified_at of the file in the sandbox: a file with another one may have changed.';

create function public.memory_of_workspace(
  p_account_id uuid, p_artist_id uuid, p_options jsonb, p_at timestamptz, p_max_chars integer
) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select left(c.text, p_max_chars)
    from public.workspace_files f
    join public.workspace_versions v on v.file_id = f.id and v.created_at <= p_at
    left join public.workspace_contents c on c.id = v.content_id
    where f.workspace_id = coalesce(p_artist_id, p_account_id) and f.path = 'MEMORY.md'
      and p_options ->> 'workspace' is distinct from 'off'
    order by v.number desc
    limit 1);
end
$$;
comment on function public.memory_of_workspace is 'The start of MEMORY.md as it was at p_at; null without one, and for options that leave the workspace out. The caller has checked that the artist may be used.';

create function public.begin_workspace_use(
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
    'is_dirty', coalesce(v_known.is_dirty, false),
    'is_current',
      coalesce(v_known.workspace_id = v_owner and v_known.sandbox = p_sandbox, true)
      and not coalesce(v_known.is_dirty, false)
      and coalesce(v_revision, 0) <= coalesce(v_known.revision, 0));
end
$$;
comment on function public.begin_workspace_use is 'Notes that a turn is about to change files of its sandbox (p_writes), and returns whether the sandbox has all files of the workspace, and none that is to be stored: {is_current, is_dirty} | {refused: missing}. is_dirty, an earlier turn may have left changes.';

create function public.load_workspace_checkout(
  p_account_id uuid, p_session_id uuid, p_artist_id uuid, p_sandbox text, p_run_id text
) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce((
    select jsonb_build_object(
      'revision', coalesce(w.revision, 0),
      'is_foreign', coalesce(k.workspace_id <> o.id, false),
      'given', (
        select coalesce(jsonb_agg(to_jsonb(g) - 'session_id'), '[]')
        from public.workspace_checkout_files g
        where g.session_id = s.id and k.workspace_id = o.id and k.sandbox = p_sandbox),
      'files', (
        select coalesce(jsonb_agg(jsonb_build_object('path', f.path, 'version', f.version,
          'sha256', c.sha256, 'bytes', c.bytes, 'workspace_id', c.workspace_id,
          'content_id', c.id)), '[]')
        from public.workspace_files f
        join public.workspace_contents c on c.id = f.content_id
        where f.workspace_id = o.id),
      'conflicts', (
        select coalesce(jsonb_agg(jsonb_build_object('path', v.conflict_of, 'stored_as', f.path)
          order by v.created_at), '[]')
        from public.workspace_versions v
        join public.workspace_files f on f.id = v.file_id
        where v.run_id = p_run_id and v.conflict_of is not null and f.workspace_id = o.id))
    from public.sessions s
    cross join (select public.workspace_owner(p_account_id, p_artist_id) as id) o
    left join public.workspaces w on w.id = o.id
    left join public.workspace_checkouts k on k.session_id = s.id
    where s.id = p_session_id and s.account_id = p_account_id and o.id is not null),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.load_workspace_checkout is 'The files of a workspace, and those given to the sandbox of a session: {revision, is_foreign, given, files, conflicts of the run} | {refused: missing}. is_foreign, the sandbox has the files of another workspace.';

create function public.save_workspace_checkout(
  p_account_id uuid, p_session_id uuid, p_artist_id uuid, p_sandbox text, p_revision bigint,
  p_is_dirty boolean, p_given jsonb, p_removed text[]
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_owner constant uuid := public.workspace_owner(p_account_id, p_artist_id);
  v_known public.workspace_checkouts;
begin
  perform from public.sessions where id = p_session_id and account_id = p_account_id;
  if not found or v_owner is null then
    return jsonb_build_object('refused', 'missing');
  end if;
  select * into v_known from public.workspace_checkouts where session_id = p_session_id for update;
  if v_known.workspace_id <> v_owner or v_known.sandbox <> p_sandbox then
    delete from public.workspace_checkouts where session_id = p_session_id;
  end if;
  insert into public.workspace_checkouts as k
    (session_id, workspace_id, sandbox, revision, is_dirty)
  values (p_session_id, v_owner, p_sandbox, p_revision, p_is_dirty)
  on conflict (session_id) do update
  set revision = greatest(k.revision, p_revision), is_dirty = p_is_dirty;
  delete from public.workspace_checkout_files
  where session_id = p_session_id and path = any (p_removed);
  insert into public.workspace_checkout_files
    (session_id, path, version, sha256, bytes, modified_at)
  select p_session_id, g.path, g.version, g.sha256, g.bytes, g.modified_at
  from jsonb_to_recordset(p_given)
    as g (path text, version integer, sha256 text, bytes bigint, modified_at text)
  on conflict (session_id, path) do update
  set version = excluded.version, sha256 = excluded.sha256, bytes = excluded.bytes,
    modified_at = excluded.modified_at;
  return jsonb_build_object('saved', true);
end
$$;
comment on function public.save_workspace_checkout is 'Records the files of a workspace that the sandbox of a session has, as of its revision: {saved} | {refused: missing}. Files that are neither in p_given nor in p_removed stay as they were, unless the workspace or the sandbox is another one.';

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
  v_turn.headless := false;
  v_turn.loads := 0;
  v_turn.created_at := now();
  v_turn.artist_id := (
    select s.artist_id from public.sessions s
    where s.id = p_chat.session_id and public.may_act_for(p_chat.account_id, s.artist_id));
  return v_turn;
end
$$;
