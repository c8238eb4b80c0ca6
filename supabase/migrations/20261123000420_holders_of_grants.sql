-- Authority ends with its holder: a grant ends, or is checked when it is used, once the person or key
-- behind it has lost the right. docs/security.md lists every kind of grant.

-- Invitations.

create or replace function public.accept_invitation(
  p_account_id uuid, p_id uuid, p_max_organizations integer, p_max_members integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_organization_id constant uuid := (
    select i.organization_id from public.organization_invitations i where i.id = p_id);
  v_invitation public.organization_invitations;
  v_full text;
begin
  -- Before the invitation, as those lock who withdraw it.
  perform public.lock_organization(p_account_id, v_organization_id);
  v_invitation := public.take_invitation(p_account_id, p_id, 'accepted');
  if v_invitation.id is null then
    return jsonb_build_object('refused', 'missing_invitation');
  end if;
  -- Only owners invite. The lock keeps the role of the inviter until this transaction ends.
  if public.organization_role(v_invitation.invited_by, v_organization_id) is distinct from 'owner' then
    update public.organization_invitations i set status = 'withdrawn' where i.id = p_id;
    return jsonb_build_object('refused', 'missing_invitation');
  end if;
  if p_max_members <= (
    select count(*) from public.organization_accounts m
    join public.accounts a on a.id = m.account_id and a.kind = 'personal'
    where m.organization_id = v_organization_id)
  then
    v_full := 'organization_full';
  elsif not public.has_organization_room(p_account_id, p_max_organizations) then
    v_full := 'account_full';
  end if;
  if v_full is not null then
    update public.organization_invitations i set status = 'pending' where i.id = p_id;
    return jsonb_build_object('refused', v_full);
  end if;
  insert into public.organization_accounts (organization_id, account_id, role)
  values (v_organization_id, p_account_id, v_invitation.role)
  on conflict (organization_id, account_id) do nothing;
  return public.found_organization(p_account_id, v_organization_id);
end
$$;

create function public.withdraw_invitations_of_inviter() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  update public.organization_invitations i set status = 'withdrawn'
  where i.organization_id = old.organization_id and i.invited_by = old.account_id
    and i.status = 'pending';
  return null;
end
$$;
comment on function public.withdraw_invitations_of_inviter is
  'Trigger of organization_accounts: withdraws the open invitations of an owner who is removed or becomes a member.';

-- Keys.

create function public.is_key_in_force(p_key_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select p_key_id is null or exists (
    select from public.api_keys k
    where k.id = p_key_id
      and (k.revoked_at is null or k.revoked_at > now())
      and (k.expires_at is null or k.expires_at > now()))
$$;
comment on function public.is_key_in_force is
  'Returns whether the key still authenticates; true for null, the absence of a key.';

create function public.revoke_key(p_account_id uuid, p_id uuid) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  update public.api_keys k set revoked_at = now()
  where k.id = p_id and k.account_id = p_account_id and k.scope = 'full'
    and (k.revoked_at is null or k.revoked_at > now());
  return found;
end
$$;
comment on function public.revoke_key is
  'Revokes a key; false when the account has no such key, or it was revoked before.';

-- Turns.

create function public.has_turn_authority(p_turn public.turns) returns boolean
language sql stable set search_path = '' as $$
  select public.is_key_in_force(p_turn.caller_key_id)
    and (p_turn.artist_id is null or public.may_act_for(p_turn.account_id, p_turn.artist_id))
$$;
comment on function public.has_turn_authority is
  'Returns whether the key that started the turn is in force, and its account may act for its artist.';

create function public.turns_to_stop(p_ids uuid[]) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(asked.id), '{}') from unnest(p_ids) as asked (id)
  where not exists (
    select from public.turns t
    where t.id = asked.id and t.stop_requested_at is null and public.has_turn_authority(t))
$$;
comment on function public.turns_to_stop is
  'Returns those of the turns whose stop was requested, whose authority has ended, or that no longer exist.';

create function public.check_turn_holder() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  -- A chat outlives its account's access to the artist of its session.
  if new.artist_id is not null and not public.may_act_for(new.account_id, new.artist_id) then
    new.artist_id := null;
  end if;
  -- The key was in force when the message was sent, which may have waited in the queue.
  if not public.is_key_in_force(new.caller_key_id) then
    new.stop_requested_at := now();
  end if;
  return new;
end
$$;
comment on function public.check_turn_holder is
  'Trigger of turns: a turn starts without an artist that its account has lost, and is stopped if its key has ended.';

create function public.stop_turns_of_key() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  delete from public.queued_turns q
  where q.account_id = new.account_id and q.begun_at is null
    and q.claim ->> 'caller_key_id' = new.id::text;
  update public.turns t set stop_requested_at = now()
  where t.account_id = new.account_id and t.caller_key_id = new.id
    and t.finished_at is null and t.stop_requested_at is null;
  return null;
end
$$;
comment on function public.stop_turns_of_key is
  'Trigger of api_keys: stops what a revoked key has started, and drops its messages that wait.';

create function public.stop_turns_without_artist() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  update public.turns t set stop_requested_at = now()
  where t.finished_at is null and t.stop_requested_at is null and t.artist_id is not null
    and (t.account_id in (old.account_id, old.organization_id) or t.artist_id = old.account_id)
    and not public.may_act_for(t.account_id, t.artist_id);
  return null;
end
$$;
comment on function public.stop_turns_without_artist is
  'Trigger of organization_accounts: stops the turns for artists that their accounts may no longer act for.';

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
      'session_id', v_turn.session_id, 'chat_id', v_turn.chat_id)
    || public.admit_account(v_key.account_id, v_key.scope = 'full',
      p_account_id, p_organization_id, p_artist_id, p_account_limit);
end
$$;

-- Generations.

create function public.has_generation_authority(
  p_account_id uuid, p_run_id text, p_credential_id uuid
) returns boolean
language sql stable set search_path = '' as $$
  select not exists (
      -- That of a run stands for the key that started its turn.
      select from public.api_keys k
      where k.scope = 'full' and not public.is_key_in_force(k.id) and k.id = coalesce(
        (select t.caller_key_id from public.turns t
          where t.key_id = p_credential_id and t.account_id = p_account_id),
        p_credential_id))
    and not exists (
      select from public.task_runs r
      where r.id = p_run_id and r.account_id = p_account_id and r.artist_id is not null
        and not public.may_act_for(p_account_id, r.artist_id))
$$;
comment on function public.has_generation_authority is
  'Returns whether the key that asked for the generation is in force, and its account may act for its artist.';

-- Templates.

create or replace function public.delete_account(p_account_id uuid, p_email text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- Once more: the account may have joined an organization since.
  v_refusal constant jsonb := public.leave_organizations(p_account_id, p_email);
begin
  if v_refusal is not null then
    return v_refusal;
  end if;
  delete from public.organization_invitations where email = p_email;
  delete from public.agent_template_shares where email = p_email;
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

-- Links that connect a service.

alter table public.connections add column started_by uuid, add column key_id uuid;
comment on column public.connections.started_by is
  'The account whose credential started it; it may differ from account_id. No foreign key: a deleted account has lost the right.';
comment on column public.connections.key_id is
  'The API key that started it; null for a bearer.';

create function public.start_connection(
  p_account_id uuid, p_connector text, p_state_hash text, p_callback_url text,
  p_started_by uuid, p_key_id uuid
) returns uuid
language plpgsql volatile set search_path = '' as $$
declare
  v_id constant uuid := public.start_connection(
    p_account_id, p_connector, p_state_hash, p_callback_url);
begin
  update public.connections set started_by = p_started_by, key_id = p_key_id where id = v_id;
  return v_id;
end
$$;
comment on function public.start_connection(uuid, text, text, text, uuid, uuid) is
  'Creates a pending connection, which only its starter''s right to act for the account can complete, and deletes earlier attempts that came to nothing; answers its id.';
comment on function public.start_connection(uuid, text, text, text) is
  'Superseded by start_connection with its starter; kept for servers of the version before.';

create function public.may_connect(p_account_id uuid, p_started_by uuid, p_key_id uuid)
returns boolean
language sql stable set search_path = '' as $$
  select (p_started_by is null or public.may_act_for(p_started_by, p_account_id))
    and public.is_key_in_force(p_key_id)
$$;
comment on function public.may_connect is
  'Returns whether the starter of a connection may still act for its account.';

create or replace function public.pending_connection(p_state_hash text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'connector', c.connector,
    'callback_url', c.callback_url,
    'account', coalesce(a.name, a.email, a.id::text)
  )
  from public.connections c join public.accounts a on a.id = c.account_id
  where c.state_hash = p_state_hash and c.expires_at > now()
    and public.may_connect(c.account_id, c.started_by, c.key_id)
$$;

create or replace function public.decide_connection(p_state_hash text, p_allowed boolean)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_connection public.connections;
begin
  select * into v_connection from public.connections
  where state_hash = p_state_hash and expires_at > now()
  for update;
  -- Serializes this with a concurrent removal of the starter.
  perform from public.organization_accounts
  where account_id = v_connection.started_by for key share;
  if v_connection.id is null or not public.may_connect(
    v_connection.account_id, v_connection.started_by, v_connection.key_id)
  then
    return null;
  end if;
  if p_allowed then
    -- Two links of one account allowed at once: the later one replaces the earlier.
    perform from public.accounts where id = v_connection.account_id for no key update;
    delete from public.connections
    where account_id = v_connection.account_id and connector = v_connection.connector
      and id <> v_connection.id and status <> 'pending';
  end if;
  update public.connections
  set status = case when p_allowed then 'active' else 'failed' end,
    state_hash = null,
    updated_at = clock_timestamp()
  where id = v_connection.id;
  return jsonb_build_object('connector', v_connection.connector, 'callback_url', v_connection.callback_url);
end
$$;
