-- A search reads a bounded number of messages, and the words of its account only.

-- Without memory for all matches, PostgreSQL would read the words of whole pages of messages again.
create function public.chats_with_text(p_account_id uuid, p_text text, p_limit integer) returns uuid[]
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan'
set enable_seqscan = off set work_mem = '64MB' as $$
begin
  return array(
    select m.chat_id from public.messages m
    where m.account_id = p_account_id and public.search_of_message(m.account_id, m.parts)
      @@ public.search_query_of_account(p_account_id, p_text)
    union all
    select m.chat_id from public.messages m join public.chats c on c.id = m.chat_id
    where m.account_id is null and c.account_id = p_account_id
      and public.search_of_message(m.account_id, m.parts) @@ public.search_query(p_text)
    union all
    select c.id from public.chats c
    where c.account_id = p_account_id and strpos(lower(c.title), lower(p_text)) > 0
      and (length(p_text) < 3 or public.search_of_title(c.account_id, c.title)
        @> public.search_of_title(p_account_id, p_text))
    limit p_limit);
end
$$;
comment on function public.chats_with_text is 'The ids of the account''s chats that have p_text in their title, or all its words in one message, each for each such message; at most p_limit, or all if that is null.';

create function public.newest_with_text(p_chat_id uuid, p_text text) returns public.messages
language plpgsql stable set search_path = '' as $$
declare
  -- Compared first, because most messages lack it, and to take their words apart is slow.
  v_word constant text := (
    select asked.word from unnest(tsvector_to_array(to_tsvector('simple'::regconfig, p_text))) asked (word)
    order by length(asked.word) desc limit 1);
  v_message public.messages;
begin
  select m.* into v_message from public.messages m
  where m.chat_id = p_chat_id
    and case when strpos(lower(m.parts::text), v_word) > 0 or v_word ~ '["\\]'
      then public.search_of_parts(m.parts) @@ public.search_query(p_text) end
  order by m.created_at desc, m.id desc
  limit 1;
  return v_message;
end
$$;
comment on function public.newest_with_text is 'The newest message of a chat that has all words of p_text; null without any.';

create function public.has_text(p_chat public.chats, p_text text) returns boolean
language sql stable set search_path = '' as $$
  select strpos(lower(p_chat.title), lower(p_text)) > 0
    or (public.newest_with_text(p_chat.id, p_text)).id is not null
$$;
comment on function public.has_text is 'Whether a chat has p_text in its title, or all its words in one message.';

create or replace function public.chat_passage(p_chat public.chats, p_text text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object('matched', p_text) || coalesce((
    select jsonb_build_object('snippet', ts_headline('simple'::regconfig,
      public.words_of_parts(m.parts), public.search_query(p_text),
      'StartSel="", StopSel="", MaxWords=24, MinWords=8'))
      || case when m.on_path then jsonb_build_object('message_id', m.id) else '{}' end
    from public.newest_with_text(p_chat.id, p_text) m
    where m.id is not null), jsonb_build_object('snippet', p_chat.title))
$$;
comment on function public.chat_passage is 'Where a chat has the words of p_text: {matched, snippet, message_id} of its newest message with them, without message_id if the chat shows another branch; else the title as snippet.';

create function public.query_of_word(p_word text) returns tsquery
language sql immutable set search_path = '' as $$
  select ('''' || replace(replace(p_word, '\', '\\'), '''', '''''') || '''')::tsquery
$$;
comment on function public.query_of_word is 'Finds texts that have the word as it is.';

-- A scan that returns a sample is enough to know that there is one.
create function public.is_word_used(p_account_id uuid, p_word text) returns boolean
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan'
set enable_seqscan = off set gin_fuzzy_search_limit = 100 as $$
begin
  return exists (
    select from public.messages m
    where m.account_id = p_account_id and public.search_of_message(m.account_id, m.parts)
      @@ public.query_of_word(left(p_account_id::text, 8) || p_word))
  or exists (
    select from public.chats c
    where c.account_id = p_account_id
      and to_tsvector('simple'::regconfig, c.title) @@ public.query_of_word(p_word)
      and public.search_of_title(c.account_id, c.title) @> public.search_of_title(p_account_id, p_word));
end
$$;
comment on function public.is_word_used is 'Whether a message or a title of the account has the word.';

create function public.sweep_words(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_usage public.message_usage;
  v_ids bigint[];
  v_unused bigint[];
begin
  select * into v_usage from public.message_usage where checked_words_to is not null
  order by account_id limit 1;
  if not found then
    return 0;
  end if;
  v_ids := array(
    select k.id from public.account_words k
    where k.account_id = v_usage.account_id and k.id > v_usage.checked_words_to
    order by k.id limit p_batch);
  v_unused := array(
    select k.id from public.account_words k
    where k.account_id = v_usage.account_id and k.id = any (v_ids)
      and not public.is_word_used(k.account_id, k.word));
  if v_unused <> '{}' then
    -- Not while a turn adds words, and no turn waits for longer than this takes.
    if not pg_try_advisory_xact_lock(hashtextextended(v_usage.account_id::text, 20261212)) then
      return p_batch;
    end if;
    delete from public.account_words k
    where k.account_id = v_usage.account_id and k.id = any (v_unused)
      and not public.is_word_used(k.account_id, k.word);
  end if;
  -- Without effect when something was deleted in the meantime: then it starts again.
  update public.message_usage set checked_words_to = v_ids[p_batch]
  where account_id = v_usage.account_id and checked_words_to = v_usage.checked_words_to;
  return p_batch;
end
$$;
comment on function public.sweep_words is 'Deletes the unused ones of the next p_batch words of an account whose messages were changed or deleted. Returns p_batch, or 0 when there is no such account.';

create function public.add_accounts_of_messages(p_batch integer) returns integer
language sql volatile set search_path = '' as $$
  with added as (
    update public.messages m set account_id = c.account_id
    from public.chats c
    where c.id = m.chat_id and (m.chat_id, m.id) in (
      select n.chat_id, n.id from public.messages n where n.account_id is null
      limit p_batch for update skip locked)
    returning c.account_id, c.title),
  titles as (
    insert into public.account_words (account_id, word)
    select distinct a.account_id, said.word
    from added a, unnest(tsvector_to_array(to_tsvector('simple'::regconfig, a.title))) said (word)
    where length(said.word) between 2 and 40 and not exists (
      select from public.account_words k where k.account_id = a.account_id and k.word = said.word))
  select count(*)::integer from added
$$;
comment on function public.add_accounts_of_messages is 'Adds the account to at most p_batch messages of earlier versions, and the words of their chats'' titles to account_words. Returns the number of messages.';

create function public.corrected_search(p_account_id uuid, p_text text) returns text
language sql stable set search_path = '' as $$
  with first as materialized (
    select k.id, k.word from public.account_words k where k.account_id = p_account_id
    order by k.id limit 15000),
  newest as materialized (
    select k.id, k.word from public.account_words k
    where k.account_id = p_account_id and k.id > (select max(f.id) from first f)
    order by k.id desc limit 15000)
  select case when bool_and(length(asked.word) <= 3 or best.word is not null)
      and bool_or(best.word <> asked.word)
    then string_agg(coalesce(best.word, asked.word), ' ' order by asked.place) end
  from (
    select lexeme as word, positions[1] as place, count(*) over () as total
    from unnest(to_tsvector('simple'::regconfig, p_text))
  ) asked
  left join lateral (
    select near.word from (
      select compared.word, min(compared.id) as id, compared.likeness
      from (
        select known.word, known.id, extensions.similarity(known.word, asked.word) as likeness
        from (table first union all table newest) known
        where abs(length(known.word) - length(asked.word)) <= 2
        offset 0
      ) compared
      where compared.likeness > 0.25
      group by compared.word, compared.likeness
      order by compared.likeness desc, min(compared.id)
      limit 5
    ) near
    where public.is_word_used(p_account_id, near.word)
    order by near.likeness desc, near.id
    limit 1
  ) best on length(asked.word) > 3
  where asked.total <= 8
$$;
comment on function public.corrected_search is 'As corrected_text, of the first and the newest 15,000 words of an account. Of equally similar words, the one that was used first is taken.';

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
  v_page jsonb;
  v_chat public.chats;
  v_left integer;
  v_rows integer;
  v_bytes bigint;
  v_text text;
  -- The chats that have the text, unless too many messages have it.
  v_found uuid[];
  v_max_found integer := 10000;
  -- So many chats are read: a few first, which have a very frequent text; null for none.
  v_read integer := case when p_text is not null then 50 end;
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
    if p_text is not null and v_read is null and v_found is null then
      v_found := public.chats_with_text(p_account_id, p_text, v_max_found + 1);
      if cardinality(v_found) > v_max_found then
        v_found := null;
        v_max_found := null;
        v_read := 1000;
      end if;
    end if;
    v_page := '[]';
    v_left := p_limit + 1 - jsonb_array_length(v_chats);
    v_rows := 0;
    v_bytes := 0;
    for v_chat in
      select c.* from public.chats c
      where c.account_id = p_account_id and (c.created_at, c.id) < (v_after_at, v_after_id)
        and (v_archived is null or c.archived = v_archived)
        and (v_pinned is null or c.pinned = v_pinned)
        and (p_artist_id is null or c.session_id in (
          select s.id from public.sessions s
          where s.account_id = p_account_id and s.artist_id = p_artist_id))
        and (not p_waiting or (c.asks_since is not null and public.is_asking(c)))
        and (v_found is null or c.id = any (v_found))
      order by c.created_at desc, c.id desc
      limit coalesce(v_read, v_left)
    loop
      v_rows := v_rows + 1;
      v_bytes := v_bytes + v_chat.message_bytes;
      exit when v_read is not null and v_bytes > 10000000;
      if v_read is null or public.has_text(v_chat, p_text) then
        v_page := v_page || (public.chat_row(v_chat)
          || jsonb_build_object('pinned', v_chat.pinned, 'archived', v_chat.archived)
          || case when p_text is null then '{}' else public.chat_passage(v_chat, p_text) end);
        exit when jsonb_array_length(v_page) = v_left;
      end if;
    end loop;
    if (v_rows = v_read or v_read is not null and v_bytes > 10000000)
      and jsonb_array_length(v_page) < v_left
    then
      -- There are more, and these have too few: all that have the text are looked for.
      v_read := null;
      continue;
    end if;
    v_chats := v_chats || v_page;
    exit when not p_pinned_first or v_group = v_last_group
      or jsonb_array_length(v_chats) > p_limit;
    v_group := v_group + 1;
    v_after_at := 'infinity';
    v_after_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  end loop;
  if v_chats = '[]' and length(p_text) between 4 and 100 then
    v_text := public.corrected_search(p_account_id, p_text);
  end if;
  return case when v_text is null then v_chats
    else public.list_account_chats(p_account_id, p_limit, p_after_at, p_after_id, p_artist_id,
      p_archived, p_pinned, v_text, p_waiting, p_pinned_first) end;
end
$$;
comment on function public.list_account_chats is 'A page of an account''s chats, newest first, with one more row if another page follows. A filter that is null does not apply; with p_text each chat has the passage that was found, and a text that finds nothing is corrected. p_waiting leaves the ones that ask (is_asking). p_pinned_first puts pinned chats first and archived ones last, and replaces p_pinned. With p_text, the newest 50 chats that the filters leave are read first, then the index; of a text that more than 10,000 messages have, the newest 1,000 chats, or 10 MB of their messages, and all only if these do not fill the page.';

comment on function public.search_of_parts is 'The words of a message for the search.';

drop function public.words_of_chats(uuid);

create trigger note_words_of_title after insert or update of title on public.chats
  for each row when (new.title <> '') execute function public.note_words();
create trigger recheck_words_of_title after update of title on public.chats
  for each row when (old.title <> new.title) execute function public.recheck_words();
create trigger recheck_words_of_deleted after delete on public.chats
  for each row execute function public.recheck_words();
