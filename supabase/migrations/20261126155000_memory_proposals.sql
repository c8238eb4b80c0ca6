-- A memory that is nearly full is condensed: a shorter text is proposed, and accepted by a person or automatically.

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

create or replace function public.change_workspace_file(
  p_account_id uuid, p_artist_id uuid, p_path text, p_content_id uuid, p_text text, p_run_id text,
  p_expected integer, p_conflict_of text, p_max_files integer, p_max_versions integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_owner constant uuid := public.workspace_owner(p_account_id, p_artist_id);
  v_file public.workspace_files;
  v_version public.workspace_versions;
  v_exists boolean;
begin
  perform from public.workspaces where id = v_owner for update;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  select * into v_file from public.workspace_files where workspace_id = v_owner and path = p_path;
  v_exists := v_file.content_id is not null;
  if p_content_id is null and not v_exists then
    return jsonb_build_object('refused', 'missing');
  end if;
  if p_content_id is not null then
    update public.workspace_contents set is_stored = true, text = coalesce(p_text, text)
    where id = p_content_id and workspace_id = v_owner;
    -- Deleted with the last version that had it, after this request had reserved it.
    if not found then
      return jsonb_build_object('refused', 'content');
    end if;
  end if;
  if v_file.content_id = p_content_id then
    select * into v_version from public.workspace_versions
    where file_id = v_file.id and number = v_file.version;
    return jsonb_build_object('file', public.workspace_version_row(v_file, v_version),
      'is_new', false);
  end if;
  if p_expected <> (case when v_exists then v_file.version else 0 end) then
    return jsonb_build_object('refused', 'changed');
  end if;
  if not v_exists then
    if p_max_files <= (
      select count(*) from public.workspace_files
      where workspace_id = v_owner and content_id is not null)
    then
      return jsonb_build_object('refused', 'too_many');
    end if;
    if exists (
      select from public.workspace_files f
      where f.workspace_id = v_owner and f.content_id is not null and (
        -- "/" is followed by "0".
        (f.path > p_path || '/' and f.path < p_path || '0')
        or f.path in (
          select array_to_string(parts[:n], '/')
          from string_to_array(p_path, '/') parts, generate_series(1, cardinality(parts) - 1) n)))
    then
      return jsonb_build_object('refused', 'folder');
    end if;
  end if;

  update public.workspaces set revision = revision + 1 where id = v_owner;
  insert into public.workspace_files as f (workspace_id, path, version, content_id, updated_at)
  values (v_owner, p_path, 1, p_content_id, clock_timestamp())
  on conflict (workspace_id, path) do update
  set version = f.version + 1, content_id = p_content_id, updated_at = excluded.updated_at
  returning * into v_file;
  insert into public.workspace_versions
    (file_id, number, content_id, account_id, run_id, conflict_of, created_at, untrusted)
  values (v_file.id, v_file.version, p_content_id, p_account_id, p_run_id, p_conflict_of,
    v_file.updated_at,
    exists (
      select from public.turns t
      where t.run_id = p_run_id and t.account_id = p_account_id and t.untrusted <> '[]')
    or exists (
      select from public.workspace_versions v
      where v.file_id = v_file.id and v.content_id = p_content_id and v.untrusted))
  returning * into v_version;
  delete from public.workspace_versions
  where file_id = v_file.id and number <= v_file.version - p_max_versions;
  if p_path = 'MEMORY.md' then
    insert into public.memory_proposals (file_id, base_version, account_id)
    select v_file.id, v_file.version, p_account_id
    from public.workspace_contents c
    -- Of a longer text the consolidation would lose facts.
    where c.id = p_content_id and length(c.text) between 6001 and 32000;
  end if;
  return jsonb_build_object('file', public.workspace_version_row(v_file, v_version),
    'is_new', not v_exists);
end
$$;
comment on function public.change_workspace_file is 'Adds a version to a file, null for p_content_id to delete it: {file, is_new}, or {refused: missing | changed, when p_expected is not the newest version, 0 for none | content, which must be stored again | too_many | folder, when the path or a part of it is one}. The content that the file has already makes no version, whatever p_expected is. Only the newest p_max_versions stay. A MEMORY.md that is nearly full is due for a consolidation.';

create or replace function public.purge_workspace_file(p_account_id uuid, p_artist_id uuid, p_path text)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_owner constant uuid := public.workspace_owner(p_account_id, p_artist_id);
  v_id uuid;
begin
  perform from public.workspaces where id = v_owner for update;
  update public.workspace_files f
  set content_id = null, version = f.version + 1, updated_at = clock_timestamp()
  where f.workspace_id = v_owner and f.path = p_path
    and exists (select from public.workspace_versions v where v.file_id = f.id)
  returning f.id into v_id;
  if not found then
    return jsonb_build_object('refused', 'missing');
  end if;
  update public.workspaces set revision = revision + 1 where id = v_owner;
  delete from public.workspace_versions where file_id = v_id;
  delete from public.memory_proposals where file_id = v_id;
  return jsonb_build_object('purged', true);
end
$$;
comment on function public.purge_workspace_file is 'Deletes a file with all its versions, which makes room: {purged}, or {refused: missing}.';

create or replace function public.sweep_workspaces(p_batch integer, p_days integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before constant timestamptz := now() - make_interval(days => p_days);
  v_count integer;
  v_counts integer[];
begin
  delete from public.workspace_versions where id in (
    select v.id from public.workspace_versions v
    where v.created_at < v_before and exists (
      select from public.workspace_versions n
      where n.file_id = v.file_id and n.number > v.number and n.created_at < v_before)
    limit p_batch);
  get diagnostics v_count = row_count;
  v_counts := array[v_count];
  delete from public.workspace_files where id in (
    select f.id from public.workspace_files f
    where f.content_id is null and f.updated_at < v_before
    limit p_batch);
  get diagnostics v_count = row_count;
  v_counts := v_counts || v_count;
  delete from public.workspace_contents where id in (
    select c.id from public.workspace_contents c
    where not c.is_stored and c.reserved_at < now() - interval '1 day'
    limit p_batch);
  get diagnostics v_count = row_count;
  v_counts := v_counts || v_count;
  delete from public.memory_proposals where id in (
    select p.id from public.memory_proposals p
    join public.workspace_files f on f.id = p.file_id
    where p.created_at < v_before and p.base_version < f.version
    limit p_batch);
  get diagnostics v_count = row_count;
  return (select max(n) from unnest(v_counts || v_count) n);
end
$$;
comment on function public.sweep_workspaces is 'Deletes at most p_batch versions replaced so many days ago, files deleted so long ago, contents whose upload was cut, and proposals so old for earlier versions. Returns the greatest of the four numbers.';

create or replace function public.unspent_budget(p_account_id uuid) returns numeric
language sql stable set search_path = '' as $$
  -- One statement, because a call leaves its reservation and enters the month at the same time.
  select a.monthly_budget_usd
    - coalesce((
      select m.cost_usd from public.usage_months m
      where m.account_id = a.id and m.month = public.usage_month()), 0)
    - coalesce((
      select sum(t.reserved_usd) from public.turns t
      where t.account_id = a.id and t.finished_at is null and t.reserved_until > now()), 0)
    - coalesce((
      select sum(r.reserved_usd) from public.task_runs r
      where r.account_id = a.id and r.lease_until > now()), 0)
    - coalesce((
      select sum(c.reserved_usd) from public.running_compactions c
      where c.account_id = a.id and c.lease_until > now()), 0)
    - coalesce((
      select sum(p.reserved_usd) from public.memory_proposals p
      where p.account_id = a.id and p.due_at > now()), 0)
  from public.accounts a where a.id = p_account_id
$$;
comment on function public.unspent_budget is 'The rest of the month''s budget after costs and reservations; null without a budget.';

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

create or replace function public.get_account(p_account_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'account', jsonb_build_object(
      'id', a.id, 'kind', a.kind, 'email', a.email, 'name', a.name, 'image', a.image,
      'monthly_budget_usd', a.monthly_budget_usd,
      'allow_unpriced_models', a.allow_unpriced_models, 'approvals', a.approvals,
      'auto_accept_memory', a.auto_accept_memory,
      'timezone', a.timezone, 'created_at', a.created_at),
    'organizations', coalesce((
      select jsonb_agg(public.organization_row(o, m.role)
        order by o.created_at desc, o.id desc)
      from public.organization_accounts m
      join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
      where m.account_id = a.id), '[]'))
  from public.accounts a where a.id = p_account_id
$$;
comment on function public.get_account is 'The account as its owner sees it, with its organizations: {account, organizations}.';

drop function public.update_account(uuid, text, text, numeric, boolean, text, text[], jsonb);
create function public.update_account(
  p_account_id uuid, p_name text, p_image text, p_monthly_budget_usd numeric,
  p_allow_unpriced_models boolean, p_timezone text, p_clear text[], p_approvals jsonb default null,
  p_auto_accept_memory boolean default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update public.accounts a
  set name = coalesce(p_name, a.name),
    image = case when 'image' = any (p_clear) then null else coalesce(p_image, a.image) end,
    monthly_budget_usd = case when 'monthly_budget_usd' = any (p_clear) then null
      else coalesce(p_monthly_budget_usd, a.monthly_budget_usd) end,
    allow_unpriced_models = coalesce(p_allow_unpriced_models, a.allow_unpriced_models),
    approvals = coalesce(p_approvals, a.approvals),
    auto_accept_memory = coalesce(p_auto_accept_memory, a.auto_accept_memory),
    timezone = case when 'timezone' = any (p_clear) then null
      else coalesce(p_timezone, a.timezone) end,
    updated_at = now()
  where a.id = p_account_id;
  return public.get_account(p_account_id);
end
$$;
comment on function public.update_account is 'Changes the fields that are not null and clears the columns of p_clear (image, monthly_budget_usd, timezone); answers as get_account.';
