-- The embedded music catalog and its search.

create function public.catalog_fold(p_text text) returns text
language sql immutable set search_path = '' as $$
  select trim(regexp_replace(
    translate(
      lower(regexp_replace(normalize(p_text, nfkd), '[\u0300-\u036f]', '', 'g')), 'øłđı', 'oldi'),
    '[[:punct:][:space:]]+', ' ', 'g'))
$$;
comment on function public.catalog_fold is 'A text without case, accents and punctuation.';

-- Weights: A for a thing's own name, B for its artists, C for its album, D for its genres.
create function public.catalog_words(p_text text, p_weight text default '') returns text
language sql immutable set search_path = '' as $$
  select string_agg('''' || replace(word, '''', '') || ''':*' || p_weight, ' & ')
  from unnest(string_to_array(public.catalog_fold(p_text), ' ')) word
  where replace(word, '''', '') <> ''
$$;
comment on function public.catalog_words is 'The text of a tsquery in which every word is the beginning of a word of that weight; null without words. Weights: A own name, B artists, C album, D genres.';

create function public.catalog_index() returns void
language plpgsql volatile set search_path = '' as $$
begin
  update public.catalog_artists a set
    folded = public.catalog_fold(a.name),
    words = setweight(to_tsvector('simple', public.catalog_fold(a.name)), 'A')
      || setweight(to_tsvector('simple', public.catalog_fold(a.name)), 'B')
      || setweight(to_tsvector('simple', public.catalog_fold(array_to_string(a.genres, ' '))), 'D');

  update public.catalog_albums b set
    folded = public.catalog_fold(b.name),
    words = setweight(to_tsvector('simple', public.catalog_fold(b.name)), 'A')
      || setweight(to_tsvector('simple', public.catalog_fold(b.name)), 'C')
      || setweight(to_tsvector('simple', coalesce(of.names, '')), 'B')
      || setweight(to_tsvector('simple', coalesce(of.genres, '')), 'D'),
    artists = coalesce(of.artists, '[]'),
    total_tracks = (select count(*) from public.catalog_tracks t where t.album_id = b.id),
    popularity = coalesce(
      (select max(t.popularity) from public.catalog_tracks t where t.album_id = b.id), 0)
  from public.catalog_albums same
  left join lateral (
    select string_agg(a.folded, ' ') as names,
      jsonb_agg(jsonb_build_object('id', a.id, 'name', a.name, 'url', a.url) order by l.place, a.id)
        as artists,
      public.catalog_fold(string_agg(array_to_string(a.genres, ' '), ' ')) as genres
    from public.catalog_album_artists l
    join public.catalog_artists a on a.id = l.artist_id
    where l.album_id = same.id and l.is_main
  ) of on true
  where same.id = b.id;

  update public.catalog_tracks t set
    folded = public.catalog_fold(t.name),
    words = setweight(to_tsvector('simple', public.catalog_fold(t.name)), 'A')
      || setweight(to_tsvector('simple', b.folded), 'C')
      || setweight(to_tsvector('simple', coalesce(of.names, '')), 'B')
      || setweight(to_tsvector('simple', coalesce(of.genres, '')), 'D'),
    artists = coalesce(of.artists, '[]')
  from public.catalog_tracks same
  join public.catalog_albums b on b.id = same.album_id
  left join lateral (
    select string_agg(a.folded, ' ') as names,
      jsonb_agg(jsonb_build_object('id', a.id, 'name', a.name, 'url', a.url) order by l.place, a.id)
        as artists,
      public.catalog_fold(string_agg(array_to_string(a.genres, ' '), ' ')) as genres
    from public.catalog_track_artists l
    join public.catalog_artists a on a.id = l.artist_id
    where l.track_id = same.id
  ) of on true
  where same.id = t.id;

  update public.catalog_others o set
    folded = public.catalog_fold(o.name),
    words = setweight(to_tsvector('simple', public.catalog_fold(o.name)), 'A');
end
$$;
comment on function public.catalog_index is 'Fills the columns that searches read. It is to be called after catalog rows have changed.';

create table public.catalog_artists (
  id text primary key check (id ~ '^[A-Za-z0-9]{1,64}$'),
  name text not null,
  genres text[] not null default '{}',
  popularity integer not null default 0 check (popularity between 0 and 100),
  followers integer not null default 0 check (followers >= 0),
  images jsonb not null default '[]',
  -- A page about it somewhere in the world.
  url text,
  folded text,
  words tsvector
);

create index catalog_artists_folded on public.catalog_artists (folded);
create index catalog_artists_words on public.catalog_artists using gin (words);
comment on table public.catalog_artists is 'Artists of the embedded catalog, which answers when no catalog service is configured.';
comment on column public.catalog_artists.folded is 'The name without case, accents and punctuation; catalog_index fills it.';
comment on column public.catalog_artists.words is 'What searches match; catalog_index fills it.';

create table public.catalog_albums (
  id text primary key check (id ~ '^[A-Za-z0-9]{1,64}$'),
  name text not null,
  album_type text not null check (album_type in ('album', 'single', 'compilation')),
  release_date text not null check (release_date ~ '^\d{4}(-\d\d(-\d\d)?)?$'),
  markets text[] not null,
  images jsonb not null default '[]',
  url text,
  -- From here on all follows from other tables, and is filled by catalog_index().
  total_tracks integer not null default 0,
  popularity integer not null default 0,
  year integer generated always as (left(release_date, 4)::integer) stored,
  artists jsonb not null default '[]',
  folded text,
  words tsvector
);

create index catalog_albums_words on public.catalog_albums using gin (words);
comment on table public.catalog_albums is 'Albums of the embedded catalog.';
comment on column public.catalog_albums.release_date is 'As precise as it is known: YYYY, YYYY-MM or YYYY-MM-DD.';
comment on column public.catalog_albums.artists is 'The main artists as JSON; catalog_index fills it.';

create table public.catalog_album_artists (
  album_id text not null references public.catalog_albums (id) on delete cascade,
  artist_id text not null references public.catalog_artists (id) on delete cascade,
  is_main boolean not null,
  place integer not null,
  primary key (album_id, artist_id)
);

create index catalog_album_artists_artist on public.catalog_album_artists (artist_id);
comment on table public.catalog_album_artists is 'The artists of each album.';
comment on column public.catalog_album_artists.is_main is 'False for an artist of single tracks only: the album is then in the group appears_on.';

create table public.catalog_tracks (
  id text primary key check (id ~ '^[A-Za-z0-9]{1,64}$'),
  album_id text not null references public.catalog_albums (id) on delete cascade,
  name text not null,
  disc_number integer not null default 1 check (disc_number >= 1),
  track_number integer not null check (track_number >= 1),
  duration_ms integer not null default 0 check (duration_ms >= 0),
  explicit boolean not null default false,
  isrc text,
  popularity integer not null default 0 check (popularity between 0 and 100),
  url text,
  artists jsonb not null default '[]',
  folded text,
  words tsvector
);

create index catalog_tracks_words on public.catalog_tracks using gin (words);
create index catalog_tracks_album on public.catalog_tracks (album_id);
create index catalog_tracks_isrc on public.catalog_tracks (isrc);
comment on table public.catalog_tracks is 'Tracks of the embedded catalog.';
comment on column public.catalog_tracks.artists is 'The artists as JSON; catalog_index fills it.';

create table public.catalog_track_artists (
  track_id text not null references public.catalog_tracks (id) on delete cascade,
  artist_id text not null references public.catalog_artists (id) on delete cascade,
  place integer not null,
  primary key (track_id, artist_id)
);

create index catalog_track_artists_artist on public.catalog_track_artists (artist_id);
comment on table public.catalog_track_artists is 'The artists of each track.';

create table public.catalog_others (
  id text primary key check (id ~ '^[A-Za-z0-9]{1,64}$'),
  kind text not null check (kind in ('playlist', 'show', 'episode', 'audiobook')),
  name text not null,
  description text not null default '',
  markets text[],
  images jsonb not null default '[]',
  url text,
  details jsonb not null default '{}',
  folded text,
  words tsvector
);

create index catalog_others_words on public.catalog_others using gin (words);
comment on table public.catalog_others is 'Playlists, shows, episodes and audiobooks of the embedded catalog.';

-- All words must match, each as a prefix. The same name comes first, then names with that prefix, then the
-- popular ones. A prefix may be one letter that nearly everything matches: the page is picked in one pass
-- without sorting the rest, which is only counted.
create function public.catalog_search(
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
comment on function public.catalog_search is 'One page of each kind that is asked for: {artists: {total, items}, …}. p_fields stays jsonb: it holds only the filters of the request, and which are there decides.';

-- PL/pgSQL keeps its plan between calls: as SQL it doubled the time of a search.
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
comment on function public.catalog_query is 'The words that a search asks of one kind of object; null when it asks for none.';

create function public.catalog_total(p_on_page integer, p_limit integer, p_offset integer)
returns bigint
language sql immutable set search_path = '' as $$
  select case when p_on_page < p_limit and (p_on_page > 0 or p_offset = 0)
    then p_offset + p_on_page end
$$;
comment on function public.catalog_total is 'The number of hits if the page shows it, as the last page does; null when they must be counted.';

create function public.catalog_artist_json(p_artist public.catalog_artists) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_artist.id, 'name', p_artist.name, 'url', p_artist.url, 'images', p_artist.images,
    'genres', p_artist.genres, 'popularity', p_artist.popularity,
    'followers', jsonb_build_object('href', '', 'total', p_artist.followers))
$$;
comment on function public.catalog_artist_json is 'An artist in the shape of the catalog service. Inlined, hence no search_path.';

-- The page, the total and the items are separate statements: PostgreSQL plans the first two for every
-- search, by its words, and keeps the plan of the third. The same holds for the other kinds.
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
comment on function public.catalog_search_artists is 'One page of the artists that catalog_search finds: {total, items}.';

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
comment on function public.catalog_album_json is 'An album in the shape of the catalog service. Inlined, hence no search_path.';

create function public.catalog_found_albums(
  p_query tsquery, p_since integer, p_until integer, p_market text
) returns setof public.catalog_albums
language sql stable as $$
  select b.* from (
    -- One of them, known before the first row: the other costs nothing.
    select * from public.catalog_albums where words @@ p_query
    union all
    select * from public.catalog_albums
    where p_query is null and year between p_since and p_until
  ) b
  where (p_since is null or b.year between p_since and p_until)
    and (p_market is null or p_market = any (b.markets))
$$;
comment on function public.catalog_found_albums is 'The albums that a search finds, unsorted. Inlined, hence no search_path.';

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
comment on function public.catalog_search_albums is 'One page of the albums that catalog_search finds: {total, items}.';

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
comment on function public.catalog_track_json is 'A track in the shape of the catalog service. Inlined, hence no search_path.';

create function public.catalog_found_tracks(
  p_query tsquery, p_isrc text, p_since integer, p_until integer, p_market text
) returns setof public.catalog_tracks
language sql stable as $$
  select t.* from (
    select * from public.catalog_tracks where words @@ p_query
    union all
    select * from public.catalog_tracks where p_query is null and isrc = p_isrc
    union all
    select t.* from public.catalog_tracks t join public.catalog_albums b on b.id = t.album_id
    where p_query is null and p_isrc is null and b.year between p_since and p_until
  ) t
  where (p_isrc is null or t.isrc = p_isrc)
    -- The album is looked at only where something is asked of it.
    and ((p_since is null and p_market is null) or t.album_id in (
      select b.id from public.catalog_albums b
      where (p_since is null or b.year between p_since and p_until)
        and (p_market is null or p_market = any (b.markets))))
$$;
comment on function public.catalog_found_tracks is 'The tracks that a search finds, unsorted. Inlined, hence no search_path.';

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
comment on function public.catalog_search_tracks is 'One page of the tracks that catalog_search finds: {total, items}.';

create function public.catalog_other_json(p_other public.catalog_others) returns jsonb
language sql stable as $$
  select p_other.details || jsonb_build_object(
    'id', p_other.id, 'name', p_other.name, 'url', p_other.url, 'images', p_other.images,
    'description', p_other.description)
    || case when p_other.markets is null then '{}'::jsonb
       else jsonb_build_object('available_markets', p_other.markets) end
$$;
comment on function public.catalog_other_json is 'A playlist, show, episode or audiobook in the shape of the catalog service. Inlined, hence no search_path.';

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
comment on function public.catalog_search_others is 'One page of the playlists, shows, episodes or audiobooks that catalog_search finds: {total, items}.';

create function public.catalog_artist_albums(
  p_artist_id text, p_groups text[], p_market text, p_limit integer, p_offset bigint
) returns jsonb
language sql stable set search_path = '' as $$
  with hits as materialized (
    select b as album, g.album_group,
      row_number() over (
        order by array_position(array['album', 'single', 'compilation', 'appears_on'], g.album_group),
          b.release_date desc, b.folded, b.id) as place
    from public.catalog_album_artists l
    join public.catalog_albums b on b.id = l.album_id
    cross join lateral (
      select case when l.is_main then b.album_type else 'appears_on' end as album_group
    ) g
    where l.artist_id = p_artist_id
      and g.album_group = any (p_groups)
      and (p_market is null or p_market = any (b.markets))
  )
  select jsonb_build_object(
    'total', (select count(*) from hits),
    'items', coalesce((
      select jsonb_agg(
        public.catalog_album_json(h.album) || jsonb_build_object('album_group', h.album_group)
        order by h.place)
      from hits h where h.place > p_offset and h.place <= p_offset + p_limit), '[]'))
  from public.catalog_artists where id = p_artist_id
$$;
comment on function public.catalog_artist_albums is 'One page of an artist''s albums by group, newest first: {total, items}; null for an unknown artist.';

create function public.catalog_research(p_id text, p_name text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_artist_id text;
begin
  if p_id is not null then
    select id into v_artist_id from public.catalog_artists where id = p_id;
  else
    select id into v_artist_id from public.catalog_artists
    where folded = public.catalog_fold(p_name) and folded <> ''
    order by popularity desc, id limit 1;
    if v_artist_id is null then
      select id into v_artist_id from public.catalog_artists
      where words @@ coalesce(public.catalog_words(p_name, 'A'), '')::tsquery
      order by popularity desc, id limit 1;
    end if;
  end if;
  if v_artist_id is null then
    return null;
  end if;
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', t.id, 'title', t.name, 'avatar', coalesce(b.images -> 0 ->> 'url', ''),
      'release_date', b.release_date, 'url', coalesce(t.url, b.url),
      'isrcs', case when t.isrc is null then '[]'::jsonb else jsonb_build_array(t.isrc) end,
      'artists', t.artists
    ) order by t.popularity desc, t.folded, t.id), '[]')
    from public.catalog_track_artists l
    join public.catalog_tracks t on t.id = l.track_id
    join public.catalog_albums b on b.id = t.album_id
    where l.artist_id = v_artist_id
  );
end
$$;
comment on function public.catalog_research is 'All tracks of an artist, found by id or by name, most popular first; null for an unknown artist.';
