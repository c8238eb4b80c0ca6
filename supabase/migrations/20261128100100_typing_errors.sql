-- Searches forgive typing errors, and say which message was found.

-- Compares words with typing errors. Only service_role may call its functions, like all functions here.
create extension if not exists pg_trgm with schema extensions;
grant execute on function extensions.similarity(text, text) to service_role;

create function public.chat_passage(p_chat public.chats, p_text text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object('matched', p_text) || coalesce((
    select jsonb_build_object('snippet', ts_headline('simple'::regconfig,
      public.words_of_parts(m.parts), public.search_query(p_text),
      'StartSel="", StopSel="", MaxWords=24, MinWords=8'))
      || case when m.on_path then jsonb_build_object('message_id', m.id) else '{}' end
    from public.messages m
    where m.chat_id = p_chat.id
      and public.search_of_parts(m.parts) @@ public.search_query(p_text)
    order by m.created_at desc, m.id desc
    limit 1), jsonb_build_object('snippet', p_chat.title))
$$;
comment on function public.chat_passage is 'Where a chat has the words of p_text: {matched, snippet, message_id} of its newest message with them, without message_id if the chat shows another branch; else the title as snippet.';

create function public.words_of_chats(p_account_id uuid) returns text[]
language sql stable set search_path = '' as $$
  with newest as materialized (
    select id, title, created_at from public.chats where account_id = p_account_id
    order by created_at desc, id desc limit 10000
  )
  select array(
    select found.word from (
      select unnest(tsvector_to_array(public.search_of_parts(said.parts))) as word
      from (
        select m.parts, sum(m.bytes) over (order by m.chat_at desc, m.chat_id, m.created_at desc, m.id
          rows unbounded preceding) as bytes
        from (
          select c.created_at as chat_at, latest.*
          from newest c
          cross join lateral (
            select chat_id, id, parts, bytes, created_at from public.messages where chat_id = c.id
            order by created_at desc, id desc limit 20
          ) latest
          limit 5000
        ) m
      ) said
      where said.bytes <= 4000000
      union all
      select unnest(tsvector_to_array(to_tsvector('simple'::regconfig, newest.title))) from newest
    ) found
    where length(found.word) between 2 and 40
    group by found.word
    order by count(*) desc, found.word
    limit 20000)
$$;
comment on function public.words_of_chats is 'The most frequent words of an account''s newest 10,000 chats, at most 20,000: of their titles, and of 5,000 messages of at most 4 MB, of which each chat has its last 20. They bound the work of a search with a typing error, however many messages there are.';

create function public.corrected_text(p_text text, p_words text[]) returns text
language sql stable set search_path = '' as $$
  select case when bool_and(length(asked.word) <= 3 or best.word is not null)
      and bool_or(best.word <> asked.word)
    then string_agg(coalesce(best.word, asked.word), ' ' order by asked.place) end
  from (
    select lexeme as word, positions[1] as place, count(*) over () as total
    from unnest(to_tsvector('simple'::regconfig, p_text))
  ) asked
  left join lateral (
    select known.word from unnest(p_words) with ordinality as known (word, rank)
    where abs(length(known.word) - length(asked.word)) <= 2
      and extensions.similarity(known.word, asked.word) > 0.25
    order by extensions.similarity(known.word, asked.word) desc, known.rank
    limit 1
  ) best on length(asked.word) > 3
  where asked.total <= 8
$$;
comment on function public.corrected_text is 'The words of p_text, each as the most similar one of p_words; null if all are known, if one of more than three letters has no similar one, or if there are more than eight.';

create function public.words_of_workspace(p_workspace_id uuid) returns text[]
language sql stable set search_path = '' as $$
  select array(
    select found.word from (
      select unnest(tsvector_to_array(public.search_of_text(newest.text))) as word
      from (
        select c.text, sum(least(c.bytes, 100000)) over (order by f.updated_at desc, f.id
          rows unbounded preceding) as bytes
        from (
          select * from public.workspace_files
          where workspace_id = p_workspace_id and content_id is not null
          order by updated_at desc, id desc limit 1000
        ) f
        join public.workspace_contents c on c.id = f.content_id
        where c.text is not null
      ) newest
      where newest.bytes <= 4000000
    ) found
    where length(found.word) between 2 and 40
    group by found.word
    order by count(*) desc, found.word
    limit 20000)
$$;
comment on function public.words_of_workspace is 'The most frequent words of a workspace''s newest files, at most 20,000 of 1,000 files of at most 4 MB together, for corrected_text.';
