-- Agent templates, whom they are shared with, and who likes them (specification: Agent template;
-- decisions, section 7).

create table public.agent_templates (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  title text not null,
  description text not null,
  prompt text not null,
  tags text[] not null,
  is_private boolean not null,
  -- How many rows agent_template_favorites has for it: kept by a trigger, whoever writes there.
  favorites_count integer not null default 0 check (favorites_count >= 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Each of the three ways to see a template is a range scan in the order of the list.
create index agent_templates_account_newest
  on public.agent_templates (account_id, created_at desc, id desc);
create index agent_templates_public_newest
  on public.agent_templates (created_at desc, id desc) where not is_private;

-- Only a private template has any. An address needs no account yet: it may sign up later.
create table public.agent_template_shares (
  template_id uuid not null references public.agent_templates (id) on delete cascade,
  email text not null check (email = lower(email)),
  -- The template's, which never changes: what is shared with an address is listed by one index.
  template_created_at timestamptz not null,
  primary key (template_id, email)
);

create index agent_template_shares_email_newest
  on public.agent_template_shares (email, template_created_at desc, template_id desc);

create table public.agent_template_favorites (
  template_id uuid not null references public.agent_templates (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (template_id, account_id)
);

create index agent_template_favorites_account on public.agent_template_favorites (account_id);

alter table public.agent_templates enable row level security;
alter table public.agent_template_shares enable row level security;
alter table public.agent_template_favorites enable row level security;

-- A trigger and not a statement of the function below: the deletion of an account takes its
-- favourites along, and must be counted too.
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

create trigger count_agent_template_favorite
  after insert or delete on public.agent_template_favorites
  for each row execute function public.count_agent_template_favorite();

-- ---------------------------------------------------------------------------------------------
-- Functions, one a request. Each answers JSON in the shape of the API, or `refused`: `missing` for
-- what the caller cannot see, whether it exists or not, and `not_owner` for what it only can see.
-- ---------------------------------------------------------------------------------------------

create function public.can_see_agent_template(
  p_account_id uuid, p_template public.agent_templates
) returns boolean
language sql stable as $$
  select p_template.account_id = p_account_id
    or not p_template.is_private
    or exists (
      select 1
      from public.agent_template_shares s
      join public.accounts a on a.email = s.email
      where s.template_id = p_template.id and a.id = p_account_id
    )
$$;

-- The templates of these ids as p_account_id sees them, newest first: the addresses are the owner's
-- business. One query for them all, with nothing in it that would be planned again for each row.
create function public.agent_templates_json(p_account_id uuid, p_ids uuid[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(
      jsonb_build_object(
        'id', t.id,
        'title', t.title,
        'description', t.description,
        'prompt', t.prompt,
        'tags', t.tags,
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
        'is_private', t.is_private,
        'is_favourite', exists (
          select 1 from public.agent_template_favorites f
          where f.template_id = t.id and f.account_id = p_account_id
        ),
        'favorites_count', t.favorites_count,
        'shared_emails', case when t.account_id = p_account_id then
          array(
            select s.email from public.agent_template_shares s
            where s.template_id = t.id order by s.email
          )
          else array[]::text[] end,
        'created_at', public.iso_date(t.created_at),
        'updated_at', public.iso_date(t.updated_at))
      order by t.created_at desc, t.id desc), '[]')
    from public.agent_templates t
    join public.accounts a on a.id = t.account_id
    where t.id = any (p_ids));
end
$$;

-- The answer of a function that has found its template.
create function public.found_agent_template(p_account_id uuid, p_id uuid) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'template', public.agent_templates_json(p_account_id, array[p_id]) -> 0)
$$;

-- The shares of a template become p_emails; a public one has none.
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

-- Repeated with the same id, answers the template that the first call made, whatever it says now.
create function public.create_agent_template(
  p_account_id uuid, p_id uuid, p_title text, p_description text, p_prompt text,
  p_tags text[], p_is_private boolean, p_share_emails text[]
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_template public.agent_templates;
begin
  insert into public.agent_templates (id, account_id, title, description, prompt, tags, is_private)
  values (p_id, p_account_id, p_title, p_description, p_prompt, p_tags, p_is_private)
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

-- One page of what the account owns, what is public and what is shared with its address, newest
-- first. Each of the three gives at most a page from its own index, so that the cost of a page is
-- the same however many templates there are.
create function public.list_agent_templates(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_email text := (select a.email from public.accounts a where a.id = p_account_id);
  v_ids uuid[];
  v_next text;
begin
  with visible as (
    (
      select t.created_at, t.id from public.agent_templates t
      where t.account_id = p_account_id and (t.created_at, t.id) < (v_after_at, v_after_id)
      order by t.created_at desc, t.id desc
      limit p_limit + 1
    ) union (
      select t.created_at, t.id from public.agent_templates t
      where not t.is_private and (t.created_at, t.id) < (v_after_at, v_after_id)
      order by t.created_at desc, t.id desc
      limit p_limit + 1
    ) union (
      select s.template_created_at, s.template_id from public.agent_template_shares s
      where s.email = v_email and (s.template_created_at, s.template_id) < (v_after_at, v_after_id)
      order by s.template_created_at desc, s.template_id desc
      limit p_limit + 1
    )
  ),
  page as (
    select v.created_at, v.id, row_number() over (order by v.created_at desc, v.id desc) as place
    from visible v
    order by v.created_at desc, v.id desc
    limit p_limit + 1
  )
  select
    array_agg(p.id) filter (where p.place <= p_limit),
    case when count(*) > p_limit then
      max(public.page_cursor(p.created_at, p.id)) filter (where p.place = p_limit) end
  into v_ids, v_next
  from page p;
  return jsonb_build_object(
    'templates', public.agent_templates_json(p_account_id, v_ids), 'next', v_next);
end
$$;

create function public.get_agent_template(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_template public.agent_templates;
begin
  select * into v_template from public.agent_templates where id = p_id;
  if not found or not public.can_see_agent_template(p_account_id, v_template) then
    return jsonb_build_object('refused', 'missing');
  end if;
  return public.found_agent_template(p_account_id, p_id);
end
$$;

-- Why an account may not change a template, after its own write found no row of its own.
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

-- Null leaves a field as it is. The row stays locked until its shares are written, so that two
-- changes at once leave the addresses of one of them and not a mixture.
create function public.update_agent_template(
  p_account_id uuid, p_id uuid, p_title text, p_description text, p_prompt text,
  p_tags text[], p_is_private boolean, p_share_emails text[]
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
