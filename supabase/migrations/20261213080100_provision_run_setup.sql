-- A run is provisioned with all that its request has. The functions for the parts stay for servers of the version before.

drop function public.provision_run(uuid, uuid, uuid, uuid, text, text, text, jsonb, text, text, text, timestamptz, text, uuid, integer, bigint);

create function public.provision_run(
  p_account_id uuid, p_artist_id uuid, p_effect_id uuid, p_turn_id uuid,
  p_assistant_message_id text, p_title text, p_model_id text, p_messages jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_kind text, p_caller_key_id uuid, p_max_active integer, p_max_account_bytes bigint,
  p_setup jsonb default '{}'
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_turn public.turns;
  v_missing text;
begin
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  perform public.close_unstarted_runs();
  -- Two attempts at one effect come one after the other.
  perform pg_advisory_xact_lock(hashtextextended(p_effect_id::text, 20261120));
  select * into v_turn from public.turns
  where effect_id = p_effect_id and account_id = p_account_id;
  if not found then
    v_turn.id := p_turn_id;
    insert into public.sessions (account_id, artist_id) values (p_account_id, p_artist_id)
    returning id into v_turn.session_id;
    insert into public.chats (session_id, account_id, title, model_id, active_stream_id, claimed_at)
    values (v_turn.session_id, p_account_id, p_title, p_model_id, 'pending:' || p_turn_id, v_now)
    returning id into v_turn.chat_id;
    -- A microsecond apart, to keep their order whatever their ids.
    insert into public.messages (chat_id, id, role, parts, created_at)
    select v_turn.chat_id, m.value ->> 'id', m.value ->> 'role', m.value -> 'parts',
      v_now + m.ordinality * interval '1 microsecond'
    from jsonb_array_elements(p_messages) with ordinality as m;
    insert into public.turns (id, account_id, session_id, chat_id, effect_id, message_id,
      assistant_message_id, model_id, headless, key_id, kind, artist_id, caller_key_id)
    values (p_turn_id, p_account_id, v_turn.session_id, v_turn.chat_id, p_effect_id,
      p_messages -> -1 ->> 'id', p_assistant_message_id, p_model_id, true,
      public.create_run_key(p_account_id, p_key_hash, p_key_prefix, p_key_name, p_key_expires_at),
      p_kind, p_artist_id, p_caller_key_id);
    if public.is_budget_reached(p_account_id) then
      raise exception using errcode = 'PT403', message = 'budget_reached';
    end if;
    if p_max_active > 0 and public.count_active_turns(p_account_id) > p_max_active then
      raise exception using errcode = 'PT403', message = 'too_many_turns';
    end if;
    if public.message_quota_reached(p_account_id, null, p_max_account_bytes, 0) is not null then
      raise exception using errcode = 'PT403', message = 'messages_full';
    end if;
  end if;
  if v_turn.run_id is null then
    update public.turns set output_schema = p_setup ->> 'output_schema',
      client_tools = p_setup ->> 'client_tools', webhook_url = p_setup ->> 'webhook_url',
      deliver = p_setup -> 'deliver'
    where id = v_turn.id and p_setup <> '{}';
    perform public.mark_turn_untrusted(p_account_id, v_turn.id, p_setup -> 'untrusted')
    where p_setup ? 'untrusted';
    perform public.set_chat_connectors(p_account_id, v_turn.session_id, v_turn.chat_id,
      array(select jsonb_array_elements_text(p_setup -> 'connectors')))
    where p_setup ? 'connectors';
    v_missing := public.update_chat(p_account_id, v_turn.session_id, v_turn.chat_id, null, null,
      p_setup ->> 'instructions', (p_setup ->> 'template_id')::uuid, false, null, null,
      coalesce(p_setup -> 'options', '{}'), (p_setup ->> 'template_version')::integer,
      p_setup ->> 'default_model_id', (p_setup ->> 'accepts_version')::boolean) ->> 'missing'
    where p_setup <> '{}';
    if v_missing is not null then
      raise exception using errcode = 'PT403', message = v_missing;
    end if;
  end if;
  return jsonb_build_object('turn_id', v_turn.id, 'session_id', v_turn.session_id,
    'chat_id', v_turn.chat_id, 'run_id', v_turn.run_id);
exception when sqlstate 'PT403' then
  return jsonb_build_object('refused', sqlerrm);
end
$$;
comment on function public.provision_run is 'Creates session, chat, messages, credential and turn of a headless run, or finds the rows of an earlier attempt at the same effect: {turn_id, session_id, chat_id, run_id}. p_messages is [{id, role, parts}], the last of which is answered. p_setup has the rest of the request: {output_schema, client_tools, webhook_url, deliver, untrusted, connectors, instructions, template_id, template_version, accepts_version, options, default_model_id}, the last six as of update_chat. {refused: budget_reached | too_many_turns | messages_full | session | chat | template | template_version} has changed nothing. A limit of 0 is none.';

comment on function public.set_turn_output_schema is 'Sets the JSON Schema of the output of a headless run, before the run starts. Servers of the version before call it.';
comment on function public.set_turn_client_tools is 'Sets the tools that the client of a headless run runs, before the run starts. Servers of the version before call it.';
comment on function public.set_turn_webhook is 'Sets the URL that is told of the end of a turn, besides the webhooks of its account. Servers of the version before call it.';
comment on function public.set_turn_deliver is 'Sets who gets the result of a turn, and how long its delivery waits for an approval, before its run starts. Servers of the version before call it.';
