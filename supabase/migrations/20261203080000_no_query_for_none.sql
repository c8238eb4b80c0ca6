-- PostgreSQL plans a query for a null anew with each call, because such a plan is cheaper than the one it keeps.

create or replace function public.active_turn(p_chat public.chats) returns public.turns
language plpgsql stable set search_path = '' as $$
begin
  if p_chat.active_stream_id is null then
    return null;
  end if;
  return (
    select t from public.turns t
    where t.chat_id = p_chat.id
      and (t.run_id = p_chat.active_stream_id or 'pending:' || t.id = p_chat.active_stream_id));
end
$$;

create or replace function public.applied_template_version(
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
