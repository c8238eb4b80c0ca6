-- The embedded music catalog (specification: Catalog objects, Research track; decisions, section 11):
-- what answers when no catalog service is configured. It belongs to nobody and is the same for all;
-- `npm run catalog:import` replaces it whole.

create table public.catalog_artists (
  id text primary key check (id ~ '^[A-Za-z0-9]{1,64}$'),
  name text not null,
  genres text[] not null default '{}',
  popularity integer not null default 0 check (popularity between 0 and 100),
  followers integer not null default 0 check (followers >= 0),
  images jsonb not null default '[]',
  -- A page about it somewhere in the world.
  url text,
  -- Both filled by catalog_index().
  folded text,
  words tsvector
);

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

create table public.catalog_album_artists (
  album_id text not null references public.catalog_albums (id) on delete cascade,
  artist_id text not null references public.catalog_artists (id) on delete cascade,
  -- False for who is heard on a track of it only: the album is then in the group `appears_on`.
  is_main boolean not null,
  place integer not null,
  primary key (album_id, artist_id)
);

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
  -- Filled by catalog_index().
  artists jsonb not null default '[]',
  folded text,
  words tsvector
);

create table public.catalog_track_artists (
  track_id text not null references public.catalog_tracks (id) on delete cascade,
  artist_id text not null references public.catalog_artists (id) on delete cascade,
  place integer not null,
  primary key (track_id, artist_id)
);

-- Playlists, shows, episodes and audiobooks: found by name; `details` is what only their kind has.
create table public.catalog_others (
  id text primary key check (id ~ '^[A-Za-z0-9]{1,64}$'),
  kind text not null check (kind in ('playlist', 'show', 'episode', 'audiobook')),
  name text not null,
  description text not null default '',
  -- Null for what no market restricts.
  markets text[],
  images jsonb not null default '[]',
  url text,
  details jsonb not null default '{}',
  folded text,
  words tsvector
);

create index catalog_artists_folded on public.catalog_artists (folded);
create index catalog_artists_words on public.catalog_artists using gin (words);
create index catalog_albums_words on public.catalog_albums using gin (words);
create index catalog_tracks_words on public.catalog_tracks using gin (words);
create index catalog_others_words on public.catalog_others using gin (words);
create index catalog_tracks_album on public.catalog_tracks (album_id);
create index catalog_tracks_isrc on public.catalog_tracks (isrc);
create index catalog_album_artists_artist on public.catalog_album_artists (artist_id);
create index catalog_track_artists_artist on public.catalog_track_artists (artist_id);

alter table public.catalog_artists enable row level security;
alter table public.catalog_albums enable row level security;
alter table public.catalog_album_artists enable row level security;
alter table public.catalog_tracks enable row level security;
alter table public.catalog_track_artists enable row level security;
alter table public.catalog_others enable row level security;

-- What is left of a name when case, accents and punctuation do not count.
create function public.catalog_fold(p_text text) returns text
language sql immutable set search_path = '' as $$
  select trim(regexp_replace(
    translate(
      lower(regexp_replace(normalize(p_text, nfkd), '[\u0300-\u036f]', '', 'g')), 'øłđı', 'oldi'),
    '[[:punct:][:space:]]+', ' ', 'g'))
$$;

-- Each word as the beginning of a word, of the given weight; null when there is no word. Weights:
-- A a thing's own name, B its artists, C its album, D its genres.
create function public.catalog_words(p_text text, p_weight text default '') returns text
language sql immutable set search_path = '' as $$
  select string_agg('''' || replace(word, '''', '') || ''':*' || p_weight, ' & ')
  from unnest(string_to_array(public.catalog_fold(p_text), ' ')) word
  where replace(word, '''', '') <> ''
$$;

-- Fills what searches read. To be called after rows have changed.
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

-- The next four have no search_path of their own: only so can PostgreSQL write them into the queries
-- that call them, for every row of a page.
create function public.catalog_artist_json(a public.catalog_artists) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', a.id, 'name', a.name, 'url', a.url, 'images', a.images, 'genres', a.genres,
    'popularity', a.popularity,
    'followers', jsonb_build_object('href', '', 'total', a.followers))
$$;

create function public.catalog_album_json(b public.catalog_albums) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', b.id, 'name', b.name, 'url', b.url, 'images', b.images,
    'album_type', b.album_type, 'total_tracks', b.total_tracks, 'available_markets', b.markets,
    'release_date', b.release_date,
    'release_date_precision',
      case length(b.release_date) when 4 then 'year' when 7 then 'month' else 'day' end,
    'artists', b.artists)
$$;

create function public.catalog_track_json(t public.catalog_tracks, b public.catalog_albums) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', t.id, 'name', t.name, 'url', t.url, 'disc_number', t.disc_number,
    'track_number', t.track_number, 'duration_ms', t.duration_ms, 'explicit', t.explicit,
    'popularity', t.popularity, 'available_markets', b.markets,
    'external_ids',
      case when t.isrc is null then '{}'::jsonb else jsonb_build_object('isrc', t.isrc) end,
    'album', public.catalog_album_json(b),
    'artists', t.artists)
$$;

create function public.catalog_other_json(o public.catalog_others) returns jsonb
language sql stable as $$
  select o.details || jsonb_build_object(
    'id', o.id, 'name', o.name, 'url', o.url, 'images', o.images, 'description', o.description)
    || case when o.markets is null then '{}'::jsonb
       else jsonb_build_object('available_markets', o.markets) end
$$;

-- What a search finds of each kind, in no order. These too are written into the queries that call
-- them. A null query finds nothing by words.
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

-- How many there are when a page tells: the last one does. Null when they must be counted.
create function public.catalog_total(p_on_page integer, p_limit integer, p_offset integer)
returns bigint
language sql immutable as $$
  select case when p_on_page < p_limit and (p_on_page > 0 or p_offset = 0)
    then p_offset + p_on_page end
$$;

-- One page of each kind asked for: {"artists": {"total", "items"}, …}. All words must match, each
-- the beginning of a word; the same name first, then names that begin so, then what is popular.
-- p_fields: filters by `artist`, `album`, `track`, `genre`, `isrc`, `year_from`, `year_to`.
--
-- The beginning of a word may be one letter that finds nearly all: so the page is picked out in one
-- pass, without sorting what is not on it, and only the rest is counted, without being kept.
create function public.catalog_search(
  p_kinds text[], p_text text, p_fields jsonb, p_market text, p_limit integer, p_offset integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  wanted constant text := public.catalog_fold(p_text);
  -- Filters that apply to every kind, those of an album and those of a track; null is none.
  general constant text := nullif(concat_ws(' & ',
    public.catalog_words(p_text),
    public.catalog_words(p_fields ->> 'artist', 'B'),
    public.catalog_words(p_fields ->> 'genre', 'D')), '');
  of_album constant text := nullif(concat_ws(' & ',
    general, public.catalog_words(p_fields ->> 'album', 'C')), '');
  of_track constant text := nullif(concat_ws(' & ',
    of_album, public.catalog_words(p_fields ->> 'track', 'A')), '');
  wanted_isrc constant text := upper(replace(p_fields ->> 'isrc', '-', ''));
  since constant integer := (p_fields ->> 'year_from')::integer;
  until constant integer := (p_fields ->> 'year_to')::integer;
  query tsquery;
  ids text[];
  total bigint;
  items jsonb;
  answer jsonb := '{}';
  one text;
begin
  -- A text without a single word finds nothing, not everything.
  if p_text <> '' and wanted = '' then
    return (
      select jsonb_object_agg(kind || 's', '{"total": 0, "items": []}'::jsonb)
      from unnest(p_kinds) kind);
  end if;

  if 'artist' = any (p_kinds) then
    -- A filter of what an artist does not have leaves none.
    query := case when not p_fields ?| array['album', 'track', 'isrc', 'year_from']
      then general end::tsquery;
    ids := array(
      select a.id from public.catalog_artists a
      where a.words @@ query
      order by a.folded = wanted desc, starts_with(a.folded, wanted) desc,
        a.popularity desc, a.folded, a.id
      limit p_limit offset p_offset);
    total := coalesce(
      public.catalog_total(cardinality(ids), p_limit, p_offset),
      (select count(*) from public.catalog_artists a where a.words @@ query));
    select jsonb_agg(public.catalog_artist_json(a) order by found.place) into items
    from unnest(ids) with ordinality found (id, place)
    join public.catalog_artists a on a.id = found.id;
    answer := answer || jsonb_build_object(
      'artists', jsonb_build_object('total', total, 'items', coalesce(items, '[]')));
  end if;

  if 'album' = any (p_kinds) then
    if p_fields ?| array['track', 'isrc'] then
      ids := '{}';
      total := 0;
    else
      query := of_album::tsquery;
      ids := array(
        select b.id from public.catalog_found_albums(query, since, until, p_market) b
        order by b.folded = wanted desc, starts_with(b.folded, wanted) desc,
          b.popularity desc, b.folded, b.id
        limit p_limit offset p_offset);
      total := coalesce(
        public.catalog_total(cardinality(ids), p_limit, p_offset),
        (select count(*) from public.catalog_found_albums(query, since, until, p_market)));
    end if;
    select jsonb_agg(public.catalog_album_json(b) order by found.place) into items
    from unnest(ids) with ordinality found (id, place)
    join public.catalog_albums b on b.id = found.id;
    answer := answer || jsonb_build_object(
      'albums', jsonb_build_object('total', total, 'items', coalesce(items, '[]')));
  end if;

  if 'track' = any (p_kinds) then
    query := of_track::tsquery;
    ids := array(
      select t.id from public.catalog_found_tracks(query, wanted_isrc, since, until, p_market) t
      order by t.folded = wanted desc, starts_with(t.folded, wanted) desc,
        t.popularity desc, t.folded, t.id
      limit p_limit offset p_offset);
    total := coalesce(
      public.catalog_total(cardinality(ids), p_limit, p_offset),
      (select count(*)
        from public.catalog_found_tracks(query, wanted_isrc, since, until, p_market)));
    select jsonb_agg(public.catalog_track_json(t, b) order by found.place) into items
    from unnest(ids) with ordinality found (id, place)
    join public.catalog_tracks t on t.id = found.id
    join public.catalog_albums b on b.id = t.album_id;
    answer := answer || jsonb_build_object(
      'tracks', jsonb_build_object('total', total, 'items', coalesce(items, '[]')));
  end if;

  foreach one in array array['playlist', 'show', 'episode', 'audiobook'] loop
    continue when one <> all (p_kinds);
    query := case when p_fields = '{}' then general end::tsquery;
    with found as materialized (
      select o.id, row_number() over (
        order by o.folded = wanted desc, starts_with(o.folded, wanted) desc,
          o.folded, o.id) as place
      from public.catalog_others o
      where o.kind = one and o.words @@ query
        and (p_market is null or o.markets is null or p_market = any (o.markets))
    )
    select (select count(*) from found), (
      select jsonb_agg(public.catalog_other_json(o) order by f.place)
      from found f join public.catalog_others o on o.id = f.id
      where f.place > p_offset and f.place <= p_offset + p_limit)
    into total, items;
    answer := answer || jsonb_build_object(
      one || 's', jsonb_build_object('total', total, 'items', coalesce(items, '[]')));
  end loop;
  return answer;
end
$$;

-- One page of an artist's albums, by group, the newest first; null for an unknown artist.
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

-- Every track an artist is heard on, the most popular first; null for an unknown artist. With a
-- name: the artist of that very name (case and accents aside), else the most popular whose name
-- holds all its words.
create function public.catalog_research(p_id text, p_name text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  found_id text;
begin
  if p_id is not null then
    select id into found_id from public.catalog_artists where id = p_id;
  else
    select id into found_id from public.catalog_artists
    where folded = public.catalog_fold(p_name) and folded <> ''
    order by popularity desc, id limit 1;
    if found_id is null then
      select id into found_id from public.catalog_artists
      where words @@ coalesce(public.catalog_words(p_name, 'A'), '')::tsquery
      order by popularity desc, id limit 1;
    end if;
  end if;
  if found_id is null then
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
    where l.artist_id = found_id
  );
end
$$;
