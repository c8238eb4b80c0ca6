-- Providers cache the beginning of prompts and charge less for it: usage counts those tokens.

alter table public.usage_entries add column cached_input_tokens bigint not null default 0;
comment on column public.usage_entries.cached_input_tokens is 'Those of input_tokens that the provider had cached.';

create or replace function public.record_usage(
  p_account_id uuid, p_source text, p_kind text, p_api_key_id uuid, p_artist_id uuid, p_calls jsonb
) returns void
language sql volatile set search_path = '' as $$
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
  on conflict (account_id, month) do update set cost_usd = m.cost_usd + excluded.cost_usd
$$;

create or replace function public.report_usage(
  p_account_id uuid, p_from timestamptz, p_to timestamptz, p_group_by text, p_split_by text
) returns jsonb
language sql stable set search_path = '' as $$
  with keyed as (
    select e.source, e.images, e.videos, e.kind in ('image', 'video') as is_generation,
      least(greatest(e.input_tokens, 0), 100000000) as input_tokens,
      least(greatest(e.cached_input_tokens, 0), 100000000) as cached_input_tokens,
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
      coalesce(sum(k.cached_input_tokens), 0) as cached_input_tokens,
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

create or replace function public.run_with_usage(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select public.run_row(p_turn) || jsonb_build_object(
    'title', (select c.title from public.chats c where c.id = p_turn.chat_id),
    'input_tokens', coalesce(sum(u.input), 0),
    'cached_input_tokens', coalesce(sum(u.cached), 0),
    'output_tokens', coalesce(sum(u.output), 0),
    'cost_usd', public.summed_cost(count(*), count(*) filter (where u.cost is null), sum(u.cost)),
    'unpriced_calls', count(*) filter (where u.cost is null))
  from (
    select least(greatest(e.input_tokens, 0), 100000000) as input,
      least(greatest(e.cached_input_tokens, 0), 100000000) as cached,
      least(greatest(e.output_tokens, 0), 100000000) as output,
      case when e.cost_usd between 0 and 1000000 then e.cost_usd end as cost
    from public.usage_entries e
    where e.account_id = p_turn.account_id and e.source = p_turn.id::text) u
$$;

create or replace function public.run_steps(p_turn_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'index', s.index,
    'started_at', s.result #> '{trace,startedAt}',
    'finished_at', s.result #> '{trace,finishedAt}',
    'model_id', coalesce(s.result #>> '{trace,modelId}', t.model_id),
    'finish_reason', s.result ->> 'finishReason',
    'usage', jsonb_build_object(
      'input_tokens', coalesce(s.result #> '{usage,inputTokens}', '0'),
      'cached_input_tokens', coalesce(s.result #> '{usage,cachedInputTokens}', '0'),
      'output_tokens', coalesce(s.result #> '{usage,outputTokens}', '0'),
      'total_tokens', coalesce(s.result #> '{usage,totalTokens}', '0')),
    'cost_usd', s.result #> '{trace,costUsd}',
    'attempts', coalesce(s.result #> '{trace,attempts}', '1'),
    'tool_calls', (
      -- A call is recorded by the next step, under its index.
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', left(c.value ->> 'id', 200),
        'name', left(c.value ->> 'name', 100),
        'state', case
          when r.turn_id is null then 'pending'
          when not r.finished then 'running'
          when r.output #> '{value,error}' is not null then 'failed'
          else 'completed' end,
        'started_at', r.started_at,
        'finished_at', r.finished_at,
        'error', left(r.output #>> '{value,error}', 500)) order by c.ordinality), '[]')
      from jsonb_array_elements(coalesce(s.result -> 'calls', '[]')) with ordinality as c
      left join public.tool_runs r
        on r.turn_id = s.turn_id and r.tool_call_id = (s.index + 1) || ' ' || (c.value ->> 'id'))
    ) order by s.index), '[]')
  from public.turn_steps s join public.turns t on t.id = s.turn_id
  where s.turn_id = p_turn_id
$$;
