/**
 * The items of the catalog as a provider returns them, without the URLs that only this service knows
 * (`present.ts` adds those). Fields that a provider may omit are optional here and absent from the
 * answer; they are never invented. Spotify omits `popularity`, `followers`, `available_markets`,
 * `album_group` and `publisher` for apps in development mode.
 */
import { z } from "zod";

const image = z.object({
  url: z.string(),
  height: z.int().nullable().default(null),
  width: z.int().nullable().default(null),
});

const images = z.array(image).default([]);
const text = z.string().default("");
const publisher = text.describe("Empty where the catalog does not name one.");
const availableMarkets = z.array(z.string()).optional();
const people = z.array(z.object({ name: z.string() })).default([]);

const named = z.object({
  id: z.string().min(1),
  name: z.string(),
  /** A page about the item outside this service. */
  url: z.string().nullable(),
});

const artist = named.extend({
  images,
  genres: z.array(z.string()).optional(),
  popularity: z.int().optional(),
  followers: z.object({ href: text, total: z.int() }).optional(),
});

const album = named.extend({
  images,
  album_type: z.enum(["album", "single", "compilation"]),
  total_tracks: z.int(),
  available_markets: availableMarkets,
  release_date: z.string(),
  release_date_precision: z.enum(["year", "month", "day"]),
  restrictions: z.object({ reason: z.string() }).optional(),
  artists: z.array(named),
  /** The relation of the album to the artist whose albums are listed; absent from searches. */
  album_group: z.enum(["album", "single", "compilation", "appears_on"]).optional(),
});

const track = named.extend({
  album,
  artists: z.array(named),
  available_markets: availableMarkets,
  disc_number: z.int(),
  track_number: z.int(),
  duration_ms: z.int(),
  explicit: z.boolean(),
  external_ids: z.object({ isrc: z.string().optional() }).optional(),
  popularity: z.int().optional(),
  restrictions: z.object({ reason: z.string() }).optional(),
});

const playlist = named.extend({
  images,
  description: text,
  tracks: z.object({ total: z.int() }).optional(),
});
const show = named.extend({
  images,
  description: text,
  publisher,
  explicit: z.boolean(),
  total_episodes: z.int().optional(),
  available_markets: availableMarkets,
});
const episode = named.extend({
  images,
  description: text,
  duration_ms: z.int(),
  explicit: z.boolean(),
  release_date: z.string(),
  release_date_precision: z.enum(["year", "month", "day"]),
});
const audiobook = named.extend({
  images,
  description: text,
  authors: people,
  narrators: people,
  publisher,
  explicit: z.boolean(),
  total_chapters: z.int().optional(),
  available_markets: availableMarkets,
});

/** The schema of each kind, in the order of the answer. */
export const records = { artist, album, track, playlist, show, episode, audiobook } as const;

export const kinds = [
  "album",
  "artist",
  "playlist",
  "track",
  "show",
  "episode",
  "audiobook",
] as const;
export type Kind = (typeof kinds)[number];

export const albumGroups = ["album", "single", "appears_on", "compilation"] as const;
export type AlbumGroup = (typeof albumGroups)[number];

export type NamedRecord = z.output<typeof named>;
export type AlbumRecord = z.output<typeof album>;
export type TrackRecord = z.output<typeof track>;
type RecordOf<K extends Kind> = z.output<(typeof records)[K]>;

export interface Found<T> {
  /** The number of items on all pages together. */
  readonly total: number;
  readonly items: readonly T[];
}

/** One page of each requested kind, under its plural. */
export type Findings = { readonly [K in Kind as `${K}s`]?: Found<RecordOf<K>> | undefined };

/** @param pageOf the schema of a page, which may tolerate invalid items */
export function findingsOf(
  pageOf: <S extends z.ZodType>(item: S) => z.ZodType<Found<z.output<S>>>,
): z.ZodType<Findings> {
  return z.object({
    artists: pageOf(artist).optional(),
    albums: pageOf(album).optional(),
    tracks: pageOf(track).optional(),
    playlists: pageOf(playlist).optional(),
    shows: pageOf(show).optional(),
    episodes: pageOf(episode).optional(),
    audiobooks: pageOf(audiobook).optional(),
  });
}
