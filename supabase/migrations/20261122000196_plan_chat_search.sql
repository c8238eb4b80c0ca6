-- The search of an account's chats is part of the list's own query, which is planned for its arguments.
-- A function with a search path of its own is planned without them: a word that is frequent at all
-- accounts then read the messages of all of them, however few the account has.

create or replace function public.list_account_chats(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid,
  p_artist_id uuid, p_archived boolean, p_pinned boolean, p_text text
) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return (
    select public.page_json('chats',
      jsonb_agg(public.chat_json(page.chat) || case when p_text is null then '{}'
        else jsonb_build_object('snippet', public.chat_snippet(page.chat, p_text)) end
        order by page.created_at desc, page.id desc),
      array_agg(page.created_at order by page.created_at desc, page.id desc),
      array_agg(page.id order by page.created_at desc, page.id desc),
      p_limit)
    from (
      select c as chat, c.created_at, c.id
      from public.chats c
      where c.account_id = p_account_id and (c.created_at, c.id) < (v_after_at, v_after_id)
        and (p_archived is null or c.archived = p_archived)
        and (p_pinned is null or c.pinned = p_pinned)
        and (p_artist_id is null or c.session_id in (
          select s.id from public.sessions s
          where s.account_id = p_account_id and s.artist_id = p_artist_id))
        and (p_text is null or c.id in (
          select t.id from public.chats t
          where t.account_id = p_account_id and strpos(lower(t.title), lower(p_text)) > 0
          union
          select t.id from public.messages m
          join public.chats t on t.id = m.chat_id
          where t.account_id = p_account_id
            and public.search_of_parts(m.parts) @@ public.search_query(p_text)))
      order by c.created_at desc, c.id desc
      limit p_limit + 1
    ) page);
end
$$;

drop function public.chats_with_words(uuid, text);
