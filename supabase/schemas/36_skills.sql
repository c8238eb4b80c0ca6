-- Skills: instructions with files that agents load by name. Accounts and organizations have them; the
-- built-in ones are files of the service.

create table public.skills (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  name text not null,
  version integer not null check (version > 0),
  created_at timestamptz not null default now(),
  unique (account_id, name)
);
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
