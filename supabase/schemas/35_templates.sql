-- Agent templates: reusable instructions of an account, private, shared by email or public.

create table public.agent_templates (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  title text not null,
  description text not null,
  prompt text not null,
  tags text[] not null,
  is_private boolean not null,
  favorites_count integer not null default 0 check (favorites_count >= 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  options jsonb not null default '{}',
  untrusted boolean not null default false
);

-- Each of the three ways to see a template is a range scan in the order of the list.
create index agent_templates_account_newest
  on public.agent_templates (account_id, created_at desc, id desc);
create index agent_templates_public_newest
  on public.agent_templates (created_at desc, id desc) where not is_private;
comment on table public.agent_templates is 'Prompts that accounts save for themselves, share by e-mail address, or publish.';
comment on column public.agent_templates.favorites_count is 'Rows of agent_template_favorites for this template, kept by a trigger.';

-- Only a private template has shares. An address needs no account yet.
create table public.agent_template_shares (
  template_id uuid not null references public.agent_templates (id) on delete cascade,
  email text not null check (email = lower(email)),
  template_created_at timestamptz not null,
  primary key (template_id, email)
);

create index agent_template_shares_email_newest
  on public.agent_template_shares (email, template_created_at desc, template_id desc);
comment on table public.agent_template_shares is 'E-mail addresses that a private template is shared with; an address needs no account yet.';
comment on column public.agent_template_shares.template_created_at is 'Copied from the template, where it never changes: one index serves the list.';

create table public.agent_template_favorites (
  template_id uuid not null references public.agent_templates (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (template_id, account_id)
);

create index agent_template_favorites_account on public.agent_template_favorites (account_id);
comment on table public.agent_template_favorites is 'Which accounts have marked which templates as favorites.';

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
comment on table public.agent_template_versions is 'The contents that templates have had, written by a trigger. They never change. The first, the newest 500, and those that chats or tasks keep stay.';
comment on column public.agent_template_versions.is_kept is 'Whether a chat or a task has ever kept this version.';

create table public.agent_template_acceptances (
  account_id uuid not null references public.accounts (id) on delete cascade,
  template_id uuid not null references public.agent_templates (id) on delete cascade,
  version integer not null,
  primary key (account_id, template_id)
);

create index agent_template_acceptances_template
  on public.agent_template_acceptances (template_id);
comment on table public.agent_template_acceptances is 'The version of another account''s template that an account has accepted or used last. It outlives the chats and tasks that keep it.';

create function public.can_see_agent_template(
  p_account_id uuid, p_template public.agent_templates
) returns boolean
language sql stable set search_path = '' as $$
  select p_template.account_id = p_account_id
    or not p_template.is_private
    or exists (
      select 1
      from public.agent_template_shares s
      join public.accounts a on a.email = s.email
      where s.template_id = p_template.id and a.id = p_account_id
    )
$$;
comment on function public.can_see_agent_template is 'Whether an account sees a template: its own, a public one, or one that is shared with its address.';

create function public.is_visible_template(p_account_id uuid, p_template_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select 1 from public.agent_templates t
    where t.id = p_template_id and public.can_see_agent_template(p_account_id, t))
$$;
comment on function public.is_visible_template is 'Whether an account may see a template; false for one that does not exist.';

-- One query for all ids, with nothing that is planned again for each row.
create function public.agent_template_rows(p_account_id uuid, p_ids uuid[]) returns jsonb
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

create function public.found_agent_template(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'template', public.agent_template_rows(p_account_id, array[p_id]) -> 0)
$$;
comment on function public.found_agent_template is 'The answer {template} of a function that has found its template.';

create function public.list_agent_templates(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_email constant text := (select a.email from public.accounts a where a.id = p_account_id);
  v_ids uuid[];
begin
  with visible as (
    (
      select t.created_at, t.id from public.agent_templates t
      where t.account_id = p_account_id and (t.created_at, t.id) < (p_after_at, p_after_id)
      order by t.created_at desc, t.id desc
      limit p_limit + 1
    ) union (
      select t.created_at, t.id from public.agent_templates t
      where not t.is_private and (t.created_at, t.id) < (p_after_at, p_after_id)
      order by t.created_at desc, t.id desc
      limit p_limit + 1
    ) union (
      select s.template_created_at, s.template_id from public.agent_template_shares s
      where s.email = v_email and (s.template_created_at, s.template_id) < (p_after_at, p_after_id)
      order by s.template_created_at desc, s.template_id desc
      limit p_limit + 1
    )
  )
  select array_agg(page.id) into v_ids
  from (select v.id from visible v order by v.created_at desc, v.id desc limit p_limit + 1) page;
  return public.agent_template_rows(p_account_id, v_ids);
end
$$;
comment on function public.list_agent_templates is 'One page of the templates that an account sees, newest first, with one more row if another page follows. Own, public and shared templates each come from their own index, so the cost of a page does not grow with the table.';

create function public.get_agent_template(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case when public.is_visible_template(p_account_id, p_id)
    then public.found_agent_template(p_account_id, p_id) else '{"refused": "missing"}' end;
end
$$;
comment on function public.get_agent_template is 'One template: {template}, or {refused: missing}.';

create function public.create_agent_template(
  p_account_id uuid, p_id uuid, p_title text, p_description text, p_prompt text,
  p_tags text[], p_is_private boolean, p_share_emails text[], p_options jsonb default '{}',
  p_turn_id uuid default null
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_template public.agent_templates;
begin
  insert into public.agent_templates (
    id, account_id, title, description, prompt, tags, is_private, options, untrusted)
  values (p_id, p_account_id, p_title, p_description, p_prompt, p_tags, p_is_private,
    jsonb_strip_nulls(p_options), exists (
      select from public.turns t
      where t.id = p_turn_id and t.account_id = p_account_id and t.untrusted <> '[]'))
  on conflict (id) do nothing
  returning * into v_template;
  if found then
    perform public.share_agent_template(v_template, p_share_emails);
  else
    select * into strict v_template from public.agent_templates
    where id = p_id and account_id = p_account_id;
  end if;
  return public.found_agent_template(p_account_id, p_id);
end
$$;
comment on function public.create_agent_template is 'Creates a template, for the run of a turn if p_turn_id is given: {template}. Repeated with the same id, it answers the existing one.';

-- The row stays locked until its shares are written: two concurrent changes leave the addresses of one.
create function public.update_agent_template(
  p_account_id uuid, p_id uuid, p_title text, p_description text, p_prompt text,
  p_tags text[], p_is_private boolean, p_share_emails text[], p_options jsonb default '{}'
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_template public.agent_templates;
begin
  update public.agent_templates
  set title = coalesce(p_title, title),
    description = coalesce(p_description, description),
    prompt = coalesce(p_prompt, prompt),
    tags = coalesce(p_tags, tags),
    is_private = coalesce(p_is_private, is_private),
    options = jsonb_strip_nulls(options || p_options),
    updated_at = now()
  where id = p_id and account_id = p_account_id
  returning * into v_template;
  if not found then
    return public.refuse_agent_template(p_account_id, p_id);
  end if;
  if p_share_emails is not null or not v_template.is_private then
    perform public.share_agent_template(v_template, p_share_emails);
  end if;
  return public.found_agent_template(p_account_id, p_id);
end
$$;
comment on function public.update_agent_template is 'Changes a template, each field unless null: {template}, or {refused: missing | not_owner}. p_options changes the options that it names, and removes those that are null.';

create function public.delete_agent_template(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql set search_path = '' as $$
begin
  delete from public.agent_templates where id = p_id and account_id = p_account_id;
  if not found then
    return public.refuse_agent_template(p_account_id, p_id);
  end if;
  return jsonb_build_object('deleted', true);
end
$$;
comment on function public.delete_agent_template is 'Deletes a template: {deleted: true}, or {refused: missing | not_owner}.';

create function public.refuse_agent_template(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_template public.agent_templates;
begin
  select * into v_template from public.agent_templates where id = p_id;
  if found and public.can_see_agent_template(p_account_id, v_template) then
    return jsonb_build_object('refused', 'not_owner');
  end if;
  return jsonb_build_object('refused', 'missing');
end
$$;
comment on function public.refuse_agent_template is 'Why an account may not change a template: {refused: missing | not_owner}.';

create function public.share_agent_template(
  p_template public.agent_templates, p_emails text[]
) returns void
language plpgsql set search_path = '' as $$
begin
  delete from public.agent_template_shares s
  where s.template_id = p_template.id and (not p_template.is_private or s.email <> all (p_emails));
  if p_template.is_private then
    insert into public.agent_template_shares (template_id, email, template_created_at)
    select p_template.id, email, p_template.created_at from unnest(p_emails) email
    on conflict do nothing;
  end if;
end
$$;
comment on function public.share_agent_template is 'Replaces the addresses that a template is shared with; a public template has none.';

create function public.set_agent_template_favorite(
  p_account_id uuid, p_id uuid, p_is_favourite boolean
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_template public.agent_templates;
begin
  -- Locked first: a deletion or a change of who may see it comes before or after, not between.
  select * into v_template from public.agent_templates where id = p_id for no key update;
  if not found or not public.can_see_agent_template(p_account_id, v_template) then
    return jsonb_build_object('refused', 'missing');
  end if;
  if p_is_favourite then
    insert into public.agent_template_favorites (template_id, account_id)
    values (p_id, p_account_id)
    on conflict do nothing;
  else
    delete from public.agent_template_favorites
    where template_id = p_id and account_id = p_account_id;
  end if;
  return public.found_agent_template(p_account_id, p_id);
end
$$;
comment on function public.set_agent_template_favorite is 'Marks a template as a favorite, or no longer: {template}, or {refused: missing}.';

-- A trigger, because the deletion of an account removes its favorites and must be counted too.
create function public.count_agent_template_favorite() returns trigger
language plpgsql set search_path = '' as $$
begin
  if tg_op = 'INSERT' then
    update public.agent_templates set favorites_count = favorites_count + 1 where id = new.template_id;
  else
    update public.agent_templates set favorites_count = favorites_count - 1 where id = old.template_id;
  end if;
  return null;
end
$$;
comment on function public.count_agent_template_favorite is 'Trigger: keeps favorites_count, also when the deletion of an account takes its favorites along.';
create trigger count_agent_template_favorite
  after insert or delete on public.agent_template_favorites
  for each row execute function public.count_agent_template_favorite();

-- Versions ----------------------------------------------------------------------------------------

-- A trigger, because the row that it follows is locked: two changes at once have two numbers.
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
    select a.version from public.agent_template_acceptances a
    where a.account_id = p_account_id and a.template_id = p_template_id
    union
    select coalesce(c.template_version, 1) from public.chats c
    where c.account_id = p_account_id and c.template_id = p_template_id
    union
    select coalesce(t.template_version, 1) from public.scheduled_prompts t
    where t.account_id = p_account_id and t.template_id = p_template_id);
end
$$;
comment on function public.seen_template_versions is 'The versions of another account''s template that an account sees: the newest, the one that it has accepted last, and those that its chats and tasks keep. Earlier ones may be from before the template was shared.';

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
    where v.template_id = p_id and (v.created_at, v.id) < (p_after_at, p_after_id)
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

create function public.used_template_version(p_account_id uuid, p_template_id uuid)
returns integer
language plpgsql stable set search_path = '' as $$
begin
  return coalesce((
    select a.version from public.agent_template_acceptances a
    where a.account_id = p_account_id and a.template_id = p_template_id
  ), (
    select used.version
    from (
      select coalesce(c.template_version, 1) as version, c.updated_at from public.chats c
      where c.account_id = p_account_id and c.template_id = p_template_id
      union all
      select coalesce(t.template_version, 1), t.updated_at from public.scheduled_prompts t
      where t.account_id = p_account_id and t.template_id = p_template_id) used
    order by used.updated_at desc
    limit 1));
end
$$;
comment on function public.used_template_version is 'The version of another account''s template that an account has accepted or used last; null for none. Chats and tasks from before acceptances were recorded count, too.';

create function public.choose_template_version(
  p_account_id uuid, p_template_id uuid, p_version integer, p_accepts boolean default true
) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_template public.agent_templates;
  v_version integer;
begin
  if p_template_id is null then
    return case when p_version is null then 0 end;
  end if;
  -- Locked, because an acceptance cannot refer to a template that is being deleted.
  select * into v_template from public.agent_templates where id = p_template_id for key share;
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
  v_version := coalesce(p_version,
    public.used_template_version(p_account_id, p_template_id),
    public.newest_template_version(p_template_id));
  if v_template.account_id <> p_account_id and p_accepts then
    -- Of two first uses at once, the second waits for the first and takes its version.
    insert into public.agent_template_acceptances as a (account_id, template_id, version)
    values (p_account_id, p_template_id, v_version)
    on conflict (account_id, template_id) do update set version = coalesce(p_version, a.version)
    returning a.version into v_version;
  end if;
  update public.agent_template_versions v set is_kept = true
  where v.template_id = p_template_id and v.version = v_version and not v.is_kept;
  return v_version;
end
$$;
comment on function public.choose_template_version is 'The version that a chat or a task keeps. Of another account''s template it is p_version, or else the one that the account has accepted or used last, or else the newest; it is then recorded as accepted, unless p_accepts is false. 0 without a template, and for an own one, which is followed unless a version is named. Null if the account does not see the template or the version.';

create function public.applied_template_version(
  p_account_id uuid, p_template_id uuid, p_version integer
) returns public.agent_template_versions
language plpgsql stable set search_path = '' as $$
declare
  v_template public.agent_templates;
  v_version public.agent_template_versions;
begin
  if p_template_id is null then
    return null;
  end if;
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

create function public.template_model(
  p_account_id uuid, p_template_id uuid, p_version integer
) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select v.options ->> 'model'
    from public.applied_template_version(p_account_id, p_template_id, nullif(p_version, 0)) v
    join public.agent_templates t on t.id = v.template_id
    where t.account_id = p_account_id);
end
$$;
comment on function public.template_model is 'The model of an own template in the version that applies, 0 or null for the newest; null for none, and for a template of another account.';

create function public.chat_instructions(p_account_id uuid, p_chat_id uuid) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select nullif(concat_ws(chr(10) || chr(10),
      (public.applied_template_version(p_account_id, c.template_id, c.template_version)).prompt,
      c.instructions), '')
    from public.chats c
    where c.id = p_chat_id and c.account_id = p_account_id);
end
$$;
comment on function public.chat_instructions is 'The instructions of a chat: the prompt of its template, in the version that applies, then its own text; null for nothing.';

create function public.narrowest_limits(p_limits jsonb[]) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  if array_remove(p_limits, null) = '{}' then
    return null;
  end if;
  return (
    select jsonb_object_agg(narrowest.name, narrowest.value)
    from (
      select l.key as name, min(l.value::numeric) as value
      from unnest(p_limits) as given, jsonb_each_text(given) as l
      group by l.key) narrowest);
end
$$;
comment on function public.narrowest_limits is 'The least value of each limit among objects such as {max_steps: 10}, any of which may be null; null without any.';

create function public.chat_options(
  p_account_id uuid, p_chat_id uuid, p_own jsonb default '{}'
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_strip_nulls(
      case when t.account_id = p_account_id then v.options - array['model', 'output_schema']
        else jsonb_build_object('skills', v.options -> 'skills') end || c.options
      || (p_own - array['model', 'approvals', 'network_policies'])
      || jsonb_build_object(
        'limits', public.narrowest_limits(array[v.options -> 'limits',
          coalesce(c.options -> 'limits', '{}') || coalesce(p_own -> 'limits', '{}')]),
        'approvals', public.tightened_policies(
          public.approval_policies(p_account_id, p_chat_id,
            case when t.account_id = p_account_id then v.options else '{}' end || c.options
            -- A turn without the chat's MCP servers still has their words in its conversation.
            || case when jsonb_array_length(p_own -> 'mcp_servers') > 0
              then jsonb_build_object('mcp_servers', p_own -> 'mcp_servers') else '{}' end,
            case when t.account_id = p_account_id then v.options -> 'approvals' end,
            case when t.account_id <> p_account_id then v.options -> 'approvals' end),
          p_own -> 'approvals'))
      || jsonb_build_object('network_policies', (
        select jsonb_agg(p.policy || jsonb_build_object('of', p.name) order by p.name)
        from (
          values
            ('account', (select a.network from public.accounts a where a.id = p_account_id)),
            ('template', v.options -> 'network'),
            ('chat', c.options -> 'network')
          union all
          select 'chat', o.value from jsonb_array_elements(p_own -> 'network_policies') o
        ) p (name, policy)
        where p.policy ->> 'mode' <> 'open')))
    from public.chats c
    cross join public.applied_template_version(p_account_id, c.template_id, c.template_version) v
    left join public.agent_templates t on t.id = v.template_id
    where c.id = p_chat_id and c.account_id = p_account_id);
end
$$;
comment on function public.chat_options is 'The options of a chat''s turns: each is the chat''s own, or else its template''s, in the version that applies. A template of another account sets skills, limits and network policies only, because models, effort and an outcome can cost more than the account has asked for. Of limits the narrowest applies. network_policies has the policies of the account, the template and the chat that are not open, all of which must allow a host. p_own are the own options of a turn, as in with_options: they replace the chat''s, but only tighten approvals and network policies, and a limit that they do not name stays.';
