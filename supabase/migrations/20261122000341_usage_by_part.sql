-- A report of usage can divide its items: the days of a month by model, for example.

create function public.usage_report(
  p_account_id uuid, p_from timestamptz, p_to timestamptz, p_group_by text, p_split_by text
) returns jsonb
language sql stable set search_path = '' as $$
  with keyed as (
    select e.*, e.kind in ('image', 'video') as is_generation,
      case p_group_by
      when 'day' then to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD')
      when 'model' then e.model_id
      when 'api_key' then e.api_key_id::text
      when 'artist' then e.artist_id::text
      when 'kind' then e.kind end as key,
      case p_split_by
      when 'day' then to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD')
      when 'model' then e.model_id
      when 'api_key' then e.api_key_id::text
      when 'artist' then e.artist_id::text
      when 'kind' then e.kind end as part
    from public.usage_entries e
    where e.account_id = p_account_id
      and e.created_at >= coalesce(p_from, public.usage_month()::timestamp at time zone 'UTC')
      and e.created_at < coalesce(p_to, 'infinity')),
  summed as (
    select grouping(k.key) = 1 as is_total, grouping(k.part) = 0 as is_part, k.key, k.part,
      count(distinct k.source) filter (where not k.is_generation) as runs,
      count(*) filter (where not k.is_generation) as steps,
      coalesce(sum(k.input_tokens), 0) as input_tokens,
      coalesce(sum(k.output_tokens), 0) as output_tokens,
      coalesce(sum(k.cost_usd), 0) as cost_usd,
      coalesce(sum(k.images), 0) as images,
      coalesce(sum(k.videos), 0) as videos
    from keyed k group by grouping sets ((k.key, k.part), (k.key), ())),
  items as (
    select * from summed s where not s.is_total and not s.is_part
    order by s.key nulls last limit 1000),
  ranked as (
    select s.*, row_number() over (
      partition by s.key
      order by s.cost_usd desc, s.input_tokens + s.output_tokens desc, s.part) as place
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
comment on function public.usage_report(uuid, timestamptz, timestamptz, text, text) is
  'What an account has used from p_from, or else the start of the month, until p_to, or else now: {totals, items [{key, …}]}, with an item for each day (UTC), model, API key, artist or kind, at most 1,000. With p_split_by each item has parts [{key, …}], the costliest first, at most 20.';
comment on function public.usage_report(uuid, timestamptz, timestamptz, text) is
  'Superseded by usage_report with p_split_by.';
