-- The words of an account, for searches with typing errors, and the sums of its usage.

create function public.search_of_message(p_account_id uuid, p_parts jsonb) returns tsvector
language plpgsql immutable set search_path = '' as $$
begin
  return case when p_account_id is null then public.search_of_parts(p_parts) else
    array_to_tsvector(array(
      select left(p_account_id::text, 8) || said.word
      from unnest(tsvector_to_array(public.search_of_parts(p_parts))) as said (word)
      -- A lexeme has at most 2,046 bytes.
      where octet_length(said.word) <= 2000)) end;
end
$$;
comment on function public.search_of_message is 'The words of a message, each after the first characters of its account, so a search reads no words of other accounts; without these for a message that has no account yet. The index messages_search stores it.';

create function public.search_of_title(p_account_id uuid, p_title text) returns text[]
language sql immutable set search_path = '' as $$
  select array(
    select distinct left(p_account_id::text, 8) || substr(lower(p_title), place, 3)
    from generate_series(1, length(lower(p_title)) - 2) place)
$$;
comment on function public.search_of_title is 'Every three characters of a title, each after the first characters of its account. The index chats_titles stores it.';

create function public.search_query_of_account(p_account_id uuid, p_text text) returns tsquery
language sql immutable set search_path = '' as $$
  select regexp_replace(
    public.search_query(p_text)::text, '(^| & )''', '\1''' || left(p_account_id::text, 8), 'g')::tsquery
$$;
comment on function public.search_query_of_account is 'The search_query for search_of_message.';

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

create table public.account_words (
  account_id uuid not null references public.accounts (id) on delete cascade,
  id bigint generated always as identity,
  word text not null,
  primary key (account_id, id) include (word)
);
create index account_words_word on public.account_words (account_id, word);
alter table public.account_words enable row level security;
comment on table public.account_words is 'The words of an account''s messages and titles, for searches with typing errors. Two turns that use a new word at the same time add it twice, because a unique index would make one wait for the other.';
comment on column public.account_words.id is 'The order in which the words were first used. Frequent words come early.';

create table public.usage_days (
  account_id uuid not null references public.accounts (id) on delete cascade,
  day date not null,
  kind text not null,
  model_id text not null,
  api_key_id uuid,
  artist_id uuid,
  model_runs bigint not null default 0,
  runs bigint not null default 0,
  calls bigint not null default 0,
  unpriced_calls bigint not null default 0,
  steps bigint not null default 0,
  input_tokens bigint not null default 0,
  cached_input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_usd numeric not null default 0,
  images bigint not null default 0,
  videos bigint not null default 0
);
create unique index usage_days_key on public.usage_days
  (account_id, day, kind, model_id, api_key_id, artist_id) nulls not distinct;
alter table public.usage_days enable row level security;
comment on table public.usage_days is 'The sums of usage_entries that are marked as summed, of each day (UTC). The triggers of usage_entries and the retention job add to them.';
comment on column public.usage_days.model_runs is 'Sources that have used this model.';
comment on column public.usage_days.runs is 'As model_runs, but a source that has used several models is in only one of their rows.';
