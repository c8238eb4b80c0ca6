-- The search for messages and titles: the words of an account, and typing errors.

create function public.note_words() returns trigger
language plpgsql set search_path = '' as $$
declare
  v_words text[];
begin
  if tg_table_name = 'chats' then
    v_words := tsvector_to_array(to_tsvector('simple'::regconfig, new.title));
  else
    v_words := tsvector_to_array(public.search_of_parts(new.parts));
  end if;
  -- The retention job decides that a word is unused while no one adds words of the account.
  perform pg_advisory_xact_lock_shared(hashtextextended(new.account_id::text, 20261212));
  insert into public.account_words (account_id, word)
  select new.account_id, used.word from unnest(v_words) used (word)
  where length(used.word) between 2 and 40 and not exists (
    select from public.account_words k where k.account_id = new.account_id and k.word = used.word);
  return null;
end
$$;
comment on function public.note_words is 'Adds the words of a message or a title to account_words.';

create function public.recheck_words() returns trigger
language plpgsql set search_path = '' as $$
begin
  update public.message_usage set checked_words_to = 0
  where account_id = old.account_id and checked_words_to is distinct from 0;
  return null;
end
$$;
comment on function public.recheck_words is 'Lets the retention job look for words that are no longer used.';

create trigger note_words_of_title after insert or update of title on public.chats
  for each row when (new.title <> '') execute function public.note_words();
create trigger recheck_words_of_title after update of title on public.chats
  for each row when (old.title <> new.title) execute function public.recheck_words();
create trigger recheck_words_of_deleted after delete on public.chats
  for each row execute function public.recheck_words();
create trigger note_words_of_message after insert or update of parts, account_id on public.messages
  for each row when (new.account_id is not null) execute function public.note_words();
create trigger recheck_words_of_message after update of parts on public.messages
  for each row when (old.parts <> new.parts) execute function public.recheck_words();

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

create function public.update_chat(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_title text, p_model_id text,
  p_instructions text, p_template_id uuid, p_removes_template boolean,
  p_archived boolean, p_pinned boolean, p_options jsonb default '{}',
  p_template_version integer default null, p_default_model_id text default null,
  p_accepts_version boolean default true
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
  v_template_id uuid;
  v_model_id text := p_model_id;
begin
  if p_template_id is not null and not public.is_visible_template(p_account_id, p_template_id) then
    return jsonb_build_object('missing', 'template');
  end if;
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for no key update;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  v_template_id := case when not p_removes_template
    then coalesce(p_template_id, v_chat.template_id) end;
  -- The same template once more accepts no newer version.
  if v_template_id is distinct from v_chat.template_id or p_template_version is not null then
    v_chat.template_version := public.choose_template_version(
      p_account_id, v_template_id, p_template_version, p_accepts_version);
    if v_chat.template_version is null then
      return jsonb_build_object('missing', 'template_version');
    end if;
    if v_model_id is null and v_chat.model_id in ('', p_default_model_id) then
      v_model_id := public.template_model(
        p_account_id, v_template_id, v_chat.template_version);
    end if;
  end if;
  update public.chats
  set title = coalesce(p_title, title),
    model_id = coalesce(v_model_id, model_id),
    instructions = nullif(coalesce(p_instructions, instructions), ''),
    template_id = v_template_id,
    template_version = nullif(v_chat.template_version, 0),
    archived = coalesce(p_archived, archived),
    pinned = coalesce(p_pinned, pinned),
    options = jsonb_strip_nulls(options || p_options),
    updated_at = now()
  where id = p_chat_id and account_id = p_account_id
  returning * into v_chat;
  return jsonb_build_object('chat', public.chat_row(v_chat));
end
$$;
comment on function public.update_chat is 'Changes a chat: {chat} | {missing: session | chat | template | template_version}. Null leaves a field as it is, empty instructions remove them. A new template is taken in the version of choose_template_version, and an own one sets its model unless p_model_id names one or the chat has another than p_default_model_id. p_options changes the options that it names, and removes those that are null.';

create function public.delete_chat(p_account_id uuid, p_session_id uuid, p_chat_id uuid) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_chat public.chats;
begin
  delete from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  returning * into v_chat;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  return jsonb_build_object('chat', public.chat_row(v_chat));
end
$$;
comment on function public.delete_chat is 'Deletes a chat: {chat} as it was, or {missing: chat | session}.';

create function public.delete_chats(p_account_id uuid, p_ids uuid[]) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_deleted uuid[];
  v_sessions uuid[];
  v_sandboxes jsonb;
begin
  -- Chats in the order of their ids and before their sessions, as everywhere: another order deadlocks.
  perform from public.chats where account_id = p_account_id and id = any (p_ids)
  order by id for update;
  with deleted as (
    delete from public.chats where account_id = p_account_id and id = any (p_ids)
    returning id, session_id
  )
  select coalesce(array_agg(d.id), '{}'), array_agg(distinct d.session_id)
  into v_deleted, v_sessions from deleted d;
  -- Waits for a chat that is being created in one of them, which the next statement then sees.
  perform from public.sessions where account_id = p_account_id and id = any (v_sessions)
  order by id for update;
  with emptied as (
    delete from public.sessions s
    where s.account_id = p_account_id and s.id = any (v_sessions)
      and not exists (select from public.chats c where c.session_id = s.id)
    returning s.sandbox_state
  )
  select coalesce(jsonb_agg(e.sandbox_state) filter (where e.sandbox_state is not null), '[]')
  into v_sandboxes from emptied e;
  return jsonb_build_object('deleted', to_jsonb(v_deleted), 'sandboxes', v_sandboxes);
end
$$;
comment on function public.delete_chats is 'Deletes chats of the account, and their sessions without other chats: {deleted, sandboxes}, the ids of the chats and the sandbox states of the sessions.';
