-- The retention of sandboxes looks after those with the programs of the machine, too: their files are
-- in the same folders.

create or replace function public.idle_sandboxes(p_days integer, p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(i.sandbox_state || jsonb_build_object(
    'sessionId', i.id, 'accountId', i.account_id)), '[]')
  from (
    select s.id, s.account_id, s.sandbox_state
    from public.sessions s, (select now() - make_interval(days => p_days)) at (cutoff)
    -- An empty sandbox takes no space, and is not in the index.
    where s.sandbox_bytes > 0
      and s.sandbox_state ->> 'provider' in ('local', 'system')
      and (s.sandbox_state ->> 'createdAt')::timestamptz < at.cutoff
      and coalesce(s.sandbox_reserved_at, '-infinity') < at.cutoff
      and not exists (
        select from public.turns t
        where t.session_id = s.id and coalesce(t.finished_at, 'infinity') >= at.cutoff)
    limit p_batch
  ) i
$$;
comment on function public.idle_sandboxes(integer, integer) is
  'States of sandboxes on this machine with files whose sessions have had no turn for p_days, each with its sessionId and accountId.';
