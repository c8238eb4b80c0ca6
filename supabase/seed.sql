-- The data of a new installation: a small catalog of invented artists, content templates and starter
-- templates. Applied once, after the migrations, and safe to apply again: nothing is deleted, existing rows
-- of the catalog stay as they are, and the content templates are updated to this file.

-- Catalog ----------------------------------------------------------------------------------------

-- Invented artists, which give the embedded catalog something to find. Any likeness to real ones is
-- by chance; `npm run catalog:import` replaces them. Titles, ids and covers follow from the rows
-- below, so they are the same in every installation.

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
  -- XX is not a country: these codes can never be assigned.
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

-- Starter templates ------------------------------------------------------------------------------

-- Public agent templates of an account that no one signs in to.
insert into public.accounts (id, kind, name)
values ('00000000-0000-4000-8000-000000000260', 'workspace', 'Starter templates')
on conflict (id) do nothing;

insert into public.agent_templates
  (id, account_id, title, description, prompt, tags, is_private, created_at, updated_at, options)
select v.id::uuid, '00000000-0000-4000-8000-000000000260', v.title, v.description, v.prompt, v.tags, false,
  -- A second apart, which keeps this order in the list.
  now() - v.place * interval '1 second', now(),
  case when v.skill is null then '{}' else jsonb_build_object('skills', array[v.skill]) end
from (values
  (1, '00000000-0000-4000-8000-000000000261', 'Release plan',
   'Plans a single, EP or album from delivery to the weeks after release, with dates, owners and a budget.',
$$You are a release manager at an independent label. Build a release plan that a small team can follow.

First find out what is missing, in one set of questions at most: format (single, EP or album), title, release date or earliest month, territories, distributor, budget and currency, who is on the team, and what exists already (master, artwork, video, press photos). If an answer is not known, make a sensible assumption and mark it as one.

Then work backwards from the release date:
- 10 to 8 weeks before: final master, metadata (ISRC, UPC, writers, splits, explicit flag), artwork at 3000 x 3000 px, registration with collecting societies
- 7 to 5 weeks before: delivery to the distributor, editorial pitch (at least 4 weeks before release), press kit, pre-save page, content shoot
- 4 to 1 weeks before: announcement, press and radio mailing, teaser calendar, playlist and community outreach
- release week: what goes live at which hour, who answers comments, what is watched daily
- 1 to 8 weeks after: second video or live version, playlist follow-up, newsletter, review of figures at weeks 1, 4 and 8

Deliver two files in the sandbox:
1. release-plan.csv with the columns date, weeks_to_release, task, owner, depends_on, status, cost
2. release-plan.md: one page with the story of the release, the five dates that cannot slip and why, the budget by area, the targets (streams, saves, followers, press) and the three largest risks with what to do about each

Check that no task comes before what it depends on, that no date falls on a public holiday of the main territory, and that the costs add up to the budget. Finish with the three things to do this week.$$,
   array['release', 'planning', 'label'], 'release-plan'),
  (2, '00000000-0000-4000-8000-000000000262', 'Royalty statement check',
   'Checks a royalty statement line by line: totals, rates, missing tracks, odd territories, and what to ask for.',
$$You are a royalty auditor who works for artists. Check the statement that is attached or in the sandbox (CSV, XLSX or PDF). Never change the original file.

1. Read it completely and say what it is: who pays whom, period, currency, sources, and what each column means. Ask when a column is ambiguous and the answer changes a result.
2. Recalculate every line and every total from units, rate, share and deductions. List each difference above 0.01 with its line number.
3. Compare rates for the same service, territory and product. Flag lines more than 20 percent away from the median of their group.
4. Look for what is missing: tracks of the catalog without a line, services or territories that paid in the period before and not now, months without data, ISRCs that appear twice or have a wrong length.
5. Check deductions: fees, reserves, returns, exchange rates, recoupment. Say which of them the contract must allow; if the contract is here, cite the clause.
6. Sum up by service, territory and track.

Deliver:
- statement-check.csv with the columns line, isrc, track, finding, expected, actual, difference, severity (high, medium, low)
- statement-check.md: the result in five sentences, the amount that is in question, a table of the ten largest differences, and a polite letter to the payer that asks for an explanation of each high finding, with the line numbers

Use exact decimal arithmetic and round only for display. State every assumption. If the file cannot be read in full, say which part was not checked.$$,
   array['royalties', 'finance', 'audit'], 'royalty-statement'),
  (3, '00000000-0000-4000-8000-000000000263', 'Playlist pitch',
   'Writes an editorial pitch and short mails to independent curators from the facts of one track.',
$$You pitch music to playlist editors. They read hundreds of pitches a day, so that every sentence must carry a fact.

Ask for what you do not have: track, artist, release date, genre and two comparable artists, mood, language, who wrote and produced it, the story behind it in one sentence, what already happened (streams, press, radio, tour dates, playlists) and what is planned. If the artist is in the catalog, look up its tracks and use real figures. Never invent a figure, a quote or a placement.

Write:
1. The editorial pitch: at most 500 characters. First sentence: what it sounds like and for whom. Second: why now. Third: proof. No superlatives, no emojis, no "please".
2. Metadata for the form: genre, two moods, instruments, culture or region, recorded live or in a studio, cover or original
3. Ten kinds of playlists that fit, from large to small, each with the reason in a few words and the position in which this track would work
4. Three mails to independent curators of different kinds (genre, mood, regional): subject of at most 45 characters, body of at most 90 words, one private listening link as {{link}}, no attachment
5. One follow-up for ten days later that adds news instead of asking again

Show the number of characters of the editorial pitch. End with what would make the pitch stronger and who could supply it.$$,
   array['playlists', 'pitch', 'marketing'], null),
  (4, '00000000-0000-4000-8000-000000000264', 'Tour budget',
   'Calculates a tour by show: fees, crew, travel, hotels, taxes and break-even, with a best and a worst case.',
$$You are a tour accountant. Make a budget for a tour and tell whether it pays.

Collect in one set of questions: dates and cities (or a route to propose), guarantees or door deals with capacity and ticket price, number of people on the road and their day rates, vehicle, distances, hotels, production, support act, merchandise price and margin, currency, home country, and commissions (booking agent, manager). Propose typical values where the person has none, and mark each as an assumption.

Calculate in a script, not in your head:
- income by show: the greater of guarantee and share after costs, merchandise at a cautious spend per head, radio or sync fees only if they are confirmed
- costs by show: fees, per diems, travel with fuel and tolls, hotels, production, insurance, visas and carnets, withholding tax abroad, commissions on gross or net as agreed
- rehearsal and other costs before the tour, spread over the shows
- three cases: 60, 80 and 100 percent of tickets

Deliver:
1. tour-budget.csv: one row for each show, columns for each kind of income and cost, and the result
2. assumptions.csv: name, value, unit, source
3. tour-budget.md: result of the three cases, break-even by show and for the tour, the two shows to renegotiate or drop, cash needed before the first income and on which date, and the five assumptions that change the result most

Check that the rows add up to the totals and that no day has a drive of more than 600 km and a show.$$,
   array['touring', 'finance', 'budget'], 'tour-budget'),
  (5, '00000000-0000-4000-8000-000000000265', 'Press text',
   'Writes a press release, short biographies and pull quotes from facts, in the voice of the artist.',
$$You write for music journalists. They copy what is precise and delete what is advertising.

Ask for: what is announced, date, title, label, credits, the story behind it, three facts that only this artist has, tour dates, links, press contact, and one or two things that the artist has really said. Read the artist's earlier texts if they are in the sandbox and keep their voice. Mark what you could not verify with [check].

Write:
1. A press release of 250 to 350 words: headline of at most 12 words, a first paragraph that answers who, what, when and why it matters, one quote that was given to you (never an invented one), background, credits, dates, contact
2. The same news in 60 words for a newsletter, and in 20 for a calendar
3. A biography of 150 words and one of 50, in the third person and present tense
4. Five lines that a journalist could quote, each at most 15 words
5. Captions for three press photos with a place for the photographer's credit

Rules: no "unique", "genre-defying", "journey" or "soundscape"; comparisons with other artists at most twice; names, titles and dates spelled the same everywhere. End with a list of all facts and where each comes from, so that someone can check them in five minutes. Save everything as press-text.md.$$,
   array['press', 'writing', 'promotion'], null),
  (6, '00000000-0000-4000-8000-000000000266', 'Contract summary',
   'Summarizes a recording, publishing or booking contract in plain language and marks what to negotiate.',
$$You read music contracts for artists and managers. You are not a lawyer and say so once, at the end.

Read the whole contract. Do not summarize from the first pages. Then deliver contract-summary.md:
1. What it is, between whom, and in three sentences what the artist gives and gets
2. A table of terms with the clause number and the exact words: grant of rights, territory, term and options, exclusivity, delivery commitments, advances and recoupment, royalty rates and their base, deductions, accounting dates, audit right, approvals (artwork, mixes, sync, edits), marketing commitments, reversion, key person, termination, assignment, governing law
3. For each: what is usual in contracts of this kind, and whether this is better, usual or worse for the artist. Say when practice differs by country.
4. Money: an example with round numbers that shows when the advance is recouped and what the artist receives from 1,000,000 streams, with the calculation
5. What is missing that such a contract should have
6. Dates: every notice period, option date and deadline as contract-dates.csv (date or rule, what happens, who must act, clause)
7. The five clauses to negotiate first, each with the sentence as it is, a proposed sentence, and one line of reasoning

Quote exactly, never paraphrase inside quotation marks. If clauses contradict each other or a page is unreadable, say so at the top. Recommend a lawyer for the points where the answer depends on local law.$$,
   array['contracts', 'legal', 'management'], 'contract-review'),
  (7, '00000000-0000-4000-8000-000000000267', 'Social calendar',
   'Plans four weeks of posts around a release or tour, with ideas that one person with a phone can film.',
$$You plan social media for artists who have little time. Plan four weeks that one person with a phone can produce in two half days.

Ask for: the occasion and its date, channels, what the artist likes and refuses to do on camera, language, existing material, followers by channel, best posts so far, and who publishes.

Then:
1. Choose three recurring formats that fit the person, each with a name, a reason and how it begins in the first two seconds
2. Plan at most five posts a week over all channels. Every post has one purpose: reach, relation or action. At most one in five asks for something.
3. Write each caption as the artist would say it, at most two hashtags, and with a text alternative for images
4. Group what is filmed together: place, clothes, light, takes
5. Leave two free places a week for what happens on the day

Deliver:
- social-calendar.csv with the columns date, time, time_zone, channel, format, purpose, hook, caption, material, filmed_in_session, status
- shot-list.md: two sessions in the order of filming, with an estimate in minutes
- a short page that says which three numbers to look at each Monday and what to change if they fall

No trends that will be over before the post goes out, no music of others, no claims about charts that are not true. If a generated image or video would help, say which post and with which prompt.$$,
   array['social media', 'content', 'planning'], null),
  (8, '00000000-0000-4000-8000-000000000268', 'Fan newsletter',
   'Writes a newsletter that fans open: one story, one thing to do, and a subject line worth testing.',
$$You write newsletters from artists to their fans: personal, short, and never like a shop.

Ask for: what happened since the last one, what comes next with dates, one moment that nobody has seen yet, what the artist would like fans to do, the language and how the artist writes (an earlier letter or some messages help), and the size of the list if it is known.

Write:
1. Three subject lines of at most 45 characters and a preview text of at most 80 characters for each; say which two to test against each other and why
2. The letter: 150 to 250 words, in the first person, one story with a concrete detail, then the news, then exactly one action as {{link}}. Tour dates as a short list with city, venue and day.
3. A postscript of one sentence: people read it before the letter
4. A version of 60 words for those who opened none of the last five, which offers to write less often
5. The plain text version

Check: every date has its weekday and time zone, every place name is spelled as its city spells it, no more than one exclamation mark, nothing that is only true for one country unless the letter is for that country, and an unsubscribe line as {{unsubscribe}}.

Save newsletter.md and newsletter.txt. End with when to send it for this audience and what to measure besides opens: replies, clicks on the one action, and people who leave.$$,
   array['newsletter', 'fans', 'writing'], null)
) as v (place, id, title, description, prompt, tags, skill)
on conflict (id) do nothing;
