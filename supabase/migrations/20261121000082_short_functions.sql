-- Long functions become short ones that are named for what they do, and a page is made in one place.
-- Names, arguments and answers of the functions that the application calls are unchanged.

-- Pages ----------------------------------------------------------------------------------------

create function public.page_json(
  p_name text, p_items jsonb, p_times timestamptz[], p_ids uuid[], p_limit integer
) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    p_name, coalesce(p_items, '[]') - p_limit,
    'next', case when cardinality(p_ids) > p_limit then
      public.page_cursor(p_times[p_limit], p_ids[p_limit]) end)
$$;
comment on function public.page_json is
  'A page of a newest-first list: {<p_name>: items, next}. It is given up to one row more than p_limit, which is cut off and tells that more rows follow; next is then the cursor of the last row that stays.';

create or replace function public.list_sessions(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- Without a cursor a page starts after the greatest key, so that each page is one range scan.
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return (
    select public.page_json('sessions',
      jsonb_agg(public.session_json(page.session) order by page.created_at desc, page.id desc),
      array_agg(page.created_at order by page.created_at desc, page.id desc),
      array_agg(page.id order by page.created_at desc, page.id desc),
      p_limit)
    from (
      select s as session, s.created_at, s.id
      from public.sessions s
      where s.account_id = p_account_id and (s.created_at, s.id) < (v_after_at, v_after_id)
      order by s.created_at desc, s.id desc
      limit p_limit + 1
    ) page);
end
$$;

create or replace function public.list_chats(
  p_account_id uuid, p_session_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  perform from public.sessions where id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', 'session');
  end if;
  return (
    select public.page_json('chats',
      jsonb_agg(public.chat_json(page.chat) order by page.created_at desc, page.id desc),
      array_agg(page.created_at order by page.created_at desc, page.id desc),
      array_agg(page.id order by page.created_at desc, page.id desc),
      p_limit)
    from (
      select c as chat, c.created_at, c.id
      from public.chats c
      where c.session_id = p_session_id and c.account_id = p_account_id
        and (c.created_at, c.id) < (v_after_at, v_after_id)
      order by c.created_at desc, c.id desc
      limit p_limit + 1
    ) page);
end
$$;

create or replace function public.list_agent_templates(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_after_at constant timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id constant uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_email constant text := (select a.email from public.accounts a where a.id = p_account_id);
  v_times timestamptz[];
  v_ids uuid[];
begin
  with visible as (
    (
      select t.created_at, t.id from public.agent_templates t
      where t.account_id = p_account_id and (t.created_at, t.id) < (v_after_at, v_after_id)
      order by t.created_at desc, t.id desc
      limit p_limit + 1
    ) union (
      select t.created_at, t.id from public.agent_templates t
      where not t.is_private and (t.created_at, t.id) < (v_after_at, v_after_id)
      order by t.created_at desc, t.id desc
      limit p_limit + 1
    ) union (
      select s.template_created_at, s.template_id from public.agent_template_shares s
      where s.email = v_email and (s.template_created_at, s.template_id) < (v_after_at, v_after_id)
      order by s.template_created_at desc, s.template_id desc
      limit p_limit + 1
    )
  ),
  page as (
    select v.created_at, v.id from visible v
    order by v.created_at desc, v.id desc
    limit p_limit + 1
  )
  select
    array_agg(page.created_at order by page.created_at desc, page.id desc),
    array_agg(page.id order by page.created_at desc, page.id desc)
  into v_times, v_ids
  from page;
  return public.page_json('templates',
    public.agent_templates_json(p_account_id, v_ids[:p_limit]), v_times, v_ids, p_limit);
end
$$;

-- Catalog --------------------------------------------------------------------------------------

-- Their parameters had names of one letter, which only a new function can replace.
drop function public.catalog_artist_json(public.catalog_artists);
drop function public.catalog_album_json(public.catalog_albums);
drop function public.catalog_track_json(public.catalog_tracks, public.catalog_albums);
drop function public.catalog_other_json(public.catalog_others);

create function public.catalog_artist_json(p_artist public.catalog_artists) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_artist.id, 'name', p_artist.name, 'url', p_artist.url, 'images', p_artist.images,
    'genres', p_artist.genres, 'popularity', p_artist.popularity,
    'followers', jsonb_build_object('href', '', 'total', p_artist.followers))
$$;
comment on function public.catalog_artist_json is
  'An artist in the shape of the catalog service. No search_path, so that it is inlined.';

create function public.catalog_album_json(p_album public.catalog_albums) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_album.id, 'name', p_album.name, 'url', p_album.url, 'images', p_album.images,
    'album_type', p_album.album_type, 'total_tracks', p_album.total_tracks,
    'available_markets', p_album.markets, 'release_date', p_album.release_date,
    'release_date_precision',
      case length(p_album.release_date) when 4 then 'year' when 7 then 'month' else 'day' end,
    'artists', p_album.artists)
$$;
comment on function public.catalog_album_json is
  'An album in the shape of the catalog service. No search_path, so that it is inlined.';

create function public.catalog_track_json(
  p_track public.catalog_tracks, p_album public.catalog_albums
) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_track.id, 'name', p_track.name, 'url', p_track.url,
    'disc_number', p_track.disc_number, 'track_number', p_track.track_number,
    'duration_ms', p_track.duration_ms, 'explicit', p_track.explicit,
    'popularity', p_track.popularity, 'available_markets', p_album.markets,
    'external_ids', case when p_track.isrc is null then '{}'::jsonb
      else jsonb_build_object('isrc', p_track.isrc) end,
    'album', public.catalog_album_json(p_album),
    'artists', p_track.artists)
$$;
comment on function public.catalog_track_json is
  'A track in the shape of the catalog service. No search_path, so that it is inlined.';

create function public.catalog_other_json(p_other public.catalog_others) returns jsonb
language sql stable as $$
  select p_other.details || jsonb_build_object(
    'id', p_other.id, 'name', p_other.name, 'url', p_other.url, 'images', p_other.images,
    'description', p_other.description)
    || case when p_other.markets is null then '{}'::jsonb
       else jsonb_build_object('available_markets', p_other.markets) end
$$;
comment on function public.catalog_other_json is
  'A playlist, show, episode or audiobook in the shape of the catalog service. No search_path, so that it is inlined.';

-- PL/pgSQL, because it keeps its plan from one call to the next: as SQL it doubled the time of a search.
create function public.catalog_query(p_kind text, p_text text, p_fields jsonb) returns tsquery
language plpgsql immutable set search_path = '' as $$
begin
  return nullif(concat_ws(' & ',
    public.catalog_words(p_text),
    public.catalog_words(p_fields ->> 'artist', 'B'),
    public.catalog_words(p_fields ->> 'genre', 'D'),
    case when p_kind in ('album', 'track') then public.catalog_words(p_fields ->> 'album', 'C') end,
    case when p_kind = 'track' then public.catalog_words(p_fields ->> 'track', 'A') end),
    '')::tsquery;
end
$$;
comment on function public.catalog_query is
  'The words that a search asks of one kind of object; null when it asks for none.';

-- In each of the next three the page, the total and the items are statements of their own: PostgreSQL
-- plans the first two for every search, by its words, and keeps the plan of the third.
create function public.catalog_search_artists(
  p_text text, p_fields jsonb, p_limit integer, p_offset integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_name constant text := public.catalog_fold(p_text);
  -- No artist has what these filters ask for.
  v_query constant tsquery := case when not p_fields ?| array['album', 'track', 'isrc', 'year_from']
    then public.catalog_query('artist', p_text, p_fields) end;
  v_ids constant text[] := array(
    select a.id from public.catalog_artists a
    where a.words @@ v_query
    order by a.folded = v_name desc, starts_with(a.folded, v_name) desc,
      a.popularity desc, a.folded, a.id
    limit p_limit offset p_offset);
  v_total bigint;
  v_items jsonb;
begin
  v_total := coalesce(
    public.catalog_total(cardinality(v_ids), p_limit, p_offset),
    (select count(*) from public.catalog_artists a where a.words @@ v_query));
  select jsonb_agg(public.catalog_artist_json(a) order by hit.place) into v_items
  from unnest(v_ids) with ordinality as hit (id, place)
  join public.catalog_artists a on a.id = hit.id;
  return jsonb_build_object('total', v_total, 'items', coalesce(v_items, '[]'));
end
$$;
comment on function public.catalog_search_artists is
  'One page of the artists that catalog_search finds: {total, items}.';

create function public.catalog_search_albums(
  p_text text, p_fields jsonb, p_market text, p_limit integer, p_offset integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_name constant text := public.catalog_fold(p_text);
  v_query constant tsquery := public.catalog_query('album', p_text, p_fields);
  v_since constant integer := (p_fields ->> 'year_from')::integer;
  v_until constant integer := (p_fields ->> 'year_to')::integer;
  v_ids text[];
  v_total bigint;
  v_items jsonb;
begin
  -- No album has what these filters ask for.
  if p_fields ?| array['track', 'isrc'] then
    return '{"total": 0, "items": []}';
  end if;
  v_ids := array(
    select b.id from public.catalog_found_albums(v_query, v_since, v_until, p_market) b
    order by b.folded = v_name desc, starts_with(b.folded, v_name) desc,
      b.popularity desc, b.folded, b.id
    limit p_limit offset p_offset);
  v_total := coalesce(
    public.catalog_total(cardinality(v_ids), p_limit, p_offset),
    (select count(*) from public.catalog_found_albums(v_query, v_since, v_until, p_market)));
  select jsonb_agg(public.catalog_album_json(b) order by hit.place) into v_items
  from unnest(v_ids) with ordinality as hit (id, place)
  join public.catalog_albums b on b.id = hit.id;
  return jsonb_build_object('total', v_total, 'items', coalesce(v_items, '[]'));
end
$$;
comment on function public.catalog_search_albums is
  'One page of the albums that catalog_search finds: {total, items}.';

create function public.catalog_search_tracks(
  p_text text, p_fields jsonb, p_market text, p_limit integer, p_offset integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_name constant text := public.catalog_fold(p_text);
  v_query constant tsquery := public.catalog_query('track', p_text, p_fields);
  v_isrc constant text := upper(replace(p_fields ->> 'isrc', '-', ''));
  v_since constant integer := (p_fields ->> 'year_from')::integer;
  v_until constant integer := (p_fields ->> 'year_to')::integer;
  v_ids constant text[] := array(
    select t.id from public.catalog_found_tracks(v_query, v_isrc, v_since, v_until, p_market) t
    order by t.folded = v_name desc, starts_with(t.folded, v_name) desc,
      t.popularity desc, t.folded, t.id
    limit p_limit offset p_offset);
  v_total bigint;
  v_items jsonb;
begin
  v_total := coalesce(
    public.catalog_total(cardinality(v_ids), p_limit, p_offset),
    (select count(*)
      from public.catalog_found_tracks(v_query, v_isrc, v_since, v_until, p_market)));
  select jsonb_agg(public.catalog_track_json(t, b) order by hit.place) into v_items
  from unnest(v_ids) with ordinality as hit (id, place)
  join public.catalog_tracks t on t.id = hit.id
  join public.catalog_albums b on b.id = t.album_id;
  return jsonb_build_object('total', v_total, 'items', coalesce(v_items, '[]'));
end
$$;
comment on function public.catalog_search_tracks is
  'One page of the tracks that catalog_search finds: {total, items}.';

create function public.catalog_search_others(
  p_kind text, p_text text, p_fields jsonb, p_market text, p_limit integer, p_offset integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_name constant text := public.catalog_fold(p_text);
  v_query constant tsquery := case when p_fields = '{}'
    then public.catalog_query(p_kind, p_text, p_fields) end;
begin
  return (
    with found as materialized (
      select o.id, row_number() over (
        order by o.folded = v_name desc, starts_with(o.folded, v_name) desc,
          o.folded, o.id) as place
      from public.catalog_others o
      where o.kind = p_kind and o.words @@ v_query
        and (p_market is null or o.markets is null or p_market = any (o.markets))
    )
    select jsonb_build_object(
      'total', (select count(*) from found),
      'items', coalesce((
        select jsonb_agg(public.catalog_other_json(o) order by hit.place)
        from found hit
        join public.catalog_others o on o.id = hit.id
        where hit.place > p_offset and hit.place <= p_offset + p_limit), '[]')));
end
$$;
comment on function public.catalog_search_others is
  'One page of the playlists, shows, episodes or audiobooks that catalog_search finds: {total, items}.';

-- All words must match, each the beginning of a word; the same name comes first, then names that begin
-- so, then what is popular. The beginning of a word may be one letter that nearly everything matches:
-- so the page is picked in one pass, without sorting what is not on it, and only the rest is counted.
create or replace function public.catalog_search(
  p_kinds text[], p_text text, p_fields jsonb, p_market text, p_limit integer, p_offset integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- A text without a single word finds nothing, not everything.
  v_is_empty constant boolean := p_text <> '' and public.catalog_fold(p_text) = '';
  v_answer jsonb := '{}';
  v_kind text;
begin
  foreach v_kind in array p_kinds loop
    v_answer := v_answer || jsonb_build_object(v_kind || 's', case
      when v_is_empty then '{"total": 0, "items": []}'
      when v_kind = 'artist' then
        public.catalog_search_artists(p_text, p_fields, p_limit, p_offset)
      when v_kind = 'album' then
        public.catalog_search_albums(p_text, p_fields, p_market, p_limit, p_offset)
      when v_kind = 'track' then
        public.catalog_search_tracks(p_text, p_fields, p_market, p_limit, p_offset)
      else
        public.catalog_search_others(v_kind, p_text, p_fields, p_market, p_limit, p_offset)
    end);
  end loop;
  return v_answer;
end
$$;

-- Retention ------------------------------------------------------------------------------------

create function public.sweep_idempotency_keys(p_batch integer) returns bigint
language sql volatile set search_path = '' as $$
  with gone as (
    delete from public.idempotency_keys where (account_id, key_hash) in (
      select k.account_id, k.key_hash from public.idempotency_keys k
      where k.created_at < now() - interval '24 hours'
        and coalesce(k.lease_until, '-infinity') < now()
      limit p_batch for update skip locked)
    returning 1
  )
  select count(*) from gone
$$;
comment on function public.sweep_idempotency_keys is
  'Deletes idempotency keys that are past their 24 hours and not in use; answers how many.';

create function public.sweep_signup_codes(p_batch integer) returns bigint
language sql volatile set search_path = '' as $$
  with gone as (
    delete from public.signup_codes where email in (
      select c.email from public.signup_codes c
      where c.expires_at < now() - interval '1 hour'
      limit p_batch for update skip locked)
    returning 1
  )
  select count(*) from gone
$$;
comment on function public.sweep_signup_codes is
  'Deletes sign-up codes that expired an hour ago; answers how many.';

create function public.sweep_rate_limits(p_batch integer) returns bigint
language sql volatile set search_path = '' as $$
  with gone as (
    delete from public.rate_limits where bucket in (
      select b.bucket from public.rate_limits b
      where b.empty_at < date_part('epoch', now())
      limit p_batch for update skip locked)
    returning 1
  )
  select count(*) from gone
$$;
comment on function public.sweep_rate_limits is
  'Deletes rate limit buckets that are empty again; answers how many.';

create function public.sweep_connections(p_batch integer, p_days integer) returns bigint
language sql volatile set search_path = '' as $$
  with gone as (
    delete from public.connections where id in (
      select c.id from public.connections c
      where c.status <> 'active'
        and c.updated_at < now() - make_interval(days => p_days)
        and (c.status = 'failed' or c.expires_at < now())
      limit p_batch for update skip locked)
    returning 1
  )
  select count(*) from gone
$$;
comment on function public.sweep_connections is
  'Deletes connections that were refused, or not decided in time, more than p_days ago; answers how many.';

create function public.sweep_run_keys(p_batch integer) returns bigint
language sql volatile set search_path = '' as $$
  with gone as (
    delete from public.api_keys where id in (
      select k.id from public.api_keys k
      where k.scope = 'run' and k.revoked_at < now() - interval '1 day'
      limit p_batch for update skip locked)
    returning 1
  )
  select count(*) from gone
$$;
comment on function public.sweep_run_keys is
  'Deletes run credentials that were revoked a day ago; answers how many.';

create function public.sweep_task_inputs(p_batch integer, p_days integer) returns bigint
language sql volatile set search_path = '' as $$
  with emptied as (
    update public.task_runs set payload = null where id in (
      select r.id from public.task_runs r
      where r.payload is not null
        and r.finished_at < now() - make_interval(days => p_days)
      limit p_batch for update skip locked)
    returning 1
  )
  select count(*) from emptied
$$;
comment on function public.sweep_task_inputs is
  'Removes the inputs of task runs that finished more than p_days ago; answers of how many.';

create function public.sweep_lost_task_runs(p_batch integer) returns bigint
language plpgsql volatile set search_path = '' as $$
declare
  v_accounts constant uuid[] := array(
    select distinct lost.account_id from (
      select r.account_id from public.task_runs r
      where r.lease_until < now() limit p_batch
    ) lost);
begin
  perform public.crash_lost_task_runs(account_id) from unnest(v_accounts) as account_id;
  return cardinality(v_accounts);
end
$$;
comment on function public.sweep_lost_task_runs is
  'Ends task runs whose process has died; answers of how many accounts.';

create or replace function public.sweep_rows(
  p_batch integer, p_input_days integer, p_connection_days integer
) returns jsonb
language sql volatile set search_path = '' as $$
  select jsonb_build_object(
    'idempotencyKeys', public.sweep_idempotency_keys(p_batch),
    'signupCodes', public.sweep_signup_codes(p_batch),
    'rateLimits', public.sweep_rate_limits(p_batch),
    'connections', public.sweep_connections(p_batch, p_connection_days),
    'runKeys', public.sweep_run_keys(p_batch),
    'taskRunInputs', public.sweep_task_inputs(p_batch, p_input_days),
    'accountsWithLostRuns', public.sweep_lost_task_runs(p_batch))
$$;
