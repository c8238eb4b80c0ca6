-- A budget is checked before each model call and each generation, which reserves what it may cost: several at
-- once see each other. A reservation is in the row of its turn or task run, and counts no longer when that
-- ends, when another process loads the turn, or when its time is over.

-- Budget -----------------------------------------------------------------------------------------

create function public.has_budget(p_account_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select coalesce(
    (select a.monthly_budget_usd is not null from public.accounts a where a.id = p_account_id), false)
$$;
comment on function public.has_budget is 'Whether an account has a budget.';

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
  from public.accounts a where a.id = p_account_id
$$;
comment on function public.unspent_budget is
  'What is left of the budget of the month after all that was spent and is reserved; null without a budget.';

create function public.reserve_model_call(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_released_usd numeric, p_spent_usd numeric,
  p_estimate_usd numeric
) returns text
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_others numeric;
  v_left numeric;
begin
  -- One check of an account at a time, in the order of claim_turn_within.
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
  v_left := public.unspent_budget(p_account_id);
  if v_left is null then
    return 'reserved';
  end if;
  if p_estimate_usd is null and not (
    select a.allow_unpriced_models from public.accounts a where a.id = p_account_id)
  then
    return 'unpriced_model';
  end if;
  -- One call of a turn may exceed the budget; one beside it must fit in.
  if v_left <= 0 or (v_others > 0 and p_estimate_usd > v_left) then
    return 'budget_reached';
  end if;
  update public.turns set reserved_usd = reserved_usd + coalesce(p_estimate_usd, 0)
  where id = p_turn_id;
  return 'reserved';
end
$$;
comment on function public.reserve_model_call is
  'Reserves what a model call of a turn may cost, in place of p_released_usd, or of all when it is null, with what earlier attempts have spent: reserved | budget_reached | unpriced_model, for an estimate of null | superseded, when the turn has ended or was loaded again.';

create function public.start_generation(
  p_cost_usd numeric,
  p_artist_id uuid, p_credential_id uuid, p_id text, p_account_id uuid, p_task_identifier text,
  p_payload jsonb, p_metadata jsonb, p_lease_seconds integer, p_effect_id uuid, p_at_once integer,
  p_idempotency_key text, p_media_limit_bytes bigint
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_answer jsonb;
  v_left numeric;
begin
  v_answer := public.start_task_run_for(
    p_artist_id, p_credential_id, p_id, p_account_id, p_task_identifier, p_payload, p_metadata,
    p_lease_seconds, p_effect_id, p_at_once, p_idempotency_key, p_media_limit_bytes);
  if v_answer ->> 'outcome' <> 'begun' or not public.has_budget(p_account_id) then
    return v_answer;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  v_left := public.unspent_budget(p_account_id);
  if p_cost_usd is null and not (
    select a.allow_unpriced_models from public.accounts a where a.id = p_account_id)
  then
    raise exception using errcode = 'PT402', message = 'unpriced_model';
  end if;
  if v_left <= 0 then
    raise exception using errcode = 'PT402', message = 'over_budget';
  end if;
  update public.task_runs set reserved_usd = coalesce(p_cost_usd, 0) where id = p_id;
  return v_answer;
exception when sqlstate 'PT402' then
  return jsonb_build_object('outcome', sqlerrm);
end
$$;
comment on function public.start_generation is
  'start_task_run_for, with a reservation of what the generation costs; null when that is not known. {outcome: over_budget | unpriced_model} has changed nothing.';

-- What the calls of a turn release ----------------------------------------------------------------

create or replace function public.load_turn(p_turn_id uuid, p_run_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_session public.sessions;
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
  -- A headless turn knows its run before the run has begun.
  if v_turn.status = 'queued' then
    update public.turns
    set loads = loads + 1, reserved_usd = 0, run_id = p_run_id, status = 'running',
      instructions = public.chat_instructions(account_id, chat_id)
    where id = p_turn_id returning * into v_turn;
    update public.api_keys set run_id = p_run_id where id = v_turn.key_id;
  else
    update public.turns set loads = loads + 1, reserved_usd = 0
    where id = p_turn_id returning * into v_turn;
  end if;

  select * into v_session from public.sessions where id = v_turn.session_id;
  return jsonb_build_object(
    'outcome', 'active',
    'load', v_turn.loads,
    'account_id', v_turn.account_id,
    'session_id', v_turn.session_id,
    'chat_id', v_turn.chat_id,
    'message_id', v_turn.message_id,
    'assistant_message_id', v_turn.assistant_message_id,
    'model_id', v_turn.model_id,
    'instructions', v_turn.instructions,
    'context_limit', v_turn.context_limit,
    'headless', v_turn.headless,
    'has_key', v_turn.key_id is not null,
    'has_budget', public.has_budget(v_turn.account_id),
    'created_at', public.iso_date(v_turn.created_at),
    'stop_requested', v_turn.stop_requested_at is not null,
    'artist_id', v_session.artist_id,
    'sandbox_state', v_session.sandbox_state,
    'history', coalesce(
      v_turn.history, public.conversation_until(v_turn.chat_id, v_turn.message_id)),
    'steps', (
      select coalesce(jsonb_agg(s.result order by s.index), '[]')
      from public.turn_steps s where s.turn_id = p_turn_id));
end
$$;

create or replace function public.complete_model_call(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_index integer, p_result jsonb,
  p_call_ids text[], p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- What was spent counts, whoever has spent it.
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('superseded', false, 'stop_requested', true, 'known_calls', '[]'::jsonb);
  end if;
  -- Locked, so that nobody loads it before this is committed.
  perform from public.turns where id = p_turn_id and loads = p_load for share;
  if not found then
    return jsonb_build_object('superseded', true, 'stop_requested', false, 'known_calls', '[]'::jsonb);
  end if;
  -- Nothing of the turn is in flight: its tools have ended before the model call.
  update public.turns set reserved_usd = 0 where id = p_turn_id and reserved_usd > 0;
  return public.complete_model_call(p_turn_id, p_index, p_result, p_call_ids)
    || jsonb_build_object('superseded', false, 'has_budget', public.has_budget(p_account_id));
end
$$;

create or replace function public.record_turn_usage(p_account_id uuid, p_turn_id uuid, p_calls jsonb)
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
  -- What was spent counts also when the chat was deleted in the meantime.
  perform public.record_usage(p_account_id, p_turn_id::text,
    coalesce(v_turn.kind, case when v_turn.headless then 'headless' else 'chat' end),
    v_turn.caller_key_id, v_turn.artist_id, p_calls);
  if v_released > 0 then
    update public.turns set reserved_usd = greatest(0, reserved_usd - v_released)
    where id = v_turn.id;
  end if;
  return v_turn.id is not null;
end
$$;
comment on function public.record_turn_usage is
  'Records model calls of a turn, each once, releases what they have reserved (reserved_usd), and answers whether the turn is still there.';

create or replace function public.record_generation(
  p_account_id uuid, p_run_id text, p_kind text, p_credential_id uuid, p_call jsonb
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform from public.accounts where id = p_account_id for key share;
  if not found then
    return;
  end if;
  select * into v_turn from public.turns where key_id = p_credential_id and account_id = p_account_id;
  perform public.record_usage(p_account_id, p_run_id, p_kind,
    case when v_turn.id is null then p_credential_id else v_turn.caller_key_id end,
    coalesce(
      (select r.artist_id from public.task_runs r
        where r.id = p_run_id and r.account_id = p_account_id),
      v_turn.artist_id),
    jsonb_build_array(p_call));
  update public.task_runs
  set reserved_usd = greatest(0, reserved_usd - (p_call ->> 'cost_usd')::numeric)
  where id = p_run_id and account_id = p_account_id and reserved_usd > 0;
end
$$;

-- The account's choice ---------------------------------------------------------------------------

create or replace function public.get_account(p_account_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'account', jsonb_build_object(
      'id', a.id,
      'kind', a.kind,
      'email', a.email,
      'name', a.name,
      'image', a.image,
      'monthly_budget_usd', a.monthly_budget_usd,
      'allow_unpriced_models', a.allow_unpriced_models,
      'timezone', a.timezone,
      'created_at', public.iso_date(a.created_at)),
    'organizations', coalesce((
      select jsonb_agg(jsonb_build_object(
        'organization_id', o.id, 'organization_name', coalesce(o.name, ''), 'role', m.role)
        order by o.created_at desc, o.id desc)
      from public.organization_accounts m
      join public.accounts o on o.id = m.organization_id and o.kind = 'organization'
      where m.account_id = a.id), '[]'))
  from public.accounts a where a.id = p_account_id
$$;

create function public.update_account(
  p_account_id uuid, p_name text, p_image text, p_monthly_budget_usd numeric,
  p_allow_unpriced_models boolean, p_timezone text, p_clear text[]
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update public.accounts a
  set name = coalesce(p_name, a.name),
    image = case when 'image' = any (p_clear) then null else coalesce(p_image, a.image) end,
    monthly_budget_usd = case when 'monthly_budget_usd' = any (p_clear) then null
      else coalesce(p_monthly_budget_usd, a.monthly_budget_usd) end,
    allow_unpriced_models = coalesce(p_allow_unpriced_models, a.allow_unpriced_models),
    timezone = case when 'timezone' = any (p_clear) then null
      else coalesce(p_timezone, a.timezone) end,
    updated_at = now()
  where a.id = p_account_id;
  return public.get_account(p_account_id);
end
$$;
comment on function public.update_account(uuid, text, text, numeric, boolean, text, text[]) is
  'Changes what is not null and clears the columns of p_clear (image, monthly_budget_usd, timezone); answers as get_account.';
comment on function public.update_account(uuid, text, text, numeric, text, text[]) is
  'Superseded by update_account with p_allow_unpriced_models.';
