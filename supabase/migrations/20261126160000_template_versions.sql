-- Versions of agent templates. Chats, tasks and turns keep the one that they use.
set check_function_bodies = off;

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
