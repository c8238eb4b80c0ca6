-- Sessions, chats and stored messages (specification: Session, Chat, Message; decisions, section 4).
--
-- The tenant is a column of every table that is looked up by an id of the caller's, so that it can
-- stand in every predicate: a foreign row and a missing row are then the same empty result.

create table public.sessions (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  organization_id uuid references public.accounts (id) on delete set null,
  artist_id uuid references public.accounts (id) on delete set null,
  title text not null default '',
  status text not null default 'running' check (status in ('running', 'archived')),
  -- What the sandbox provider answered; null means that no sandbox is provisioned.
  sandbox_state jsonb check (jsonb_typeof(sandbox_state) = 'object'),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Both keys descend, so that a page is one range scan of the caller's own rows.
create index sessions_account_newest on public.sessions (account_id, created_at desc, id desc);
-- For the foreign keys only: without them the deletion of an account reads the whole table.
create index sessions_organization on public.sessions (organization_id) where organization_id is not null;
create index sessions_artist on public.sessions (artist_id) where artist_id is not null;

create table public.chats (
  id uuid primary key default gen_random_uuid(),
  session_id uuid not null references public.sessions (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  title text not null default '',
  model_id text not null default '',
  -- Null, `pending:<uuid>` while a request claims the chat, then the run id. Compare-and-set only.
  active_stream_id text,
  claimed_at timestamptz,
  last_assistant_message_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index chats_session_newest on public.chats (session_id, created_at desc, id desc);
create index chats_account_newest on public.chats (account_id, created_at desc, id desc);

create table public.messages (
  chat_id uuid not null references public.chats (id) on delete cascade,
  id text not null,
  role text not null check (role in ('user', 'assistant')),
  parts jsonb not null check (jsonb_typeof(parts) = 'array'),
  metadata jsonb,
  -- The clock and not the transaction's start: messages written together keep their order.
  created_at timestamptz not null default clock_timestamp(),
  primary key (chat_id, id)
);

create index messages_chat_order on public.messages (chat_id, created_at, id);

-- The service role is the only reader and writer; the public keys read nothing.
alter table public.sessions enable row level security;
alter table public.chats enable row level security;
alter table public.messages enable row level security;
revoke all on table public.sessions, public.chats, public.messages from anon, authenticated;
