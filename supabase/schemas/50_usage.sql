-- The cost of model calls and generations, and the monthly budget.

create table public.usage_entries (
  account_id uuid not null references public.accounts (id) on delete cascade,
  source text not null,
  step integer not null,
  tool integer not null,
  call integer not null,
  kind text not null check (kind in ('chat', 'headless', 'task', 'image', 'video')),
  model_id text not null,
  api_key_id uuid,
  artist_id uuid,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  images integer not null default 0,
  videos integer not null default 0,
  cost_usd numeric,
  estimated boolean not null default false,
  created_at timestamptz not null default now(),
  cached_input_tokens bigint not null default 0,
  is_summed boolean not null default false,
  is_continued boolean not null default false,
  primary key (account_id, source, step, tool, call)
);

create index usage_entries_time on public.usage_entries (account_id, created_at);
create index usage_entries_unsummed on public.usage_entries (account_id, created_at) where not is_summed;
create index usage_entries_continued on public.usage_entries (account_id, created_at) where is_continued;
comment on table public.usage_entries is 'What each model call and each generation has used. It outlives the chat, the API key and the artist that it was for.';
comment on column public.usage_entries.source is 'The id of the turn, of the task run of a generation, of a compaction that a caller requested, or of a proposal for a memory.';
comment on column public.usage_entries.step is 'The index of the step in the turn; 0 for a generation.';
comment on column public.usage_entries.tool is '0 for the step''s own model call; for the calls of a subagent, its number among the tool calls of the step, from 1; negative for summaries, -1 for the turn''s own, one lower with each such number.';
comment on column public.usage_entries.call is 'The number of the model call within the step or the subagent, from 0.';
comment on column public.usage_entries.cached_input_tokens is 'Those of input_tokens that the provider had cached.';
comment on column public.usage_entries.cost_usd is 'Null where no price is known.';
comment on column public.usage_entries.estimated is 'Whether the tokens are an estimate, because the answer was cut before the model reported them.';
comment on column public.usage_entries.is_summed is 'Whether usage_days has it.';
comment on column public.usage_entries.is_continued is 'Whether entries of the same source have been summed for another day, kind, API key or artist, so the runs of these rows of usage_days cannot be added.';

create table public.usage_days (
  account_id uuid not null references public.accounts (id) on delete cascade,
  day date not null,
  kind text not null,
  model_id text not null,
  api_key_id uuid,
  artist_id uuid,
  model_runs bigint not null default 0,
  runs bigint not null default 0,
  calls bigint not null default 0,
  unpriced_calls bigint not null default 0,
  steps bigint not null default 0,
  input_tokens bigint not null default 0,
  cached_input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_usd numeric not null default 0,
  images bigint not null default 0,
  videos bigint not null default 0
);
create unique index usage_days_key on public.usage_days
  (account_id, day, kind, model_id, api_key_id, artist_id) nulls not distinct;
comment on table public.usage_days is 'The sums of usage_entries that are marked as summed, of each day (UTC). The triggers of usage_entries and the retention job add to them.';
comment on column public.usage_days.model_runs is 'Sources that have used this model.';
comment on column public.usage_days.runs is 'As model_runs, but a source that has used several models is in only one of their rows.';

create table public.usage_months (
  account_id uuid not null references public.accounts (id) on delete cascade,
  month date not null,
  cost_usd numeric not null default 0,
  warned_at timestamptz,
  primary key (account_id, month)
);
comment on table public.usage_months is 'The cost of an account''s calendar month (UTC): the sum of its usage entries, which the start of a turn compares with the budget.';
comment on column public.usage_months.warned_at is 'When the account was told that it has spent 80 % of its budget.';

create function public.usage_month() returns date
language sql stable set search_path = '' as $$
  select date_trunc('month', now() at time zone 'UTC')::date
$$;
comment on function public.usage_month is 'The first day of the current month (UTC).';

create function public.summed_cost(p_calls bigint, p_unpriced bigint, p_usd numeric) returns numeric
language sql immutable set search_path = '' as $$
  select case when p_calls = 0 or p_unpriced < p_calls then coalesce(p_usd, 0) end
$$;
comment on function public.summed_cost is 'What calls have cost, without the unpriced ones; null, for unknown, when none of them has a price.';

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
  -- A compaction that a caller requested has only summaries, and is not a run.
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
create trigger sum_new_usage after insert on public.usage_entries
  referencing new table as new_rows for each statement execute function public.sum_new_usage();

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
create trigger reset_changed_usage_days after update on public.usage_entries
  referencing old table as old_rows new table as new_rows
  for each statement execute function public.reset_usage_days();
create trigger reset_deleted_usage_days after delete on public.usage_entries
  referencing old table as old_rows for each statement execute function public.reset_usage_days();

create function public.sweep_unsummed_usage(p_batch integer) returns bigint
language sql volatile set search_path = '' as $$
  select coalesce(sum(public.sum_usage(a.account_id, p_batch)), 0) from (
    select distinct due.account_id from (
      select e.account_id from public.usage_entries e where not e.is_summed limit p_batch) due
    limit 1) a
$$;
comment on function public.sweep_unsummed_usage is 'Adds at most p_batch entries of one account to usage_days, and returns their number.';

create function public.record_usage(
  p_account_id uuid, p_source text, p_kind text, p_api_key_id uuid, p_artist_id uuid, p_calls jsonb
) returns void
language plpgsql volatile set search_path = '' as $$
begin
  with added as (
    insert into public.usage_entries (account_id, source, kind, api_key_id, artist_id, step, tool, call,
      model_id, input_tokens, cached_input_tokens, output_tokens, images, videos, cost_usd, estimated)
    select p_account_id, p_source, p_kind, p_api_key_id, p_artist_id, c.step, c.tool, c.call,
      left(c.model_id, 200), least(greatest(coalesce(c.input_tokens, 0), 0), 100000000),
      least(greatest(coalesce(c.cached_input_tokens, 0), 0), 100000000),
      least(greatest(coalesce(c.output_tokens, 0), 0), 100000000),
      coalesce(c.images, 0), coalesce(c.videos, 0),
      case when c.cost_usd between 0 and 1000000 then c.cost_usd end, coalesce(c.estimated, false)
    from jsonb_to_recordset(p_calls) as c (
      step integer, tool integer, call integer, model_id text, input_tokens numeric,
      cached_input_tokens numeric,
      output_tokens numeric, images integer, videos integer, cost_usd numeric, estimated boolean)
    on conflict do nothing
    returning cost_usd)
  insert into public.usage_months as m (account_id, month, cost_usd)
  select p_account_id, public.usage_month(), sum(a.cost_usd) from added a
  having sum(a.cost_usd) > 0
  on conflict (account_id, month) do update set cost_usd = m.cost_usd + excluded.cost_usd;
end
$$;
comment on function public.record_usage is 'Records calls [{step, tool, call, model_id, …}] of a turn or a generation, each once, and adds their cost to the month.';

create function public.record_turn_usage(p_account_id uuid, p_turn_id uuid, p_calls jsonb)
returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_released constant numeric := (
    select sum((c ->> 'reserved_usd')::numeric) from jsonb_array_elements(p_calls) c);
begin
  perform from public.accounts where id = p_account_id for key share;
  if not found then
    return false;
  end if;
  select * into v_turn from public.turns
  where id = p_turn_id and account_id = p_account_id for key share;
  -- Usage counts even if the chat was deleted.
  perform public.record_usage(p_account_id, p_turn_id::text,
    coalesce(v_turn.kind, 'chat'), v_turn.caller_key_id, v_turn.artist_id, p_calls);
  if v_released > 0 then
    update public.turns set reserved_usd = greatest(0, reserved_usd - v_released)
    where id = v_turn.id;
  end if;
  return v_turn.id is not null;
end
$$;
comment on function public.record_turn_usage is 'Records model calls of a turn, each once, releases their reservation (reserved_usd), and returns whether the turn still exists.';

create function public.report_usage(
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

-- Budget ------------------------------------------------------------------------------------------

create function public.is_budget_reached(p_account_id uuid) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return (
    select exists (
      select from public.accounts a
      where a.id = p_account_id and a.monthly_budget_usd <= coalesce((
        select m.cost_usd from public.usage_months m
        where m.account_id = a.id and m.month = public.usage_month()), 0)));
end
$$;
comment on function public.is_budget_reached is 'Whether an account has spent its budget of the month. False without a budget.';

create function public.unspent_budget(p_account_id uuid) returns numeric
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
      select sum(j.reserved_usd) from public.model_jobs j
      where j.account_id = a.id and j.lease_until > now()), 0)
  from public.accounts a where a.id = p_account_id
$$;
comment on function public.unspent_budget is 'The rest of the month''s budget after costs and reservations; null without a budget.';

create function public.has_budget(p_account_id uuid) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(
      (select a.monthly_budget_usd is not null from public.accounts a where a.id = p_account_id), false));
end
$$;
comment on function public.has_budget is 'Whether an account has a budget.';

-- Limits of a turn --------------------------------------------------------------------------------

create type public.turn_limit as (name text, used numeric, allowed numeric);
comment on type public.turn_limit is 'A limit of a turn, and what it has used of it.';

create function public.limits_of_turn(p_turn public.turns) returns setof public.turn_limit
language sql stable set search_path = '' as $$
  select l.key,
    case l.key
      when 'max_cost_usd' then p_turn.lost_usd + (
        select coalesce(sum(e.cost_usd), 0) from public.usage_entries e
        where e.account_id = p_turn.account_id and e.source = p_turn.id::text)
      when 'max_steps' then
        (select count(*) from public.turn_steps s where s.turn_id = p_turn.id)
        + (select count(*) from public.subagent_steps s where s.turn_id = p_turn.id)
      when 'max_duration_s' then extract(epoch from clock_timestamp() - p_turn.created_at)
    end,
    l.value::numeric
  from jsonb_each_text(p_turn.options -> 'limits') l
$$;
comment on function public.limits_of_turn is 'The limits of a turn with what it has used of each, subagents and summaries included.';

create function public.check_limits(
  p_turn public.turns, p_others_usd numeric, p_spent_usd numeric, p_estimate_usd numeric,
  p_in_flight integer
) returns text
language sql stable set search_path = '' as $$
  with call as (
    -- Answers may be longer than estimated, as those before were.
    select max(e.cost_usd) as costliest from public.usage_entries e
    where e.account_id = p_turn.account_id and e.source = p_turn.id::text),
  state as (
    select l.name, l.allowed,
      l.used + case l.name when 'max_cost_usd' then p_spent_usd else 0 end as used,
      case l.name
        when 'max_cost_usd' then
          greatest(p_others_usd, p_in_flight * call.costliest)
          + coalesce(greatest(p_estimate_usd, call.costliest), 0)
        -- So many beside this one must leave it a step.
        when 'max_steps' then p_in_flight + 1
        else 0
      end as pending
    from public.limits_of_turn(p_turn) l, call)
  select coalesce(
    (select s.name from state s where s.used >= s.allowed order by s.name limit 1),
    (select 'wait' from state s where p_in_flight > 0 and s.used + s.pending > s.allowed limit 1))
$$;
comment on function public.check_limits is 'Whether a model call may be made: null, the name of the limit that is reached, or wait, for p_in_flight other calls of the turn that may reach it. One call at a time may exceed max_cost_usd.';

create function public.note_limit(p_account_id uuid, p_turn_id uuid, p_load integer, p_step integer)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  select * into v_turn from public.turns
  where id = p_turn_id and account_id = p_account_id and loads = p_load and finished_at is null
  for no key update;
  if not found then
    return jsonb_build_object('superseded', true);
  end if;
  if v_turn.limit_note is null then
    select jsonb_build_object('step', p_step, 'limit', l.name) into v_turn.limit_note
    from public.limits_of_turn(v_turn) l
    where l.used >= 0.75 * l.allowed
    order by l.used / l.allowed desc, l.name limit 1;
    update public.turns set limit_note = v_turn.limit_note
    where id = p_turn_id and v_turn.limit_note is not null;
  end if;
  return jsonb_build_object('superseded', false, 'note', v_turn.limit_note);
end
$$;
comment on function public.note_limit is 'Records, once for a turn, that its model is told from this step on that three quarters of a limit are used: {superseded, note}, the limit_note of the turn or null. Superseded, the turn has ended or was loaded again since this load.';

create function public.check_budget(
  p_account_id uuid, p_estimate_usd numeric, p_has_others boolean, p_needs_price boolean default false
) returns text
language plpgsql stable set search_path = '' as $$
declare
  v_left constant numeric := public.unspent_budget(p_account_id);
begin
  if v_left is null and not p_needs_price then
    return null;
  end if;
  if p_estimate_usd is null and not (
    select a.allow_unpriced_models from public.accounts a where a.id = p_account_id)
  then
    return 'unpriced_model';
  end if;
  -- One call may exceed the budget; one beside it must fit in.
  if v_left <= 0 or (p_has_others and p_estimate_usd > v_left) then
    return 'budget_reached';
  end if;
  return null;
end
$$;
comment on function public.check_budget is 'Why a model call must not be made: unpriced_model, for an estimate of null | budget_reached; null if it may. p_has_others says whether other calls are reserved beside it, and p_needs_price whether a price is needed without a budget, too.';

create function public.reserve_call(
  p_account_id uuid, p_id uuid, p_load integer, p_estimate_usd numeric,
  p_released_usd numeric, p_spent_usd numeric, p_in_flight integer
) returns text
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_others numeric;
  v_refusal text;
begin
  -- One check of an account at a time, in the order of claim_turn.
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  if p_load is null then
    select j.reserved_usd into v_others from public.model_jobs j
    where j.id = p_id and j.account_id = p_account_id for update;
  else
    select * into v_turn from public.turns
    where id = p_id and account_id = p_account_id and loads = p_load and finished_at is null
    for no key update;
    v_others := case when p_released_usd is not null and v_turn.reserved_until > now()
      then greatest(0, v_turn.reserved_usd - p_released_usd) else 0 end;
  end if;
  if not found then
    return 'superseded';
  end if;
  update public.turns
  set reserved_usd = v_others + p_spent_usd, reserved_until = now() + interval '40 minutes'
  where id = v_turn.id;
  v_refusal := coalesce(
    case when p_load is not null then
      public.check_limits(v_turn, v_others, p_spent_usd, p_estimate_usd, p_in_flight) end,
    public.check_budget(p_account_id, p_estimate_usd, v_others > 0,
      v_turn.options #> '{limits,max_cost_usd}' is not null));
  if v_refusal is not null then
    return v_refusal;
  end if;
  update public.turns set reserved_usd = reserved_usd + coalesce(p_estimate_usd, 0)
  where id = v_turn.id;
  update public.model_jobs set reserved_usd = reserved_usd + coalesce(p_estimate_usd, 0)
  where p_load is null and id = p_id;
  return 'reserved';
end
$$;
comment on function public.reserve_call is 'Reserves the estimated cost of a model call of the turn p_id, or if p_load is null of one of model_jobs. For a turn in place of p_released_usd, or of all its reservations when that is null, plus the cost of earlier attempts; for a job until its end: reserved | budget_reached | unpriced_model, for an estimate of null | superseded, when the turn has ended or was loaded again, or the lease of the job is lost | as in check_limits, for a turn with limits.';

create function public.warn_of_budget() returns trigger
language plpgsql set search_path = '' as $$
declare
  v_budget constant numeric := (
    select a.monthly_budget_usd from public.accounts a where a.id = new.account_id);
begin
  if v_budget > 0 and new.cost_usd >= 0.8 * v_budget then
    update public.usage_months set warned_at = now()
    where account_id = new.account_id and month = new.month;
    perform public.enqueue_webhook_event(new.account_id, 'budget.warning', jsonb_build_object(
      'month', to_char(new.month, 'YYYY-MM'),
      'monthly_budget_usd', v_budget,
      'cost_usd', new.cost_usd));
  end if;
  return null;
end
$$;
comment on function public.warn_of_budget is 'Queues the event of an account that has spent 80 % of its budget.';
create trigger usage_months_warn after insert or update of cost_usd on public.usage_months
for each row when (new.warned_at is null) execute function public.warn_of_budget();
