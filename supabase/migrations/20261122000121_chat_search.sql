-- All chats of an account in one list, which can be searched: a chat can be archived and pinned, and
-- its title and the texts of its messages are found by their words.

alter table public.chats
  add column archived boolean not null default false,
  add column pinned boolean not null default false;
comment on column public.chats.archived is 'Whether the account has put the chat away.';
comment on column public.chats.pinned is 'Whether the account wants the chat at hand.';

create function public.words_of_parts(p_parts jsonb) returns text
language sql immutable set search_path = '' as $$
  -- A longer text may have more words than a tsvector holds.
  select left(string_agg(part.value ->> 'text', ' ' order by part.ordinality), 100000)
  from jsonb_array_elements(p_parts) with ordinality as part
  where part.value ->> 'type' = 'text'
$$;
comment on function public.words_of_parts is
  'What a message says: its texts, at most 100,000 characters; null without any.';

-- PostgreSQL would report each word that is too long for it to the client.
create function public.search_of_parts(p_parts jsonb) returns tsvector
language sql immutable set search_path = '' set client_min_messages = 'warning' as $$
  select to_tsvector('simple'::regconfig, coalesce(public.words_of_parts(p_parts), ''))
$$;
comment on function public.search_of_parts is
  'The words of a message for the search. The index messages_words stores it.';

create function public.search_query(p_text text) returns tsquery
language sql immutable set search_path = '' as $$
  -- The last word may be the beginning of one, as while it is typed.
  select case when numnode(words.query) > 0 then (words.query::text || ':*')::tsquery end
  from (select plainto_tsquery('simple'::regconfig, p_text)) words (query)
$$;
comment on function public.search_query is
  'Finds texts that have all words of p_text; null when it has none.';

create function public.chats_with_words(p_account_id uuid, p_text text) returns setof uuid
language sql stable set search_path = '' as $$
  select c.id from public.chats c
  where c.account_id = p_account_id and strpos(lower(c.title), lower(p_text)) > 0
  union
  select c.id from public.messages m
  join public.chats c on c.id = m.chat_id
  where c.account_id = p_account_id
    and public.search_of_parts(m.parts) @@ public.search_query(p_text)
$$;
comment on function public.chats_with_words is
  'The chats of an account with p_text in their title, or all of its words in one message.';

create function public.chat_snippet(p_chat public.chats, p_text text) returns text
language sql stable set search_path = '' as $$
  select coalesce((
    select ts_headline('simple'::regconfig, public.words_of_parts(m.parts),
      public.search_query(p_text), 'StartSel="", StopSel="", MaxWords=24, MinWords=8')
    from public.messages m
    where m.chat_id = p_chat.id
      and public.search_of_parts(m.parts) @@ public.search_query(p_text)
    order by m.created_at desc, m.id desc
    limit 1), p_chat.title)
$$;
comment on function public.chat_snippet is
  'The passage of a chat''s newest message that has the words of p_text, else the title.';

-- Planned for its arguments: the indexes of pinned and archived chats serve constants only.
create function public.list_account_chats(
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
        and (p_text is null or c.id in (select public.chats_with_words(p_account_id, p_text)))
      order by c.created_at desc, c.id desc
      limit p_limit + 1
    ) page);
end
$$;
comment on function public.list_account_chats is
  'A page of an account''s chats, newest first: {chats, next}. A filter that is null does not apply; with p_text each chat has a snippet.';

create function public.update_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text,
  p_instructions text, p_template_id uuid, p_removes_template boolean,
  p_archived boolean, p_pinned boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_answer constant jsonb := public.update_chat(
    p_account_id, p_session_id, p_chat_id, p_title, p_model_id,
    p_instructions, p_template_id, p_removes_template);
begin
  if v_answer ? 'chat' then
    update public.chats
    set archived = coalesce(p_archived, archived), pinned = coalesce(p_pinned, pinned)
    where id = p_chat_id and account_id = p_account_id;
  end if;
  return v_answer;
end
$$;
comment on function public.update_chat(
  uuid, uuid, uuid, text, text, text, uuid, boolean, boolean, boolean
) is
  'Changes a chat: {chat} | {missing: session | chat | template}. Null leaves a field as it is, empty instructions remove them.';
