-- The durable engine's own schema: the run state of the Workflow SDK, and the streams. It is never
-- exposed over REST.

create schema engine;
grant usage on schema engine to service_role;

create table engine.instances (
  id uuid primary key,
  lock_key bigint generated always as identity,
  started_at timestamptz not null default now()
);
grant select on engine.instances to service_role;
comment on table engine.instances is 'Live server processes. Each holds a session-level advisory lock on its lock_key, which the database releases the moment it dies.';

create table engine.runs (
  run_id text primary key,
  workflow_name text not null,
  deployment_id text not null,
  spec_version integer not null,
  status text not null,
  input bytea not null,
  output bytea,
  error jsonb,
  execution_context jsonb,
  owner uuid not null,
  created_at timestamptz not null,
  started_at timestamptz not null,
  completed_at timestamptz,
  updated_at timestamptz not null
);
create index runs_by_owner on engine.runs (owner) where status = 'running';
create index runs_by_completion on engine.runs (completed_at) where completed_at is not null;
comment on table engine.runs is 'Durable runs. Only the owner, a live process, executes a run.';

create table engine.steps (
  run_id text not null references engine.runs on delete cascade,
  step_id text not null,
  name text not null,
  status text not null,
  input bytea not null,
  attempt integer not null,
  error jsonb,
  retry_after timestamptz,
  created_at timestamptz not null,
  started_at timestamptz not null,
  completed_at timestamptz,
  updated_at timestamptz not null,
  primary key (run_id, step_id)
);
comment on table engine.steps is 'Steps of runs. The result of a step is in its step_completed event.';

create table engine.events (
  run_id text not null references engine.runs on delete cascade,
  event_id text not null,
  type text not null,
  correlation_id text,
  data jsonb,
  created_at timestamptz not null,
  primary key (run_id, event_id)
);
create index events_by_correlation on engine.events (correlation_id, event_id)
  where correlation_id is not null;
comment on table engine.events is 'The events of a run, in the order of event_id. Only the owner appends: every replay sees the same order.';

create table engine.hooks (
  run_id text not null references engine.runs on delete cascade,
  hook_id text not null,
  token text not null unique,
  is_webhook boolean not null,
  metadata bytea,
  created_at timestamptz not null,
  primary key (run_id, hook_id)
);
create index hooks_by_id on engine.hooks (hook_id);
comment on table engine.hooks is 'Hooks that wait for payloads; they end with their run at the latest.';

create table engine.inbox (
  id bigint generated always as identity primary key,
  run_id text not null references engine.runs on delete cascade,
  type text not null,
  correlation_id text not null,
  data jsonb,
  posted_at timestamptz not null default now()
);
create index inbox_by_run on engine.inbox (run_id, id);
comment on table engine.inbox is 'Events that any process may send to a run, such as payloads of hooks. The owner moves them to engine.events.';

create table engine.chunks (
  stream uuid not null,
  first_index integer not null,
  count integer not null,
  data text not null,
  eof boolean not null,
  written_at timestamptz not null default now(),
  primary key (stream, first_index)
);
create index chunks_by_age on engine.chunks (written_at);
comment on table engine.chunks is 'The chunk log of turns. A row is one write: count chunks from first_index on, one JSON text a line; eof marks the last row.';

create table engine.streams (
  name text primary key,
  run_id text not null,
  next_index integer not null,
  closed boolean not null default false,
  written_at timestamptz not null default now()
);
create index streams_by_run on engine.streams (run_id);
create index streams_by_age on engine.streams (written_at);
comment on table engine.streams is 'The Workflow SDK''s own streams. A stream can precede its run, or have none.';

create table engine.stream_chunks (
  name text not null references engine.streams on delete cascade,
  index integer not null,
  data bytea not null,
  primary key (name, index)
);
comment on table engine.stream_chunks is 'Chunks of the Workflow SDK''s own streams, counted from 0.';

-- Two statements, because the second one must see the writes for which the first one has waited.
create function engine.remove_instance(p_id uuid) returns void
language plpgsql
set search_path = ''
as $$
begin
  -- Waits for statements that give runs to this process; later ones do not find it any more.
  delete from engine.instances where id = p_id;
  update engine.runs set owner = '00000000-0000-0000-0000-000000000000', updated_at = now()
  where owner = p_id and status = 'running';
  if found then
    perform pg_notify('engine_free_runs', '');
  end if;
end
$$;
comment on function engine.remove_instance(uuid) is 'Removes a server process that has died, releases its runs and notifies the others.';
