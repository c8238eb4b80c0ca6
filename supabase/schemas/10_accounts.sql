-- Accounts, membership, and who may act for whom.

create table public.accounts (
  id uuid primary key default gen_random_uuid(),
  kind text not null default 'personal'
    check (kind in ('personal', 'organization', 'artist', 'workspace')),
  email text check (email = lower(email)),
  name text,
  image text,
  is_admin boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  monthly_budget_usd numeric check (monthly_budget_usd >= 0),
  label text,
  timezone text,
  catalog_artist_id text,
  -- False, because an account that sets a budget expects it to hold.
  allow_unpriced_models boolean not null default false,
  network jsonb,
  approvals jsonb not null default '{}',
  auto_accept_memory boolean not null default false,
  mail_when_waiting boolean not null default false,
  check (kind = 'organization' or not is_admin)
);

create unique index accounts_personal_email on public.accounts (email) where kind = 'personal';
create index accounts_admin on public.accounts (id) where is_admin;
comment on table public.accounts is 'People, organizations, artists and workspaces: everything that can own rows or be acted for.';
comment on column public.accounts.is_admin is 'True for the internal admin organization, whose members may act for every account.';
comment on column public.accounts.email is 'In lower case. It identifies a person and is unique among personal accounts only.';
comment on column public.accounts.monthly_budget_usd is 'Budget of a calendar month in US dollars; null for none.';
comment on column public.accounts.catalog_artist_id is 'The id of an artist in the music catalog; null for an artist without one and for accounts of other kinds.';
comment on column public.accounts.approvals is 'The policies of effects of the account''s agents: {category: auto | ask | ask_when_untrusted | deny}, the defaults where absent.';
comment on column public.accounts.allow_unpriced_models is 'Whether the account uses models without a known price although it has a budget, which cannot count them.';
comment on column public.accounts.network is 'Which hosts the agents of the account may reach, as in networkPolicy in the code; null for every host.';
comment on column public.accounts.auto_accept_memory is 'Whether shorter texts for a MEMORY.md that the account has filled replace it without a person.';

create table public.organization_accounts (
  organization_id uuid not null references public.accounts (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  role text not null default 'member' check (role in ('owner', 'member', 'viewer')),
  artist_ids uuid[],
  primary key (organization_id, account_id)
);

create index organization_accounts_account on public.organization_accounts (account_id);
comment on table public.organization_accounts is 'Membership of people in organizations, and links of artists and workspaces to them.';
comment on column public.organization_accounts.role is 'The role of a person: owner, member, or viewer, who reads and changes nothing. It has no meaning for artists and workspaces.';
comment on column public.organization_accounts.artist_ids is 'The artists to which a member or viewer is limited; null for the organization with all of them, as for every owner.';

create table public.deleted_identities (
  hash text primary key,
  deleted_at timestamptz not null
);

create index deleted_identities_age on public.deleted_identities (deleted_at);
comment on table public.deleted_identities is 'Recently deleted accounts. A token that was issued before the deletion must not sign in.';
comment on column public.deleted_identities.hash is 'HMAC of the e-mail address with API_KEY_SECRET.';

-- Authority ---------------------------------------------------------------------------------------

create function public.is_related(p_caller uuid, p_target uuid, p_roles text[]) returns boolean
language sql stable set search_path = '' as $$
  select p_caller = p_target
    or exists (
      select 1 from public.organization_accounts m
      where (m.account_id = p_caller and m.organization_id = p_target and m.role = any (p_roles)
          and m.artist_ids is null)
         or (m.organization_id = p_caller and m.account_id = p_target)
    )
    or exists (
      select 1
      from public.organization_accounts mine
      join public.organization_accounts theirs on theirs.organization_id = mine.organization_id
      where mine.account_id = p_caller and theirs.account_id = p_target
        and mine.role = any (p_roles)
        and (mine.artist_ids is null or p_target = any (mine.artist_ids))
    )
    or (
      exists (
        select 1 from public.accounts a
        where a.is_admin
          and (
            a.id = p_caller
            or exists (
              select 1 from public.organization_accounts m
              where m.organization_id = a.id and m.account_id = p_caller
                and m.role = any (p_roles) and m.artist_ids is null
            )
          )
      )
      and exists (select 1 from public.accounts t where t.id = p_target)
    )
$$;
comment on function public.is_related is 'Whether an account is another, or has one of the roles in its organization, in one that it is linked to, or in the admin organization. Who is limited to artists is related to these only.';

create function public.may_act_for(p_caller uuid, p_target uuid) returns boolean
language sql stable set search_path = '' as $$
  select public.is_related(p_caller, p_target, '{owner,member}')
$$;
comment on function public.may_act_for is 'Whether an account may act for another: itself, its organizations, accounts linked to one of its organizations, or any account for the admin organization. A viewer of an organization may not.';

create function public.may_see(p_caller uuid, p_target uuid) returns boolean
language sql stable set search_path = '' as $$
  select public.is_related(p_caller, p_target, '{owner,member,viewer}')
$$;
comment on function public.may_see is 'Whether an account may read what another has: where may_act_for is true, and as a viewer of an organization. Only functions that read call it.';

create function public.access_verdicts(
  p_caller uuid, p_may_switch boolean, p_account_id uuid, p_organization_id uuid, p_artist_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_role text;
  v_is_artist boolean;
  v_may boolean;
  v_verdicts jsonb := '{"account": null, "organization": null, "artist": null}';
  v_seen jsonb := '{}';
begin
  if p_account_id is not null then
    v_may := p_account_id = p_caller
      or (p_may_switch and public.may_act_for(p_caller, p_account_id));
    v_verdicts := v_verdicts || jsonb_build_object('account', v_may);
    v_seen := v_seen || jsonb_build_object('account', v_may
      or (p_may_switch and public.may_see(p_caller, p_account_id)));
  end if;
  if p_organization_id is not null then
    -- Administrators have no exception here: the organization must be the caller's own.
    v_role := case when p_organization_id = p_caller then (
      select 'owner' from public.accounts o where o.id = p_caller and o.kind = 'organization')
      else public.organization_role(p_caller, p_organization_id) end;
    v_verdicts := v_verdicts || jsonb_build_object('organization',
      coalesce(v_role in ('owner', 'member'), false)
        and not public.is_limited(p_caller, p_organization_id));
    v_seen := v_seen || jsonb_build_object('organization', v_role is not null);
  end if;
  if p_artist_id is not null then
    v_is_artist := exists (
      select 1 from public.accounts a where a.id = p_artist_id and a.kind = 'artist');
    v_may := v_is_artist and public.may_act_for(p_caller, p_artist_id);
    v_verdicts := v_verdicts || jsonb_build_object('artist', v_may);
    v_seen := v_seen || jsonb_build_object('artist', v_may
      or (v_is_artist and public.may_see(p_caller, p_artist_id)));
  end if;
  return v_verdicts || jsonb_build_object('seen', v_seen);
end
$$;
comment on function public.access_verdicts is 'Whether the caller may use the account, organization and artist of a request; each is null when it was not asked for. seen has the same for a request that only reads.';

create function public.organization_role(p_account_id uuid, p_organization_id uuid) returns text
language sql stable set search_path = '' as $$
  select m.role
  from public.organization_accounts m
  join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
  where m.organization_id = p_organization_id and m.account_id = p_account_id
$$;
comment on function public.organization_role is 'owner, member or viewer; null for who does not belong to the organization, and where there is none.';

create function public.is_limited(p_account_id uuid, p_organization_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select from public.organization_accounts m
    where m.organization_id = p_organization_id and m.account_id = p_account_id
      and m.artist_ids is not null)
$$;
comment on function public.is_limited is 'Whether a member of an organization is limited to some of its artists.';

-- Accounts ----------------------------------------------------------------------------------------

create function public.account_of_email(p_email text) returns uuid
language plpgsql volatile set search_path = '' as $$
declare
  v_id uuid;
begin
  loop
    select id into v_id from public.accounts
    where email = lower(p_email) and kind = 'personal';
    if found then
      return v_id;
    end if;
    insert into public.accounts (kind, email) values ('personal', lower(p_email))
    on conflict (email) where kind = 'personal' do nothing
    returning id into v_id;
    if found then
      return v_id;
    end if;
  end loop;
end
$$;
comment on function public.account_of_email is 'The personal account of an e-mail address, created on first use; two first uses at once create one.';

create function public.get_account(p_account_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'account', jsonb_build_object(
      'id', a.id, 'kind', a.kind, 'email', a.email, 'name', a.name, 'image', a.image,
      'monthly_budget_usd', a.monthly_budget_usd,
      'allow_unpriced_models', a.allow_unpriced_models, 'approvals', a.approvals,
      'network', a.network, 'auto_accept_memory', a.auto_accept_memory,
      'mail_when_waiting', a.mail_when_waiting,
      'timezone', a.timezone, 'created_at', a.created_at),
    'organizations', coalesce((
      select jsonb_agg(public.organization_row(o, m.role, m.artist_ids)
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
  p_network jsonb default null, p_auto_accept_memory boolean default null,
  p_mail_when_waiting boolean default null
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
    mail_when_waiting = coalesce(p_mail_when_waiting, a.mail_when_waiting),
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

-- Export and deletion -----------------------------------------------------------------------------

create function public.export_rows(
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
        left join public.task_runs r on r.id = f.run_id
        where f.account_id = p_account_id and f.name > p_after
          and (f.run_id is null or r.status = 'COMPLETED')
        order by f.name limit p_limit);
      v_items := to_jsonb(v_ids);
  end case;
  return jsonb_build_object(
    'items', coalesce(v_items, '[]'),
    'next', case when cardinality(v_ids) = p_limit then v_ids[p_limit] end);
end
$$;
comment on function public.export_rows is 'One part of the rows that an account owns (templates, template_versions, task_runs, turns, media) after the id p_after: {items, next}; next is null at the end. Without secrets.';

create function public.leave_organizations(p_account_id uuid, p_email text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_account public.accounts;
  v_ids uuid[];
begin
  select * into v_account from public.accounts where id = p_account_id;
  if v_account.email is null or v_account.kind <> 'personal' then
    return jsonb_build_object('refused', 'not_personal');
  end if;
  if v_account.email <> p_email then
    return jsonb_build_object('refused', 'mismatch');
  end if;
  -- Locked in the order of their ids: two accounts that leave at once must not deadlock.
  v_ids := array(
    select o.id from public.accounts o
    where o.kind = 'organization' and o.id in (
      select m.organization_id from public.organization_accounts m
      where m.account_id = p_account_id)
    order by o.id
    for no key update);
  if exists (
    select from unnest(v_ids) o (id) where public.is_last_owner(o.id, p_account_id))
  then
    return jsonb_build_object('refused', 'last_owner');
  end if;
  delete from public.organization_accounts
  where account_id = p_account_id and organization_id = any (v_ids);
  return null;
end
$$;
comment on function public.leave_organizations is 'Takes a person who confirms the address out of all organizations: null, or {refused: not_personal | mismatch | last_owner}.';

create function public.may_use_auth_table(p_table text, p_privilege text) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'auth' and c.relname = p_table
      and pg_catalog.has_schema_privilege(n.oid, 'usage')
      and pg_catalog.has_table_privilege(c.oid, p_privilege))
$$;
comment on function public.may_use_auth_table is 'Returns whether Supabase Auth is in this database, and its table is within reach.';

create function public.delete_account_rows(p_account_id uuid, p_batch integer) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_table text;
  v_count integer;
  v_total integer;
  -- Each has tens of rows: messages, turns and traces.
  v_sessions constant uuid[] := array(
    select s.id from public.sessions s
    where s.account_id = p_account_id and s.sandbox_state is null and not exists (
      select from public.turns t where t.session_id = s.id and t.finished_at is null)
    limit greatest(1, p_batch / 20));
begin
  -- Chats before their sessions, as a turn locks them that starts now: the other order deadlocks.
  perform from public.chats where session_id = any (v_sessions) order by id for update;
  delete from public.sessions s
  where s.id = any (v_sessions) and s.sandbox_state is null and not exists (
    select from public.turns t where t.session_id = s.id and t.finished_at is null);
  get diagnostics v_total = row_count;
  -- Before the entries, which would be summed again.
  delete from public.usage_days where account_id = p_account_id;
  foreach v_table in array array['usage_entries', 'requests', 'account_words', 'webhook_deliveries', 'trigger_events']
  loop
    execute format('delete from public.%1$I where ctid = any (array(
      select ctid from public.%1$I where account_id = $1 limit $2))', v_table)
    using p_account_id, p_batch;
    get diagnostics v_count = row_count;
    v_total := v_total + v_count;
  end loop;
  return v_total >= p_batch / 20;
end
$$;
comment on function public.delete_account_rows is 'Deletes at most p_batch rows of each kind of which an account may have very many, and fewer sessions, without the ones that have a sandbox or an active turn. Returns whether there may be many more.';

create function public.delete_account(
  p_account_id uuid, p_email text, p_identity_hash text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- Again: the account may have joined an organization since it was first asked.
  v_refusal constant jsonb := public.leave_organizations(p_account_id, p_email);
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  delete from public.organization_invitations where email = p_email;
  delete from public.agent_template_shares where email = p_email;
  delete from public.signup_codes where email = p_email;
  -- Chats before their sessions and account, in the order in which a starting turn locks them.
  perform from public.chats where account_id = p_account_id order by id for update;
  delete from public.accounts a
  using public.organization_accounts l
  where l.organization_id = p_account_id and a.id = l.account_id
    and a.kind in ('artist', 'workspace')
    and not exists (
      select from public.organization_accounts x
      where x.account_id = a.id and x.organization_id <> p_account_id);
  -- Triggers note the files and sandboxes that are to be removed.
  delete from public.accounts where id = p_account_id;

  insert into public.deleted_identities (hash, deleted_at)
  values (p_identity_hash, clock_timestamp())
  on conflict (hash) do update set deleted_at = excluded.deleted_at;
  -- A session that remains would be renewed, with tokens that are newer than the deletion.
  if public.may_use_auth_table('sessions', 'delete') and public.may_use_auth_table('users', 'select')
  then
    delete from auth.sessions s using auth.users u
    where u.id = s.user_id and lower(u.email) = lower(p_email);
  end if;
  return jsonb_build_object('done', true);
end
$$;
comment on function public.delete_account is 'Deletes a person''s account with all that it owns, and ends its sign-ins: earlier tokens are refused, and sessions cannot be renewed. Returns {done}, or as leave_organizations.';

create function public.has_sign_in_ended(
  p_session_id uuid, p_identity_hash text, p_issued_at timestamptz
) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  -- The `iat` of a token is in whole seconds.
  if exists (
    select from public.deleted_identities d
    where d.hash = p_identity_hash
      and coalesce(p_issued_at <= date_trunc('second', d.deleted_at), true))
  then
    return true;
  end if;
  -- A separate statement: one that names the table fails where it is absent.
  if p_session_id is null or not public.may_use_auth_table('sessions', 'select') then
    return false;
  end if;
  return not exists (select from auth.sessions s where s.id = p_session_id);
end
$$;
comment on function public.has_sign_in_ended is 'Returns whether the session of a token was signed out, or its account deleted since it was issued. Sessions that cannot be read count as live.';

-- Tables of Supabase Auth. They are absent where another identity provider is used, and a hosted
-- project may not let the service's role read them.
do $$
begin
  if to_regclass('auth.sessions') is not null and to_regclass('auth.users') is not null then
    grant usage on schema auth to service_role;
    grant select, delete on auth.sessions to service_role;
    grant select on auth.users to service_role;
  end if;
exception when insufficient_privilege then
  raise notice 'The service cannot read the sessions of Supabase Auth: a token holds until it expires.';
end
$$;
