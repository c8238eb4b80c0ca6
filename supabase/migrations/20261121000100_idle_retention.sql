-- What the retention job looks up besides: sandboxes that nobody has used for long, and turns whose
-- run may have been lost.

create function public.idle_sandboxes(p_days integer, p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(i.sandbox_state || jsonb_build_object(
    'sessionId', i.id, 'accountId', i.account_id)), '[]')
  from (
    select s.id, s.account_id, s.sandbox_state
    from public.sessions s, (select now() - make_interval(days => p_days)) at (cutoff)
    -- An empty sandbox takes no space, and is not in the index.
    where s.sandbox_bytes > 0
      and s.sandbox_state ->> 'provider' = 'local'
      and (s.sandbox_state ->> 'createdAt')::timestamptz < at.cutoff
      and coalesce(s.sandbox_reserved_at, '-infinity') < at.cutoff
      and not exists (
        select from public.turns t
        where t.session_id = s.id and coalesce(t.finished_at, 'infinity') >= at.cutoff)
    limit p_batch
  ) i
$$;
comment on function public.idle_sandboxes(integer, integer) is
  'States of local sandboxes with files whose sessions have had no turn for p_days, each with its sessionId and accountId.';

create function public.unfinished_turns(p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('turnId', t.id, 'runId', t.run_id)), '[]')
  from (
    select id, run_id from public.turns
    where finished_at is null and run_id is not null and created_at < now() - interval '1 day'
    order by created_at
    limit p_batch
  ) t
$$;
comment on function public.unfinished_turns(integer) is
  'Turns [{turnId, runId}] that have been unfinished for more than a day, oldest first: their runs may be lost.';
