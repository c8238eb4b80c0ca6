-- Bytes of local sandboxes for each account. A jail reserves what it may fill before it starts, within
-- what the account has left, and settles it at the measured size when it ends: the sum over an
-- account's sessions is therefore never less than what is on disk, without a walk for each command.

alter table public.sessions
  add column sandbox_bytes bigint not null default 0 check (sandbox_bytes >= 0),
  add column sandbox_reserved_at timestamptz;
comment on column public.sessions.sandbox_bytes is
  'Bytes of the local sandbox: reserved while a jail runs, measured after it.';
comment on column public.sessions.sandbox_reserved_at is
  'Which reservation sandbox_bytes is; null once it is measured.';
-- The sum reads nothing but this.
create index sessions_sandbox_bytes on public.sessions (account_id) include (sandbox_bytes, id)
  where sandbox_bytes > 0;
create index sessions_sandbox_reserved on public.sessions (sandbox_reserved_at)
  where sandbox_reserved_at is not null;

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
  -- What was measured is there, also where it is more than the account has left now.
  update public.sessions
  set sandbox_bytes = greatest(
      v_granted, case when sandbox_reserved_at is null then sandbox_bytes else 0 end),
    sandbox_reserved_at = v_at
  where id = p_session_id;
  return jsonb_build_object('granted', v_granted, 'reservedAt', v_at);
end
$$;
comment on function public.reserve_sandbox_bytes(uuid, bigint, bigint) is
  'Reserves room for a session''s sandbox: {granted, reservedAt}; granted is what its files may take in all.';

create function public.settle_sandbox_bytes(
  p_session_id uuid, p_reserved_at timestamptz, p_bytes bigint
) returns void
language sql volatile set search_path = '' as $$
  update public.sessions set sandbox_bytes = p_bytes, sandbox_reserved_at = null
  where id = p_session_id and sandbox_reserved_at = p_reserved_at
$$;
comment on function public.settle_sandbox_bytes(uuid, timestamptz, bigint) is
  'Replaces a reservation by the measured size; without effect when a newer one stands.';

create function public.is_sandbox_space_full(p_account_id uuid, p_limit bigint) returns boolean
language sql stable set search_path = '' as $$
  -- What running jails have only reserved does not count: they give most of it back.
  select coalesce(sum(sandbox_bytes), 0) >= p_limit from public.sessions
  where account_id = p_account_id and sandbox_bytes > 0 and sandbox_reserved_at is null
$$;
comment on function public.is_sandbox_space_full(uuid, bigint) is
  'Whether the measured sandboxes of an account take the whole limit.';

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
comment on function public.stale_sandbox_reservations(integer) is
  'Reservations of jails whose end was not noted, as after a crash of their server.';

create function public.free_sandbox_space() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.sandbox_bytes := 0;
  new.sandbox_reserved_at := null;
  return new;
end
$$;
comment on function public.free_sandbox_space() is
  'A session without a sandbox takes no space; a jail that ends later settles nothing.';
create trigger free_sandbox_space before update of sandbox_state on public.sessions
  for each row when (old.sandbox_state is not null and new.sandbox_state is null)
  execute function public.free_sandbox_space();
