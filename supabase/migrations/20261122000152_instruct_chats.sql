-- Instructions are set with a chat, and read when a turn of it starts.

create function public.is_visible_template(p_account_id uuid, p_template_id uuid) returns boolean
language sql stable set search_path = '' as $$
  select exists (
    select 1 from public.agent_templates t
    where t.id = p_template_id and public.can_see_agent_template(p_account_id, t))
$$;
comment on function public.is_visible_template is
  'Whether an account may see a template; false for one that does not exist.';

create function public.chat_instructions(p_account_id uuid, p_chat_id uuid) returns text
language sql stable set search_path = '' as $$
  select nullif(concat_ws(chr(10) || chr(10), t.prompt, c.instructions), '')
  from public.chats c
  left join public.agent_templates t
    on t.id = c.template_id and public.can_see_agent_template(p_account_id, t)
  where c.id = p_chat_id and c.account_id = p_account_id
$$;
comment on function public.chat_instructions is
  'What instructs the agent in a chat: the prompt of its template, then its own text; null for nothing.';

create function public.create_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text,
  p_instructions text, p_template_id uuid
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
begin
  -- The lock keeps the session there until the chat is: a deletion waits and takes the chat too.
  perform 1 from public.sessions
  where id = p_session_id and account_id = p_account_id
  for key share;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('missing', 'template');
  end if;

  insert into public.chats (
    id, session_id, account_id, title, model_id, instructions, template_id)
  values (coalesce(p_chat_id, gen_random_uuid()), p_session_id, p_account_id, p_title, p_model_id,
    nullif(p_instructions, ''), p_template_id)
  on conflict (id) do nothing
  returning * into v_chat;
  if not found then
    select * into v_chat from public.chats
    where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
    if not found then
      return jsonb_build_object('conflict', true);
    end if;
  end if;
  return jsonb_build_object('chat', public.chat_json(v_chat));
end
$$;
comment on function public.create_chat(uuid, uuid, uuid, text, text, text, uuid) is
  'Creates a chat: {chat} | {missing: session | template} | {conflict: true} for an id of another session''s chat. With an id of the client''s it can be repeated, and answers the chat unchanged.';

create function public.update_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text,
  p_instructions text, p_template_id uuid, p_removes_template boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
begin
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('missing', 'template');
  end if;
  update public.chats
  set title = coalesce(p_title, title),
    model_id = coalesce(p_model_id, model_id),
    instructions = nullif(coalesce(p_instructions, instructions), ''),
    template_id = case when not p_removes_template then coalesce(p_template_id, template_id) end,
    updated_at = now()
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  returning * into v_chat;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('chat', public.chat_json(v_chat));
end
$$;
comment on function public.update_chat(uuid, uuid, uuid, text, text, text, uuid, boolean) is
  'Changes a chat: {chat} | {missing: session | chat | template}. Null leaves a field as it is, empty instructions remove them.';

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
    update public.turns set run_id = p_run_id, status = 'running',
      instructions = public.chat_instructions(account_id, chat_id)
    where id = p_turn_id returning * into v_turn;
    update public.api_keys set run_id = p_run_id where id = v_turn.key_id;
  end if;

  select * into v_session from public.sessions where id = v_turn.session_id;
  return jsonb_build_object(
    'outcome', 'active',
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

-- Superseded -------------------------------------------------------------------------------------

create or replace function public.create_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text
) returns jsonb
language sql volatile set search_path = '' as $$
  select public.create_chat(
    p_account_id => create_chat.p_account_id,
    p_session_id => create_chat.p_session_id,
    p_chat_id => create_chat.p_chat_id,
    p_title => create_chat.p_title,
    p_model_id => create_chat.p_model_id,
    p_instructions => null,
    p_template_id => null)
$$;
comment on function public.create_chat(uuid, uuid, uuid, text, text) is
  'Superseded by create_chat with instructions; kept for servers of the version before.';

create or replace function public.update_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text
) returns jsonb
language sql volatile set search_path = '' as $$
  select public.update_chat(
    p_account_id => update_chat.p_account_id,
    p_session_id => update_chat.p_session_id,
    p_chat_id => update_chat.p_chat_id,
    p_title => update_chat.p_title,
    p_model_id => update_chat.p_model_id,
    p_instructions => null,
    p_template_id => null,
    p_removes_template => false)
$$;
comment on function public.update_chat(uuid, uuid, uuid, text, text) is
  'Superseded by update_chat with instructions; kept for servers of the version before.';
