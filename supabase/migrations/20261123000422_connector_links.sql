-- A link at a connector vendor cannot be revoked, so the connection is checked when it is used.

create table public.connector_links (
  account_id uuid not null references public.accounts (id) on delete cascade,
  connection_id text not null,
  started_by uuid not null,
  key_id uuid,
  created_at timestamptz not null default now(),
  primary key (account_id, connection_id)
);
alter table public.connector_links enable row level security;
revoke all on table public.connector_links from anon, authenticated;
grant all on table public.connector_links to service_role;
comment on table public.connector_links is
  'Connections at a vendor that have not been seen active while their starter had the right to them.';
comment on column public.connector_links.connection_id is
  'The id of the connection at the vendor.';
comment on column public.connector_links.started_by is
  'The account whose credential started it. No foreign key: a deleted account has lost the right.';
comment on column public.connector_links.key_id is
  'The API key that started it; null for a bearer.';

create function public.record_connector_link(
  p_account_id uuid, p_connection_id text, p_started_by uuid, p_key_id uuid
) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- Links last for minutes. A row whose starter has lost the right stays: its link may have been used.
  delete from public.connector_links l
  where l.account_id = p_account_id and l.created_at < now() - interval '1 day'
    and public.may_connect(l.account_id, l.started_by, l.key_id);
  insert into public.connector_links (account_id, connection_id, started_by, key_id)
  values (p_account_id, p_connection_id, p_started_by, p_key_id)
  on conflict do nothing;
end
$$;
comment on function public.record_connector_link is
  'Records the starter of a connection at a vendor.';

create function public.refused_connections(p_account_id uuid, p_active_ids text[]) returns text[]
language plpgsql volatile set search_path = '' as $$
begin
  -- Completed while the right to it lasted: from now on it is the account's.
  delete from public.connector_links l
  where l.account_id = p_account_id and l.connection_id = any (p_active_ids)
    and public.may_connect(l.account_id, l.started_by, l.key_id);
  return array(
    select l.connection_id from public.connector_links l
    where l.account_id = p_account_id and l.connection_id = any (p_active_ids));
end
$$;
comment on function public.refused_connections is
  'Returns those of an account''s active connections at a vendor whose starter had lost the right before they were first seen active.';
