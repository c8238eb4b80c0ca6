-- Skills of accounts and organizations, and which of them turns have loaded.
alter table public.turns add column skills jsonb;
comment on column public.turns.skills is 'The skills that the turn could use when it started, as of skills_of_turn.';

create table public.turn_skills (
  turn_id uuid not null references public.turns (id) on delete cascade,
  name text not null,
  source text not null check (source in ('sandbox', 'account', 'organization', 'built-in')),
  version integer,
  sha256 text,
  loaded_at timestamptz not null default clock_timestamp(),
  primary key (turn_id, name)
);
alter table public.turn_skills enable row level security;
comment on table public.turn_skills is 'The skills that turns have loaded.';
comment on column public.turn_skills.version is 'Null for a skill without versions: a built-in one, or one of the sandbox.';

create table public.skills (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  name text not null,
  version integer not null check (version > 0),
  created_at timestamptz not null default now(),
  unique (account_id, name)
);
alter table public.skills enable row level security;
comment on table public.skills is 'The skills of accounts, each with the number of its current version. The account may be an organization, whose members use its skills.';

create table public.skill_versions (
  skill_id uuid not null references public.skills (id) on delete cascade,
  version integer not null,
  description text not null,
  files jsonb not null,
  bytes integer not null,
  sha256 text not null,
  origin jsonb,
  author_id uuid references public.accounts (id) on delete set null,
  created_at timestamptz not null default now(),
  primary key (skill_id, version)
);

create index skill_versions_author on public.skill_versions (author_id) where author_id is not null;
alter table public.skill_versions enable row level security;
comment on table public.skill_versions is 'The versions of skills, which never change. The newest 100 of each are kept.';
comment on column public.skill_versions.files is '[{path, size, text}], or base64 in place of text for bytes that are none.';
comment on column public.skill_versions.sha256 is 'Of all paths and contents, in hex.';
comment on column public.skill_versions.origin is 'Where it was imported from: {url, ref, path, commit}; null for an upload.';
comment on column public.skill_versions.author_id is 'The account that wrote it; null if it was deleted.';

create table public.disabled_skills (
  account_id uuid not null references public.accounts (id) on delete cascade,
  name text not null,
  primary key (account_id, name)
);
alter table public.disabled_skills enable row level security;
comment on table public.disabled_skills is 'Names of skills that the agents of an account do not use, whatever their source. Those of an organization apply to its own skills.';

create type public.known_skill as (
  id uuid, name text, version integer, organization_id uuid, enabled boolean, rank bigint);
comment on type public.known_skill is 'A skill that an account can use, with the organization that has it, if any, and the rank of its owner.';

-- Functions that a turn calls at its start are in plpgsql, which keeps their plans.
create function public.known_skills(p_account_id uuid) returns setof public.known_skill
language plpgsql stable set search_path = '' as $$
begin
  return query
    select s.id, s.name, s.version, owners.organization_id,
      not exists (
        select from public.disabled_skills d
        where d.account_id in (p_account_id, s.account_id) and d.name = s.name),
      owners.rank
    from (
      select p_account_id as owner_id, null::uuid as organization_id, 0::bigint as rank
      union all
      select m.organization_id, m.organization_id, row_number() over (order by o.created_at, o.id)
      from public.organization_accounts m
      join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
      where m.account_id = p_account_id) owners
    join public.skills s on s.account_id = owners.owner_id;
end
$$;
comment on function public.known_skills is 'The skills of an account and of its organizations, with the rank of their owner: 0 for the account itself, then its organizations by age.';

create function public.skill_row(p_id uuid, p_organization_id uuid, p_enabled boolean) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'name', s.name, 'description', v.description,
    'source', case when p_organization_id is null then 'account' else 'organization' end,
    'organization_id', p_organization_id, 'version', v.version, 'enabled', p_enabled,
    'sha256', v.sha256, 'origin', v.origin, 'updated_at', v.created_at)
  from public.skills s
  join public.skill_versions v on v.skill_id = s.id and v.version = s.version
  where s.id = p_id
$$;
comment on function public.skill_row is 'A skill as those see it who can use it, without its files.';

create function public.list_skills(p_account_id uuid, p_organization_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'skills', (
      select coalesce(jsonb_agg(
        public.skill_row(k.id, k.organization_id, k.enabled) order by k.name, k.rank), '[]')
      from public.known_skills(p_account_id) k
      where p_organization_id is null or k.organization_id = p_organization_id),
    'disabled', (
      select coalesce(jsonb_agg(d.name), '[]')
      from public.disabled_skills d where d.account_id = p_account_id))
$$;
comment on function public.list_skills is 'The skills that an account can use, its own before those of its organizations, or those of one organization: {skills, disabled}. The last are the names that the account has disabled.';

create function public.skill_owner(p_account_id uuid, p_organization_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- Locked: changes of one owner's skills come one after another.
  perform from public.accounts
  where id = coalesce(p_organization_id, p_account_id) for no key update;
  if p_organization_id is null then
    return null;
  end if;
  return public.organization_refusal(public.organization_role(p_account_id, p_organization_id));
end
$$;
comment on function public.skill_owner is 'Locks the owner of skills. Returns why the account may not change them, {refused: missing | not_owner}, or null.';

create function public.find_skill(p_account_id uuid, p_organization_id uuid, p_name text)
returns public.skills
language sql stable set search_path = '' as $$
  select s from public.known_skills(p_account_id) k
  join public.skills s on s.id = k.id
  where k.name = p_name
    and (k.organization_id = p_organization_id or (p_organization_id is null and k.organization_id is null))
$$;
comment on function public.find_skill is 'A skill of the account, or of one of its organizations; null for none.';

create function public.get_skill(
  p_account_id uuid, p_organization_id uuid, p_name text, p_version integer
) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce((
    select jsonb_build_object(
      'skill', public.skill_row(k.id, k.organization_id, k.enabled)
        || jsonb_build_object('version', v.version, 'description', v.description,
          'sha256', v.sha256, 'origin', v.origin, 'updated_at', v.created_at),
      'files', v.files)
    from public.known_skills(p_account_id) k
    join public.skill_versions v on v.skill_id = k.id and v.version = coalesce(p_version, k.version)
    where k.name = p_name and (p_organization_id is null or k.organization_id = p_organization_id)
    order by k.rank
    limit 1), jsonb_build_object('refused', 'missing'))
$$;
comment on function public.get_skill is 'A version of the first skill of the name, the current one when p_version is null: {skill, files}, or {refused: missing}.';

create function public.put_skill(
  p_account_id uuid, p_organization_id uuid, p_name text, p_description text, p_files jsonb,
  p_bytes integer, p_sha256 text, p_origin jsonb, p_max integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_owner constant uuid := coalesce(p_organization_id, p_account_id);
  v_refusal constant jsonb := public.skill_owner(p_account_id, p_organization_id);
  v_skill public.skills;
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  select * into v_skill from public.skills where account_id = v_owner and name = p_name;
  if not found then
    if p_max <= (select count(*) from public.skills where account_id = v_owner) then
      return jsonb_build_object('refused', 'full');
    end if;
    insert into public.skills (account_id, name, version) values (v_owner, p_name, 1)
    returning * into v_skill;
  elsif exists (
    select from public.skill_versions v
    where v.skill_id = v_skill.id and v.version = v_skill.version and v.sha256 = p_sha256)
  then
    return jsonb_build_object('created', false)
      || public.get_skill(p_account_id, p_organization_id, p_name, null);
  else
    update public.skills set version = version + 1 where id = v_skill.id returning * into v_skill;
    delete from public.skill_versions
    where skill_id = v_skill.id and version <= v_skill.version - 100;
  end if;
  insert into public.skill_versions
    (skill_id, version, description, files, bytes, sha256, origin, author_id)
  values (v_skill.id, v_skill.version, p_description, p_files, p_bytes, p_sha256, p_origin,
    p_account_id);
  return jsonb_build_object('created', v_skill.version = 1)
    || public.get_skill(p_account_id, p_organization_id, p_name, null);
end
$$;
comment on function public.put_skill is 'Creates a skill, or its next version unless the current one has the same content: {skill, files, created}, or {refused: missing | not_owner | full}.';

create function public.delete_skill(p_account_id uuid, p_organization_id uuid, p_name text)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.skill_owner(p_account_id, p_organization_id);
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  delete from public.skills
  where account_id = coalesce(p_organization_id, p_account_id) and name = p_name;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  return jsonb_build_object('done', true);
end
$$;
comment on function public.delete_skill is 'Deletes a skill with its versions: {done: true}, or {refused: missing | not_owner}.';

create function public.enable_skill(
  p_account_id uuid, p_organization_id uuid, p_name text, p_enabled boolean, p_is_built_in boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_owner constant uuid := coalesce(p_organization_id, p_account_id);
  v_refusal constant jsonb := public.skill_owner(p_account_id, p_organization_id);
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  if not (p_is_built_in and p_organization_id is null) and not exists (
    select from public.known_skills(p_account_id) k
    where k.name = p_name and (p_organization_id is null or k.organization_id = p_organization_id))
  then
    return jsonb_build_object('refused', 'missing');
  end if;
  if p_enabled then
    delete from public.disabled_skills where account_id = v_owner and name = p_name;
  else
    insert into public.disabled_skills (account_id, name) values (v_owner, p_name)
    on conflict do nothing;
  end if;
  return jsonb_build_object('done', true);
end
$$;
comment on function public.enable_skill is 'Enables or disables a name for the agents of an account, or the skill of an organization for its members: {done: true}, or {refused: missing | not_owner}.';

create function public.list_skill_versions(
  p_account_id uuid, p_organization_id uuid, p_name text
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_skill public.skills := public.find_skill(p_account_id, p_organization_id, p_name);
begin
  if v_skill.id is null then
    return jsonb_build_object('refused', 'missing');
  end if;
  return jsonb_build_object('versions', (
    select jsonb_agg(jsonb_build_object(
      'version', v.version, 'description', v.description, 'sha256', v.sha256, 'bytes', v.bytes,
      'origin', v.origin, 'author_id', v.author_id, 'created_at', v.created_at)
      order by v.version desc)
    from public.skill_versions v where v.skill_id = v_skill.id));
end
$$;
comment on function public.list_skill_versions is 'The versions of a skill, newest first: {versions}, or {refused: missing}.';

create function public.restore_skill(
  p_account_id uuid, p_organization_id uuid, p_name text, p_version integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_skill public.skills;
  v_version public.skill_versions;
begin
  -- A skill that the account cannot see is missing, whatever its role.
  v_skill := public.find_skill(p_account_id, p_organization_id, p_name);
  select * into v_version from public.skill_versions
  where skill_id = v_skill.id and version = p_version;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  return public.put_skill(p_account_id, p_organization_id, p_name, v_version.description,
    v_version.files, v_version.bytes, v_version.sha256, v_version.origin, 1);
end
$$;
comment on function public.restore_skill is 'Makes the content of an earlier version the next version: {skill, files, created}, or {refused: missing | not_owner}.';

create function public.skills_of_turn(p_account_id uuid, p_loaded jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    with usable as (
      select distinct on (k.name) k.name, k.organization_id, v.version, v.description, v.sha256, v.files
      from public.known_skills(p_account_id) k
      join public.skill_versions v on v.skill_id = k.id and v.version = k.version
      where k.enabled
      order by k.name, k.rank)
    select jsonb_strip_nulls(jsonb_build_object(
      'listed', (
        -- Bounded, because the prompt has no room for more.
        select jsonb_agg(jsonb_build_object('name', l.name, 'description', l.description) order by l.name)
        from (
          select u.name, u.description,
            sum(length(u.name) + length(u.description)) over (order by u.name) as chars
          from usable u) l
        where l.chars <= 8000),
      'disabled', (
        select jsonb_agg(d.name order by d.name)
        from public.disabled_skills d where d.account_id = p_account_id),
      'loaded', (
        select jsonb_agg(jsonb_build_object('name', u.name,
          'source', case when u.organization_id is null then 'account' else 'organization' end,
          'version', u.version, 'sha256', u.sha256,
          'text', (
            select f ->> 'text' from jsonb_array_elements(u.files) f where f ->> 'path' = 'SKILL.md'))
          order by u.name)
        from usable u where p_loaded ? u.name))));
end
$$;
comment on function public.skills_of_turn is 'What the instructions of a turn say about skills: {listed: [{name, description}], disabled: [name], loaded: [{name, source, version, sha256, text}]}, each absent without any. p_loaded has the names of the skills to load at the start.';

create function public.record_turn_skill(p_account_id uuid, p_turn_id uuid, p_skill jsonb)
returns void
language sql volatile set search_path = '' as $$
  insert into public.turn_skills (turn_id, name, source, version, sha256)
  select t.id, p_skill ->> 'name', p_skill ->> 'source', (p_skill ->> 'version')::integer,
    p_skill ->> 'sha256'
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
    'version', v.version, 'sha256', v.sha256, 'files', v.files)
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
comment on function public.load_skill is 'Loads a stored skill for a turn: {name, source, version, sha256, files}; null for a name that the account cannot use.';

create function public.loaded_skills(p_turn_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('name', s.name, 'source', s.source,
    'version', s.version, 'sha256', s.sha256) order by s.loaded_at, s.name), '[]')
  from public.turn_skills s where s.turn_id = p_turn_id
$$;
comment on function public.loaded_skills is 'The skills that a turn has loaded: [{name, source, version, sha256}].';

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
    v_answer := v_busy || v_answer || jsonb_build_object('active_turn_id', v_busy -> 'turn_id');
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
comment on function public.claim_turn is 'Claims a chat for a new turn and stores the message that the turn answers. p_claim has the fields of turn_claim and client_tools, as JSON because not every REST server passes on records. With p_with_turn a claim returns the turn, as load_turn will. While the chat is busy it queues the turn, unless p_on_busy is reject, lets the active one take its message with steer, and stops the active one with interrupt: {outcome: claimed (turn) | queued (turn_id, active_turn_id, run_id) | active (turn_id, run_id, message_id) | waiting | queue_full}. For a message that was sent before also {outcome: answered (turn_id, run_id, message_id) | content_differs}. All other outcomes change nothing: session_missing | chat_missing | sandbox_missing | id_taken | answer_stale | parent_missing | parent_differs | budget_reached | too_many_turns | messages_full | chat_full. A turn that waited is not checked again, except for p_max_active. A limit of 0 is none.';

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
  if v_turn.client_tools is not null then
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
    update public.turns
    set loads = loads + 1, reserved_usd = 0, run_id = p_run_id, status = 'running',
      instructions = public.chat_instructions(account_id, chat_id),
      options = v_turn.options, skills = v_turn.skills
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
    'history', case when p_has_history then '[]' else public.history_of_turn(v_turn) end,
    'steps', (
      select coalesce(jsonb_agg(s.result order by s.index), '[]')
      from public.turn_steps s where s.turn_id = p_turn_id));
end
$$;
comment on function public.load_turn is 'Turns a claim into the run''s and answers all that the run continues with, at its start and after each crash, without the history if the process has it from the claim: {outcome: lost | finished | waiting | active, …}. A turn that waits for its client is waiting, unless it is loaded to be ended (p_ends).';

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
  return v_turn;
end
$$;
comment on function public.next_turn_of_chat is 'The turn that a message would start now in a chat, without that message: it answers the newest one. It is not stored.';

create or replace function public.get_run(p_account_id uuid, p_run_id text) returns jsonb
language sql stable set search_path = '' as $$
  select public.run_row(t)
    || jsonb_build_object('output', t.output, 'verdicts', public.verdicts_of_turn(t),
      'required_action', public.required_action_of(t), 'skills', public.loaded_skills(t.id))
  from public.turns t
  where t.run_id = p_run_id and t.account_id = p_account_id
$$;
comment on function public.get_run is 'A run of the account as run_row with its output, its verdicts, what it waits for, and the skills it has loaded; null when it has no such run.';

create or replace function public.chat_options(p_account_id uuid, p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_strip_nulls(
    case when t.account_id = p_account_id then t.options
      else jsonb_build_object('skills', t.options -> 'skills') end || c.options
    || jsonb_build_object('limits',
      public.narrowest_limits(array[t.options -> 'limits', c.options -> 'limits'])))
  from public.chats c
  left join public.agent_templates t
    on t.id = c.template_id and public.can_see_agent_template(p_account_id, t)
  where c.id = p_chat_id and c.account_id = p_account_id
$$;
comment on function public.chat_options is 'The options of a chat''s turns: each is the chat''s own, or else its template''s. A template of another account sets skills and limits only, because models, effort and an outcome can cost more than the account has asked for. Of limits the narrowest applies.';
