-- The functions that know of the new tables and columns.
set check_function_bodies = off;

drop function public.update_account(uuid, text, text, numeric, boolean, text, text[]);
drop function public.update_chat(uuid, uuid, uuid, text, text, text, uuid, boolean, boolean, boolean, jsonb);
drop function public.finish_tool(uuid, text, jsonb);
drop function public.update_task(uuid, uuid, text, text, uuid, uuid, text, text, text, text[], boolean, timestamptz, timestamptz, jsonb);

create or replace function public.get_account(p_account_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'account', jsonb_build_object(
      'id', a.id, 'kind', a.kind, 'email', a.email, 'name', a.name, 'image', a.image,
      'monthly_budget_usd', a.monthly_budget_usd,
      'allow_unpriced_models', a.allow_unpriced_models, 'approvals', a.approvals,
      'network', a.network, 'auto_accept_memory', a.auto_accept_memory,
      'timezone', a.timezone, 'created_at', a.created_at),
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
  p_allow_unpriced_models boolean, p_timezone text, p_clear text[], p_approvals jsonb default null,
  p_network jsonb default null, p_auto_accept_memory boolean default null
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
    auto_accept_memory = coalesce(p_auto_accept_memory, a.auto_accept_memory),
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
  where c.id = p_chat_id and c.account_id = p_account_id
$$;
comment on function public.chat_options is 'The options of a chat''s turns: each is the chat''s own, or else its template''s, in the version that applies. A template of another account sets skills, limits and network policies only, because models, effort and an outcome can cost more than the account has asked for. Of limits the narrowest applies. network_policies has the policies of the account, the template and the chat that are not open, all of which must allow a host.';

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
  if p_path = 'MEMORY.md' then
    insert into public.memory_proposals (file_id, base_version, account_id)
    select v_file.id, v_file.version, p_account_id
    from public.workspace_contents c
    -- Of a longer text the consolidation would lose facts.
    where c.id = p_content_id and length(c.text) between 6001 and 32000;
  end if;
  return jsonb_build_object('file', public.workspace_version_row(v_file, v_version),
    'is_new', not v_exists);
end
$$;
comment on function public.change_workspace_file is 'Adds a version to a file, null for p_content_id to delete it: {file, is_new}, or {refused: missing | changed, when p_expected is not the newest version, 0 for none | content, which must be stored again | too_many | folder, when the path or a part of it is one}. The content that the file has already makes no version, whatever p_expected is. Only the newest p_max_versions stay. A MEMORY.md that is nearly full is due for a consolidation.';

create or replace function public.purge_workspace_file(p_account_id uuid, p_artist_id uuid, p_path text)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_owner constant uuid := public.workspace_owner(p_account_id, p_artist_id);
  v_id uuid;
begin
  perform from public.workspaces where id = v_owner for update;
  update public.workspace_files f
  set content_id = null, version = f.version + 1, updated_at = clock_timestamp()
  where f.workspace_id = v_owner and f.path = p_path
    and exists (select from public.workspace_versions v where v.file_id = f.id)
  returning f.id into v_id;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  update public.workspaces set revision = revision + 1 where id = v_owner;
  delete from public.workspace_versions where file_id = v_id;
  delete from public.memory_proposals where file_id = v_id;
  return jsonb_build_object('purged', true);
end
$$;
comment on function public.purge_workspace_file is 'Deletes a file with all its versions, which makes room: {purged}, or {refused: missing}.';

create or replace function public.sweep_workspaces(p_batch integer, p_days integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before constant timestamptz := now() - make_interval(days => p_days);
  v_count integer;
  v_counts integer[];
begin
  delete from public.workspace_versions where id in (
    select v.id from public.workspace_versions v
    where v.created_at < v_before and exists (
      select from public.workspace_versions n
      where n.file_id = v.file_id and n.number > v.number and n.created_at < v_before)
    limit p_batch);
  get diagnostics v_count = row_count;
  v_counts := array[v_count];
  delete from public.workspace_files where id in (
    select f.id from public.workspace_files f
    where f.content_id is null and f.updated_at < v_before
    limit p_batch);
  get diagnostics v_count = row_count;
  v_counts := v_counts || v_count;
  delete from public.workspace_contents where id in (
    select c.id from public.workspace_contents c
    where not c.is_stored and c.reserved_at < now() - interval '1 day'
    limit p_batch);
  get diagnostics v_count = row_count;
  v_counts := v_counts || v_count;
  delete from public.memory_proposals where id in (
    select p.id from public.memory_proposals p
    join public.workspace_files f on f.id = p.file_id
    where p.created_at < v_before and p.base_version < f.version
    limit p_batch);
  get diagnostics v_count = row_count;
  return (select max(n) from unnest(v_counts || v_count) n);
end
$$;
comment on function public.sweep_workspaces is 'Deletes at most p_batch versions replaced so many days ago, files deleted so long ago, contents whose upload was cut, and proposals so old for earlier versions. Returns the greatest of the four numbers.';

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
      (template_id, template_version) = (
        select v.template_id, v.version
        from public.chats c
        cross join public.applied_template_version(
          c.account_id, c.template_id, c.template_version) v
        where c.id = chat_id),
      options = v_turn.options, skills = v_turn.skills, untrusted = v_turn.untrusted,
      mcp_tools = v_turn.mcp_tools
    where id = p_turn_id returning * into v_turn;
    -- Its words will be in the messages and files of the session.
    if v_turn.untrusted <> '[]' then
      update public.sessions s set untrusted = public.with_sources(s.untrusted, v_turn.untrusted)
      where s.id = v_turn.session_id and not s.untrusted @> v_turn.untrusted;
    end if;
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
  -- A command may have met more by the API, and a budget may have been set meanwhile.
  return (
    select jsonb_build_object('untrusted', t.untrusted,
      'has_budget', a.monthly_budget_usd is not null)
    from public.turns t join public.accounts a on a.id = t.account_id
    where t.id = p_turn_id and t.account_id = p_account_id);
end
$$;
comment on function public.finish_tool is 'Records the output of a tool call, and the untrusted content [{kind, name}] that it has, null for none. Returns {untrusted, has_budget} of the turn. p_account_id is null from the version before.';

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
  where turn_id = p_turn_id and state = 'requested' and category <> 'delivery';
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

create or replace function public.unspent_budget(p_account_id uuid) returns numeric
language sql stable set search_path = '' as $$
  -- One statement, because a call leaves its reservation and enters the month at the same time.
  select a.monthly_budget_usd
    - coalesce((
      select m.cost_usd from public.usage_months m
      where m.account_id = a.id and m.month = public.usage_month()), 0)
    - coalesce((
      select sum(t.reserved_usd) from public.turns t
      where t.account_id = a.id and t.finished_at is null and t.reserved_until > now()), 0)
    - coalesce((
      select sum(r.reserved_usd) from public.task_runs r
      where r.account_id = a.id and r.lease_until > now()), 0)
    - coalesce((
      select sum(c.reserved_usd) from public.running_compactions c
      where c.account_id = a.id and c.lease_until > now()), 0)
    - coalesce((
      select sum(p.reserved_usd) from public.memory_proposals p
      where p.account_id = a.id and p.due_at > now()), 0)
  from public.accounts a where a.id = p_account_id
$$;
comment on function public.unspent_budget is 'The rest of the month''s budget after costs and reservations; null without a budget.';

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
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'id', p_firing.id,
    'accountId', p_firing.account_id,
    'taskRunId', p_firing.task_run_id,
    'isHandedOver', exists (
      select from public.task_runs r
      where r.id = p_firing.task_run_id and r.metadata ? 'triggerRunId'),
    'runId', p_firing.run_id,
    'chatId', p_firing.chat_id,
    'sessionId', p_firing.session_id,
    'event', (select e.content from public.trigger_events e where e.id = p_firing.id),
    'task', (
      select jsonb_build_object('prompt', t.prompt, 'templateId', t.template_id,
        -- Null follows an own template.
        'templateVersion', coalesce(t.template_version, (
          select 1 from public.agent_templates a
          where a.id = t.template_id and a.account_id <> t.account_id)),
        'artistId', t.artist_id, 'modelId', t.model_id, 'options', t.options,
        'seesArtist', t.artist_id is null or (public.access_verdicts(
          t.account_id, false, null, null, t.artist_id) ->> 'artist')::boolean)
      from public.scheduled_prompts t where t.id = p_firing.task_id));
end
$$;
comment on function public.firing_json is 'A firing with what its run is started with, and whether another service has been given its task; the task is null once it is deleted, and the event unless one was received.';

create or replace function public.end_firing(p_id uuid, p_status text, p_code text, p_message text)
returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_firing public.scheduled_firings;
  v_turn public.turns;
begin
  select * into v_turn from public.turns where effect_id = p_id and run_id is not null;
  if found then
    perform public.record_started_run(p_id, v_turn.run_id, v_turn.chat_id, v_turn.session_id);
    return;
  end if;
  update public.scheduled_firings set attempt_at = null
  where id = p_id and attempt_at is not null
  returning * into v_firing;
  update public.task_runs
  set status = p_status, finished_at = clock_timestamp(), updated_at = clock_timestamp(),
    error = jsonb_build_object('name', p_code, 'message', p_message, 'stackTrace', '')
  where id = v_firing.task_run_id and status = 'QUEUED';
  update public.trigger_events set content = null where id = p_id and content is not null;
end
$$;
comment on function public.end_firing is 'Gives up a waiting firing; without effect on one that has been settled. One whose run has started is settled.';

create or replace function public.record_started_run(
  p_id uuid, p_run_id text, p_chat_id uuid, p_session_id uuid
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_firing public.scheduled_firings;
begin
  update public.scheduled_firings
  set attempt_at = null, run_id = p_run_id, chat_id = p_chat_id, session_id = p_session_id
  where id = p_id returning * into v_firing;
  -- A run that has ended already has ended the task run, too.
  update public.task_runs
  set metadata = metadata || jsonb_build_object(
      'runId', p_run_id, 'chatId', p_chat_id, 'sessionId', p_session_id),
    status = case when output is null then 'EXECUTING' else status end,
    error = case when output is not null then error end,
    finished_at = case when output is not null then finished_at end,
    started_at = coalesce(started_at, clock_timestamp()),
    updated_at = clock_timestamp()
  where id = v_firing.task_run_id;
  -- The run has stored it.
  update public.trigger_events set content = null where id = p_id and content is not null;
end
$$;
comment on function public.record_started_run is 'Records the run that a firing has started, even if it was given up. It is safe to repeat.';

create or replace function public.queue_deliveries() returns trigger
language plpgsql set search_path = '' as $$
declare
  v_reason constant text := case
    when new.status = 'cancelled' then 'The run was cancelled'
    when new.status <> 'completed' then 'The run failed'
    when public.answer_of_turn(new) is null then 'The answer is empty'
    else public.ask_delivery(new) end;
begin
  if v_reason is null then
    perform public.send_results(new);
    return null;
  end if;
  update public.turns set deliver = deliver
    || jsonb_build_object('state', 'withheld', 'reason', v_reason)
  where id = new.id;
  if new.status <> 'cancelled' then
    perform public.queue_delivery_notice(new, v_reason);
  end if;
  return null;
end
$$;
comment on function public.queue_deliveries is 'Queues the mails of a turn that has completed, or withholds its result and has the owner notified.';
