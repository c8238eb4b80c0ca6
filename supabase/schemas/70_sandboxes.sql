-- Sandboxes of sessions: their state, space and removal.

create function public.set_sandbox_state(
  p_account_id uuid, p_session_id uuid, p_expected jsonb, p_next jsonb
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_state jsonb;
begin
  update public.sessions
  set sandbox_state = nullif(p_next, 'null'::jsonb), updated_at = now()
  where id = p_session_id and account_id = p_account_id
    and sandbox_state is not distinct from nullif(p_expected, 'null'::jsonb)
  returning sandbox_state into v_state;
  if found then
    return jsonb_build_object('stored', true, 'sandboxState', v_state);
  end if;
  select sandbox_state into v_state from public.sessions
  where id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  return jsonb_build_object('stored', false, 'sandboxState', v_state);
end
$$;
comment on function public.set_sandbox_state is 'Replaces the state of the sandbox if it still is p_expected: {stored, sandboxState}, or {missing: session}.';

create function public.reserve_sandbox_bytes(
  p_session_id uuid, p_wanted bigint, p_limit bigint
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_account uuid;
  v_others bigint;
  v_granted bigint;
  v_at constant timestamptz := clock_timestamp();
begin
  select account_id into v_account from public.sessions where id = p_session_id;
  if not found then
    return jsonb_build_object('granted', 0, 'reservedAt', null);
  end if;
  -- One at a time for each account: two jails that start together do not get the same room.
  perform pg_advisory_xact_lock(hashtextextended('sandbox space ' || v_account, 0));
  select coalesce(sum(sandbox_bytes), 0) into v_others from public.sessions
  where account_id = v_account and id <> p_session_id and sandbox_bytes > 0;
  v_granted := greatest(0, least(p_wanted, p_limit - v_others));
  -- The measured size counts, even if it exceeds the account's space.
  update public.sessions
  set sandbox_bytes = greatest(
      v_granted, case when sandbox_reserved_at is null then sandbox_bytes else 0 end),
    sandbox_reserved_at = v_at
  where id = p_session_id;
  return jsonb_build_object('granted', v_granted, 'reservedAt', v_at);
end
$$;
comment on function public.reserve_sandbox_bytes is 'Reserves room for a session''s sandbox: {granted, reservedAt}; granted is what its files may take in all.';

create function public.record_sandbox_bytes(
  p_session_id uuid, p_reserved_at timestamptz, p_bytes bigint
) returns void
language sql volatile set search_path = '' as $$
  update public.sessions set sandbox_bytes = p_bytes, sandbox_reserved_at = null
  where id = p_session_id and sandbox_reserved_at = p_reserved_at
$$;
comment on function public.record_sandbox_bytes is 'Replaces a reservation by the measured size; without effect when a newer one stands.';

create function public.free_sandbox_space() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.sandbox_bytes := 0;
  new.sandbox_reserved_at := null;
  return new;
end
$$;
comment on function public.free_sandbox_space is 'A session without a sandbox takes no space; a jail that ends later settles nothing.';
create trigger free_sandbox_space before update of sandbox_state on public.sessions
  for each row when (old.sandbox_state is not null and new.sandbox_state is null)
  execute function public.free_sandbox_space();

create function public.is_sandbox_space_full(p_account_id uuid, p_limit bigint) returns boolean
language sql stable set search_path = '' as $$
  -- Space that running jails have only reserved does not count: they return most of it.
  select coalesce(sum(sandbox_bytes), 0) >= p_limit from public.sessions
  where account_id = p_account_id and sandbox_bytes > 0 and sandbox_reserved_at is null
$$;
comment on function public.is_sandbox_space_full is 'Whether the measured sandboxes of an account take the whole limit.';

create function public.stale_sandbox_reservations(p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'sessionId', s.id, 'reservedAt', s.sandbox_reserved_at)), '[]')
  from (
    select id, sandbox_reserved_at from public.sessions
    where sandbox_reserved_at < now() - interval '1 hour'
    order by sandbox_reserved_at
    limit p_batch
  ) s
$$;
comment on function public.stale_sandbox_reservations is 'Reservations of jails whose end was not noted, as after a crash of their server.';

create function public.idle_sandboxes(p_days integer, p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(i.sandbox_state || jsonb_build_object(
    'sessionId', i.id, 'accountId', i.account_id)), '[]')
  from (
    select s.id, s.account_id, s.sandbox_state
    from public.sessions s, (select now() - make_interval(days => p_days)) at (cutoff)
    -- An empty sandbox takes no space, and is not in the index.
    where s.sandbox_bytes > 0
      and s.sandbox_state ->> 'provider' in ('local', 'system')
      and (s.sandbox_state ->> 'createdAt')::timestamptz < at.cutoff
      and coalesce(s.sandbox_reserved_at, '-infinity') < at.cutoff
      and not exists (
        select from public.turns t
        where t.session_id = s.id and coalesce(t.finished_at, 'infinity') >= at.cutoff)
    limit p_batch
  ) i
$$;
comment on function public.idle_sandboxes is 'States of sandboxes on this machine with files whose sessions have had no turn for p_days, each with its sessionId and accountId.';

create function public.unowned_sandboxes(p_session_ids uuid[]) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(s.id), '{}') from unnest(p_session_ids) s (id)
  where not exists (select from public.sessions x where x.id = s.id)
$$;
comment on function public.unowned_sandboxes is 'Those of the session ids that no session has.';

create function public.note_sandbox_removal() returns trigger
language plpgsql set search_path = '' as $$
begin
  insert into public.removals (kind, owner_id, state) values ('sandbox', old.id, old.sandbox_state)
  on conflict (kind, owner_id, name) do update set state = excluded.state;
  return null;
end
$$;
comment on function public.note_sandbox_removal is 'Turns a deleted session with a sandbox into a removal.';
create trigger note_sandbox_removal after delete on public.sessions
  for each row when (old.sandbox_state is not null)
  execute function public.note_sandbox_removal();
