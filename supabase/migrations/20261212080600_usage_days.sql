-- Usage is summed for each day as it is recorded.

create function public.day_of_usage(p_entry public.usage_entries) returns setof public.usage_days
language sql immutable as $$
  select p_entry.account_id, (p_entry.created_at at time zone 'UTC')::date, p_entry.kind, p_entry.model_id,
    p_entry.api_key_id, p_entry.artist_id, 0::bigint, 0::bigint, 1::bigint,
    case when p_entry.cost_usd between 0 and 1000000 then 0::bigint else 1 end,
    case when p_entry.kind in ('image', 'video') then 0::bigint else 1 end,
    least(greatest(p_entry.input_tokens, 0), 100000000),
    least(greatest(p_entry.cached_input_tokens, 0), 100000000),
    least(greatest(p_entry.output_tokens, 0), 100000000),
    case when p_entry.cost_usd between 0 and 1000000 then p_entry.cost_usd else 0 end,
    p_entry.images::bigint, p_entry.videos::bigint
$$;
comment on function public.day_of_usage is 'What an entry adds to its row of usage_days, without runs. Inlined, hence no search_path.';

create function public.is_run_usage(p_entry public.usage_entries) returns boolean
language sql immutable as $$
  -- A compaction that a caller requested has only summaries, and is no run.
  select p_entry.kind not in ('image', 'video') and p_entry.tool >= 0
$$;
comment on function public.is_run_usage is 'Whether the source of the entry counts as a run. Inlined, hence no search_path.';

create function public.sum_usage(p_account_id uuid, p_max integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_count integer;
begin
  -- No turn waits: what another one records at the same time is summed by the next.
  if not pg_try_advisory_xact_lock(hashtextextended(p_account_id::text, 20261213)) then
    return 0;
  end if;
  with taken as materialized (
    select e as entry from public.usage_entries e
    where e.account_id = p_account_id and not e.is_summed
    limit p_max for no key update skip locked),
  entries as (
    select d.*, (t.entry).source, (t.entry).step, (t.entry).tool, (t.entry).call,
      public.is_run_usage(t.entry) as is_run,
      row_number() over (partition by (t.entry).source, public.is_run_usage(t.entry), d.day, d.kind,
        d.api_key_id, d.artist_id, d.model_id) as of_model,
      row_number() over (partition by (t.entry).source, public.is_run_usage(t.entry), d.day, d.kind,
        d.api_key_id, d.artist_id) as of_day,
      dense_rank() over (partition by (t.entry).source, public.is_run_usage(t.entry)
        order by d.day, d.kind, d.api_key_id, d.artist_id) as place,
      before.*
    from taken t
    cross join lateral public.day_of_usage(t.entry) d
    cross join lateral (
      select coalesce(bool_or(o.is_same), false) as has_same,
        coalesce(bool_or(o.is_same and o.model_id = d.model_id), false) as has_same_model,
        coalesce(bool_or(not o.is_same), false) as has_other
      from (
        select p.model_id, (p.created_at at time zone 'UTC')::date = d.day and p.kind = d.kind
          and p.api_key_id is not distinct from d.api_key_id
          and p.artist_id is not distinct from d.artist_id as is_same
        from public.usage_entries p
        where p.account_id = p_account_id and p.source = (t.entry).source and p.is_summed
          and public.is_run_usage(p)) o) before),
  marked as (
    update public.usage_entries e
    set is_summed = true, is_continued = n.is_run and (n.place > 1 or n.has_other)
    from entries n
    where e.account_id = n.account_id and e.source = n.source and e.step = n.step
      and e.tool = n.tool and e.call = n.call),
  summed as (
    insert into public.usage_days as u
    select n.account_id, n.day, n.kind, n.model_id, n.api_key_id, n.artist_id,
      count(*) filter (where n.is_run and n.of_model = 1 and not n.has_same_model),
      count(*) filter (where n.is_run and n.of_day = 1 and not n.has_same),
      sum(n.calls), sum(n.unpriced_calls), sum(n.steps), sum(n.input_tokens),
      sum(n.cached_input_tokens), sum(n.output_tokens), sum(n.cost_usd), sum(n.images), sum(n.videos)
    from entries n
    group by n.account_id, n.day, n.kind, n.model_id, n.api_key_id, n.artist_id
    on conflict (account_id, day, kind, model_id, api_key_id, artist_id) do update set
      model_runs = u.model_runs + excluded.model_runs, runs = u.runs + excluded.runs,
      calls = u.calls + excluded.calls, unpriced_calls = u.unpriced_calls + excluded.unpriced_calls,
      steps = u.steps + excluded.steps, input_tokens = u.input_tokens + excluded.input_tokens,
      cached_input_tokens = u.cached_input_tokens + excluded.cached_input_tokens,
      output_tokens = u.output_tokens + excluded.output_tokens,
      cost_usd = u.cost_usd + excluded.cost_usd, images = u.images + excluded.images,
      videos = u.videos + excluded.videos)
  select count(*) into v_count from entries;
  return v_count;
end
$$;
comment on function public.sum_usage is 'Adds at most p_max entries of an account to usage_days, and returns their number: 0 also while another transaction does so.';

create function public.sum_new_usage() returns trigger
language plpgsql set search_path = '' as $$
declare
  v_account_id uuid;
  v_count bigint;
begin
  for v_account_id, v_count in
    select account_id, count(*) from new_rows group by account_id order by account_id
  loop
    -- A few at a time cost less.
    if random() < v_count / 10.0 then
      perform public.sum_usage(v_account_id, (100 + 2 * v_count)::integer);
    end if;
  end loop;
  return null;
end
$$;
comment on function public.sum_new_usage is 'Keeps the number of entries small that usage_days does not have.';

create function public.reset_usage_days() returns trigger
language plpgsql set search_path = '' as $$
declare
  v_changed jsonb;
  v_account_id uuid;
  v_day date;
begin
  if tg_op = 'DELETE' then
    select jsonb_agg(distinct jsonb_build_object('id', o.account_id, 'at', (o.created_at at time zone 'UTC')::date))
    into v_changed from old_rows o where o.is_summed;
  else
    select jsonb_agg(distinct jsonb_build_object('id', e.account_id, 'at', (e.created_at at time zone 'UTC')::date))
    into v_changed
    from old_rows o
    join new_rows n using (account_id, source, step, tool, call)
    cross join lateral (values (account_id, o.created_at), (account_id, n.created_at)) e (account_id, created_at)
    where o.is_summed and n.is_summed;
  end if;
  for v_account_id, v_day in
    select c.id, c.at from jsonb_to_recordset(v_changed) c (id uuid, at date)
    -- The sums of an account that is deleted go first.
    where tg_op = 'UPDATE' or exists (
      select from public.usage_days d where d.account_id = c.id and d.day = c.at)
    order by c.id, c.at
  loop
    perform pg_advisory_xact_lock(hashtextextended(v_account_id::text, 20261213));
    delete from public.usage_days d where d.account_id = v_account_id and d.day = v_day;
    update public.usage_entries e set is_summed = false, is_continued = false
    where e.account_id = v_account_id and e.is_summed
      and e.created_at >= v_day::timestamp at time zone 'UTC'
      and e.created_at < (v_day + 1)::timestamp at time zone 'UTC';
  end loop;
  return null;
end
$$;
comment on function public.reset_usage_days is 'Has the days summed again whose entries were changed or deleted.';

create function public.sweep_unsummed_usage(p_batch integer) returns bigint
language sql volatile set search_path = '' as $$
  select coalesce(sum(public.sum_usage(a.account_id, p_batch)), 0) from (
    select distinct due.account_id from (
      select e.account_id from public.usage_entries e where not e.is_summed limit p_batch) due
    limit 1) a
$$;
comment on function public.sweep_unsummed_usage is 'Adds at most p_batch entries of one account to usage_days, and returns their number.';

create or replace function public.report_usage(
  p_account_id uuid, p_from timestamptz, p_to timestamptz, p_group_by text, p_split_by text
) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  v_since constant timestamptz := coalesce(p_from, public.usage_month()::timestamp at time zone 'UTC');
  v_until constant timestamptz := coalesce(p_to, 'infinity');
  -- The days that are whole, whose sums are read.
  v_first constant timestamptz :=
    date_trunc('day', v_since + interval '1 day' - interval '1 microsecond', 'UTC');
  v_last constant timestamptz := greatest(v_first, date_trunc('day', v_until, 'UTC'));
begin
  return (
    with single as materialized (
      select e as entry from public.usage_entries e
      where e.account_id = p_account_id and e.created_at >= v_since
        and e.created_at < least(v_first, v_until)
      union all
      select e from public.usage_entries e
      where e.account_id = p_account_id and e.created_at >= v_last and e.created_at < v_until
      union all
      select e from public.usage_entries e
      where e.account_id = p_account_id and e.created_at >= v_first and e.created_at < v_last
        and not e.is_summed),
    -- Summed entries of sources that cannot be counted by adding.
    shared as materialized (
      select e as entry from public.usage_entries e
      where e.account_id = p_account_id and e.is_summed and public.is_run_usage(e)
        and e.created_at >= v_first and e.created_at < v_last and e.source = any (array(
          -- Of a source with entries of several days, the later ones are continued.
          select (s.entry).source from single s
          where not (s.entry).is_summed or (s.entry).is_continued
          union
          select c.source from public.usage_entries c
          where c.account_id = p_account_id and c.is_continued
            and c.created_at >= v_first and c.created_at < v_last))),
    used as (
      select d.*, null as source from public.usage_days d
      where d.account_id = p_account_id
        and d.day >= (v_first at time zone 'UTC')::date and d.day < (v_last at time zone 'UTC')::date
      union all
      select d.*, case when public.is_run_usage(s.entry) then (s.entry).source end
      from single s cross join lateral public.day_of_usage(s.entry) d
      union all
      select d.account_id, d.day, d.kind, d.model_id, d.api_key_id, d.artist_id,
        -- Once for each row of usage_days that counts it.
        case row_number() over (partition by (s.entry).source, d.day, d.kind, d.api_key_id,
          d.artist_id, d.model_id) when 1 then -1 else 0 end,
        case row_number() over (partition by (s.entry).source, d.day, d.kind, d.api_key_id,
          d.artist_id) when 1 then -1 else 0 end,
        0, 0, 0, 0, 0, 0, 0, 0, 0, (s.entry).source
      from shared s cross join lateral public.day_of_usage(s.entry) d),
    keyed as (
      select u.*, n.names[array_position(n.groups, p_group_by)] as key,
        n.names[array_position(n.groups, p_split_by)] as part
      from used u
      cross join lateral (select array['day', 'model', 'api_key', 'artist', 'kind'] as groups,
        array[to_char(u.day, 'YYYY-MM-DD'), u.model_id, u.api_key_id::text, u.artist_id::text, u.kind] as names) n),
    summed as (
      select grouping(k.key) = 1 as is_total, grouping(k.part) = 0 as is_part, k.key, k.part,
        count(distinct k.source) + coalesce(case
          when grouping(k.key) = 0 and p_group_by = 'model'
            or grouping(k.part) = 0 and p_split_by = 'model'
          then sum(k.model_runs) else sum(k.runs) end, 0) as runs,
        coalesce(sum(k.steps), 0) as steps,
        coalesce(sum(k.input_tokens), 0) as input_tokens,
        coalesce(sum(k.cached_input_tokens), 0) as cached_input_tokens,
        coalesce(sum(k.output_tokens), 0) as output_tokens,
        public.summed_cost(coalesce(sum(k.calls), 0)::bigint, coalesce(sum(k.unpriced_calls), 0)::bigint,
          sum(k.cost_usd)) as cost_usd,
        coalesce(sum(k.unpriced_calls), 0) as unpriced_calls,
        coalesce(sum(k.images), 0) as images,
        coalesce(sum(k.videos), 0) as videos
      from keyed k group by grouping sets ((k.key, k.part), (k.key), ())),
    items as (
      select * from summed s where not s.is_total and not s.is_part
      order by s.key nulls last limit 1000),
    ranked as (
      select s.*, row_number() over (
        partition by s.key
        order by s.cost_usd desc nulls last, s.input_tokens + s.output_tokens desc, s.part) as place
      from summed s where s.is_part and p_split_by is not null),
    parts as (
      select r.key, jsonb_agg(
        to_jsonb(r) - array['is_total', 'is_part', 'part', 'place'] || jsonb_build_object('key', r.part)
        order by r.place) as list
      from ranked r where r.place <= 20 group by r.key)
    select jsonb_build_object(
      'totals', (
        select to_jsonb(s) - array['is_total', 'is_part', 'key', 'part']
        from summed s where s.is_total),
      'items', (
        select coalesce(jsonb_agg(
          to_jsonb(i) - array['is_total', 'is_part', 'part']
          || case when p_split_by is null then '{}' else jsonb_build_object('parts', p.list) end
          order by i.key nulls last), '[]')
        from items i left join parts p on p.key is not distinct from i.key)));
end
$$;
comment on function public.report_usage is 'The usage of an account from p_from, or else the start of the month, until p_to, or else now: {totals, items [{key, …}]}, with an item for each day (UTC), model, API key, artist or kind, at most 1,000. With p_split_by each item has parts [{key, …}], the costliest first, at most 20. A cost is null when none of the calls has a known price.';

create trigger sum_new_usage after insert on public.usage_entries
  referencing new table as new_rows for each statement execute function public.sum_new_usage();
create trigger reset_changed_usage_days after update on public.usage_entries
  referencing old table as old_rows new table as new_rows
  for each statement execute function public.reset_usage_days();
create trigger reset_deleted_usage_days after delete on public.usage_entries
  referencing old table as old_rows for each statement execute function public.reset_usage_days();
