-- A budget stops new turns and generations; generations count as usage.

create function public.is_budget_reached(p_account_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select from public.accounts a
    where a.id = p_account_id and a.monthly_budget_usd <= coalesce((
      select m.cost_usd from public.usage_months m
      where m.account_id = a.id and m.month = public.usage_month()), 0))
$$;
comment on function public.is_budget_reached is
  'Whether an account has spent its budget of the month. False without a budget.';

create or replace function public.claim_turn_within(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_turn_id uuid,
  p_message_id text, p_parts jsonb, p_parts_before jsonb, p_assistant_message_id text,
  p_title text, p_default_model_id text, p_context_limit integer, p_history jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_max_active integer, p_caller_key_id uuid
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_answer jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  v_answer := public.claim_turn(
    p_account_id, p_session_id, p_chat_id, p_turn_id,
    p_message_id, p_parts, p_parts_before, p_assistant_message_id,
    p_title, p_default_model_id, p_context_limit, p_history,
    p_key_hash, p_key_prefix, p_key_name, p_key_expires_at, p_caller_key_id);
  if v_answer ->> 'outcome' <> 'claimed' then
    return v_answer;
  end if;
  if public.is_budget_reached(p_account_id) then
    raise exception using errcode = 'PT402', message = 'Monthly budget reached';
  end if;
  if p_max_active > 0 and public.count_active_turns(p_account_id) > p_max_active then
    raise exception using errcode = 'PT429', message = 'Too many active turns';
  end if;
  return v_answer;
exception
  when sqlstate 'PT402' then
    return jsonb_build_object('outcome', 'budget_reached');
  when sqlstate 'PT429' then
    return jsonb_build_object('outcome', 'too_many_turns');
end
$$;
comment on function public.claim_turn_within(
  uuid, uuid, uuid, uuid, text, jsonb, jsonb, text, text, text, integer, jsonb, text, text, text,
  timestamptz, integer, uuid
) is
  'claim_turn, unless the account has spent its budget, or would then have more than p_max_active turns: {outcome: budget_reached | too_many_turns} has changed nothing. A limit of 0 is none.';

create or replace function public.provision_run_within(
  p_account_id uuid, p_artist_id uuid, p_effect_id uuid, p_turn_id uuid,
  p_assistant_message_id text, p_title text, p_model_id text, p_messages jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_max_active integer, p_kind text, p_caller_key_id uuid
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_answer jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  v_answer := public.provision_run(
    p_account_id, p_artist_id, p_effect_id, p_turn_id,
    p_assistant_message_id, p_title, p_model_id, p_messages,
    p_key_hash, p_key_prefix, p_key_name, p_key_expires_at, p_kind, p_caller_key_id);
  if v_answer ->> 'turn_id' <> p_turn_id::text then
    return v_answer;
  end if;
  if public.is_budget_reached(p_account_id) then
    raise exception using errcode = 'PT402', message = 'Monthly budget reached';
  end if;
  if p_max_active > 0 and public.count_active_turns(p_account_id) > p_max_active then
    raise exception using errcode = 'PT429', message = 'Too many active turns';
  end if;
  return v_answer;
exception
  when sqlstate 'PT402' then
    return jsonb_build_object('refused', 'budget_reached');
  when sqlstate 'PT429' then
    return jsonb_build_object('refused', 'too_many_turns');
end
$$;
comment on function public.provision_run_within(
  uuid, uuid, uuid, uuid, text, text, text, jsonb, text, text, text, timestamptz, integer, text, uuid
) is
  'provision_run, unless the account has spent its budget, or would then have more than p_max_active turns: {refused: budget_reached | too_many_turns} has changed nothing. A limit of 0 is none.';

create function public.start_task_run_within_budget(
  p_id text, p_account_id uuid, p_task_identifier text, p_payload jsonb, p_metadata jsonb,
  p_lease_seconds integer, p_effect_id uuid, p_at_once integer, p_idempotency_key text,
  p_media_limit_bytes bigint
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_answer jsonb;
begin
  v_answer := public.start_task_run(
    p_id, p_account_id, p_task_identifier, p_payload, p_metadata, p_lease_seconds, p_effect_id,
    p_at_once, p_idempotency_key, p_media_limit_bytes);
  if v_answer ->> 'outcome' = 'begun' and public.is_budget_reached(p_account_id) then
    raise exception using errcode = 'PT402', message = 'Monthly budget reached';
  end if;
  return v_answer;
exception when sqlstate 'PT402' then
  return jsonb_build_object('outcome', 'over_budget');
end
$$;
comment on function public.start_task_run_within_budget is
  'start_task_run, unless the account has spent its budget: {outcome: over_budget} has changed nothing.';

create function public.record_generation(
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
    v_turn.artist_id, jsonb_build_array(p_call));
end
$$;
comment on function public.record_generation is
  'Records images or a video once. What a run has made with its own credential counts for the API key and the artist of the run.';
