-- The end of an account, and what it can take along before.

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
  -- Locked in the order of their ids, so that two accounts that leave at once do not deadlock.
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
comment on function public.leave_organizations(uuid, text) is
  'Takes a person who confirms the address out of all organizations: null, or {refused: not_personal | mismatch | last_owner}.';

create function public.delete_account(p_account_id uuid, p_email text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- Once more: the account may have joined an organization since.
  v_refusal constant jsonb := public.leave_organizations(p_account_id, p_email);
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  delete from public.organization_invitations where email = p_email;
  delete from public.signup_codes where email = p_email;
  -- Chats before their sessions and account, as a turn locks them that starts now.
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
  return jsonb_build_object('done', true);
end
$$;
comment on function public.delete_account(uuid, text) is
  'Deletes a person''s account with all that it owns: {done}, or as leave_organizations.';

create function public.media_removals_of(p_account_id uuid, p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('accountId', r.account_id, 'name', r.name)), '[]')
  from (
    select account_id, name from public.media_removals
    where account_id = p_account_id and removed_at is null
    limit p_batch
  ) r
$$;
comment on function public.media_removals_of(uuid, integer) is
  'Files of an account, which may be deleted, that the storage is still to remove.';

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
      v_items := public.agent_templates_json(p_account_id, v_ids::uuid[]);
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
comment on function public.export_rows(uuid, text, text, integer) is
  'A part of what the account owns (templates, task_runs, turns, media) after the id p_after: {items, next}; next is null at the end. Without secrets.';
