-- What a new installation starts with: a small catalog of invented artists and the content templates.
-- Applied once, after the migrations, and safe to apply again: nothing is deleted, rows of the catalog
-- that are there stay as they are, and the content templates become what this file says.

-- Catalog ----------------------------------------------------------------------------------------

-- Invented artists, so that the embedded catalog has something to find. Any likeness to real ones is
-- by chance; `npm run catalog:import` replaces them. Titles, ids and covers follow from the rows below,
-- so that they are the same in every installation.

-- Twenty-two letters and digits that follow from a text.
create function pg_temp.made_id(p_text text) returns text language sql immutable as $$
  select left(translate(encode(sha256(convert_to(p_text, 'UTF8')), 'base64'), '+/=', 'xyz'), 22)
$$;

-- A number from 0 to p_below - 1 that follows from a text.
create function pg_temp.made_number(p_text text, p_below integer) returns integer
language sql immutable as $$
  select (('x' || left(encode(sha256(convert_to(p_text, 'UTF8')), 'hex'), 7))::bit(28)::integer) % p_below
$$;

-- A real picture without a host: two colours and the initial.
create function pg_temp.made_cover(p_name text) returns jsonb language sql immutable as $$
  select jsonb_build_array(jsonb_build_object('width', 640, 'height', 640, 'url',
    'data:image/svg+xml,' || replace(replace(replace(replace(
      '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="640"><rect width="640" height="640" fill="hsl('
      || pg_temp.made_number('hue' || p_name, 360) || ',55%,38%)"/><circle cx="320" cy="320" r="'
      || 140 + pg_temp.made_number('size' || p_name, 120) || '" fill="hsl('
      || pg_temp.made_number('other hue' || p_name, 360) || ',60%,62%)"/></svg>',
      '%', '%25'), '"', ''''), '<', '%3C'), '>', '%3E')))
$$;

create temporary table made_artists on commit drop as
select * from (values
  (1, 'Velvet Harbor', array['dream pop', 'indie'], 71, 482310),
  (2, 'Marisol Quint', array['latin jazz', 'vocal jazz'], 64, 190422),
  (3, 'Glass Orchard', array['indie rock'], 58, 120934),
  (4, 'Nørra Lind', array['nordic folk', 'ambient'], 66, 233120),
  (5, 'Café Perdu', array['chanson', 'indie pop'], 49, 61044),
  (6, 'The Tin Almanac', array['alternative country', 'folk rock'], 55, 98441),
  (7, 'Odessa Brightwater', array['soul', 'rhythm and blues'], 77, 903518),
  (8, 'Kilo Static', array['techno', 'electronic'], 69, 310267),
  (9, 'Hana Mizuki Trio', array['jazz', 'piano trio'], 46, 40918),
  (10, 'Paper Lantern Riot', array['punk', 'pop punk'], 61, 150775),
  (11, 'Río Ámbar', array['cumbia', 'electronic'], 63, 204006),
  (12, 'Sable & Finch', array['folk', 'acoustic'], 52, 77390)
) as v (n, name, genres, popularity, followers);

insert into public.catalog_artists (id, name, genres, popularity, followers, images)
select pg_temp.made_id('artist ' || name), name, genres, popularity, followers, pg_temp.made_cover(name)
from made_artists
on conflict (id) do nothing;

-- Markets: `world` is everywhere that the service names; others are where the label has no rights.
create temporary table made_albums on commit drop as
select * from (values
  (1, 'Low Tide Letters', 'album', '2019-03-15', 9, 'world'), (1, 'Salt in the Signal', 'album', '2022-09-02', 10, 'world'),
  (1, 'Moorings', 'single', '2018-06-08', 1, 'world'), (1, 'Fog Lamps', 'single', '2022-06-24', 2, 'europe'),
  (1, 'Harbor Lights 2014-2024', 'compilation', '2024-11-08', 9, 'world'),
  (2, 'Once Lunas', 'album', '2016-05-20', 9, 'world'), (2, 'La Sal y el Azul', 'album', '2021-02-12', 9, 'world'),
  (2, 'Quint Quintet', 'album', '2013', 7, 'america'), (2, 'Farol', 'single', '2020-10-30', 1, 'world'),
  (2, 'Noches de Radio', 'compilation', '2023-04', 8, 'america'),
  (3, 'Windfall', 'album', '2015-08-28', 9, 'world'), (3, 'Cider Weather', 'album', '2018-10-05', 9, 'world'),
  (3, 'Greenhouse', 'album', '2023-05-19', 9, 'world'), (3, 'Grafting', 'single', '2015-06-12', 1, 'world'),
  (3, 'Hailstones', 'single', '2023-03-31', 2, 'america'),
  (4, 'Sju Dagar Snö', 'album', '2017-11-24', 8, 'world'), (4, 'Ljusfall', 'album', '2020-01-17', 8, 'europe'),
  (4, 'Ebb', 'single', '2019-09-13', 1, 'world'), (4, 'Isvind', 'single', '2021-12-03', 2, 'world'),
  (4, 'Arkiv', 'compilation', '2022-08', 8, 'europe'),
  (5, 'Terrasse en Hiver', 'album', '2014-02-14', 8, 'world'), (5, 'Le Dernier Métro', 'album', '2019-06-07', 8, 'europe'),
  (5, 'Sucre', 'single', '2018-04-20', 1, 'europe'), (5, 'Minuit Moins Dix', 'single', '2019-04-26', 1, 'world'),
  (5, 'Petites Faces', 'compilation', '2021', 7, 'europe'),
  (6, 'Weather for Farmers', 'album', '2012-07-10', 9, 'world'), (6, 'Moon Phases', 'album', '2017-04-21', 9, 'america'),
  (6, 'Frost Warning', 'single', '2012-05', 1, 'world'), (6, 'Seed Drill', 'single', '2017-02-17', 1, 'america'),
  (6, 'First Twenty Pages', 'compilation', '2020-09-18', 8, 'world'),
  (7, 'Bright Water', 'album', '2018-02-23', 10, 'world'), (7, 'Gold Leaf', 'album', '2021-07-30', 10, 'world'),
  (7, 'Undertow', 'single', '2017-11-10', 1, 'world'), (7, 'Slow Yes', 'single', '2021-05-14', 2, 'world'),
  (7, 'The Odessa Sessions', 'compilation', '2024-03-01', 8, 'world'),
  (8, 'Carrier Wave', 'album', '2016-09-09', 8, 'world'), (8, 'Ground Loop', 'album', '2020-11-20', 8, 'world'),
  (8, 'Sixty Hertz', 'single', '2019-03-01', 2, 'world'), (8, 'Noise Floor', 'single', '2020-08-14', 2, 'europe'),
  (8, 'Test Tones', 'compilation', '2022-02-22', 8, 'world'),
  (9, 'Rain Garden', 'album', '2015-06-19', 7, 'asia'), (9, 'Three Corners', 'album', '2019-10-11', 7, 'world'),
  (9, 'Blue Kettle', 'single', '2018-01-26', 1, 'asia'), (9, 'Paper Crane', 'single', '2019-08-30', 1, 'world'),
  (9, 'Live at the Small Hours', 'compilation', '2023', 7, 'world'),
  (10, 'Matchbox Parade', 'album', '2014-04-04', 9, 'world'), (10, 'Loud Enough', 'album', '2018-08-17', 9, 'world'),
  (10, 'Curfew', 'single', '2014-02-07', 1, 'world'), (10, 'No Encore', 'single', '2018-06-29', 1, 'america'),
  (10, 'Burnt Setlists', 'compilation', '2021-10', 8, 'world'),
  (11, 'Marea Alta', 'album', '2017-03-24', 8, 'america'), (11, 'Resina', 'album', '2022-01-28', 8, 'world'),
  (11, 'Candela', 'single', '2016-12-02', 1, 'world'), (11, 'Río Arriba', 'single', '2021-11-05', 2, 'america'),
  (11, 'Ámbar Remezclado', 'compilation', '2023-06-30', 8, 'world'),
  (12, 'The Quiet Field', 'album', '2016-10-14', 8, 'world'), (12, 'Feather Ledger', 'album', '2020-04-03', 8, 'world'),
  (12, 'Hedgerow', 'single', '2016-08-05', 1, 'world'), (12, 'Winter Coat', 'single', '2019-11-29', 1, 'europe'),
  (12, 'Songs for One Lamp', 'compilation', '2022-12-02', 8, 'world')
) as v (artist, name, album_type, release_date, tracks, region);

create temporary table made_regions on commit drop as
select * from (values
  ('europe', array['AT', 'BE', 'CH', 'CZ', 'DE', 'DK', 'ES', 'FI', 'FR', 'GB', 'IE', 'IS', 'IT', 'NL', 'NO', 'PL', 'PT', 'SE']),
  ('america', array['AR', 'BR', 'CA', 'CL', 'CO', 'MX', 'PE', 'US', 'UY']),
  ('asia', array['HK', 'ID', 'IN', 'JP', 'KR', 'MY', 'PH', 'SG', 'TH', 'TW', 'VN'])
) as v (region, markets);
insert into made_regions
select 'world', array_agg(market order by market)
from (select unnest(markets) as market from made_regions union select unnest(array['AU', 'NZ', 'ZA'])) w;

insert into public.catalog_albums (id, name, album_type, release_date, markets, images)
select pg_temp.made_id('album ' || b.artist || b.name), b.name, b.album_type, b.release_date,
  r.markets, pg_temp.made_cover(b.name)
from made_albums b join made_regions r using (region)
on conflict (id) do nothing;

insert into public.catalog_album_artists (album_id, artist_id, is_main, place)
select pg_temp.made_id('album ' || b.artist || b.name), pg_temp.made_id('artist ' || a.name), true, 1
from made_albums b join made_artists a on a.n = b.artist
on conflict (album_id, artist_id) do nothing;

-- The first track of an album bears its name. Every seventh has a guest, the next artist but one.
create temporary table made_tracks on commit drop as
select b.artist, b.name as album, number,
  pg_temp.made_id('album ' || b.artist || b.name) as album_id,
  pg_temp.made_id('track ' || b.artist || b.name || number) as id,
  case when number = 1 then b.name
    else first[1 + pg_temp.made_number('first' || b.name || number, array_length(first, 1))] || ' '
      || last[1 + pg_temp.made_number('last' || b.name || number, array_length(last, 1))]
  end as name,
  row_number() over (order by b.artist, b.release_date, b.name, number) as place,
  number = 3 and b.tracks > 6 as has_guest
from made_albums b
cross join generate_series(1, b.tracks) number
cross join (select
  array['Amber', 'Borrowed', 'Copper', 'Distant', 'Electric', 'Faded', 'Golden', 'Hollow', 'Inland',
    'Little', 'Midnight', 'Northern', 'Open', 'Paper', 'Quiet', 'Restless', 'Silver', 'Tender',
    'Unsent', 'Winter'] as first,
  array['Arcade', 'Bloom', 'Current', 'Daylight', 'Engine', 'Ferry', 'Garden', 'Horizon', 'Island',
    'Journal', 'Kites', 'Lantern', 'Motel', 'Notes', 'Orbit', 'Photograph', 'River', 'Static',
    'Telegram', 'Window'] as last) as words;

insert into public.catalog_tracks
  (id, album_id, name, track_number, duration_ms, explicit, isrc, popularity)
select t.id, t.album_id, t.name, t.number,
  130000 + pg_temp.made_number('ms' || t.id, 190000),
  pg_temp.made_number('explicit' || t.id, 12) = 0,
  -- XX is no country: these codes can never be somebody's.
  'XXAGP26' || lpad(t.place::text, 5, '0'),
  greatest(5, a.popularity - 2 * t.number - pg_temp.made_number('popularity' || t.id, 12))
from made_tracks t join made_artists a on a.n = t.artist
on conflict (id) do nothing;

insert into public.catalog_track_artists (track_id, artist_id, place)
select t.id, pg_temp.made_id('artist ' || a.name), 1
from made_tracks t join made_artists a on a.n = t.artist
union all
select t.id, pg_temp.made_id('artist ' || a.name), 2
from made_tracks t join made_artists a on a.n = (t.artist + 1) % 12 + 1
where t.has_guest
on conflict (track_id, artist_id) do nothing;

insert into public.catalog_album_artists (album_id, artist_id, is_main, place)
select distinct t.album_id, pg_temp.made_id('artist ' || a.name), false, 2
from made_tracks t join made_artists a on a.n = (t.artist + 1) % 12 + 1
where t.has_guest
on conflict (album_id, artist_id) do nothing;

insert into public.catalog_others (id, kind, name, description, images, details)
select pg_temp.made_id(kind || name), kind, name, description, pg_temp.made_cover(name), details::jsonb
from (values
  ('playlist', 'Quiet Corners', 'Folk and piano for late evenings.',
    '{"owner": {"display_name": "House selection"}, "tracks": {"total": 24}}'),
  ('playlist', 'Night Drive', 'Techno and dream pop for empty roads.',
    '{"owner": {"display_name": "House selection"}, "tracks": {"total": 31}}'),
  ('playlist', 'Sunday Kitchen', 'Soul, cumbia and chanson.',
    '{"owner": {"display_name": "House selection"}, "tracks": {"total": 18}}'),
  ('show', 'Behind the Faders', 'Invented artists talk about invented records.',
    '{"publisher": "Small Hours Radio", "explicit": false, "total_episodes": 2}'),
  ('episode', 'Velvet Harbor on Low Tide Letters', 'How a first album was recorded on a boat.',
    '{"duration_ms": 1860000, "explicit": false, "release_date": "2024-02-06", "release_date_precision": "day"}'),
  ('episode', 'Kilo Static on sixty hertz', 'Mains hum as an instrument.',
    '{"duration_ms": 2112000, "explicit": false, "release_date": "2024-02-20", "release_date_precision": "day"}'),
  ('audiobook', 'A Field Guide to Quiet', 'Essays on listening, read by their author.',
    '{"authors": [{"name": "Edda Finch"}], "narrators": [{"name": "Edda Finch"}], "publisher": "Lamp House", "total_chapters": 12, "explicit": false}')
) as v (kind, name, description, details)
on conflict (id) do nothing;

select public.catalog_index();

drop function pg_temp.made_cover(text);
drop function pg_temp.made_number(text, integer);
drop function pg_temp.made_id(text);

-- Content templates ------------------------------------------------------------------------------

-- This file is where they are kept: a new or changed template is written here and nowhere else. The
-- migration 20261120000031_content.sql inserts the first version of the same six. It stays, because a
-- migration that was applied never changes, and nothing deletes its rows; here they are overwritten.
insert into public.content_templates (position, id, description, image, video, caption, edit) values
(1, 'rooftop-dusk',
 'A singer alone on a flat roof while the city lights come on behind them.',
 '{
   "prompt": "A singer in a worn denim jacket stands on a flat city roof at dusk, seen from the chest up, looking just past the camera. Antennas and lit windows far behind, a thin band of orange left in the sky, a string of bare bulbs out of focus.",
   "reference_images": [],
   "style_rules": {
     "palette": ["deep blue", "amber", "faded orange"],
     "light": "last daylight from one side, warm bulbs from behind",
     "camera": "35 mm film, shallow focus, visible grain",
     "avoid": ["text", "logos", "crowds"]
   }
 }',
 '{
   "moods": ["wistful and quiet", "hopeful, as before a journey", "tender, almost smiling"],
   "movements": ["the camera drifts slowly closer while wind moves the hair", "the singer turns the head toward the lights and back", "a slow arc from left to right around the singer"]
 }',
 '{
   "guide": {
     "tone": "like a note to one friend, late in the evening",
     "rules": ["lower case only", "one thought, at most twelve words", "no hashtags", "never name the song"],
     "formats": ["a half-finished sentence", "a time and a place", "a question without an answer"]
   },
   "examples": ["9:14 pm, the roof, nobody else up here", "wrote this one facing the wrong way", "do you still take the long way home"]
 }',
 '{
   "operations": [
     {"start": 0, "duration": 8, "aspect": "9:16", "width": 720, "height": 1280},
     {"start": 1, "duration": 6, "content": "{caption}", "font": "Inter", "color": "#ffffff", "stroke_color": "#0b1020", "max_font_size": 44}
   ]
 }'),
(2, 'tape-deck-close-up',
 'Hands, dust and a turning cassette: a song as an object on a table.',
 '{
   "prompt": "Close view from above of a silver cassette deck on a scratched wooden table, a clear cassette with a blank paper label inside, one hand resting on the play key. Dust in a beam of morning light.",
   "reference_images": [],
   "style_rules": {
     "palette": ["oak", "silver", "cream"],
     "light": "one hard beam from a window, deep soft shadow",
     "camera": "macro lens, straight from above",
     "avoid": ["faces", "brand names", "readable writing"]
   }
 }',
 '{
   "moods": ["patient and warm", "nostalgic without sadness"],
   "movements": ["the reels turn slowly while dust floats through the light", "the finger presses the key and the lid trembles", "the camera sinks toward the turning reel"]
 }',
 '{
   "guide": {
     "tone": "plain, as on a handwritten label",
     "rules": ["at most eight words", "no emoji", "numbers as digits"],
     "formats": ["side and track", "where it was recorded", "what can be heard in the background"]
   },
   "examples": ["side b, track 2, first take", "kitchen, 4 microphones, 1 kettle", "you can hear the rain at 1:12"]
 }',
 '{
   "operations": [
     {"start": 0, "duration": 8, "aspect": "9:16", "width": 720, "height": 1280},
     {"start": 0.5, "duration": 7, "content": "{caption}", "font": "Courier Prime", "color": "#f4ead5", "stroke_color": "#3a2c1a", "max_font_size": 36}
   ]
 }'),
(3, 'night-drive',
 'The passenger window of a car at night, with a face in the glass.',
 '{
   "prompt": "Seen through the passenger window of a moving car at night: a young artist rests the head against the glass, street lamps reflected as long amber streaks, raindrops on the pane, a dark blue interior.",
   "reference_images": [],
   "style_rules": {
     "palette": ["midnight blue", "amber", "traffic-light red"],
     "light": "passing lamps only, one after another",
     "camera": "handheld, from outside the window",
     "avoid": ["licence plates", "text", "daylight"]
   }
 }',
 '{
   "moods": ["restless", "calm after a long day", "in love and far away"],
   "movements": ["light from passing lamps sweeps over the face", "raindrops slide back along the glass as the car speeds up", "the eyes follow something outside and close"]
 }',
 '{
   "guide": {
     "tone": "quiet and direct",
     "rules": ["one line", "present tense", "no exclamation marks"],
     "formats": ["a road sign that could exist", "the last thing said before the door closed", "kilometres and what they cost"]
   },
   "examples": ["exit 19, keep left if you still mean it", "212 km and this is the only song", "you said drive safe like a question"]
 }',
 '{
   "operations": [
     {"start": 0, "duration": 8, "aspect": "9:16", "width": 720, "height": 1280},
     {"start": 2, "duration": 5, "content": "{caption}", "font": "Inter", "color": "#ffd28a", "stroke_color": "#05070f", "max_font_size": 40}
   ]
 }'),
(4, 'paper-collage',
 'Cut paper in bold colours that moves by hand, frame by frame.',
 '{
   "prompt": "A collage of torn and cut paper: a large round sun, two birds and the outline of a guitar in layers of coloured card on a kraft-paper background, edges casting small real shadows.",
   "reference_images": [],
   "style_rules": {
     "palette": ["tomato red", "mustard", "teal", "kraft brown"],
     "light": "flat, from above, with short shadows",
     "texture": "visible paper fibre, torn edges",
     "avoid": ["photographs", "gradients", "writing"]
   }
 }',
 '{
   "moods": ["playful", "bright and a little clumsy", "festive"],
   "movements": ["the paper birds hop across in small steps as in stop motion", "the sun turns in jerks while the other shapes sway", "layers slide apart and come together again"]
 }',
 '{
   "guide": {
     "tone": "cheerful, like a poster for a village party",
     "rules": ["at most ten words", "one exclamation mark is allowed", "mention a day of the week"],
     "formats": ["an invitation", "a countdown", "a thank-you"]
   },
   "examples": ["friday we let the birds out", "three days, two songs, one very red sun", "saturday, bring scissors and somebody you like!"]
 }',
 '{
   "operations": [
     {"start": 0, "duration": 6, "aspect": "9:16", "width": 720, "height": 1280},
     {"start": 0, "duration": 6, "content": "{caption}", "font": "Archivo Black", "color": "#f2b632", "stroke_color": "#7a1f14", "max_font_size": 56}
   ]
 }'),
(5, 'rehearsal-room',
 'A band between two takes, in a small room full of cables.',
 '{
   "prompt": "A small rehearsal room with egg-box foam on the walls: a drummer, a bass player and a singer between two takes, laughing at something outside the frame, cables on a patterned carpet, one bare lamp.",
   "reference_images": [],
   "style_rules": {
     "palette": ["carpet red", "off-white", "black"],
     "light": "one bare bulb and the glow of an amplifier",
     "camera": "direct flash of a cheap camera, slightly tilted",
     "avoid": ["posed looks", "stage light", "brand names"]
   }
 }',
 '{
   "moods": ["loose and funny", "tired but happy", "concentrated, just before the count-in"],
   "movements": ["the drummer counts in with the sticks and everybody nods", "the camera is passed from hand to hand", "a quick look around the room that stops at the singer"]
 }',
 '{
   "guide": {
     "tone": "dry and honest",
     "rules": ["never announce, only report", "at most fourteen words", "no hashtags"],
     "formats": ["number of the take and what went wrong", "who brought what to eat", "a quote without its speaker"]
   },
   "examples": ["take 11, the good one, the phone rang", "\"again, but worse\"", "rehearsal 4 of 5, the carpet is winning"]
 }',
 '{
   "operations": [
     {"start": 0, "duration": 8, "aspect": "9:16", "width": 720, "height": 1280},
     {"start": 1, "duration": 6, "content": "{caption}", "font": "Inter", "color": "#ffffff", "stroke_color": "#000000", "max_font_size": 42}
   ]
 }'),
(6, 'album-art-alive',
 'A cover as a still life: one object, one colour, hardly any movement.',
 '{
   "prompt": "A square still life for an album cover: a single ripe pear on a folded pale pink cloth in front of a plain wall of the same pink, one long shadow, nothing else.",
   "reference_images": [],
   "style_rules": {
     "palette": ["one colour in three tones", "one small contrast"],
     "light": "low sun from the left, one long shadow",
     "composition": "the object in the lower third, much empty wall",
     "avoid": ["people", "text", "busy backgrounds"]
   }
 }',
 '{
   "moods": ["still and precise", "dreamlike", "slightly uneasy"],
   "movements": ["only the shadow moves, as if an hour passed", "the cloth breathes very slightly", "an almost unnoticeable push toward the object"]
 }',
 '{
   "guide": {
     "tone": "sparse",
     "rules": ["title and date, or one sentence", "no adjectives", "full stop at the end"],
     "formats": ["title. date.", "one fact about the recording.", "a line of the lyrics."]
   },
   "examples": ["out on the 4th.", "recorded in nine days.", "nothing here was in tune but us."]
 }',
 '{
   "operations": [
     {"start": 0, "duration": 8, "aspect": "1:1", "width": 1080, "height": 1080},
     {"start": 3, "duration": 5, "content": "{caption}", "font": "Inter", "color": "#2b1a1e", "stroke_color": "#f7dfe2", "max_font_size": 32}
   ]
 }')
on conflict (id) do update set
  position = excluded.position,
  description = excluded.description,
  image = excluded.image,
  video = excluded.video,
  caption = excluded.caption,
  edit = excluded.edit;
