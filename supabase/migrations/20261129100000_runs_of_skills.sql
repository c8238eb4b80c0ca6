-- Runs can be listed by a skill that they have loaded.

alter table public.turn_skills add column account_id uuid;
comment on column public.turn_skills.account_id is 'The account of the turn.';

create or replace function public.record_turn_skill(p_account_id uuid, p_turn_id uuid, p_skill jsonb)
returns void
language sql volatile set search_path = '' as $$
  insert into public.turn_skills (turn_id, account_id, name, source, version, sha256)
  select t.id, t.account_id, p_skill ->> 'name', p_skill ->> 'source',
    (p_skill ->> 'version')::integer, p_skill ->> 'sha256'
  from public.turns t where t.id = p_turn_id and t.account_id = p_account_id
  on conflict do nothing
$$;
comment on function public.record_turn_skill is 'Records that a turn has loaded a skill {name, source, version, sha256}. The first version that it loads counts.';

-- With one more argument, which calls of the version before leave out.
drop function public.list_runs(uuid, integer, timestamptz, uuid, text, text, uuid, uuid, timestamptz);
create function public.list_runs(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid,
  p_status text, p_kind text, p_chat_id uuid, p_artist_id uuid, p_since timestamptz,
  p_skill text default null
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_page jsonb;
begin
  -- Planned for the given filters, each of which has its index.
  execute format($query$
    select to_jsonb(array(
      select public.run_with_usage(t)
      from public.turns t %s
      where t.account_id = $1 and t.run_id is not null
        and (t.created_at, t.id) < ($3, $4)
        and ($5 is null or t.status = replace($5, 'requires_action', 'running'))
        and ($5 is null or t.status <> 'running'
          or public.is_waiting(t.id) = ($5 = 'requires_action'))
        and ($6 is null or t.kind = $6)
        and ($7 is null or t.chat_id = $7)
        and ($8 is null or t.artist_id = $8)
        and ($9 is null or t.created_at >= $9)
      order by t.created_at desc, t.id desc
      limit $2 + 1))
  $query$, case when p_skill is not null then
    'join public.turn_skills k on k.turn_id = t.id and k.account_id = $1 and k.name = $10' end) into v_page using p_account_id, p_limit,
    coalesce(p_after_at, 'infinity'), coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
    p_status, p_kind, p_chat_id, p_artist_id, p_since, p_skill;
  return v_page;
end
$$;
comment on function public.list_runs is 'Runs of an account, newest first, of a status, a kind, a chat, an artist, since a time and with a loaded skill where these are given: a page of run_with_usage, with one more row if another page follows.';

update public.turn_skills s set account_id = t.account_id
from public.turns t where t.id = s.turn_id and s.account_id is null;
