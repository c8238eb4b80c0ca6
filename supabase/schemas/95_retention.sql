-- Background jobs, and the deletion of expired rows.

create table public.background_jobs (
  name text primary key,
  holder uuid,
  lease_until timestamptz,
  finished_at timestamptz
);
comment on table public.background_jobs is 'Who does a recurring job now, until when, and when it was last finished.';

create function public.take_job(
  p_name text, p_holder uuid, p_lease_seconds integer, p_interval_seconds integer
) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  insert into public.background_jobs (name) values (p_name) on conflict (name) do nothing;
  update public.background_jobs
  set holder = p_holder, lease_until = clock_timestamp() + make_interval(secs => p_lease_seconds)
  where name = p_name
    and coalesce(lease_until, '-infinity') < clock_timestamp()
    and coalesce(finished_at, '-infinity')
      <= clock_timestamp() - make_interval(secs => p_interval_seconds);
  return found;
end
$$;
comment on function public.take_job is 'Leases a job that is due and that nobody does; false otherwise.';

create function public.end_job(p_name text, p_holder uuid) returns void
language sql volatile set search_path = '' as $$
  update public.background_jobs
  set holder = null, lease_until = null, finished_at = clock_timestamp()
  where name = p_name and holder = p_holder
$$;
comment on function public.end_job is 'Ends a lease: the job is due again after its interval. Without effect for a holder that has lost it.';

create function public.sweep_rows(p_kind text, p_batch integer, p_days integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before constant timestamptz := clock_timestamp() - make_interval(days => p_days);
  v_ids uuid[];
  v_count integer;
begin
  case p_kind
    when 'idempotency_keys' then
      delete from public.idempotency_keys where (account_id, key_hash) in (
        select k.account_id, k.key_hash from public.idempotency_keys k
        where k.created_at < v_before and coalesce(k.lease_until, '-infinity') < now()
        limit p_batch for update skip locked);
    when 'signup_codes' then
      delete from public.signup_codes where email in (
        select c.email from public.signup_codes c
        where c.expires_at < v_before - interval '1 hour' limit p_batch for update skip locked);
    when 'rate_limits' then
      delete from public.rate_limits where bucket in (
        select b.bucket from public.rate_limits b
        where b.empty_at < date_part('epoch', v_before) limit p_batch for update skip locked);
    when 'connections' then
      -- Refused, or not decided in time.
      delete from public.connections where id in (
        select c.id from public.connections c
        where c.status <> 'active' and c.updated_at < v_before
          and (c.status = 'failed' or c.expires_at < now())
        limit p_batch for update skip locked);
    when 'run_keys' then
      delete from public.api_keys where id in (
        select k.id from public.api_keys k
        where k.scope = 'run' and k.revoked_at < v_before limit p_batch for update skip locked);
    when 'task_run_inputs' then
      update public.task_runs set payload = null where id in (
        select r.id from public.task_runs r
        where r.payload is not null and r.finished_at < v_before
        limit p_batch for update skip locked);
    when 'lost_task_runs' then
      v_ids := array(
        select distinct lost.account_id from (
          select r.account_id from public.task_runs r where r.lease_until < v_before limit p_batch) lost);
      perform public.crash_lost_task_runs(account_id) from unnest(v_ids) as account_id;
    when 'invitations' then
      delete from public.organization_invitations where id in (
        select i.id from public.organization_invitations i
        where i.expires_at < v_before limit p_batch for update skip locked);
    when 'run_traces' then
      -- With the results of the model calls.
      v_ids := array(
        select r.turn_id from public.run_traces r where r.created_at < v_before
        limit p_batch for update skip locked);
      delete from public.turn_steps where turn_id = any (v_ids);
      delete from public.subagent_steps where turn_id = any (v_ids);
      delete from public.run_traces where turn_id = any (v_ids);
    when 'webhook_deliveries' then
      update public.webhooks set previous_secret = null, previous_secret_until = null
      where previous_secret is not null and previous_secret_until < now();
      delete from public.webhook_deliveries where id in (
        select d.id from public.webhook_deliveries d
        where d.finished_at < v_before limit p_batch for update skip locked);
    when 'requests' then
      delete from public.requests where id in (
        select r.id from public.requests r
        where r.created_at < v_before limit p_batch for update skip locked);
    when 'deleted_identities' then
      delete from public.deleted_identities where hash in (
        select d.hash from public.deleted_identities d
        where d.deleted_at < v_before limit p_batch for update skip locked);
    when 'trigger_events' then
      -- Those that wait to start a run have a content.
      delete from public.trigger_events where id in (
        select e.id from public.trigger_events e
        where e.created_at < v_before and e.content is null
        order by e.created_at limit p_batch for update skip locked);
    when 'deliveries' then
      return public.sweep_deliveries(p_batch, p_days);
  end case;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function public.sweep_rows is 'Deletes at most p_batch rows of a kind that have expired p_days ago, or ends task runs whose process has died, and returns their number, or the number of the accounts.';

-- Row-level security -----------------------------------------------------------------------------

-- By name, for the schema may hold other tables of the operator.
do $$
declare
  v_table text;
begin
  foreach v_table in array array[
    'account_words', 'accounts', 'agent_template_acceptances', 'agent_template_favorites',
    'agent_template_shares', 'agent_template_versions', 'agent_templates', 'api_keys',
    'approval_rules', 'approvals', 'background_jobs', 'catalog_album_artists', 'catalog_albums',
    'catalog_artists', 'catalog_others', 'catalog_track_artists', 'catalog_tracks',
    'chat_connectors', 'chat_shares', 'chats', 'code_tries', 'compactions', 'connections',
    'connector_links', 'content_templates', 'deleted_identities', 'deliveries',
    'delivery_addresses', 'delivery_blocks', 'delivery_confirmations', 'disabled_skills',
    'event_checks', 'idempotency_keys', 'installation', 'mcp_authorizations', 'mcp_servers',
    'mcp_tools', 'media_files', 'media_usage', 'memory_proposals', 'message_feedback',
    'message_usage', 'messages', 'model_jobs', 'organization_accounts',
    'organization_invitations', 'queued_turns', 'rate_limits', 'removals', 'requests',
    'required_actions', 'run_traces', 'scheduled_firings', 'scheduled_prompts', 'sessions',
    'shared_files', 'shared_messages', 'signup_codes', 'skill_versions', 'skills',
    'steering_messages', 'subagent_steps', 'task_jobs', 'task_runs', 'task_triggers',
    'tool_runs', 'trigger_events', 'turn_skills', 'turn_steps', 'turns', 'usage_days',
    'usage_entries', 'usage_months', 'webhook_deliveries', 'webhooks',
    'workspace_checkout_files', 'workspace_checkouts', 'workspace_contents', 'workspace_files',
    'workspace_versions', 'workspaces'
  ] loop
    execute format('alter table public.%I enable row level security', v_table);
  end loop;
end
$$;
