-- Files that a message brings as data URLs are moved to the session's sandbox, and its parts then
-- refer to them there: neither the message nor the history of a turn keeps the bytes.

create function public.store_file_parts(p_turn_id uuid, p_messages jsonb, p_history jsonb)
returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns
  where id = p_turn_id and finished_at is null for update;
  if not found then
    return;
  end if;
  update public.turns set history = p_history where id = p_turn_id and history is not null;
  -- Of a conversation that the client sent, only the newest message is stored.
  update public.messages m set parts = changed.parts
  from jsonb_to_recordset(p_messages) as changed(id text, parts jsonb)
  where m.chat_id = v_turn.chat_id and m.id = changed.id and m.role = 'user'
    and (m.id = v_turn.message_id or v_turn.history is null);
end
$$;
comment on function public.store_file_parts(uuid, jsonb, jsonb) is
  'Replaces the parts of user messages [{id, parts}] that a running turn has read, and its history where the client sent one. Without effect when the turn has ended.';
