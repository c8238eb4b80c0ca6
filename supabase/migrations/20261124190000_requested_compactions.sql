-- The context of a chat can be read, and compacted between two turns: such a compaction has no turn.

alter table public.compactions alter column turn_id drop not null;
comment on column public.compactions.turn_id is 'The turn that compacted the conversation; null if a caller requested it between two turns.';

create table public.running_compactions (
  chat_id uuid primary key references public.chats (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  id uuid not null unique,
  reserved_usd numeric not null default 0,
  lease_until timestamptz not null
);

create index running_compactions_account on public.running_compactions (account_id);
alter table public.running_compactions enable row level security;
comment on table public.running_compactions is 'The compactions that callers have requested and that are being made: one per chat, so that two requests do not pay for two summaries.';
comment on column public.running_compactions.id is 'Identifies the request that holds the lease. It is the source of its usage entries.';
comment on column public.running_compactions.reserved_usd is 'The estimated cost of its model calls, until lease_until.';
comment on column public.running_compactions.lease_until is 'When another request may take the lease over, because the process that held it has died.';

comment on column public.usage_entries.source is 'The id of the turn, of the task run of a generation, or of a compaction that a caller requested.';

create or replace function public.compaction_of_turn(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object('id', c.id, 'kind', c.kind, 'state', c.state,
    'isOwn', (c.turn_id = p_turn.id) is true,
    'tokensBefore', c.tokens_before, 'tokensAfter', c.tokens_after)
  from public.compactions c
  where c.chat_id = p_turn.chat_id and c.tool_call_id is null and (
    c.turn_id = p_turn.id
    or exists (
      select from public.messages m
      where p_turn.history is null and m.chat_id = c.chat_id and m.id = c.message_id and m.on_path)
    or exists (
      select from jsonb_array_elements(p_turn.history) h where h ->> 'id' = c.message_id))
  order by c.id desc
  limit 1
$$;

create function public.is_chat_busy(p_chat public.chats) returns boolean
language sql stable set search_path = '' as $$
  select public.active_stream_id(p_chat) is not null
    or exists (select from public.queued_turns q where q.chat_id = p_chat.id)
$$;
comment on function public.is_chat_busy is 'Returns whether a turn of the chat is active or waits.';

create or replace function public.choose_branch(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_message_id text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
begin
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for update;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  perform 1 from public.messages where chat_id = p_chat_id and id = p_message_id;
  if not found then
    return jsonb_build_object('missing', 'message');
  end if;
  if public.is_chat_busy(v_chat) then
    return jsonb_build_object('busy', true);
  end if;
  perform public.show_path(p_chat_id, p_message_id, true);
  return jsonb_build_object('branches', public.branches_of_chat(p_chat_id));
end
$$;

create function public.next_turn_of_chat(p_chat public.chats, p_default_model_id text)
returns public.turns
language plpgsql stable set search_path = '' as $$
declare
  v_turn public.turns;
begin
  v_turn.account_id := p_chat.account_id;
  v_turn.session_id := p_chat.session_id;
  v_turn.chat_id := p_chat.id;
  v_turn.message_id := public.leaf_of_chat(p_chat.id);
  v_turn.assistant_message_id := '';
  v_turn.model_id := coalesce(nullif(p_chat.model_id, ''), p_default_model_id);
  v_turn.instructions := public.chat_instructions(p_chat.account_id, p_chat.id);
  v_turn.headless := false;
  v_turn.loads := 0;
  v_turn.created_at := now();
  return v_turn;
end
$$;
comment on function public.next_turn_of_chat is 'The turn that a message would start now in a chat, without that message: it answers the newest one. It is not stored.';

create function public.get_chat_context(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_default_model_id text
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_chat public.chats;
  v_turn public.turns;
begin
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  v_turn := public.next_turn_of_chat(v_chat, p_default_model_id);
  return jsonb_build_object('turn',
    public.turn_state(v_turn) || jsonb_build_object('history', public.history_of_turn(v_turn)));
end
$$;
comment on function public.get_chat_context is 'The conversation of a chat as its next turn continues it: {turn: turn_state with history} | {missing: session | chat}.';

create function public.begin_compaction(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_id uuid, p_default_model_id text,
  p_lease_seconds integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
begin
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for update;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  if public.is_chat_busy(v_chat) then
    return jsonb_build_object('refused', 'busy');
  end if;
  if public.is_budget_reached(p_account_id) then
    return jsonb_build_object('refused', 'budget_reached');
  end if;
  insert into public.running_compactions as r (chat_id, account_id, id, lease_until)
  values (p_chat_id, p_account_id, p_id, clock_timestamp() + make_interval(secs => p_lease_seconds))
  on conflict (chat_id) do update
  set id = excluded.id, reserved_usd = 0, lease_until = excluded.lease_until
  where r.lease_until < clock_timestamp();
  if not found then
    return jsonb_build_object('refused', 'compacting');
  end if;
  return public.get_chat_context(p_account_id, p_session_id, p_chat_id, p_default_model_id);
end
$$;
comment on function public.begin_compaction is 'Leases the compaction of a chat to a request, with the id p_id, and returns its conversation as of get_chat_context | {refused: busy, while a turn is active or waits | budget_reached | compacting, while another request has the lease} | {missing: session | chat}. end_compaction ends the lease.';

create function public.end_compaction(
  p_account_id uuid, p_chat_id uuid, p_id uuid, p_leaf_id text, p_base_id bigint,
  p_compaction jsonb, p_api_key_id uuid, p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
  v_turn public.turns;
begin
  perform from public.accounts where id = p_account_id for key share;
  if not found then
    return jsonb_build_object('refused', 'chat');
  end if;
  select * into v_chat from public.chats
  where id = p_chat_id and account_id = p_account_id for update;
  -- Usage counts, even if the lease or the chat is lost.
  perform public.record_usage(p_account_id, p_id::text, 'chat', p_api_key_id,
    (select s.artist_id from public.sessions s where s.id = v_chat.session_id), p_usage);
  if v_chat.id is null then
    return jsonb_build_object('refused', 'chat');
  end if;
  delete from public.running_compactions where chat_id = v_chat.id and id = p_id;
  if not found then
    return jsonb_build_object('refused', 'changed');
  end if;
  if p_compaction ->> 'kind' is null then
    return jsonb_build_object('recorded', false);
  end if;
  if public.is_chat_busy(v_chat) then
    return jsonb_build_object('refused', 'busy');
  end if;
  -- A turn may have started and ended since, or another branch may be shown.
  v_turn := public.next_turn_of_chat(v_chat, '');
  if v_turn.message_id <> p_leaf_id
    or (public.compaction_of_turn(v_turn) ->> 'id')::bigint is distinct from p_base_id
  then
    return jsonb_build_object('refused', 'changed');
  end if;
  insert into public.compactions
    (account_id, chat_id, message_id, kind, state, tokens_before, tokens_after)
  select p_account_id, p_chat_id, c.message_id, c.kind, c.state, c.tokens_before, c.tokens_after
  from jsonb_to_record(p_compaction) as c (
    message_id text, kind text, state jsonb, tokens_before integer, tokens_after integer);
  return jsonb_build_object('recorded', true);
end
$$;
comment on function public.end_compaction is 'Ends the lease of begin_compaction, records what its model calls have used, and the compaction {message_id, kind, state, tokens_before, tokens_after} that was made, null for none: {recorded} | {refused: chat, which is deleted | busy, while a turn is active or waits | changed, when the lease is lost, or the chat is no longer the one with the newest message p_leaf_id and the compaction p_base_id (null for none)}. Refused, only the usage is recorded.';

create or replace function public.report_usage(
  p_account_id uuid, p_from timestamptz, p_to timestamptz, p_group_by text, p_split_by text
) returns jsonb
language sql stable set search_path = '' as $$
  with keyed as (
    select e.source, e.tool, e.images, e.videos, e.kind in ('image', 'video') as is_generation,
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
      -- A compaction that a caller requested has only summaries, and is no run.
      count(distinct k.source) filter (where not k.is_generation and k.tool >= 0) as runs,
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

create or replace function public.unspent_budget(p_account_id uuid) returns numeric
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
      select sum(c.reserved_usd) from public.running_compactions c
      where c.account_id = a.id and c.lease_until > now()), 0)
  from public.accounts a where a.id = p_account_id
$$;

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

create function public.reserve_compaction_call(
  p_account_id uuid, p_id uuid, p_estimate_usd numeric
) returns text
language plpgsql volatile set search_path = '' as $$
declare
  v_compaction public.running_compactions;
  v_refusal text;
begin
  -- One check of an account at a time, in the order of claim_turn.
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  select * into v_compaction from public.running_compactions
  where id = p_id and account_id = p_account_id for update;
  if not found then
    return 'superseded';
  end if;
  v_refusal := public.check_budget(p_account_id, p_estimate_usd, v_compaction.reserved_usd > 0);
  if v_refusal is not null then
    return v_refusal;
  end if;
  update public.running_compactions set reserved_usd = reserved_usd + coalesce(p_estimate_usd, 0)
  where id = p_id;
  return 'reserved';
end
$$;
comment on function public.reserve_compaction_call is 'Reserves the estimated cost of a model call of a requested compaction, until its end: reserved | budget_reached | unpriced_model, for an estimate of null | superseded, when the lease is lost.';
