-- A message that was accepted while its chat was busy is stored although the budget has been spent in the
-- meantime: its turn begins, and ends before its first model call with the reason. Before, it was dropped.

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
  if public.is_budget_reached(p_account_id)
    and not exists (select from public.queued_turns q where q.turn_id = p_turn_id)
  then
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
  'claim_turn, unless the account has spent its budget and the turn did not wait in the chat, or it would then have more than p_max_active turns: {outcome: budget_reached | too_many_turns} has changed nothing. A limit of 0 is none.';
