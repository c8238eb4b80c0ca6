-- Runs as their account lists and cancels them, and its usage by day, model, API key, artist and kind.

create function public.run_json(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'runId', p_turn.run_id,
    'status', p_turn.status,
    'chatId', p_turn.chat_id,
    'sessionId', p_turn.session_id,
    'createdAt', public.iso_date(p_turn.created_at),
    'finishedAt', public.iso_date(p_turn.finished_at),
    'error', p_turn.error)
$$;
comment on function public.run_json is 'A run as GET /api/chat/runs/{runId} has it.';

create function public.run_item_json(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select public.run_json(p_turn) || jsonb_build_object(
    'kind', coalesce(p_turn.kind, case when p_turn.headless then 'headless' else 'chat' end),
    'title', (select c.title from public.chats c where c.id = p_turn.chat_id),
    'model_id', p_turn.model_id,
    'usage', jsonb_build_object(
      'input_tokens', coalesce(sum(u.input_tokens), 0),
      'output_tokens', coalesce(sum(u.output_tokens), 0),
      'total_tokens', coalesce(sum(u.input_tokens + u.output_tokens), 0)),
    'cost_usd', sum(u.cost_usd),
    'duration_ms', public.duration_ms(p_turn.created_at, p_turn.finished_at))
  from public.usage_entries u
  where u.account_id = p_turn.account_id and u.source = p_turn.id::text
$$;
comment on function public.run_item_json is 'A run as GET /api/chat/runs lists it.';

create function public.list_runs(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid,
  p_status text, p_kind text, p_chat_id uuid, p_artist_id uuid, p_since timestamptz
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_page jsonb;
begin
  -- Planned for the filters that are given, so that each of them has its index.
  execute $query$
    select public.page_json('runs',
      jsonb_agg(public.run_item_json(page.run) order by page.created_at desc, page.id desc),
      array_agg(page.created_at order by page.created_at desc, page.id desc),
      array_agg(page.id order by page.created_at desc, page.id desc),
      $2)
    from (
      select t as run, t.created_at, t.id
      from public.turns t
      where t.account_id = $1 and t.run_id is not null
        and (t.created_at, t.id) < ($3, $4)
        and ($5 is null or t.status = $5)
        and ($6 is null or t.kind = $6)
        and ($7 is null or t.chat_id = $7)
        and ($8 is null or t.artist_id = $8)
        and ($9 is null or t.created_at >= $9)
      order by t.created_at desc, t.id desc
      limit $2 + 1
    ) page
  $query$ into v_page using p_account_id, p_limit,
    coalesce(p_after_at, 'infinity'), coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
    p_status, p_kind, p_chat_id, p_artist_id, p_since;
  return v_page;
end
$$;
comment on function public.list_runs is
  'Runs of an account, newest first, of a status, a kind, a chat, an artist and since a time where these are given: {runs, next}.';

create function public.request_run_stop(p_account_id uuid, p_run_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  select * into v_turn from public.turns where run_id = p_run_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('outcome', 'missing');
  end if;
  update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
  where id = v_turn.id and finished_at is null;
  return jsonb_build_object('outcome', case when found then 'active' else v_turn.status end,
    'turn_id', v_turn.id);
end
$$;
comment on function public.request_run_stop is
  'Asks a run to stop: {outcome: missing | active | completed | failed | cancelled, turn_id}.';

create function public.fill_run_kinds(p_batch integer) returns bigint
language sql volatile set search_path = '' as $$
  with filled as (
    update public.turns t
    set kind = case when t.headless then 'headless' else 'chat' end,
      artist_id = (select s.artist_id from public.sessions s where s.id = t.session_id)
    where t.id in (
      select o.id from public.turns o where o.kind is null
      limit p_batch for update skip locked)
    returning 1)
  select count(*) from filled
$$;
comment on function public.fill_run_kinds is
  'Fills in the kind and the artist of at most p_batch turns of the version before, and returns their number.';

-- Usage ------------------------------------------------------------------------------------------

create function public.usage_report(
  p_account_id uuid, p_from timestamptz, p_to timestamptz, p_group_by text
) returns jsonb
language sql stable set search_path = '' as $$
  with keyed as (
    select e.*, e.kind in ('image', 'video') as is_generation, case p_group_by
      when 'day' then to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD')
      when 'model' then e.model_id
      when 'api_key' then e.api_key_id::text
      when 'artist' then e.artist_id::text
      when 'kind' then e.kind end as key
    from public.usage_entries e
    where e.account_id = p_account_id
      and e.created_at >= coalesce(p_from, public.usage_month()::timestamp at time zone 'UTC')
      and e.created_at < coalesce(p_to, 'infinity')),
  summed as (
    select grouping(k.key) = 1 as is_total, k.key,
      count(distinct k.source) filter (where not k.is_generation) as runs,
      count(*) filter (where not k.is_generation) as steps,
      coalesce(sum(k.input_tokens), 0) as input_tokens,
      coalesce(sum(k.output_tokens), 0) as output_tokens,
      coalesce(sum(k.cost_usd), 0) as cost_usd,
      coalesce(sum(k.images), 0) as images,
      coalesce(sum(k.videos), 0) as videos
    from keyed k group by grouping sets ((k.key), ())),
  items as (
    select * from summed s where not s.is_total order by s.key nulls last limit 1000)
  select jsonb_build_object(
    'totals', (select to_jsonb(s) - 'is_total' - 'key' from summed s where s.is_total),
    'items', (select coalesce(jsonb_agg(to_jsonb(i) - 'is_total' order by i.key nulls last), '[]')
      from items i))
$$;
comment on function public.usage_report is
  'What an account has used from p_from, or else the start of the month, until p_to, or else now: {totals, items [{key, …}]}, with an item for each day (UTC), model, API key, artist or kind, at most 1,000.';
