-- Content templates (specification: Content template; decisions, section 10). They belong to nobody:
-- every account sees the same ones.

create table public.content_templates (
  id text primary key check (id ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
  description text not null,
  -- In the order of the list.
  position integer not null,
  image jsonb check (jsonb_typeof(image) = 'object'),
  video jsonb check (jsonb_typeof(video) = 'object'),
  caption jsonb check (jsonb_typeof(caption) = 'object'),
  edit jsonb check (jsonb_typeof(edit) = 'object')
);

alter table public.content_templates enable row level security;

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
 }');
