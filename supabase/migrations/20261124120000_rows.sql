-- SQL functions return rows: the application makes the API's responses from them.

set check_function_bodies = off;

comment on function public.iso_date is 'A time in a stored document, such as the data of an event: ISO 8601 in UTC with milliseconds. Inlined, hence no search_path.';

create or replace function public.get_account(p_account_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'account', jsonb_build_object(
      'id', a.id, 'kind', a.kind, 'email', a.email, 'name', a.name, 'image', a.image,
      'monthly_budget_usd', a.monthly_budget_usd,
      'allow_unpriced_models', a.allow_unpriced_models,
      'timezone', a.timezone, 'created_at', a.created_at),
    'organizations', coalesce((
      select jsonb_agg(public.organization_row(o, m.role)
        order by o.created_at desc, o.id desc)
      from public.organization_accounts m
      join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
      where m.account_id = a.id), '[]'))
  from public.accounts a where a.id = p_account_id
$$;

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

create function public.organization_row(p_organization public.accounts, p_role text) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_organization.id, 'name', coalesce(p_organization.name, ''),
    'image', p_organization.image, 'role', p_role, 'created_at', p_organization.created_at)
$$;
comment on function public.organization_row is 'The columns of an organization that its members see, with the role of one. Inlined, hence no search_path.';

create or replace function public.found_organization(p_account_id uuid, p_organization_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce((
    select jsonb_build_object('organization', public.organization_row(o, m.role))
    from public.organization_accounts m
    join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
    where m.organization_id = p_organization_id and m.account_id = p_account_id),
    jsonb_build_object('refused', 'missing'))
$$;

create or replace function public.list_organizations(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return to_jsonb(array(
    select public.organization_row(o, m.role)
    from public.organization_accounts m
    join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
    where m.account_id = p_account_id and (o.created_at, o.id) < (v_after_at, v_after_id)
    order by o.created_at desc, o.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_organizations is 'One page of the account''s organizations, newest first, with one more row if another page follows.';

create or replace function public.list_organization_members(
  p_account_id uuid, p_organization_id uuid,
  p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  if public.organization_role(p_account_id, p_organization_id) is null then
    return jsonb_build_object('refused', 'missing');
  end if;
  return to_jsonb(array(
    select jsonb_build_object('id', a.id, 'email', a.email, 'name', a.name, 'role', m.role,
      'created_at', m.created_at)
    from public.organization_accounts m
    join public.accounts a on a.id = m.account_id and a.kind = 'personal'
    where m.organization_id = p_organization_id and (m.created_at, a.id) < (v_after_at, v_after_id)
    order by m.created_at desc, a.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_organization_members is 'One page of the people of an organization, newest first, with one more row if another page follows; or {refused: missing}.';

create or replace function public.set_organization_role(
  p_account_id uuid, p_organization_id uuid, p_member_id uuid, p_role text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.refuse_member_change(
    p_account_id, p_organization_id, p_member_id, p_role <> 'owner');
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  update public.organization_accounts m set role = p_role, updated_at = now()
  where m.organization_id = p_organization_id and m.account_id = p_member_id;
  return (
    select jsonb_build_object('member', jsonb_build_object(
      'id', a.id, 'email', a.email, 'name', a.name, 'role', p_role))
    from public.accounts a where a.id = p_member_id);
end
$$;

create or replace function public.create_invitation(
  p_account_id uuid, p_organization_id uuid, p_email text, p_role text, p_valid_days integer,
  p_max_pending integer, p_max_a_day integer, p_max_mails_a_day integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_refusal constant jsonb := public.refuse_invitation(
    p_account_id, p_organization_id, p_email, p_max_pending, p_max_a_day);
  v_mails integer;
  v_invitation public.organization_invitations;
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  select count(*) into v_mails from public.organization_invitations i
  where i.email = p_email and i.created_at > now() - interval '1 day';
  update public.organization_invitations i set status = 'withdrawn'
  where i.organization_id = p_organization_id and i.email = p_email and i.status = 'pending';
  insert into public.organization_invitations (organization_id, invited_by, email, role, expires_at)
  values (p_organization_id, p_account_id, p_email, p_role,
    clock_timestamp() + make_interval(days => p_valid_days))
  returning * into v_invitation;
  return jsonb_build_object(
    'invitation', to_jsonb(v_invitation),
    'mail', v_mails < p_max_mails_a_day,
    'organization_name', (
      select coalesce(o.name, '') from public.accounts o where o.id = p_organization_id),
    'inviter', (select coalesce(a.email, a.name) from public.accounts a where a.id = p_account_id));
end
$$;

create or replace function public.list_organization_invitations(
  p_account_id uuid, p_organization_id uuid,
  p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_refusal constant jsonb := public.organization_refusal(
    public.organization_role(p_account_id, p_organization_id));
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  return to_jsonb(array(
    select to_jsonb(i)
    from public.organization_invitations i
    where i.organization_id = p_organization_id and i.status = 'pending' and i.expires_at > now()
      and (i.created_at, i.id) < (v_after_at, v_after_id)
    order by i.created_at desc, i.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_organization_invitations is 'One page of the invitations that are open, newest first, with one more row if another page follows, for an owner; or {refused: missing | not_owner}.';

create or replace function public.list_invitations(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return to_jsonb(array(
    select to_jsonb(i) || jsonb_build_object('organization_name', coalesce(o.name, ''))
    from public.accounts a
    join public.organization_invitations i on i.email = a.email
    join public.accounts o on o.id = i.organization_id
    where a.id = p_account_id and a.kind = 'personal'
      and i.status = 'pending' and i.expires_at > now()
      and (i.created_at, i.id) < (v_after_at, v_after_id)
    order by i.created_at desc, i.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_invitations is 'One page of the open invitations of the account''s address, newest first, with one more row if another page follows.';

create function public.artist_row(p_account_id uuid, p_artist public.accounts) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', p_artist.id, 'name', coalesce(p_artist.name, ''), 'label', p_artist.label,
    'image', p_artist.image, 'catalog_artist_id', p_artist.catalog_artist_id,
    'organization_id', (
      select l.organization_id
      from public.organization_accounts l
      join public.accounts o on o.id = l.organization_id and o.kind = 'organization'
      where l.account_id = p_artist.id
      -- Of several, one of the caller's.
      order by public.organization_role(p_account_id, o.id) is null, l.created_at, o.id
      limit 1),
    'created_at', p_artist.created_at)
$$;
comment on function public.artist_row is 'The columns of an artist, with its organization: one of the account''s if there are several.';

create or replace function public.get_artist(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce((
    select jsonb_build_object('artist', public.artist_row(p_account_id, a))
    from public.accounts a
    where a.id = p_id and a.kind = 'artist' and public.may_act_for(p_account_id, p_id)),
    jsonb_build_object('refused', 'missing'))
$$;

create or replace function public.list_artists(
  p_account_id uuid, p_organization_id uuid,
  p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return to_jsonb(array(
    with linked as (
      select l.account_id from public.organization_accounts l
      where l.organization_id = p_account_id
        and coalesce(p_organization_id = p_account_id, true)
      union
      select l.account_id
      from public.organization_accounts m
      join public.organization_accounts l on l.organization_id = m.organization_id
      where m.account_id = p_account_id
        and coalesce(m.organization_id = p_organization_id, true)
    )
    select public.artist_row(p_account_id, a)
    from linked
    join public.accounts a on a.id = linked.account_id and a.kind = 'artist'
    where (a.created_at, a.id) < (v_after_at, v_after_id)
    order by a.created_at desc, a.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_artists is 'One page of the artists of the account and of its organizations, or of one of them, newest first, with one more row if another page follows.';

create or replace function public.create_session(
  p_account_id uuid, p_organization_id uuid, p_artist_id uuid, p_title text, p_model_id text
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_session public.sessions;
  v_chat public.chats;
begin
  insert into public.sessions (account_id, organization_id, artist_id, title)
  values (p_account_id, p_organization_id, p_artist_id, p_title)
  returning * into v_session;
  insert into public.chats (session_id, account_id, model_id)
  values (v_session.id, p_account_id, p_model_id)
  returning * into v_chat;
  return jsonb_build_object('session', to_jsonb(v_session), 'chat', public.chat_row(v_chat));
end
$$;

create or replace function public.get_session(p_account_id uuid, p_session_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_session public.sessions;
begin
  select * into v_session from public.sessions
  where id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  -- Running turns of servers of the version before read sandboxState.
  return jsonb_build_object('session',
    to_jsonb(v_session) || jsonb_build_object('sandboxState', v_session.sandbox_state));
end
$$;

create or replace function public.list_sessions(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- Without a cursor a page starts after the greatest key: each page is one range scan.
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return to_jsonb(array(
    select to_jsonb(s)
    from public.sessions s
    where s.account_id = p_account_id and (s.created_at, s.id) < (v_after_at, v_after_id)
    order by s.created_at desc, s.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_sessions is 'One page of the sessions of an account, newest first, with one more row if another page follows.';

create or replace function public.update_session(p_account_id uuid, p_session_id uuid, p_title text) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_session public.sessions;
begin
  update public.sessions set title = p_title, updated_at = now()
  where id = p_session_id and account_id = p_account_id
  returning * into v_session;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  return jsonb_build_object('session', to_jsonb(v_session));
end
$$;

create or replace function public.delete_session(p_account_id uuid, p_session_id uuid) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_session public.sessions;
begin
  -- Chats before their session, as a turn locks them that starts now: the other order deadlocks.
  perform 1 from public.chats
  where session_id = p_session_id and account_id = p_account_id
  order by id
  for update;
  delete from public.sessions
  where id = p_session_id and account_id = p_account_id
  returning * into v_session;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  return jsonb_build_object('session', to_jsonb(v_session));
end
$$;

create function public.chat_row(p_chat public.chats) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_chat.id, 'session_id', p_chat.session_id, 'title', p_chat.title,
    'model_id', p_chat.model_id, 'active_stream_id', public.active_stream_id(p_chat),
    'created_at', p_chat.created_at, 'updated_at', p_chat.updated_at,
    'last_assistant_message_at', p_chat.last_assistant_message_at)
$$;
comment on function public.chat_row is 'The columns of a chat that its account sees; active_stream_id is null for a claim that is void. Inlined, hence no search_path.';

create or replace function public.create_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text,
  p_instructions text, p_template_id uuid
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
begin
  -- The lock keeps the session there until the chat is: a deletion waits and takes the chat too.
  perform 1 from public.sessions
  where id = p_session_id and account_id = p_account_id
  for key share;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('missing', 'template');
  end if;

  insert into public.chats (
    id, session_id, account_id, title, model_id, instructions, template_id)
  values (coalesce(p_chat_id, gen_random_uuid()), p_session_id, p_account_id, p_title, p_model_id,
    nullif(p_instructions, ''), p_template_id)
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

create or replace function public.get_chat(p_account_id uuid, p_session_id uuid, p_chat_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_chat public.chats;
begin
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('chat', public.chat_row(v_chat));
end
$$;

create or replace function public.list_chats(
  p_account_id uuid, p_session_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  perform from public.sessions where id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  return to_jsonb(array(
    select public.chat_row(c)
    from public.chats c
    where c.session_id = p_session_id and c.account_id = p_account_id
      and (c.created_at, c.id) < (v_after_at, v_after_id)
    order by c.created_at desc, c.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_chats is 'One page of the chats of a session, newest first, with one more row if another page follows; or {missing: session}.';

create or replace function public.list_account_chats(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid,
  p_artist_id uuid, p_archived boolean, p_pinned boolean, p_text text
) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return to_jsonb(array(
    select public.chat_row(c) || case when p_text is null then '{}'
      else jsonb_build_object('snippet', public.chat_snippet(c, p_text)) end
    from public.chats c
    where c.account_id = p_account_id and (c.created_at, c.id) < (v_after_at, v_after_id)
      and (p_archived is null or c.archived = p_archived)
      and (p_pinned is null or c.pinned = p_pinned)
      and (p_artist_id is null or c.session_id in (
        select s.id from public.sessions s
        where s.account_id = p_account_id and s.artist_id = p_artist_id))
      and (p_text is null or c.id in (
        select t.id from public.chats t
        where t.account_id = p_account_id and strpos(lower(t.title), lower(p_text)) > 0
        union
        select t.id from public.messages m
        join public.chats t on t.id = m.chat_id
        where t.account_id = p_account_id
          and public.search_of_parts(m.parts) @@ public.search_query(p_text)))
    order by c.created_at desc, c.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_account_chats is 'A page of an account''s chats, newest first, with one more row if another page follows. A filter that is null does not apply; with p_text each chat has a snippet.';

create or replace function public.update_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text,
  p_instructions text, p_template_id uuid, p_removes_template boolean,
  p_archived boolean, p_pinned boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
begin
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('missing', 'template');
  end if;
  update public.chats
  set title = coalesce(p_title, title),
    model_id = coalesce(p_model_id, model_id),
    instructions = nullif(coalesce(p_instructions, instructions), ''),
    template_id = case when not p_removes_template then coalesce(p_template_id, template_id) end,
    archived = coalesce(p_archived, archived),
    pinned = coalesce(p_pinned, pinned),
    updated_at = now()
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  returning * into v_chat;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('chat', public.chat_row(v_chat));
end
$$;

create or replace function public.delete_chat(p_account_id uuid, p_session_id uuid, p_chat_id uuid) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_chat public.chats;
begin
  delete from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  returning * into v_chat;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('chat', public.chat_row(v_chat));
end
$$;

create or replace function public.message_text(p_message public.messages) returns text
language sql stable as $$
  select concat_ws(chr(10),
    jsonb_build_object('id', p_message.id, 'role', p_message.role, 'created_at', p_message.created_at),
    p_message.parts, p_message.metadata)
$$;
comment on function public.message_text is 'A message as lines of JSON: {id, role, created_at}, the parts, and the metadata if it has any. Text, so that long parts are sent without being parsed. Inlined, hence no search_path.';

-- A slow reader holds one page, and no connection between two pages.
create or replace function public.get_chat_body_page(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_after_at timestamptz, p_after_id text,
  p_max_bytes bigint
) returns setof text
language sql stable set search_path = '' as $$
  with chat as (
    select c from public.chats c
    where c.id = p_chat_id and c.session_id = p_session_id and c.account_id = p_account_id
  ), following as (
    select m, m.created_at, m.id
    from public.messages m
    where m.chat_id = p_chat_id and m.on_path and exists (select from chat)
      and (p_after_at is null or (m.created_at, m.id) > (p_after_at, p_after_id))
    order by m.created_at, m.id
    limit 501
  ), sized as (
    -- The stored size of messages from before sizes were kept.
    select f.*, row_number() over in_order as place, count(*) over () as total,
      sum(greatest((f.m).bytes, pg_column_size((f.m).parts))) over in_order
        - greatest((f.m).bytes, pg_column_size((f.m).parts)) as bytes_before
    from following f
    window in_order as (order by f.created_at, f.id)
  ), page as (
    select * from sized where place <= 500 and (place = 1 or bytes_before < p_max_bytes)
  )
  select piece.answer from (
    select 0 as place, public.chat_row(chat.c)::text as answer from chat
    union all
    select page.place, public.message_text(page.m) from page
    union all
    select 502, 'more' from page having count(*) < max(page.total)
  ) piece
  order by piece.place
$$;
comment on function public.get_chat_body_page is 'A chat as JSON, and its messages from the one after (p_after_at, p_after_id) on, null for the first, each as message_text: at most 500, and not many more than p_max_bytes. The last text is "more" when others follow. No text when the chat is missing.';

create function public.branches_of_chat(p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(
    jsonb_build_object('message_id', place.message_id, 'sibling_ids', place.sibling_ids)
    order by place.first_at, place.message_id), '[]')
  from (
    select max(m.id) filter (where m.on_path) as message_id,
      jsonb_agg(m.id order by m.created_at, m.id) as sibling_ids,
      min(m.created_at) as first_at
    from (
      select l.id, l.created_at, l.on_path,
        coalesce(l.parent_id, lag(l.id) over (order by l.created_at, l.id), '') as follows
      from public.messages l where l.chat_id = p_chat_id
    ) m
    group by m.follows
    having count(*) > 1
  ) place
  where place.message_id is not null
$$;
comment on function public.branches_of_chat is 'The messages that a chat shows and that are not the only ones at their place: [{message_id, sibling_ids}], the latter with message_id and oldest first.';

create or replace function public.list_branches(p_account_id uuid, p_session_id uuid, p_chat_id uuid)
returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  perform 1 from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('branches', public.branches_of_chat(p_chat_id));
end
$$;
comment on function public.list_branches is '{branches} of branches_of_chat | {missing: session | chat}.';

create or replace function public.choose_branch(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_message_id text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
begin
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for update;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  perform 1 from public.messages where chat_id = p_chat_id and id = p_message_id;
  if not found then
    return jsonb_build_object('missing', 'message');
  end if;
  if public.active_stream_id(v_chat) is not null
    or exists (select from public.queued_turns q where q.chat_id = p_chat_id) then
    return jsonb_build_object('busy', true);
  end if;
  perform public.show_path(p_chat_id, p_message_id, true);
  return jsonb_build_object('branches', public.branches_of_chat(p_chat_id));
end
$$;
comment on function public.choose_branch is 'Shows the path through a message: {branches} of branches_of_chat | {busy: true} while a turn is active or waits | {missing: session | chat | message}.';

create or replace function public.export_branches(p_account_id uuid, p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'messages', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', m.id, 'parent_id', m.parent_id, 'role', m.role, 'parts', m.parts,
        'metadata', m.metadata, 'created_at', m.created_at)
        order by m.created_at, m.id), '[]')
      from public.messages m join public.chats c on c.id = m.chat_id
      where m.chat_id = p_chat_id and c.account_id = p_account_id and not m.on_path),
    'feedback', (
      select coalesce(jsonb_agg(to_jsonb(f) order by f.created_at, f.message_id), '[]')
      from public.message_feedback f
      where f.chat_id = p_chat_id and f.account_id = p_account_id),
    'choices', (
      select jsonb_strip_nulls(jsonb_build_object(
        'instructions', c.instructions, 'template_id', c.template_id, 'connectors', to_jsonb(n.connectors)))
      from public.chats c
      left join public.chat_connectors n on n.chat_id = c.id and n.account_id = c.account_id
      where c.id = p_chat_id and c.account_id = p_account_id))
$$;

create or replace function public.rate_message(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_message_id text,
  p_rating text, p_comment text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_feedback public.message_feedback;
begin
  -- The lock keeps the chat there until the rating is: a deletion waits and takes it too.
  perform 1 from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for key share;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  perform 1 from public.messages
  where chat_id = p_chat_id and id = p_message_id and role = 'assistant';
  if not found then
    return jsonb_build_object('missing', 'message');
  end if;
  if p_rating is null then
    delete from public.message_feedback
    where chat_id = p_chat_id and message_id = p_message_id and account_id = p_account_id;
    return jsonb_build_object('feedback', null);
  end if;
  insert into public.message_feedback (account_id, chat_id, message_id, rating, comment)
  values (p_account_id, p_chat_id, p_message_id, p_rating, p_comment)
  on conflict (chat_id, message_id)
  do update set rating = excluded.rating, comment = excluded.comment, updated_at = now()
  returning * into v_feedback;
  return jsonb_build_object('feedback', to_jsonb(v_feedback));
end
$$;

create or replace function public.list_feedback(p_account_id uuid, p_session_id uuid, p_chat_id uuid)
returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  perform 1 from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('feedback', (
    select coalesce(jsonb_agg(to_jsonb(f) order by f.created_at, f.message_id), '[]')
    from public.message_feedback f
    where f.chat_id = p_chat_id and f.account_id = p_account_id));
end
$$;

create or replace function public.share_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_messages jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
  v_share public.chat_shares;
begin
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for key share;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  insert into public.chat_shares (account_id, chat_id, title, message_count)
  values (p_account_id, p_chat_id, v_chat.title, jsonb_array_length(p_messages))
  on conflict (chat_id) do update
  set title = excluded.title, message_count = excluded.message_count, updated_at = now()
  returning * into v_share;
  delete from public.shared_messages where share_id = v_share.id;
  insert into public.shared_messages (share_id, position, account_id, role, parts)
  select v_share.id, m.place - 1, p_account_id, m.message ->> 'role', m.message -> 'parts'
  from jsonb_array_elements(p_messages) with ordinality m (message, place);
  return jsonb_build_object('share', to_jsonb(v_share));
end
$$;

create or replace function public.get_chat_share(p_account_id uuid, p_session_id uuid, p_chat_id uuid)
returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  perform 1 from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('share', (
    select to_jsonb(s) from public.chat_shares s
    where s.chat_id = p_chat_id and s.account_id = p_account_id));
end
$$;

create or replace function public.list_chat_shares(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return to_jsonb(array(
    select to_jsonb(s)
    from public.chat_shares s
    where s.account_id = p_account_id and (s.created_at, s.id) < (v_after_at, v_after_id)
    order by s.created_at desc, s.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_chat_shares is 'A page of an account''s shares, newest first, with one more row if another page follows.';

create or replace function public.read_chat_share(p_share_id uuid, p_from integer, p_limit integer)
returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'share', to_jsonb(s),
    'messages', coalesce((
      select jsonb_agg(
        jsonb_build_object('role', m.role, 'parts', m.parts) order by m.position)
      from public.shared_messages m
      where m.share_id = s.id and m.position >= p_from and m.position < p_from + p_limit), '[]'))
  from public.chat_shares s where s.id = p_share_id
$$;

-- One query for all ids, with nothing that is planned again for each row.
create function public.agent_template_rows(p_account_id uuid, p_ids uuid[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(
      to_jsonb(t) || jsonb_build_object(
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

create or replace function public.found_agent_template(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'template', public.agent_template_rows(p_account_id, array[p_id]) -> 0)
$$;

create or replace function public.list_agent_templates(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_email constant text := (select a.email from public.accounts a where a.id = p_account_id);
  v_ids uuid[];
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
  )
  select array_agg(page.id) into v_ids
  from (select v.id from visible v order by v.created_at desc, v.id desc limit p_limit + 1) page;
  return public.agent_template_rows(p_account_id, v_ids);
end
$$;
comment on function public.list_agent_templates is 'One page of the templates that an account sees, newest first, with one more row if another page follows. Own, public and shared templates each come from their own index, so the cost of a page does not grow with the table.';

create or replace function public.list_queued_messages(p_account_id uuid, p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select case when c.id is null then jsonb_build_object('refused', 'chat')
    else jsonb_build_object('messages', (
      select coalesce(
        jsonb_agg(
          jsonb_build_object('id', q.message_id, 'parts', (q.claim).parts,
            'created_at', q.created_at)
          order by q.goes_first desc, case when q.goes_first then -q.position else q.position end),
        '[]')
      from public.queued_turns q
      where q.chat_id = c.id and q.account_id = c.account_id and q.begun_at is null)) end
  from (select 1) one
  left join public.chats c on c.id = p_chat_id and c.account_id = p_account_id
$$;

create function public.run_row(p_turn public.turns) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_turn.id, 'run_id', p_turn.run_id, 'kind', p_turn.kind, 'status', p_turn.status,
    'error', p_turn.error, 'session_id', p_turn.session_id, 'chat_id', p_turn.chat_id,
    'artist_id', p_turn.artist_id, 'model_id', p_turn.model_id,
    'created_at', p_turn.created_at, 'finished_at', p_turn.finished_at)
$$;
comment on function public.run_row is 'The columns of a turn that its account sees as a run. Inlined, hence no search_path.';

create function public.run_with_usage(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select public.run_row(p_turn) || jsonb_build_object(
    'title', (select c.title from public.chats c where c.id = p_turn.chat_id),
    'input_tokens', coalesce(sum(u.input), 0),
    'output_tokens', coalesce(sum(u.output), 0),
    'cost_usd', public.summed_cost(count(*), count(*) filter (where u.cost is null), sum(u.cost)),
    'unpriced_calls', count(*) filter (where u.cost is null))
  from (
    select least(greatest(e.input_tokens, 0), 100000000) as input,
      least(greatest(e.output_tokens, 0), 100000000) as output,
      case when e.cost_usd between 0 and 1000000 then e.cost_usd end as cost
    from public.usage_entries e
    where e.account_id = p_turn.account_id and e.source = p_turn.id::text) u
$$;
comment on function public.run_with_usage is 'A run_row with the title of its chat and the sums of its model calls.';

create or replace function public.get_run(p_account_id uuid, p_run_id text) returns jsonb
language sql stable set search_path = '' as $$
  select public.run_row(t) from public.turns t
  where t.run_id = p_run_id and t.account_id = p_account_id
$$;
comment on function public.get_run is 'A run of the account as run_row; null when it has no such run.';

create or replace function public.list_runs(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid,
  p_status text, p_kind text, p_chat_id uuid, p_artist_id uuid, p_since timestamptz
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_page jsonb;
begin
  -- Planned for the given filters, each of which has its index.
  execute $query$
    select to_jsonb(array(
      select public.run_with_usage(t)
      from public.turns t
      where t.account_id = $1 and t.run_id is not null
        and (t.created_at, t.id) < ($3, $4)
        and ($5 is null or t.status = $5)
        and ($6 is null or t.kind = $6)
        and ($7 is null or t.chat_id = $7)
        and ($8 is null or t.artist_id = $8)
        and ($9 is null or t.created_at >= $9)
      order by t.created_at desc, t.id desc
      limit $2 + 1))
  $query$ into v_page using p_account_id, p_limit,
    coalesce(p_after_at, 'infinity'), coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
    p_status, p_kind, p_chat_id, p_artist_id, p_since;
  return v_page;
end
$$;
comment on function public.list_runs is 'Runs of an account, newest first, of a status, a kind, a chat, an artist and since a time where these are given: a page of run_with_usage, with one more row if another page follows.';

create function public.run_steps(p_turn_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'index', s.index,
    'started_at', s.result #> '{trace,startedAt}',
    'finished_at', s.result #> '{trace,finishedAt}',
    'model_id', coalesce(s.result #>> '{trace,modelId}', t.model_id),
    'finish_reason', s.result ->> 'finishReason',
    'usage', jsonb_build_object(
      'input_tokens', coalesce(s.result #> '{usage,inputTokens}', '0'),
      'output_tokens', coalesce(s.result #> '{usage,outputTokens}', '0'),
      'total_tokens', coalesce(s.result #> '{usage,totalTokens}', '0')),
    'cost_usd', s.result #> '{trace,costUsd}',
    'attempts', coalesce(s.result #> '{trace,attempts}', '1'),
    'tool_calls', (
      -- A call is recorded by the next step, under its index.
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', left(c.value ->> 'id', 200),
        'name', left(c.value ->> 'name', 100),
        'state', case
          when r.turn_id is null then 'pending'
          when not r.finished then 'running'
          when r.output #> '{value,error}' is not null then 'failed'
          else 'completed' end,
        'started_at', r.started_at,
        'finished_at', r.finished_at,
        'error', left(r.output #>> '{value,error}', 500)) order by c.ordinality), '[]')
      from jsonb_array_elements(coalesce(s.result -> 'calls', '[]')) with ordinality as c
      left join public.tool_runs r
        on r.turn_id = s.turn_id and r.tool_call_id = (s.index + 1) || ' ' || (c.value ->> 'id'))
    ) order by s.index), '[]')
  from public.turn_steps s join public.turns t on t.id = s.turn_id
  where s.turn_id = p_turn_id
$$;
comment on function public.run_steps is 'The steps of a running turn, as its trace stores them.';

create or replace function public.keep_run_trace() returns trigger
language plpgsql set search_path = '' as $$
begin
  insert into public.run_traces (turn_id, account_id, steps)
  select new.id, new.account_id, public.run_steps(new.id)
  where exists (select from public.turn_steps where turn_id = new.id)
  on conflict do nothing;
  return null;
end
$$;

create or replace function public.get_run_trace(p_account_id uuid, p_run_id text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'run', public.run_with_usage(t) || jsonb_build_object(
      'prompt', (
        select left(public.words_of_parts(m.parts), 10000) from public.messages m
        where m.chat_id = t.chat_id and m.id = t.message_id and m.role = 'user')),
    'steps', coalesce(
      (select r.steps from public.run_traces r where r.turn_id = t.id),
      public.run_steps(t.id)))
  from public.turns t
  where t.run_id = p_run_id and t.account_id = p_account_id
$$;

create function public.task_run_row(p_run public.task_runs) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_run.id, 'status', p_run.status, 'task_identifier', p_run.task_identifier,
    'created_at', p_run.created_at, 'updated_at', p_run.updated_at,
    'idempotency_key', p_run.idempotency_key, 'version', p_run.version, 'is_test', p_run.is_test,
    'started_at', p_run.started_at, 'finished_at', p_run.finished_at,
    'delayed_until', p_run.delayed_until, 'expired_at', p_run.expired_at, 'ttl', p_run.ttl,
    'cost_in_cents', p_run.cost_in_cents, 'base_cost_in_cents', p_run.base_cost_in_cents,
    'duration_ms', p_run.duration_ms, 'depth', p_run.depth, 'batch_id', p_run.batch_id,
    'trigger_function', p_run.trigger_function, 'artist_id', p_run.artist_id, 'tags', p_run.tags,
    'metadata', p_run.metadata, 'env', p_run.env, 'attempts', p_run.attempts,
    'related_runs', p_run.related_runs, 'payload', p_run.payload, 'schedule', p_run.schedule)
$$;
comment on function public.task_run_row is 'The columns of a task run that its account sees, without output and error. Inlined, hence no search_path.';

create or replace function public.list_task_runs(p_account_id uuid, p_limit integer) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  perform public.crash_lost_task_runs(p_account_id);
  return (
    select coalesce(
      jsonb_agg(public.task_run_row(r) order by r.created_at desc, r.id desc), '[]')
    from (
      select * from public.task_runs
      where account_id = p_account_id
      order by created_at desc, id desc
      limit p_limit
    ) r);
end
$$;

create or replace function public.list_artist_task_runs(p_account_id uuid, p_artist_id uuid, p_limit integer)
returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  perform public.crash_lost_task_runs(p_account_id);
  return (
    select coalesce(
      jsonb_agg(public.task_run_row(r) order by r.created_at desc, r.id desc), '[]')
    from (
      select * from public.task_runs
      where account_id = p_account_id and artist_id = p_artist_id
      order by created_at desc, id desc
      limit p_limit
    ) r);
end
$$;

create or replace function public.get_task_run(p_account_id uuid, p_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  perform public.crash_lost_task_runs(p_account_id);
  -- Generations of servers of the version before read the camel case, and nothing that is null.
  return (
    select jsonb_object_agg(c.key, c.value) filter (where c.value <> 'null' or c.key = 'artist_id')
    from public.task_runs r, jsonb_each(public.task_run_row(r) || jsonb_build_object(
      'output', r.output, 'error', r.error, 'taskIdentifier', r.task_identifier,
      'createdAt', public.iso_date(r.created_at), 'updatedAt', public.iso_date(r.updated_at))) c
    where r.id = p_id and r.account_id = p_account_id);
end
$$;
comment on function public.get_task_run is 'One run of an account as task_run_row, with output and error; null when the account has no such run.';

create function public.task_row(p_task public.scheduled_prompts) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(p_task) || jsonb_build_object('last_run', (
    select public.firing_row(f)
    from public.scheduled_firings f
    where f.task_id = p_task.id
    order by f.created_at desc limit 1))
$$;
comment on function public.task_row is 'A scheduled prompt with the firing_row of its last run.';

create or replace function public.create_task(
  p_account_id uuid, p_id uuid, p_title text, p_prompt text, p_template_id uuid, p_artist_id uuid,
  p_model_id text, p_schedule text, p_timezone text, p_next_run_at timestamptz, p_max_tasks integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_task public.scheduled_prompts;
begin
  -- One at a time for each account, because the count must not change.
  perform pg_advisory_xact_lock(hashtextextended('tasks ' || p_account_id, 0));
  select * into v_task from public.scheduled_prompts
  where id = p_id and account_id = p_account_id;
  if found then
    return jsonb_build_object('task', public.task_row(v_task));
  end if;
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('refused', 'template');
  end if;
  if p_max_tasks <= (
    select count(*) from public.scheduled_prompts where account_id = p_account_id)
  then
    return jsonb_build_object('refused', 'full');
  end if;
  insert into public.scheduled_prompts (id, account_id, title, prompt, template_id, artist_id,
    model_id, schedule, timezone, enabled, next_run_at)
  values (p_id, p_account_id, p_title, p_prompt, p_template_id, p_artist_id,
    p_model_id, p_schedule, p_timezone, p_next_run_at is not null, p_next_run_at)
  returning * into v_task;
  return jsonb_build_object('task', public.task_row(v_task));
end
$$;

create or replace function public.list_tasks(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(array(
    select public.task_row(t)
    from public.scheduled_prompts t
    where t.account_id = p_account_id and (t.created_at, t.id) < (
      coalesce(p_after_at, 'infinity'),
      coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by t.created_at desc, t.id desc
    limit p_limit + 1))
$$;
comment on function public.list_tasks is 'One page of the account''s scheduled prompts, newest first, with one more row if another page follows.';

create or replace function public.get_task(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(
    (select jsonb_build_object('task', public.task_row(t)) from public.scheduled_prompts t
      where t.id = p_id and t.account_id = p_account_id),
    jsonb_build_object('refused', 'missing'))
$$;

create or replace function public.update_task(
  p_account_id uuid, p_id uuid, p_title text, p_prompt text, p_template_id uuid, p_artist_id uuid,
  p_model_id text, p_schedule text, p_timezone text, p_clear text[],
  p_reschedules boolean, p_next_run_at timestamptz, p_expected_updated_at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_task public.scheduled_prompts;
begin
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('refused', 'template');
  end if;
  update public.scheduled_prompts
  set title = coalesce(p_title, title),
    prompt = coalesce(p_prompt, prompt),
    template_id = case when not 'template_id' = any (p_clear)
      then coalesce(p_template_id, template_id) end,
    artist_id = case when not 'artist_id' = any (p_clear) then coalesce(p_artist_id, artist_id) end,
    model_id = case when not 'model' = any (p_clear) then coalesce(p_model_id, model_id) end,
    schedule = coalesce(p_schedule, schedule),
    timezone = coalesce(p_timezone, timezone),
    enabled = case when p_reschedules then p_next_run_at is not null else enabled end,
    next_run_at = case when p_reschedules then p_next_run_at else next_run_at end,
    updated_at = clock_timestamp()
  where id = p_id and account_id = p_account_id
    and date_trunc('milliseconds', updated_at) = p_expected_updated_at
  returning * into v_task;
  if found then
    return jsonb_build_object('task', public.task_row(v_task));
  end if;
  return case when public.get_task(p_account_id, p_id) ? 'task'
    then jsonb_build_object('refused', 'changed')
    else jsonb_build_object('refused', 'missing') end;
end
$$;

create function public.firing_row(p_firing public.scheduled_firings) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(p_firing) || jsonb_build_object(
    'run_status', r.status, 'run_error', left(r.error ->> 'message', 500),
    'run_created_at', r.created_at, 'run_finished_at', r.finished_at)
  from public.task_runs r where r.id = p_firing.task_run_id
$$;
comment on function public.firing_row is 'A firing with the state of its task run.';

create or replace function public.list_task_firings(
  p_account_id uuid, p_task_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select case
    when not exists (
      select from public.scheduled_prompts t where t.id = p_task_id and t.account_id = p_account_id)
    then jsonb_build_object('refused', 'missing')
    else to_jsonb(array(
      select public.firing_row(f)
      from public.scheduled_firings f
      where f.task_id = p_task_id
        and (f.created_at, f.id) < (coalesce(p_after_at, 'infinity'),
          coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
      order by f.created_at desc, f.id desc
      limit p_limit + 1))
    end
$$;
comment on function public.list_task_firings is 'A page of the runs of an account''s scheduled prompt, newest first, with one more row if another page follows; or {refused: missing}.';

create function public.webhook_row(p_webhook public.webhooks) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_webhook.id, 'url', p_webhook.url, 'events', p_webhook.events,
    'enabled', p_webhook.enabled, 'disabled_reason', p_webhook.disabled_reason,
    'failing_since', p_webhook.failing_since,
    'previous_secret_until', case when p_webhook.previous_secret_until > now()
      then p_webhook.previous_secret_until end,
    'created_at', p_webhook.created_at, 'updated_at', p_webhook.updated_at)
$$;
comment on function public.webhook_row is 'The columns of a webhook without its secrets. previous_secret_until is null once it has passed. Inlined, hence no search_path.';

create or replace function public.create_webhook(
  p_account_id uuid, p_id uuid, p_url text, p_events text[], p_enabled boolean, p_secret text,
  p_max integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_webhook public.webhooks;
begin
  -- Two requests at once cannot pass the limit together.
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261160));
  if (select count(*) from public.webhooks where account_id = p_account_id) >= p_max then
    return jsonb_build_object('refused', 'full');
  end if;
  insert into public.webhooks (id, account_id, url, events, enabled, secret)
  values (p_id, p_account_id, p_url, p_events, p_enabled, p_secret)
  on conflict (account_id, url) do nothing
  returning * into v_webhook;
  if not found then
    return jsonb_build_object('refused', 'taken');
  end if;
  return jsonb_build_object('webhook', public.webhook_row(v_webhook));
end
$$;

create or replace function public.list_webhooks(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select to_jsonb(array(
    select public.webhook_row(w)
    from public.webhooks w
    where w.account_id = p_account_id
      and (w.created_at, w.id) < (coalesce(p_after_at, 'infinity'),
        coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by w.created_at desc, w.id desc
    limit p_limit + 1))
$$;
comment on function public.list_webhooks is 'A page of an account''s webhooks, newest first, with one more row if another page follows.';

create or replace function public.get_webhook(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(
    (select jsonb_build_object('webhook', public.webhook_row(w)) from public.webhooks w
      where w.id = p_id and w.account_id = p_account_id),
    jsonb_build_object('refused', 'missing'))
$$;

create or replace function public.update_webhook(
  p_account_id uuid, p_id uuid, p_url text, p_events text[], p_enabled boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_webhook public.webhooks;
begin
  update public.webhooks set
    url = coalesce(p_url, url),
    events = coalesce(p_events, events),
    enabled = coalesce(p_enabled, enabled),
    disabled_reason = case when p_enabled is null then disabled_reason end,
    failing_since = case when p_enabled is null then failing_since end,
    updated_at = now()
  where id = p_id and account_id = p_account_id
  returning * into v_webhook;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  if p_url is not null then
    update public.webhook_deliveries set url = p_url
    where webhook_id = p_id and due_at is not null and url <> p_url;
  end if;
  if not v_webhook.enabled then
    perform public.drop_webhook_deliveries(p_id);
  end if;
  return jsonb_build_object('webhook', public.webhook_row(v_webhook));
exception when unique_violation then
  return jsonb_build_object('refused', 'taken');
end
$$;

create or replace function public.rotate_webhook_secret(p_account_id uuid, p_id uuid, p_secret text)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_webhook public.webhooks;
begin
  update public.webhooks set
    previous_secret = secret,
    previous_secret_until = now() + interval '24 hours',
    secret = p_secret,
    updated_at = now()
  where id = p_id and account_id = p_account_id
  returning * into v_webhook;
  return case when found then jsonb_build_object('webhook', public.webhook_row(v_webhook))
    else jsonb_build_object('refused', 'missing') end;
end
$$;

create or replace function public.list_webhook_deliveries(
  p_account_id uuid, p_webhook_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language sql stable set search_path = '' as $$
  select case
    when not exists (
      select from public.webhooks w where w.id = p_webhook_id and w.account_id = p_account_id)
    then jsonb_build_object('refused', 'missing')
    else to_jsonb(array(
      select to_jsonb(d)
      from public.webhook_deliveries d
      where d.webhook_id = p_webhook_id
        and (d.created_at, d.id) < (coalesce(p_after_at, 'infinity'),
          coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
      order by d.created_at desc, d.id desc
      limit p_limit + 1))
    end
$$;
comment on function public.list_webhook_deliveries is 'A page of the deliveries of an account''s webhook, newest first, with one more row if another page follows; or {refused: missing}.';

create or replace function public.test_webhook(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_delivery public.webhook_deliveries;
begin
  insert into public.webhook_deliveries
    (account_id, webhook_id, url, event_type, data, retry_until)
  select w.account_id, w.id, w.url, 'webhook.test', jsonb_build_object('webhook_id', w.id), now()
  from public.webhooks w where w.id = p_id and w.account_id = p_account_id
  returning * into v_delivery;
  return case when found
    then jsonb_build_object('delivery', to_jsonb(v_delivery))
    else jsonb_build_object('refused', 'missing') end;
end
$$;

create or replace function public.redeliver_webhook(p_account_id uuid, p_webhook_id uuid, p_id uuid)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_delivery public.webhook_deliveries;
begin
  update public.webhook_deliveries d set
    status = 'pending',
    -- An attempt under way is not doubled.
    due_at = case when d.lease_id is null then now() else d.due_at end,
    url = w.url,
    attempts = 0,
    retry_until = now() + interval '24 hours',
    finished_at = null
  from public.webhooks w
  where d.id = p_id and d.webhook_id = p_webhook_id
    and w.id = d.webhook_id and w.account_id = p_account_id
  returning d.* into v_delivery;
  return case when found
    then jsonb_build_object('delivery', to_jsonb(v_delivery))
    else jsonb_build_object('refused', 'missing') end;
end
$$;

create or replace function public.list_requests(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid,
  p_status_class integer, p_route text, p_credential text, p_api_key_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_page jsonb;
begin
  -- Planned for the given filters, each of which has its index.
  execute $query$
    select to_jsonb(array(
      select to_jsonb(r)
      from public.requests r
      where r.account_id = $1
        and (r.created_at, r.id) < ($3, $4)
        and ($5 is null or r.status / 100 = $5 and (r.status >= 400 or $5 < 4))
        and ($6 is null or r.route = $6)
        and ($7 is null or r.credential = $7)
        and ($8 is null or r.api_key_id = $8)
      order by r.created_at desc, r.id desc
      limit $2 + 1))
  $query$ into v_page using p_account_id, p_limit,
    coalesce(p_after_at, 'infinity'), coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
    p_status_class, p_route, p_credential, p_api_key_id;
  return v_page;
end
$$;
comment on function public.list_requests is 'Requests of an account, newest first, of a class of statuses (4 for 4xx), a route, a kind of credential and an API key where these are given: a page, with one more row if another page follows.';

drop function public.duration_ms(timestamptz, timestamptz);
drop function public.page_cursor(timestamptz, uuid);
drop function public.page_json(text, public.page_row[], integer);
drop function public.organization_json(public.accounts, text);
drop function public.invitation_json(public.organization_invitations);
drop function public.artist_json(uuid, public.accounts);
drop function public.session_json(public.sessions);
drop function public.chat_json(public.chats);
drop function public.chat_body_start(public.chats);
drop function public.branches_json(uuid);
drop function public.feedback_json(public.message_feedback);
drop function public.chat_share_json(public.chat_shares);
drop function public.agent_templates_json(uuid, uuid[]);
drop function public.run_json(public.turns);
drop function public.run_item_json(public.turns);
drop function public.tool_call_json(jsonb, public.tool_runs);
drop function public.run_steps_json(uuid);
drop function public.task_run_json(public.task_runs);
drop function public.task_json(public.scheduled_prompts);
drop function public.firing_run_json(public.scheduled_firings);
drop function public.webhook_json(public.webhooks);
drop function public.webhook_delivery_json(public.webhook_deliveries);
drop type public.page_row;
