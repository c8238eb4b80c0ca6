-- Limits of a run: its cost, its steps and its duration. They are stored with the other options, and checked where a
-- model call reserves its cost.

-- Turns are written with a lock of their chat, and the reverse. This gives up before PostgreSQL notices a
-- deadlock, a second later, for which it could end the statement of a server.
set local lock_timeout = '200ms';
alter table public.turns
  add column lost_usd numeric not null default 0,
  add column limit_note jsonb;
comment on column public.turns.lost_usd is 'The reserved cost of model calls that were cut with their process. It counts against max_cost_usd, because the vendor may bill them.';
comment on column public.turns.limit_note is 'What the model was told once three quarters of a limit were used: {step, limit}, the step that was first told and the name of the limit. Null before.';

create function public.narrowest_limits(p_limits jsonb[]) returns jsonb
language sql immutable set search_path = '' as $$
  select jsonb_object_agg(narrowest.name, narrowest.value)
  from (
    select l.key as name, min(l.value::numeric) as value
    from unnest(p_limits) as given, jsonb_each_text(given) as l
    group by l.key) narrowest
$$;
comment on function public.narrowest_limits is 'The least value of each limit among objects such as {max_steps: 10}, any of which may be null; null without any.';

create or replace function public.chat_options(p_account_id uuid, p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_strip_nulls(
    case when t.account_id = p_account_id then t.options else '{}' end || c.options
    || jsonb_build_object('limits',
      public.narrowest_limits(array[t.options -> 'limits', c.options -> 'limits'])))
  from public.chats c
  left join public.agent_templates t
    on t.id = c.template_id and public.can_see_agent_template(p_account_id, t)
  where c.id = p_chat_id and c.account_id = p_account_id
$$;
comment on function public.chat_options is 'The options of a chat''s turns: each is the chat''s own, or else its template''s. A template of another account sets limits only, because models, effort and an outcome can cost more than the account has asked for. Of limits the narrowest applies.';

create or replace function public.turn_state(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'load', p_turn.loads,
    'account_id', p_turn.account_id,
    'session_id', p_turn.session_id,
    'chat_id', p_turn.chat_id,
    'message_id', p_turn.message_id,
    'assistant_message_id', p_turn.assistant_message_id,
    'model_id', p_turn.model_id,
    'instructions', p_turn.instructions,
    'options', p_turn.options,
    'limit_note', p_turn.limit_note,
    'context_limit', p_turn.context_limit,
    'headless', p_turn.headless,
    'has_key', p_turn.key_id is not null,
    'has_budget', public.has_budget(p_turn.account_id),
    'created_at', public.iso_date(p_turn.created_at),
    'stop_requested', p_turn.stop_requested_at is not null,
    'artist_id', s.artist_id,
    'compaction', public.compaction_of_turn(p_turn),
    'output_schema', p_turn.output_schema,
    'steering', (
      select coalesce(jsonb_agg(jsonb_build_object('step', m.step, 'id', m.message_id,
        'parts', m.parts) order by m.step, m.position), '[]')
      from public.steering_messages m where m.turn_id = p_turn.id),
    'sandbox_state', s.sandbox_state)
  from public.sessions s where s.id = p_turn.session_id
$$;
comment on function public.turn_state is 'A turn as its run continues with it, without its history and steps.';

create or replace function public.load_turn(p_turn_id uuid, p_run_id text, p_has_history boolean default false)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns where id = p_turn_id for update;
  if not found or coalesce(v_turn.run_id, p_run_id) <> p_run_id then
    return jsonb_build_object('outcome', 'lost');
  end if;
  if v_turn.finished_at is not null then
    return jsonb_build_object(
      'outcome', case when v_turn.run_id is null then 'lost' else 'finished' end,
      'error', v_turn.error,
      'metadata', (select m.metadata from public.messages m
        where m.chat_id = v_turn.chat_id and m.id = v_turn.assistant_message_id));
  end if;

  update public.chats set active_stream_id = p_run_id
  where id = v_turn.chat_id and active_stream_id in ('pending:' || p_turn_id, p_run_id);
  if not found then
    return jsonb_build_object('outcome', 'lost');
  end if;
  -- A headless turn knows its run before the run starts.
  if v_turn.status = 'queued' then
    update public.turns
    set loads = loads + 1, reserved_usd = 0, run_id = p_run_id, status = 'running',
      instructions = public.chat_instructions(account_id, chat_id),
      options = public.chat_options(account_id, chat_id)
    where id = p_turn_id returning * into v_turn;
    update public.api_keys set run_id = p_run_id where id = v_turn.key_id;
  else
    update public.turns set loads = loads + 1, lost_usd = lost_usd + reserved_usd, reserved_usd = 0
    where id = p_turn_id returning * into v_turn;
  end if;

  return public.turn_state(v_turn) || jsonb_build_object(
    'outcome', 'active',
    'history', case when p_has_history then '[]' else public.history_of_turn(v_turn) end,
    'steps', (
      select coalesce(jsonb_agg(s.result order by s.index), '[]')
      from public.turn_steps s where s.turn_id = p_turn_id));
end
$$;
comment on function public.load_turn is 'Turns a claim into the run''s and answers all that the run continues with, at its start and after each crash, without the history if the process has it from the claim: {outcome: lost | finished | active, …}.';

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

-- Servers of the version before call it without the last argument.
drop function public.reserve_model_call(uuid, uuid, integer, numeric, numeric, numeric);
create function public.reserve_model_call(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_released_usd numeric, p_spent_usd numeric,
  p_estimate_usd numeric, p_in_flight integer default 0
) returns text
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_others numeric;
  v_refusal text;
begin
  -- One check of an account at a time, in the order of claim_turn.
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  select * into v_turn from public.turns
  where id = p_turn_id and account_id = p_account_id and loads = p_load and finished_at is null
  for no key update;
  if not found then
    return 'superseded';
  end if;
  v_others := case when p_released_usd is not null and v_turn.reserved_until > now()
    then greatest(0, v_turn.reserved_usd - p_released_usd) else 0 end;
  update public.turns
  set reserved_usd = v_others + p_spent_usd, reserved_until = now() + interval '40 minutes'
  where id = p_turn_id;
  v_refusal := coalesce(
    public.check_limits(v_turn, v_others, p_spent_usd, p_estimate_usd, p_in_flight),
    public.check_budget(p_account_id, p_estimate_usd, v_others > 0,
      v_turn.options #> '{limits,max_cost_usd}' is not null));
  if v_refusal is not null then
    return v_refusal;
  end if;
  update public.turns set reserved_usd = reserved_usd + coalesce(p_estimate_usd, 0)
  where id = p_turn_id;
  return 'reserved';
end
$$;
comment on function public.reserve_model_call is 'Reserves the estimated cost of a model call, in place of p_released_usd, or of all reservations of the turn when that is null, plus the cost of earlier attempts: reserved | budget_reached | unpriced_model, for an estimate of null | superseded, when the turn has ended or was loaded again | as of check_limits, for a turn with limits.';
