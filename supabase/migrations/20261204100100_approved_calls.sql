-- A call makes one request that needs an approval, and words of strangers in answers of the API mark its turn.

create function public.meet_rows(
  p_account_id uuid, p_turn_id uuid, p_kind text, p_rows jsonb, p_artist_id uuid default null
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_keys constant text[] := array(select r.value ->> 'key' from jsonb_array_elements(p_rows) r);
  v_ids constant uuid[] := array(
    select k::uuid from unnest(v_keys) k
    where p_kind in ('chats', 'templates') and k ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$');
  v_sources jsonb;
begin
  case p_kind
    when 'chats' then
      select jsonb_agg(distinct u.value) into v_sources
      from public.sessions s, jsonb_array_elements(s.untrusted) u
      where s.account_id = p_account_id and s.id in (
        select unnest(v_ids)
        union select c.session_id from public.chats c where c.id = any (v_ids)
        union select t.session_id from public.turns t where t.run_id = any (v_keys));
    when 'templates' then
      select jsonb_agg(jsonb_build_object('kind', 'template', 'name', t.title) order by t.id)
      into v_sources
      from public.agent_templates t
      where t.id = any (v_ids) and (t.account_id <> p_account_id or t.untrusted);
    when 'skills' then
      select jsonb_agg(distinct jsonb_build_object('kind', 'skill', 'name', k.name))
      into v_sources
      from public.known_skills(p_account_id) k
      join public.skill_versions v on v.skill_id = k.id
      where k.name = any (v_keys)
        and (v.origin is not null or v.author_id is distinct from p_account_id);
    when 'workspace' then
      select jsonb_agg(distinct jsonb_build_object('kind', 'workspace', 'name', f.path))
      into v_sources
      from jsonb_to_recordset(p_rows) r (key text, version integer)
      join public.workspace_files f
        on f.workspace_id = coalesce(p_artist_id, p_account_id) and f.path = r.key
      join public.workspace_versions v
        on v.file_id = f.id and v.number = coalesce(r.version, f.version)
      where v.untrusted or v.account_id is distinct from p_account_id;
  end case;
  if v_sources is not null then
    perform public.mark_turn_untrusted(p_account_id, p_turn_id, v_sources);
  end if;
end
$$;
comment on function public.meet_rows is 'Records the untrusted content of rows that a turn has read through the API, [{key, version}]: chats by the ids of sessions, chats and runs, templates by id, skills by name, or files of the workspace by path and version. Rows of the account itself, from trusted turns, add nothing.';

create function public.use_approved_call(p_account_id uuid, p_turn_id uuid, p_call_id text)
returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  update public.tool_runs r set approval_used = true
  from public.turns t
  where r.turn_id = p_turn_id and r.tool_call_id = p_call_id and not r.approval_used
    and not r.finished and t.id = r.turn_id and t.account_id = p_account_id;
  return found;
end
$$;
comment on function public.use_approved_call is 'Lets a call of a turn make its one request to this service that needs an approval; false if it has made it, or has ended.';

alter table public.tool_runs add column approval_used boolean not null default false;
comment on column public.tool_runs.approval_used is 'Whether the call has made its request to this service that needed an approval.';
