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

create or replace function public.list_account_chats(
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
  v_text text;
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
        || case when p_text is null then '{}' else public.chat_passage(c, p_text) end
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
  if v_chats = '[]' and length(p_text) between 4 and 100 then
    v_text := public.corrected_text(p_text, public.words_of_chats(p_account_id));
  end if;
  return case when v_text is null then v_chats
    else public.list_account_chats(p_account_id, p_limit, p_after_at, p_after_id, p_artist_id,
      p_archived, p_pinned, v_text, p_waiting, p_pinned_first) end;
end
$$;
comment on function public.list_account_chats is 'A page of an account''s chats, newest first, with one more row if another page follows. A filter that is null does not apply; with p_text each chat has the passage that was found, and a text that finds nothing is corrected. p_waiting leaves the chats of the last 30 days that end with a question or a call of a client tool. p_pinned_first puts pinned chats first and archived ones last, and replaces p_pinned.';

create or replace function public.search_workspace(
  p_account_id uuid, p_artist_id uuid, p_text text, p_limit integer
) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  v_workspace_id constant uuid := public.workspace_owner(p_account_id, p_artist_id);
  v_found jsonb;
  v_text text;
begin
  select coalesce(jsonb_agg(jsonb_build_object('path', found.path, 'version', found.version,
    'snippet', ts_headline('simple'::regconfig, found.text, public.search_query(p_text),
      'StartSel="", StopSel="", MaxWords=24, MinWords=8'))), '[]') into v_found
  from (
    select f.path, f.version, c.text
    from public.workspace_files f
    join public.workspace_contents c on c.id = f.content_id
    where f.workspace_id = v_workspace_id
      and c.text is not null and public.search_of_text(c.text) @@ public.search_query(p_text)
    order by ts_rank(public.search_of_text(c.text), public.search_query(p_text)) desc, f.path
    limit p_limit
  ) found;
  if v_found = '[]' and length(p_text) between 4 and 100 then
    v_text := public.corrected_text(p_text, public.words_of_workspace(v_workspace_id));
  end if;
  return case when v_text is null then v_found
    else public.search_workspace(p_account_id, p_artist_id, v_text, p_limit) end;
end
$$;
comment on function public.search_workspace is 'The text files of a workspace that have all words of p_text, or of its correction if none has, the best first: [{path, version, snippet}].';

drop function public.chat_snippet(public.chats, text);
