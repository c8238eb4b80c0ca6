-- The connectors whose actions the runs of a chat may use: none, unless the account has named them.

create table public.chat_connectors (
  chat_id uuid primary key references public.chats (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  connectors text[] not null,
  updated_at timestamptz not null default now()
);
comment on table public.chat_connectors is
  'The connectors that an account has named for a chat: the credential of its runs may use their actions.';
comment on column public.chat_connectors.chat_id is 'The chat; a chat without a row has named none.';
comment on column public.chat_connectors.account_id is 'The account of the chat.';
comment on column public.chat_connectors.connectors is 'Their slugs, each once.';
comment on column public.chat_connectors.updated_at is 'When they were last chosen.';
create index chat_connectors_account on public.chat_connectors (account_id);

alter table public.chat_connectors enable row level security;
revoke all on public.chat_connectors from anon, authenticated;
grant all on public.chat_connectors to service_role;

create function public.set_chat_connectors(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_connectors text[]
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- The lock keeps the chat there until its connectors are: a deletion waits and takes them too.
  perform 1 from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for key share;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  insert into public.chat_connectors (chat_id, account_id, connectors)
  values (p_chat_id, p_account_id, p_connectors)
  on conflict (chat_id) do update set connectors = excluded.connectors, updated_at = now();
  return jsonb_build_object('connectors', to_jsonb(p_connectors));
end
$$;
comment on function public.set_chat_connectors(uuid, uuid, uuid, text[]) is
  'Replaces the connectors of a chat: {connectors} | {missing: session | chat}.';

create function public.has_chat_connector(
  p_account_id uuid, p_chat_id uuid, p_connector text
) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select 1 from public.chat_connectors c
    where c.chat_id = p_chat_id and c.account_id = p_account_id and p_connector = any (c.connectors))
$$;
comment on function public.has_chat_connector(uuid, uuid, text) is
  'Whether the account has named a connector for a chat; false for a chat that is not its own.';
