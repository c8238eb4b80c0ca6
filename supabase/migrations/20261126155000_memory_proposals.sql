-- A memory that is nearly full is condensed: a shorter text is proposed, and accepted by a person or automatically.
set check_function_bodies = off;

create table public.memory_proposals (
  id uuid primary key default gen_random_uuid(),
  file_id uuid not null references public.workspace_files (id) on delete cascade,
  base_version integer not null,
  account_id uuid not null references public.accounts (id) on delete cascade,
  state text not null default 'due'
    check (state in ('due', 'proposed', 'accepted', 'rejected', 'failed')),
  text text,
  diff text,
  attempts integer not null default 0,
  lease_id uuid,
  due_at timestamptz default clock_timestamp(),
  reserved_usd numeric not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  unique (file_id, base_version)
);

create index memory_proposals_due on public.memory_proposals (due_at) where due_at is not null;
create index memory_proposals_account on public.memory_proposals (account_id);
alter table public.memory_proposals enable row level security;
comment on table public.memory_proposals is 'Shorter texts for versions of MEMORY.md that are nearly full: one per version, so that two servers do not pay for two.';
comment on column public.memory_proposals.account_id is 'The account that has written the version. It pays for the proposal, and its setting decides whether a person must accept it.';
comment on column public.memory_proposals.state is 'due until a model has written the text, and failed if none will. Only the newest version can be replaced, so a text for an earlier one is stale.';
comment on column public.memory_proposals.lease_id is 'Identifies the attempt that has the lease.';
comment on column public.memory_proposals.due_at is 'When a process may take it, to write the text or to accept it; during an attempt, the end of the lease. Null when nothing is left to do.';
comment on column public.memory_proposals.reserved_usd is 'The estimated cost of the model calls of the attempt, until due_at.';

create function public.memory_proposal_row(p_proposal public.memory_proposals) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object('id', p_proposal.id,
    'artist_id', (select a.id from public.accounts a where a.id = f.workspace_id and a.kind = 'artist'),
    'base_version', p_proposal.base_version, 'text', p_proposal.text, 'diff', p_proposal.diff,
    'state', case
      when p_proposal.state = 'proposed'
        and (f.version <> p_proposal.base_version or f.content_id is null) then 'stale'
      else p_proposal.state end,
    'created_at', p_proposal.created_at)
  from public.workspace_files f where f.id = p_proposal.file_id
$$;
comment on function public.memory_proposal_row is 'The columns of a proposal that its readers see.';

create function public.list_memory_proposals(
  p_account_id uuid, p_artist_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return to_jsonb(array(
    select public.memory_proposal_row(p)
    from public.workspace_files f
    join public.memory_proposals p on p.file_id = f.id
    where f.workspace_id = public.workspace_owner(p_account_id, p_artist_id)
      and p.state in ('proposed', 'accepted', 'rejected')
      and (p.created_at, p.id) < (v_after_at, v_after_id)
    order by p.created_at desc, p.id desc
    limit p_limit + 1));
end
$$;
comment on function public.list_memory_proposals is 'One page of the proposals for the memory of a workspace, newest first, with one more row if another page follows.';

create function public.find_memory_proposal(p_account_id uuid, p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce((
    select jsonb_build_object('proposal', public.memory_proposal_row(p),
      'workspace_id', f.workspace_id)
    from public.memory_proposals p
    join public.workspace_files f on f.id = p.file_id
    where p.id = p_id and p.state in ('proposed', 'accepted', 'rejected')
      and f.workspace_id
        = public.workspace_owner(p_account_id, nullif(f.workspace_id, p_account_id))),
    jsonb_build_object('refused', 'missing'))
$$;
comment on function public.find_memory_proposal is 'A proposal for the memory of the account, or of an artist that it may act for: {proposal, workspace_id} | {refused: missing}.';

create function public.accept_memory_proposal(
  p_account_id uuid, p_id uuid, p_content_id uuid, p_max_versions integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_owner constant uuid :=
    (public.find_memory_proposal(p_account_id, p_id) ->> 'workspace_id')::uuid;
  v_proposal public.memory_proposals;
  v_changed jsonb;
begin
  -- In the order of change_workspace_file.
  perform from public.workspaces where id = v_owner for update;
  select * into v_proposal from public.memory_proposals
  where id = p_id and v_owner is not null for update;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  if v_proposal.state = 'rejected' then
    return jsonb_build_object('refused', 'rejected');
  end if;
  if v_proposal.state = 'proposed' then
    v_changed := public.change_workspace_file(p_account_id, nullif(v_owner, p_account_id),
      'MEMORY.md', p_content_id, v_proposal.text, null, v_proposal.base_version, null, 0,
      p_max_versions);
    if v_changed ? 'refused' then
      return v_changed;
    end if;
    -- A shorter text of untrusted content is untrusted, too.
    update public.workspace_versions v set untrusted = true
    where v.file_id = v_proposal.file_id and v.number > v_proposal.base_version
      and exists (
        select from public.workspace_versions b
        where b.file_id = v.file_id and b.number = v_proposal.base_version and b.untrusted);
    -- A text that is still long is not condensed again.
    delete from public.memory_proposals
    where file_id = v_proposal.file_id and base_version > v_proposal.base_version;
    update public.memory_proposals set state = 'accepted', due_at = null where id = p_id
    returning * into v_proposal;
  end if;
  return jsonb_build_object('proposal', public.memory_proposal_row(v_proposal));
end
$$;
comment on function public.accept_memory_proposal is 'Makes the text of a proposal, which the storage has as p_content_id, the newest version of MEMORY.md, once: {proposal} | {refused: missing | rejected | changed, when MEMORY.md has another version | content, as of change_workspace_file}.';

create function public.reject_memory_proposal(p_account_id uuid, p_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_proposal public.memory_proposals;
begin
  if public.find_memory_proposal(p_account_id, p_id) ? 'refused' then
    return jsonb_build_object('refused', 'missing');
  end if;
  update public.memory_proposals set state = 'rejected', due_at = null
  where id = p_id and state in ('proposed', 'rejected')
  returning * into v_proposal;
  if not found then
    return jsonb_build_object('refused', 'accepted');
  end if;
  return jsonb_build_object('proposal', public.memory_proposal_row(v_proposal));
end
$$;
comment on function public.reject_memory_proposal is 'Rejects a proposal: {proposal} | {refused: missing | accepted}.';

create function public.claim_memory_proposals(
  p_limit integer, p_lease_seconds integer, p_max_attempts integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_proposal public.memory_proposals;
  v_base record;
  v_jobs jsonb := '[]';
begin
  for v_proposal in
    select * from public.memory_proposals
    where due_at <= clock_timestamp()
    order by due_at limit p_limit for update skip locked
  loop
    select f.workspace_id, c.text into v_base
    from public.workspace_files f
    join public.workspace_contents c on c.id = f.content_id
    join public.accounts a on a.id = v_proposal.account_id
    where f.id = v_proposal.file_id and f.version = v_proposal.base_version
      and f.workspace_id = public.workspace_owner(a.id, nullif(f.workspace_id, a.id))
      and (v_proposal.state = 'due' or a.auto_accept_memory);
    if not found or v_proposal.attempts >= p_max_attempts then
      update public.memory_proposals
      set state = case state when 'due' then 'failed' else state end, due_at = null
      where id = v_proposal.id;
    elsif v_proposal.state = 'due' and public.is_budget_reached(v_proposal.account_id) then
      update public.memory_proposals set due_at = clock_timestamp() + interval '1 hour'
      where id = v_proposal.id;
    else
      update public.memory_proposals
      set attempts = attempts + 1, lease_id = gen_random_uuid(), reserved_usd = 0,
        due_at = clock_timestamp() + make_interval(secs => p_lease_seconds)
      where id = v_proposal.id
      returning * into v_proposal;
      v_jobs := v_jobs || jsonb_build_object('id', v_proposal.id, 'leaseId', v_proposal.lease_id,
        'accountId', v_proposal.account_id,
        'artistId', nullif(v_base.workspace_id, v_proposal.account_id),
        'attempt', v_proposal.attempts, 'base', v_base.text, 'text', v_proposal.text);
    end if;
  end loop;
  return v_jobs;
end
$$;
comment on function public.claim_memory_proposals is 'Leases proposals that are due: [{id, leaseId, accountId, artistId, attempt, base, text}]. base is the memory, and text the proposal that is to be accepted, null if it is to be written. A proposal whose version is replaced, whose account may no longer act for the artist, or that has failed p_max_attempts times, is no longer due; one of an account that has spent its budget is due in an hour.';

create function public.end_memory_proposal(
  p_account_id uuid, p_id uuid, p_lease_id uuid, p_artist_id uuid, p_text text, p_diff text,
  p_may_accept boolean, p_retry_seconds integer, p_usage jsonb
) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform from public.accounts where id = p_account_id for key share;
  if not found then
    return;
  end if;
  -- Usage counts, even if the lease is lost.
  perform public.record_usage(p_account_id, p_id::text, 'chat', null, p_artist_id, p_usage);
  update public.memory_proposals p
  set reserved_usd = 0, text = p_text, diff = p_diff,
    state = case
      when p_text is not null then 'proposed'
      when p_retry_seconds is null then 'failed'
      else p.state end,
    attempts = case when p_text is null then p.attempts else 0 end,
    due_at = case
      when p_text is null then clock_timestamp() + make_interval(secs => p_retry_seconds)
      when p_may_accept and (
        select a.auto_accept_memory from public.accounts a where a.id = p_account_id)
      then clock_timestamp() end
  where p.id = p_id and p.account_id = p_account_id and p.lease_id = p_lease_id
    and p.state = 'due';
end
$$;
comment on function public.end_memory_proposal is 'Ends the attempt to write a proposal, and records what its model calls have used. Without a text it is due again after p_retry_seconds, null for never. With p_may_accept it is accepted next, if the account accepts proposals automatically.';

create function public.reserve_memory_call(
  p_account_id uuid, p_id uuid, p_lease_id uuid, p_estimate_usd numeric
) returns text
language plpgsql volatile set search_path = '' as $$
declare
  v_proposal public.memory_proposals;
  v_refusal text;
begin
  -- One check of an account at a time, in the order of claim_turn.
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  select * into v_proposal from public.memory_proposals
  where id = p_id and account_id = p_account_id and lease_id = p_lease_id and state = 'due'
  for update;
  if not found then
    return 'superseded';
  end if;
  v_refusal := public.check_budget(p_account_id, p_estimate_usd, v_proposal.reserved_usd > 0);
  if v_refusal is not null then
    return v_refusal;
  end if;
  update public.memory_proposals set reserved_usd = reserved_usd + coalesce(p_estimate_usd, 0)
  where id = p_id;
  return 'reserved';
end
$$;
comment on function public.reserve_memory_call is 'Reserves the estimated cost of a model call that writes a proposal for a memory, until the end of its attempt: reserved | budget_reached | unpriced_model, for an estimate of null | superseded, when the lease is lost.';

comment on column public.usage_entries.source is 'The id of the turn, of the task run of a generation, of a compaction that a caller requested, or of a proposal for a memory.';

create function public.organization_of_run(p_account_id uuid, p_artist_id uuid) returns uuid
language plpgsql stable set search_path = '' as $$
declare
  v_ids constant uuid[] := array(
    select o.id
    from (
      select m.organization_id as id from public.organization_accounts m
      join public.accounts a on a.id = m.organization_id and a.kind = 'organization'
      where m.account_id = p_account_id
      union
      select a.id from public.accounts a where a.id = p_account_id and a.kind = 'organization') o
    where p_artist_id is null or exists (
      select from public.organization_accounts l
      where l.organization_id = o.id and l.account_id = p_artist_id)
    limit 2);
begin
  return case when cardinality(v_ids) = 1 then v_ids[1] end;
end
$$;
comment on function public.organization_of_run is 'The only organization of an account, or the only one of these that has the artist; null for none or several.';

alter table public.accounts add column auto_accept_memory boolean not null default false;
comment on column public.accounts.auto_accept_memory is 'Whether shorter texts for a MEMORY.md that the account has filled replace it without a person.';
