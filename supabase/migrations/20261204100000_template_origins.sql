-- A template that a run has created from untrusted content is untrusted, like the files that it has written.

drop function public.create_agent_template(
  uuid, uuid, text, text, text, text[], boolean, text[], jsonb);

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

create or replace function public.sources_of_turn(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_sources jsonb := p_turn.untrusted;
begin
  return public.with_sources(v_sources, (
    select s.untrusted || coalesce((
        select jsonb_build_array(jsonb_build_object('kind', 'template', 'name', t.title))
        from public.chats c
        join public.agent_templates t on t.id = c.template_id
          and (t.account_id <> c.account_id or t.untrusted)
        where c.id = p_turn.chat_id and public.can_see_agent_template(c.account_id, t)), '[]')
      || coalesce((
        select '[{"kind": "memory", "name": "MEMORY.md"}]'::jsonb
        from public.workspace_files f
        join public.workspace_versions v on v.file_id = f.id and v.number = f.version
        where f.workspace_id = coalesce(p_turn.artist_id, p_turn.account_id)
          and f.path = 'MEMORY.md'
          and (v.untrusted or v.account_id is distinct from p_turn.account_id)
          and p_turn.options ->> 'workspace' is distinct from 'off'), '[]')
      || coalesce((
        select jsonb_agg(jsonb_build_object('kind', 'skill', 'name', k.value -> 'name'))
        from jsonb_array_elements(p_turn.skills -> 'loaded') k
        where public.is_foreign_skill(p_turn.account_id, k.value ->> 'name')), '[]')
      || coalesce((
        select jsonb_agg(distinct jsonb_build_object('kind', 'mcp', 'name', m.value -> 'server'))
        from jsonb_array_elements(p_turn.mcp_tools) m), '[]')
    from public.sessions s where s.id = p_turn.session_id));
end
$$;
comment on function public.sources_of_turn is 'The untrusted content of a turn: that which it has met, and at its start that of the earlier turns of its session, a template or skill of another account or from untrusted content, the descriptions of MCP servers'' tools, and a memory that another account has written, or a run from untrusted content.';

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
        where f.workspace_id = v_owner and f.content_id is not null
          and (v.untrusted or v.account_id is distinct from p_account_id)
        order by f.path limit 20) u),
    'is_dirty', coalesce(v_known.is_dirty, false),
    'is_current',
      coalesce(v_known.workspace_id = v_owner and v_known.sandbox = p_sandbox, true)
      and not coalesce(v_known.is_dirty, false)
      and coalesce(v_revision, 0) <= coalesce(v_known.revision, 0));
end
$$;
comment on function public.begin_workspace_use is 'Notes that a turn is about to change files of its sandbox (p_writes), and returns whether the sandbox has all files of the workspace, and none that is to be stored: {is_current, is_dirty, untrusted} | {refused: missing}. untrusted has the files that another account has written, or a run from untrusted content, as sources of the turn, 20 at most. is_dirty, an earlier turn may have left changes.';

alter table public.agent_templates add column untrusted boolean not null default false;
comment on column public.agent_templates.untrusted is 'Whether the run that has created it had met untrusted content.';
