-- Usage says which calls have no known price, and no number that a model server reports can break it.

-- No call has more than 100 million tokens, or costs more than a million. A cost that is not plausible is
-- unknown. The expressions are repeated, because a function call for each entry would take longer than the
-- report.

create or replace function public.record_usage(
  p_account_id uuid, p_source text, p_kind text, p_api_key_id uuid, p_artist_id uuid, p_calls jsonb
) returns void
language sql volatile set search_path = '' as $$
  with added as (
    insert into public.usage_entries (account_id, source, kind, api_key_id, artist_id, step, tool, call,
      model_id, input_tokens, output_tokens, images, videos, cost_usd, estimated)
    select p_account_id, p_source, p_kind, p_api_key_id, p_artist_id, c.step, c.tool, c.call,
      left(c.model_id, 200), least(greatest(coalesce(c.input_tokens, 0), 0), 100000000),
      least(greatest(coalesce(c.output_tokens, 0), 0), 100000000),
      coalesce(c.images, 0), coalesce(c.videos, 0),
      case when c.cost_usd between 0 and 1000000 then c.cost_usd end, coalesce(c.estimated, false)
    from jsonb_to_recordset(p_calls) as c (
      step integer, tool integer, call integer, model_id text, input_tokens numeric,
      output_tokens numeric, images integer, videos integer, cost_usd numeric, estimated boolean)
    on conflict do nothing
    returning cost_usd)
  insert into public.usage_months as m (account_id, month, cost_usd)
  select p_account_id, public.usage_month(), sum(a.cost_usd) from added a
  having sum(a.cost_usd) > 0
  on conflict (account_id, month) do update set cost_usd = m.cost_usd + excluded.cost_usd
$$;

create function public.summed_cost(p_calls bigint, p_unpriced bigint, p_usd numeric) returns numeric
language sql immutable set search_path = '' as $$
  select case when p_calls = 0 or p_unpriced < p_calls then coalesce(p_usd, 0) end
$$;
comment on function public.summed_cost is
  'What calls have cost, without the unpriced ones; null, for unknown, when none of them has a price.';

create or replace function public.run_item_json(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select public.run_json(p_turn) || jsonb_build_object(
    'kind', coalesce(p_turn.kind, case when p_turn.headless then 'headless' else 'chat' end),
    'title', (select c.title from public.chats c where c.id = p_turn.chat_id),
    'artist_id', p_turn.artist_id,
    'model_id', p_turn.model_id,
    'usage', jsonb_build_object(
      'input_tokens', coalesce(sum(u.input), 0),
      'output_tokens', coalesce(sum(u.output), 0),
      'total_tokens', coalesce(sum(u.input + u.output), 0)),
    'cost_usd', public.summed_cost(count(*), count(*) filter (where u.cost is null), sum(u.cost)),
    'unpriced_calls', count(*) filter (where u.cost is null),
    'duration_ms', public.duration_ms(p_turn.created_at, p_turn.finished_at))
  from (
    select least(greatest(e.input_tokens, 0), 100000000) as input,
      least(greatest(e.output_tokens, 0), 100000000) as output,
      case when e.cost_usd between 0 and 1000000 then e.cost_usd end as cost
    from public.usage_entries e
    where e.account_id = p_turn.account_id and e.source = p_turn.id::text) u
$$;

create function public.plausible_steps(p_steps jsonb) returns jsonb
language sql immutable set search_path = '' as $$
  select coalesce(jsonb_agg(
    s.step || jsonb_build_object(
      'usage', jsonb_build_object('input_tokens', t.input, 'output_tokens', t.output,
        'total_tokens', t.input + t.output),
      'cost_usd', case when (s.step ->> 'cost_usd')::numeric between 0 and 1000000
        then s.step -> 'cost_usd' end)
    order by s.place), '[]')
  from jsonb_array_elements(p_steps) with ordinality as s (step, place)
  cross join lateral (
    select least(greatest(round((s.step #>> '{usage,input_tokens}')::numeric), 0), 100000000) as input,
      least(greatest(round((s.step #>> '{usage,output_tokens}')::numeric), 0), 100000000) as output) t
$$;
comment on function public.plausible_steps is
  'The steps of a trace, of which some were stored before usage was checked, with plausible usage and costs.';

create or replace function public.get_run_trace(p_account_id uuid, p_run_id text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'run', public.run_item_json(t) || jsonb_build_object(
      'artist_id', t.artist_id,
      'prompt', (
        select left(public.words_of_parts(m.parts), 10000) from public.messages m
        where m.chat_id = t.chat_id and m.id = t.message_id and m.role = 'user')),
    'steps', public.plausible_steps(coalesce(
      (select r.steps from public.run_traces r where r.turn_id = t.id),
      public.run_steps_json(t.id))))
  from public.turns t
  where t.run_id = p_run_id and t.account_id = p_account_id
$$;

create function public.report_usage(
  p_account_id uuid, p_from timestamptz, p_to timestamptz, p_group_by text, p_split_by text
) returns jsonb
language sql stable set search_path = '' as $$
  with keyed as (
    select e.source, e.images, e.videos, e.kind in ('image', 'video') as is_generation,
      least(greatest(e.input_tokens, 0), 100000000) as input_tokens,
      least(greatest(e.output_tokens, 0), 100000000) as output_tokens,
      case when e.cost_usd between 0 and 1000000 then e.cost_usd end as cost_usd,
      n.names[array_position(n.groups, p_group_by)] as key,
      n.names[array_position(n.groups, p_split_by)] as part
    from public.usage_entries e
    cross join lateral (select array['day', 'model', 'api_key', 'artist', 'kind'] as groups,
      array[to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD'), e.model_id, e.api_key_id::text,
        e.artist_id::text, e.kind] as names) n
    where e.account_id = p_account_id
      and e.created_at >= coalesce(p_from, public.usage_month()::timestamp at time zone 'UTC')
      and e.created_at < coalesce(p_to, 'infinity')),
  summed as (
    select grouping(k.key) = 1 as is_total, grouping(k.part) = 0 as is_part, k.key, k.part,
      count(distinct k.source) filter (where not k.is_generation) as runs,
      count(*) filter (where not k.is_generation) as steps,
      coalesce(sum(k.input_tokens), 0) as input_tokens,
      coalesce(sum(k.output_tokens), 0) as output_tokens,
      public.summed_cost(
        count(*), count(*) filter (where k.cost_usd is null), sum(k.cost_usd)) as cost_usd,
      count(*) filter (where k.cost_usd is null) as unpriced_calls,
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
      from items i left join parts p on p.key is not distinct from i.key))
$$;
comment on function public.report_usage is
  'What an account has used from p_from, or else the start of the month, until p_to, or else now: {totals, items [{key, …}]}, with an item for each day (UTC), model, API key, artist or kind, at most 1,000. With p_split_by each item has parts [{key, …}], the costliest first, at most 20. A cost is null when none of the calls has a known price.';
comment on function public.usage_report(uuid, timestamptz, timestamptz, text, text) is
  'Superseded by report_usage.';
