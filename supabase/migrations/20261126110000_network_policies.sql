-- The network policies of accounts, templates, chats and runs.
alter table public.accounts add column network jsonb;
comment on column public.accounts.network is 'Which hosts the agents of the account may reach, as of networkPolicy in lib/contract/network-policy.ts; null for every host.';

drop function public.update_account(uuid, text, text, numeric, boolean, text, text[]);

create or replace function public.get_account(p_account_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'account', jsonb_build_object(
      'id', a.id, 'kind', a.kind, 'email', a.email, 'name', a.name, 'image', a.image,
      'monthly_budget_usd', a.monthly_budget_usd,
      'allow_unpriced_models', a.allow_unpriced_models,
      'network', a.network, 'timezone', a.timezone, 'created_at', a.created_at),
    'organizations', coalesce((
      select jsonb_agg(public.organization_row(o, m.role)
        order by o.created_at desc, o.id desc)
      from public.organization_accounts m
      join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
      where m.account_id = a.id), '[]'))
  from public.accounts a where a.id = p_account_id
$$;
comment on function public.get_account is 'The account as its owner sees it, with its organizations: {account, organizations}.';

create or replace function public.update_account(
  p_account_id uuid, p_name text, p_image text, p_monthly_budget_usd numeric,
  p_allow_unpriced_models boolean, p_timezone text, p_clear text[], p_network jsonb default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update public.accounts a
  set name = coalesce(p_name, a.name),
    image = case when 'image' = any (p_clear) then null else coalesce(p_image, a.image) end,
    monthly_budget_usd = case when 'monthly_budget_usd' = any (p_clear) then null
      else coalesce(p_monthly_budget_usd, a.monthly_budget_usd) end,
    allow_unpriced_models = coalesce(p_allow_unpriced_models, a.allow_unpriced_models),
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

create or replace function public.authenticate_key(
  p_hash text,
  p_account_id uuid default null,
  p_organization_id uuid default null,
  p_artist_id uuid default null,
  p_address text default null,
  p_address_limit integer default 0,
  p_account_limit integer default 0
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_key public.api_keys;
  v_turn public.turns;
  v_rate jsonb;
begin
  if p_address is not null and p_address_limit > 0 then
    v_rate := public.take_from_bucket('address:' || p_address, p_address_limit);
    if v_rate ->> 'retry_after' is not null then
      return jsonb_build_object('outcome', 'limited', 'by', 'address', 'rate', v_rate);
    end if;
  end if;

  select * into v_key from public.api_keys
  where hash = p_hash
    and (revoked_at is null or revoked_at > now())
    and (expires_at is null or expires_at > now());
  if not found then
    return jsonb_build_object('outcome', 'unknown');
  end if;
  if v_key.scope = 'run' then
    select * into v_turn from public.turns t
    where t.key_id = v_key.id and t.account_id = v_key.account_id
      and t.finished_at is null and t.stop_requested_at is null and public.has_turn_authority(t);
    if not found then
      return jsonb_build_object('outcome', 'unknown');
    end if;
  end if;

  -- At most one write a minute; a caller that finds the row locked skips it.
  if v_key.last_used_at is null or v_key.last_used_at < now() - interval '1 minute' then
    update public.api_keys set last_used_at = now()
    where id in (
      select id from public.api_keys
      where id = v_key.id and (last_used_at is null or last_used_at < now() - interval '1 minute')
      for update skip locked
    );
  end if;

  return jsonb_build_object('key_id', v_key.id, 'scope', v_key.scope,
      'session_id', v_turn.session_id, 'chat_id', v_turn.chat_id,
      'run_id', coalesce(v_turn.run_id, v_turn.id::text), 'artist_id', v_turn.artist_id,
      'workspace', coalesce(v_turn.options ->> 'workspace', 'write'),
      'network', coalesce(v_turn.options -> 'network_policies', '[]'))
    || public.admit_account(v_key.account_id, v_key.scope = 'full',
      p_account_id, p_organization_id, p_artist_id, p_account_limit);
end
$$;
comment on function public.authenticate_key is 'Authenticates a key, with its limits and access. A run''s key is valid while its turn is active.';

create or replace function public.chat_options(p_account_id uuid, p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_strip_nulls(
    case when t.account_id = p_account_id then t.options
      else jsonb_build_object('skills', t.options -> 'skills') end || c.options
    || jsonb_build_object('limits',
      public.narrowest_limits(array[t.options -> 'limits', c.options -> 'limits']))
    || jsonb_build_object('network_policies', (
      select jsonb_agg(p.policy || jsonb_build_object('of', p.name) order by p.name)
      from (values
        ('account', (select a.network from public.accounts a where a.id = p_account_id)),
        ('template', t.options -> 'network'),
        ('chat', c.options -> 'network')) p (name, policy)
      where p.policy ->> 'mode' <> 'open')))
  from public.chats c
  left join public.agent_templates t
    on t.id = c.template_id and public.can_see_agent_template(p_account_id, t)
  where c.id = p_chat_id and c.account_id = p_account_id
$$;
comment on function public.chat_options is 'The options of a chat''s turns: each is the chat''s own, or else its template''s. A template of another account sets skills, limits and network policies only, because models, effort and an outcome can cost more than the account has asked for. Of limits the narrowest applies. network_policies has the policies of the account, the template and the chat that are not open, all of which must allow a host.';
