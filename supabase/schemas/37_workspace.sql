-- Workspaces: a versioned file tree of each account and of each artist, which their sessions share.

create table public.workspaces (
  id uuid primary key references public.accounts (id) on delete cascade,
  bytes bigint not null default 0 check (bytes >= 0),
  revision bigint not null default 0
);
comment on table public.workspaces is 'The workspace of the account or the artist with this id. It is created with its first file, and its row serializes changes.';
comment on column public.workspaces.bytes is 'Of all contents, with earlier versions. Kept by triggers on workspace_contents.';
comment on column public.workspaces.revision is 'Counts the changes, so a session knows whether there are files that its sandbox lacks.';

create table public.workspace_contents (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  bytes bigint not null check (bytes >= 0),
  is_stored boolean not null default false,
  text text,
  reserved_at timestamptz not null default clock_timestamp(),
  unique (workspace_id, sha256)
);

create index workspace_contents_unstored on public.workspace_contents (reserved_at) where not is_stored;
comment on table public.workspace_contents is 'A content that versions share, in the storage under its id, or the room that is reserved for it while it is stored. The id is never used for another content, so a late removal harms none.';
comment on column public.workspace_contents.text is 'The start of a text file, for the search; null for other files.';

-- The contents of a deleted workspace are deleted before its files, so references are checked at the end.
create table public.workspace_files (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  path text collate "C" not null,
  version integer not null default 0,
  content_id uuid references public.workspace_contents (id) deferrable initially deferred,
  updated_at timestamptz not null,
  unique (workspace_id, path)
);

create index workspace_files_newest on public.workspace_files (workspace_id, updated_at desc, id desc)
  where content_id is not null;
create index workspace_files_content on public.workspace_files (content_id) where content_id is not null;
create index workspace_files_deleted on public.workspace_files (updated_at) where content_id is null;
comment on table public.workspace_files is 'The files of workspaces as in their newest versions.';
comment on column public.workspace_files.content_id is 'Null for a deleted file, whose row stays to keep its versions and to continue their numbers.';

create table public.workspace_versions (
  id uuid primary key default gen_random_uuid(),
  file_id uuid not null references public.workspace_files (id) on delete cascade,
  number integer not null,
  content_id uuid references public.workspace_contents (id) deferrable initially deferred,
  account_id uuid not null,
  run_id text,
  conflict_of text,
  created_at timestamptz not null default clock_timestamp(),
  untrusted boolean not null default false,
  unique (file_id, number)
);

create index workspace_versions_content on public.workspace_versions (content_id)
  where content_id is not null;
create index workspace_versions_age on public.workspace_versions (created_at);
create index workspace_versions_run on public.workspace_versions (run_id) where conflict_of is not null;
comment on table public.workspace_versions is 'The versions of files, which never change: each is a content or a deletion.';
comment on column public.workspace_versions.account_id is 'The account that has written it, or whose run has. No foreign key: the version outlives its author.';
comment on column public.workspace_versions.run_id is 'The run that has written it; null for a request of the account.';
comment on column public.workspace_versions.untrusted is 'Whether the run that has written it had met untrusted content, or the version whose content it has.';
comment on column public.workspace_versions.conflict_of is 'The path at which the run has met a version of another; null for an ordinary version.';

create function public.count_workspace_content() returns trigger
language plpgsql set search_path = '' as $$
begin
  if tg_op = 'INSERT' then
    update public.workspaces set bytes = bytes + new.bytes where id = new.workspace_id;
  else
    update public.workspaces set bytes = greatest(0, bytes - old.bytes) where id = old.workspace_id;
    insert into public.removals (kind, owner_id, name) values ('content', old.workspace_id, old.id)
    on conflict do nothing;
  end if;
  return null;
end
$$;
comment on function public.count_workspace_content is 'Keeps workspaces.bytes, and turns a deleted content into a removal.';
create trigger count_new_workspace_content after insert on public.workspace_contents
  for each row execute function public.count_workspace_content();
create trigger count_gone_workspace_content after delete on public.workspace_contents
  for each row execute function public.count_workspace_content();

create function public.drop_unused_workspace_content() returns trigger
language plpgsql set search_path = '' as $$
begin
  delete from public.workspace_contents c
  where c.id = old.content_id
    and not exists (select from public.workspace_versions v where v.content_id = c.id);
  return null;
end
$$;
comment on function public.drop_unused_workspace_content is 'Deletes the content of a deleted version unless another version has it.';
create trigger drop_unused_workspace_content after delete on public.workspace_versions
  for each row when (old.content_id is not null)
  execute function public.drop_unused_workspace_content();

-- PostgreSQL would send the client a notice about each word that is too long.
create function public.search_of_text(p_text text) returns tsvector
language sql immutable set search_path = '' set client_min_messages = 'warning' as $$
  select to_tsvector('simple'::regconfig, coalesce(p_text, ''))
$$;
comment on function public.search_of_text is 'The words of a text file for the search. The index workspace_contents_words stores it.';
create index workspace_contents_words on public.workspace_contents
  using gin (public.search_of_text(text)) where text is not null;

create function public.workspace_owner(p_account_id uuid, p_artist_id uuid) returns uuid
language sql stable set search_path = '' as $$
  select a.id from public.accounts a
  where a.id = coalesce(p_artist_id, p_account_id)
    and (p_artist_id is null
      or (a.kind = 'artist' and public.may_act_for(p_account_id, p_artist_id)))
$$;
comment on function public.workspace_owner is 'The id of the workspace of an artist that the account may act for, or of the account itself without an artist; null for any other artist.';

create function public.seen_workspace(p_account_id uuid, p_artist_id uuid) returns uuid
language sql stable set search_path = '' as $$
  select case when p_artist_id is null then public.workspace_owner(p_account_id, null) else (
    select a.id from public.accounts a
    where a.id = p_artist_id and a.kind = 'artist' and public.may_see(p_account_id, p_artist_id)) end
$$;
comment on function public.seen_workspace is 'As workspace_owner, of an artist that the account may see.';

create function public.workspace_version_row(
  p_file public.workspace_files, p_version public.workspace_versions
) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object('id', p_version.id, 'path', p_file.path, 'version', p_version.number,
    'size', c.bytes, 'sha256', c.sha256, 'deleted', p_version.content_id is null,
    'conflict_of', p_version.conflict_of,
    'author', jsonb_build_object('account_id', p_version.account_id, 'run_id', p_version.run_id),
    'created_at', p_version.created_at)
  from (select) one
  left join public.workspace_contents c on c.id = p_version.content_id
$$;
comment on function public.workspace_version_row is 'The columns of a version that its readers see.';

create function public.list_workspace_files(
  p_account_id uuid, p_artist_id uuid, p_prefix text, p_limit integer, p_after_at timestamptz,
  p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_owner constant uuid := public.seen_workspace(p_account_id, p_artist_id);
begin
  return to_jsonb(array(
    -- In the order of the files, of which a new version moves to the front.
    select public.workspace_version_row(f, v) || jsonb_build_object('id', f.id)
    from public.workspace_files f
    join public.workspace_versions v on v.file_id = f.id and v.number = f.version
    where f.workspace_id = v_owner and f.content_id is not null
      and (f.updated_at, f.id) < (p_after_at, p_after_id)
      and (p_prefix is null or starts_with(f.path, p_prefix))
    order by f.updated_at desc, f.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_workspace_files is 'One page of the files of a workspace, the last changed first, with one more row if another page follows.';

create function public.find_workspace_content(
  p_account_id uuid, p_artist_id uuid, p_path text, p_version integer
) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce((
    select jsonb_build_object('content', jsonb_build_object('workspace_id', c.workspace_id,
      'id', c.id, 'bytes', c.bytes, 'is_text', c.text is not null))
    from public.workspace_files f
    join public.workspace_versions v on v.file_id = f.id and v.number = coalesce(p_version, f.version)
    join public.workspace_contents c on c.id = v.content_id
    where f.workspace_id = public.seen_workspace(p_account_id, p_artist_id) and f.path = p_path),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.find_workspace_content is 'Where the storage has a version of a file, null for the newest one: {content: {workspace_id, id, bytes, is_text}}, or {refused: missing}, also for a deletion.';

create function public.list_workspace_versions(
  p_account_id uuid, p_artist_id uuid, p_path text, p_limit integer, p_after_at timestamptz,
  p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_rows jsonb[];
begin
  v_rows := array(
    select public.workspace_version_row(f, v)
    from public.workspace_files f
    join public.workspace_versions v on v.file_id = f.id
    where f.workspace_id = public.seen_workspace(p_account_id, p_artist_id) and f.path = p_path
      and (v.created_at, v.id) < (p_after_at, p_after_id)
    order by v.created_at desc, v.id desc
    limit p_limit + 1);
  if cardinality(v_rows) = 0 and p_after_at > now() then
    return jsonb_build_object('refused', 'missing');
  end if;
  return to_jsonb(v_rows);
end
$$;
comment on function public.list_workspace_versions is 'One page of the versions of a file, newest first, with one more row if another page follows; or {refused: missing}.';

create function public.reserve_workspace_content(
  p_account_id uuid, p_artist_id uuid, p_sha256 text, p_bytes bigint, p_limit_bytes bigint
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_owner constant uuid := public.workspace_owner(p_account_id, p_artist_id);
  v_used bigint;
  v_content public.workspace_contents;
begin
  if v_owner is null then
    return jsonb_build_object('refused', 'missing');
  end if;
  insert into public.workspaces (id) values (v_owner) on conflict (id) do nothing;
  -- One change of a workspace at a time: two that race cannot both take the last room.
  select bytes into v_used from public.workspaces where id = v_owner for update;
  update public.workspace_contents set reserved_at = clock_timestamp()
  where workspace_id = v_owner and sha256 = p_sha256
  returning * into v_content;
  if not found then
    if v_used + p_bytes > p_limit_bytes then
      return jsonb_build_object('refused', 'full');
    end if;
    insert into public.workspace_contents (workspace_id, sha256, bytes)
    values (v_owner, p_sha256, p_bytes)
    returning * into v_content;
  end if;
  return jsonb_build_object('content', jsonb_build_object(
    'workspace_id', v_owner, 'id', v_content.id, 'is_stored', v_content.is_stored));
end
$$;
comment on function public.reserve_workspace_content is 'Reserves the room of a content before it is stored: {content: {workspace_id, id, is_stored}}, or {refused: missing | full}. The content that a workspace has already takes no more room.';

create function public.change_workspace_file(
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

create function public.restore_workspace_file(
  p_account_id uuid, p_artist_id uuid, p_path text, p_version integer, p_run_id text,
  p_max_files integer, p_max_versions integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_content_id uuid;
begin
  select v.content_id into v_content_id
  from public.workspace_files f
  join public.workspace_versions v on v.file_id = f.id and v.number = p_version
  where f.workspace_id = public.workspace_owner(p_account_id, p_artist_id) and f.path = p_path;
  if v_content_id is null then
    return jsonb_build_object('refused', 'missing');
  end if;
  return public.change_workspace_file(p_account_id, p_artist_id, p_path, v_content_id, null,
    p_run_id, null, null, p_max_files, p_max_versions);
end
$$;
comment on function public.restore_workspace_file is 'Makes an earlier version of a file, also of a deleted one, its newest: as change_workspace_file.';

create function public.purge_workspace_file(p_account_id uuid, p_artist_id uuid, p_path text)
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

create function public.words_of_workspace(p_workspace_id uuid) returns text[]
language sql stable set search_path = '' as $$
  select array(
    select found.word from (
      select unnest(tsvector_to_array(public.search_of_text(newest.text))) as word
      from (
        select c.text, sum(least(c.bytes, 100000)) over (order by f.updated_at desc, f.id
          rows unbounded preceding) as bytes
        from (
          select * from public.workspace_files
          where workspace_id = p_workspace_id and content_id is not null
          order by updated_at desc, id desc limit 1000
        ) f
        join public.workspace_contents c on c.id = f.content_id
        where c.text is not null
      ) newest
      where newest.bytes <= 4000000
    ) found
    where length(found.word) between 2 and 40
    group by found.word
    order by count(*) desc, found.word
    limit 20000)
$$;
comment on function public.words_of_workspace is 'The most frequent words of a workspace''s newest files, at most 20,000 of 1,000 files of at most 4 MB together, for corrected_text.';

create function public.search_workspace(
  p_account_id uuid, p_artist_id uuid, p_text text, p_limit integer
) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  v_workspace_id constant uuid := public.seen_workspace(p_account_id, p_artist_id);
  v_found jsonb;
  v_text text;
begin
  select coalesce(jsonb_agg(jsonb_build_object('path', found.path, 'version', found.version,
    'snippet', ts_headline('simple'::regconfig, found.text, public.search_query(p_text),
      'StartSel="", StopSel="", MaxWords=24, MinWords=8'))), '[]') into v_found
  from (
    select f.path, f.version, c.text
    from public.workspace_files f
    join public.workspace_contents c on c.id = f.content_id
    where f.workspace_id = v_workspace_id
      and c.text is not null and public.search_of_text(c.text) @@ public.search_query(p_text)
    order by ts_rank(public.search_of_text(c.text), public.search_query(p_text)) desc, f.path
    limit p_limit
  ) found;
  if v_found = '[]' and length(p_text) between 4 and 100 then
    v_text := public.corrected_text(p_text, public.words_of_workspace(v_workspace_id));
  end if;
  return case when v_text is null then v_found
    else public.search_workspace(p_account_id, p_artist_id, v_text, p_limit) end;
end
$$;
comment on function public.search_workspace is 'The text files of a workspace that have all words of p_text, or of its correction if none has, the best first: [{path, version, snippet}].';

create function public.sweep_workspaces(p_batch integer, p_days integer) returns integer
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

-- Checkouts ---------------------------------------------------------------------------------------

create table public.workspace_checkouts (
  session_id uuid primary key references public.sessions (id) on delete cascade,
  workspace_id uuid not null,
  sandbox text not null,
  revision bigint not null default 0,
  is_dirty boolean not null default false
);
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
comment on function public.save_workspace_checkout is 'Records the files of a workspace that the sandbox of a session has, as in its revision: {saved} | {refused: missing}. Files that are neither in p_given nor in p_removed stay as they were, unless the workspace or the sandbox is another one.';

-- Consolidation of the memory ---------------------------------------------------------------------

create table public.memory_proposals (
  id uuid primary key default gen_random_uuid(),
  file_id uuid not null references public.workspace_files (id) on delete cascade,
  base_version integer not null,
  account_id uuid not null references public.accounts (id) on delete cascade,
  state text not null default 'due'
    check (state in ('due', 'proposed', 'accepted', 'rejected', 'failed')),
  text text,
  diff text,
  attempts integer not null default 0,
  lease_id uuid,
  due_at timestamptz default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  unique (file_id, base_version)
);

create index memory_proposals_due on public.memory_proposals (due_at) where due_at is not null;
create index memory_proposals_account on public.memory_proposals (account_id);
comment on table public.memory_proposals is 'Shorter texts for versions of MEMORY.md that are nearly full: one per version, so that two servers do not pay for two.';
comment on column public.memory_proposals.account_id is 'The account that has written the version. It pays for the proposal, and its setting decides whether a person must accept it.';
comment on column public.memory_proposals.state is 'due until a model has written the text, and failed if none will. Only the newest version can be replaced, so a text for an earlier one is stale.';
comment on column public.memory_proposals.lease_id is 'Identifies the attempt that has the lease, which is one of model_jobs.';
comment on column public.memory_proposals.due_at is 'When a process may take it, to write the text or to accept it; during an attempt, the end of the lease. Null when nothing is left to do.';

create function public.memory_proposal_row(p_proposal public.memory_proposals) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object('id', p_proposal.id,
    'artist_id', (select a.id from public.accounts a where a.id = f.workspace_id and a.kind = 'artist'),
    'base_version', p_proposal.base_version, 'text', p_proposal.text, 'diff', p_proposal.diff,
    'state', case
      when p_proposal.state = 'proposed'
        and (f.version <> p_proposal.base_version or f.content_id is null) then 'stale'
      else p_proposal.state end,
    'created_at', p_proposal.created_at)
  from public.workspace_files f where f.id = p_proposal.file_id
$$;
comment on function public.memory_proposal_row is 'The columns of a proposal that its readers see.';

create function public.list_memory_proposals(
  p_account_id uuid, p_artist_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return to_jsonb(array(
    select public.memory_proposal_row(p)
    from public.workspace_files f
    join public.memory_proposals p on p.file_id = f.id
    where f.workspace_id = public.seen_workspace(p_account_id, p_artist_id)
      and p.state in ('proposed', 'accepted', 'rejected')
      and (p.created_at, p.id) < (p_after_at, p_after_id)
    order by p.created_at desc, p.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_memory_proposals is 'One page of the proposals for the memory of a workspace, newest first, with one more row if another page follows.';

create function public.find_memory_proposal(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce((
    select jsonb_build_object('proposal', public.memory_proposal_row(p),
      'workspace_id', f.workspace_id)
    from public.memory_proposals p
    join public.workspace_files f on f.id = p.file_id
    where p.id = p_id and p.state in ('proposed', 'accepted', 'rejected')
      and f.workspace_id
        = public.workspace_owner(p_account_id, nullif(f.workspace_id, p_account_id))),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.find_memory_proposal is 'A proposal for the memory of the account, or of an artist that it may act for: {proposal, workspace_id} | {refused: missing}.';

create function public.accept_memory_proposal(
  p_account_id uuid, p_id uuid, p_content_id uuid, p_max_versions integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_owner constant uuid :=
    (public.find_memory_proposal(p_account_id, p_id) ->> 'workspace_id')::uuid;
  v_proposal public.memory_proposals;
  v_changed jsonb;
begin
  -- In the order of change_workspace_file.
  perform from public.workspaces where id = v_owner for update;
  select * into v_proposal from public.memory_proposals
  where id = p_id and v_owner is not null for update;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  if v_proposal.state = 'rejected' then
    return jsonb_build_object('refused', 'rejected');
  end if;
  if v_proposal.state = 'proposed' then
    v_changed := public.change_workspace_file(p_account_id, nullif(v_owner, p_account_id),
      'MEMORY.md', p_content_id, v_proposal.text, null, v_proposal.base_version, null, 0,
      p_max_versions);
    if v_changed ? 'refused' then
      return v_changed;
    end if;
    -- A shorter text of untrusted content is untrusted, too.
    update public.workspace_versions v set untrusted = true
    where v.file_id = v_proposal.file_id and v.number > v_proposal.base_version
      and exists (
        select from public.workspace_versions b
        where b.file_id = v.file_id and b.number = v_proposal.base_version and b.untrusted);
    -- A text that is still long is not condensed again.
    delete from public.memory_proposals
    where file_id = v_proposal.file_id and base_version > v_proposal.base_version;
    update public.memory_proposals set state = 'accepted', due_at = null where id = p_id
    returning * into v_proposal;
  end if;
  return jsonb_build_object('proposal', public.memory_proposal_row(v_proposal));
end
$$;
comment on function public.accept_memory_proposal is 'Makes the text of a proposal, which the storage has as p_content_id, the newest version of MEMORY.md, once: {proposal} | {refused: missing | rejected | changed, when MEMORY.md has another version | content, as in change_workspace_file}.';

create function public.reject_memory_proposal(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_proposal public.memory_proposals;
begin
  if public.find_memory_proposal(p_account_id, p_id) ? 'refused' then
    return jsonb_build_object('refused', 'missing');
  end if;
  update public.memory_proposals set state = 'rejected', due_at = null
  where id = p_id and state in ('proposed', 'rejected')
  returning * into v_proposal;
  if not found then
    return jsonb_build_object('refused', 'accepted');
  end if;
  return jsonb_build_object('proposal', public.memory_proposal_row(v_proposal));
end
$$;
comment on function public.reject_memory_proposal is 'Rejects a proposal: {proposal} | {refused: missing | accepted}.';

create function public.claim_memory_proposals(
  p_limit integer, p_lease_seconds integer, p_max_attempts integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_proposal public.memory_proposals;
  v_base record;
  v_jobs jsonb := '[]';
begin
  -- Processes have died with these.
  delete from public.model_jobs where chat_id is null and lease_until < clock_timestamp();
  for v_proposal in
    select * from public.memory_proposals
    where due_at <= clock_timestamp()
    order by due_at limit p_limit for update skip locked
  loop
    select f.workspace_id, c.text into v_base
    from public.workspace_files f
    join public.workspace_contents c on c.id = f.content_id
    join public.accounts a on a.id = v_proposal.account_id
    where f.id = v_proposal.file_id and f.version = v_proposal.base_version
      and f.workspace_id = public.workspace_owner(a.id, nullif(f.workspace_id, a.id))
      and (v_proposal.state = 'due' or a.auto_accept_memory);
    if not found or v_proposal.attempts >= p_max_attempts then
      update public.memory_proposals
      set state = case state when 'due' then 'failed' else state end, due_at = null
      where id = v_proposal.id;
    elsif v_proposal.state = 'due' and public.is_budget_reached(v_proposal.account_id) then
      update public.memory_proposals set due_at = clock_timestamp() + interval '1 hour'
      where id = v_proposal.id;
    else
      update public.memory_proposals
      set attempts = attempts + 1, lease_id = gen_random_uuid(),
        due_at = clock_timestamp() + make_interval(secs => p_lease_seconds)
      where id = v_proposal.id
      returning * into v_proposal;
      insert into public.model_jobs (id, account_id, lease_until)
      values (v_proposal.lease_id, v_proposal.account_id, v_proposal.due_at);
      v_jobs := v_jobs || jsonb_build_object('id', v_proposal.id, 'leaseId', v_proposal.lease_id,
        'accountId', v_proposal.account_id,
        'artistId', nullif(v_base.workspace_id, v_proposal.account_id),
        'attempt', v_proposal.attempts, 'base', v_base.text, 'text', v_proposal.text);
    end if;
  end loop;
  return v_jobs;
end
$$;
comment on function public.claim_memory_proposals is 'Leases proposals that are due: [{id, leaseId, accountId, artistId, attempt, base, text}]. base is the memory, and text the proposal that is to be accepted, null if it is to be written. A proposal whose version is replaced, whose account may no longer act for the artist, or that has failed p_max_attempts times, is no longer due; one of an account that has spent its budget is due in an hour.';

create function public.end_memory_proposal(
  p_account_id uuid, p_id uuid, p_lease_id uuid, p_artist_id uuid, p_text text, p_diff text,
  p_may_accept boolean, p_retry_seconds integer, p_usage jsonb
) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform from public.accounts where id = p_account_id for key share;
  if not found then
    return;
  end if;
  -- Usage counts, even if the lease is lost.
  perform public.record_usage(p_account_id, p_id::text, 'chat', null, p_artist_id, p_usage);
  delete from public.model_jobs where id = p_lease_id and account_id = p_account_id;
  update public.memory_proposals p
  set text = p_text, diff = p_diff,
    state = case
      when p_text is not null then 'proposed'
      when p_retry_seconds is null then 'failed'
      else p.state end,
    attempts = case when p_text is null then p.attempts else 0 end,
    due_at = case
      when p_text is null then clock_timestamp() + make_interval(secs => p_retry_seconds)
      when p_may_accept and (
        select a.auto_accept_memory from public.accounts a where a.id = p_account_id)
      then clock_timestamp() end
  where p.id = p_id and p.account_id = p_account_id and p.lease_id = p_lease_id
    and p.state = 'due';
end
$$;
comment on function public.end_memory_proposal is 'Ends the attempt to write a proposal, and records what its model calls have used. Without a text it is due again after p_retry_seconds, null for never. With p_may_accept it is accepted next, if the account accepts proposals automatically.';
