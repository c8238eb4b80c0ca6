-- The durable engine's own schema: run state, never exposed over REST. Applied at every start;
-- each statement is idempotent. See lib/engine/adapters/postgres/prepare.ts.
create schema if not exists engine;

-- A live server process. It holds a session-level advisory lock on `lock_key`, so that the database
-- itself knows the moment it dies.
create table if not exists engine.instances (
  id uuid primary key,
  lock_key bigint generated always as identity,
  started_at timestamptz not null default now()
);

create table if not exists engine.runs (
  run_id text primary key,
  workflow_name text not null,
  deployment_id text not null,
  spec_version integer not null,
  status text not null,
  input bytea not null,
  output bytea,
  error jsonb,
  execution_context jsonb,
  -- The only process that may write this run's state and stream.
  owner uuid not null,
  created_at timestamptz not null,
  started_at timestamptz not null,
  completed_at timestamptz,
  updated_at timestamptz not null
);
create index if not exists runs_by_owner on engine.runs (owner) where status = 'running';
create index if not exists runs_by_completion on engine.runs (completed_at) where completed_at is not null;

create table if not exists engine.steps (
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

create table if not exists engine.events (
  run_id text not null references engine.runs on delete cascade,
  event_id text not null,
  type text not null,
  correlation_id text,
  data jsonb,
  created_at timestamptz not null,
  primary key (run_id, event_id)
);

-- A row is one write of a turn's UI message stream: `count` chunks from `first_index` on, one JSON
-- text a line. `eof` marks the last row.
create table if not exists engine.chunks (
  stream uuid not null,
  first_index integer not null,
  count integer not null,
  data text not null,
  eof boolean not null,
  written_at timestamptz not null default now(),
  primary key (stream, first_index)
);
create index if not exists chunks_by_age on engine.chunks (written_at);

do $$
begin
  if exists (select from pg_roles where rolname = 'anon') then
    revoke all on schema engine from anon, authenticated;
  end if;
end
$$;
