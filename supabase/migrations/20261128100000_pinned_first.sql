-- One page with pinned chats first and archived ones last.

drop function public.list_account_chats(
  uuid, integer, timestamptz, uuid, uuid, boolean, boolean, text, boolean);

create function public.list_account_chats(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid,
  p_artist_id uuid, p_archived boolean, p_pinned boolean, p_text text,
  p_waiting boolean default false, p_pinned_first boolean default false
) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_archived boolean := p_archived;
  v_pinned boolean := p_pinned;
  -- 1 has the pinned chats, 2 the others, 3 the archived ones.
  v_group integer;
  v_last_group constant integer := case when p_archived is false then 2 else 3 end;
  v_chats jsonb := '[]';
begin
  if p_pinned_first then
    select case when c.archived then 3 when c.pinned then 1 else 2 end into v_group
    from public.chats c where c.id = p_after_id and c.account_id = p_account_id;
    v_group := case when p_archived then 3 else least(coalesce(v_group, 1), v_last_group) end;
  end if;
  loop
    if p_pinned_first then
      v_archived := v_group = 3;
      v_pinned := case when v_group < 3 then v_group = 1 end;
    end if;
    v_chats := v_chats || to_jsonb(array(
      select public.chat_row(c)
        || jsonb_build_object('pinned', c.pinned, 'archived', c.archived)
        || case when p_text is null then '{}'
          else jsonb_build_object('snippet', public.chat_snippet(c, p_text)) end
      from public.chats c
      where c.account_id = p_account_id and (c.created_at, c.id) < (v_after_at, v_after_id)
        and (v_archived is null or c.archived = v_archived)
        and (v_pinned is null or c.pinned = v_pinned)
        and (p_artist_id is null or c.session_id in (
          select s.id from public.sessions s
          where s.account_id = p_account_id and s.artist_id = p_artist_id))
        and (not p_waiting or (public.active_stream_id(c) is null and c.id in (
          select t.chat_id from public.turns t
          join public.messages m on m.chat_id = t.chat_id and m.id = t.assistant_message_id
          where t.account_id = p_account_id and t.kind = 'chat' and t.status = 'completed'
            and t.created_at > now() - interval '30 days'
            and m.metadata ->> 'finishReason' = 'tool-calls'
            and m.id = public.leaf_of_chat(t.chat_id))))
        and (p_text is null or c.id in (
          select t.id from public.chats t
          where t.account_id = p_account_id and strpos(lower(t.title), lower(p_text)) > 0
          union
          select t.id from public.messages m
          join public.chats t on t.id = m.chat_id
          where t.account_id = p_account_id
            and public.search_of_parts(m.parts) @@ public.search_query(p_text)))
      order by c.created_at desc, c.id desc
      limit p_limit + 1 - jsonb_array_length(v_chats)));
    exit when not p_pinned_first or v_group = v_last_group
      or jsonb_array_length(v_chats) > p_limit;
    v_group := v_group + 1;
    v_after_at := 'infinity';
    v_after_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  end loop;
  return v_chats;
end
$$;
comment on function public.list_account_chats is 'A page of an account''s chats, newest first, with one more row if another page follows. A filter that is null does not apply; with p_text each chat has a snippet. p_waiting leaves the chats of the last 30 days that end with a question or a call of a client tool. p_pinned_first puts pinned chats first and archived ones last, and replaces p_pinned.';
