-- The requests of an account in the last days: which endpoint, with what status, how long it took. Neither
-- bodies nor query strings nor addresses. Servers write it in batches after they have answered.

create table public.requests (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  method text not null,
  route text not null,
  status smallint not null,
  duration_ms real not null,
  credential text not null check (credential in ('api_key', 'bearer', 'run')),
  api_key_id uuid,
  request_id text not null,
  created_at timestamptz not null
);
create index requests_newest on public.requests (account_id, created_at desc, id desc);
create index requests_by_route on public.requests (account_id, route, created_at desc, id desc);
create index requests_by_credential
  on public.requests (account_id, credential, created_at desc, id desc);
create index requests_by_key on public.requests (account_id, api_key_id, created_at desc, id desc)
  where api_key_id is not null;
create index requests_failed on public.requests (account_id, (status / 100), created_at desc, id desc)
  where status >= 400;
-- Rows come in the order of time, so that the few pages of this index find the old ones.
create index requests_age on public.requests using brin (created_at) with (autosummarize = on);

alter table public.requests enable row level security;
revoke all on table public.requests from anon, authenticated;
grant all on table public.requests to service_role;
comment on table public.requests is
  'The requests that accounts have made with their credentials, until the retention job deletes them.';
comment on column public.requests.account_id is
  'The account that the credential belongs to, whichever account the request acts for.';
comment on column public.requests.route is
  'The path of the endpoint with the names of its parameters, not their values.';
comment on column public.requests.duration_ms is
  'Until the response was ready; the chunks of a stream come after that.';
comment on column public.requests.api_key_id is
  'No foreign key: the request stays when the key is revoked. Null without an API key.';

create function public.record_requests(p_requests jsonb) returns void
language sql volatile set search_path = '' as $$
  insert into public.requests (account_id, method, route, status, duration_ms, credential, api_key_id,
    request_id, created_at)
  select a.id, r.method, r.route, r.status, r.duration_ms, r.credential, r.api_key_id,
    left(r.request_id, 200), r.created_at
  from jsonb_to_recordset(p_requests) as r (
    account_id uuid, method text, route text, status smallint, duration_ms real, credential text,
    api_key_id uuid, request_id text, created_at timestamptz)
  -- An account that is deleted meanwhile takes its requests along.
  join public.accounts a on a.id = r.account_id
$$;
comment on function public.record_requests is
  'Records requests [{account_id, method, route, …}] of any accounts, except of those that are deleted.';

create function public.list_requests(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid,
  p_status_class integer, p_route text, p_credential text, p_api_key_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_page jsonb;
begin
  -- Planned for the filters that are given, so that each of them has its index.
  execute $query$
    select public.page_json('requests',
      jsonb_agg(to_jsonb(page.request) - 'account_id'
          || jsonb_build_object('created_at', public.iso_date(page.created_at))
        order by page.created_at desc, page.id desc),
      array_agg(page.created_at order by page.created_at desc, page.id desc),
      array_agg(page.id order by page.created_at desc, page.id desc),
      $2)
    from (
      select r as request, r.created_at, r.id
      from public.requests r
      where r.account_id = $1
        and (r.created_at, r.id) < ($3, $4)
        and ($5 is null or r.status / 100 = $5 and (r.status >= 400 or $5 < 4))
        and ($6 is null or r.route = $6)
        and ($7 is null or r.credential = $7)
        and ($8 is null or r.api_key_id = $8)
      order by r.created_at desc, r.id desc
      limit $2 + 1
    ) page
  $query$ into v_page using p_account_id, p_limit,
    coalesce(p_after_at, 'infinity'), coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
    p_status_class, p_route, p_credential, p_api_key_id;
  return v_page;
end
$$;
comment on function public.list_requests is
  'Requests of an account, newest first, of a class of statuses (4 for 4xx), a route, a kind of credential and an API key where these are given: {requests, next}.';

create function public.sweep_requests(p_batch integer, p_days integer) returns bigint
language sql volatile set search_path = '' as $$
  with deleted as (
    delete from public.requests where id in (
      select r.id from public.requests r
      where r.created_at < clock_timestamp() - make_interval(days => p_days)
      limit p_batch for update skip locked)
    returning 1)
  select count(*) from deleted
$$;
comment on function public.sweep_requests is
  'Deletes at most p_batch requests that are older than p_days, and returns their number.';
