-- Chats that a client names in POST /api/chat, and that are created with its first message.

create function public.open_chat(
  p_account_id uuid, p_chat_id uuid, p_named_id uuid, p_model_id text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
begin
  -- Two first messages of one chat come one after the other.
  perform pg_advisory_xact_lock(hashtextextended(p_named_id::text, 20261123));
  select * into v_chat from public.chats
  where id in (p_chat_id, p_named_id) and account_id = p_account_id
  order by id = p_named_id
  limit 1;
  if found then
    return jsonb_build_object('session_id', v_chat.session_id, 'chat_id', v_chat.id, 'is_new', false);
  end if;
  insert into public.sessions (account_id) values (p_account_id) returning id into v_chat.session_id;
  insert into public.chats (id, session_id, account_id, model_id)
  values (p_named_id, v_chat.session_id, p_account_id, p_model_id);
  return jsonb_build_object('session_id', v_chat.session_id, 'chat_id', p_named_id, 'is_new', true);
end
$$;
comment on function public.open_chat is
  'The chat of the account with the id p_chat_id (null for none) or p_named_id, which is created in a session of its own if there is neither: {session_id, chat_id, is_new}. p_named_id is derived from the account and the name that a client has given.';

create function public.discard_empty_session(p_account_id uuid, p_session_id uuid) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  -- Chats before their session, as everywhere: the other order deadlocks.
  perform 1 from public.chats
  where session_id = p_session_id and account_id = p_account_id order by id for update;
  delete from public.sessions s
  where s.id = p_session_id and s.account_id = p_account_id and not exists (
    select from public.chats c where c.session_id = s.id and (
      c.active_stream_id is not null
      or exists (select from public.messages m where m.chat_id = c.id)
      or exists (select from public.queued_turns q where q.chat_id = c.id)));
  return found;
end
$$;
comment on function public.discard_empty_session is
  'Deletes a session without messages, whose first message was refused. Returns whether it did.';
