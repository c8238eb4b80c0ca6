/**
 * Presents records to callers: adds `href`, `uri` and `external_urls`, and forms pages.
 *
 * All URLs are this service's own. The `href` of an artist lists its albums, the `href` of any other
 * item searches for its name. `external_urls.catalog` is the item's page outside this service (through
 * `GET /api/catalog/open` when the provider has it), or `href` when there is none.
 */
import { z } from "zod";
import { serviceOrigin } from "../platform/service-origin.ts";
import {
  type AlbumRecord,
  type Found,
  type Kind,
  type NamedRecord,
  records,
  type TrackRecord,
} from "./records.ts";

const presented = <K extends Kind>(kind: K) => ({
  external_urls: z.object({ catalog: z.string() }),
  href: z.string(),
  type: z.literal(kind),
  uri: z.string().describe("`catalog:<type>:<id>`"),
});

const pageOf = <S extends z.ZodType>(item: S) =>
  z.object({
    href: z.string(),
    limit: z.int(),
    next: z.string().nullable(),
    offset: z.int(),
    previous: z.string().nullable(),
    total: z.int(),
    items: z.array(item),
  });

const artistReference = z.object({ id: z.string(), name: z.string(), ...presented("artist") });
const album = records.album
  .omit({ url: true })
  .extend({ ...presented("album"), artists: z.array(artistReference) });
const track = records.track
  .omit({ url: true })
  .extend({ ...presented("track"), album, artists: z.array(artistReference) });

/** Kinds that the search did not ask for are absent. */
const source = z.string().optional().meta({
  description: "Present where it is not the catalog of a vendor that was searched: what it was",
});

export const searchResult = z.object({
  source,
  artists: pageOf(records.artist.omit({ url: true }).extend(presented("artist"))).optional(),
  albums: pageOf(album).optional(),
  tracks: pageOf(track).optional(),
  playlists: pageOf(records.playlist.omit({ url: true }).extend(presented("playlist"))).optional(),
  shows: pageOf(records.show.omit({ url: true }).extend(presented("show"))).optional(),
  episodes: pageOf(records.episode.omit({ url: true }).extend(presented("episode"))).optional(),
  audiobooks: pageOf(
    records.audiobook.omit({ url: true }).extend(presented("audiobook")),
  ).optional(),
});
export const albumPage = pageOf(album).extend({ source });

/** Presents an item of any kind. Albums and tracks also contain items, see the next two functions. */
export function present<K extends Kind, T extends NamedRecord>(kind: K, { url, ...rest }: T) {
  const href = hrefOf(kind, rest);
  return {
    ...rest,
    external_urls: { catalog: url ?? href },
    href,
    type: kind,
    uri: `catalog:${kind}:${rest.id}`,
  };
}

const presentArtistReference = (record: NamedRecord) => present("artist", record);

export const presentAlbum = (record: AlbumRecord) => ({
  ...present("album", record),
  artists: record.artists.map(presentArtistReference),
});

export const presentTrack = (record: TrackRecord) => ({
  ...present("track", record),
  album: presentAlbum(record.album),
  artists: record.artists.map(presentArtistReference),
});

function hrefOf(kind: Kind, { id, name }: { readonly id: string; readonly name: string }) {
  return kind === "artist"
    ? urlOf("/api/catalog/artist/albums", { id })
    : urlOf("/api/catalog/search", { q: name.slice(0, 250), type: kind });
}

function urlOf(path: string, query: Readonly<Record<string, string>>): string {
  return `${serviceOrigin()}${path}?${new URLSearchParams(query)}`;
}

/** Identifies a page of a listing, for the links to its neighbours. */
export interface PagePlace {
  readonly path: string;
  /** The query of the caller without `limit` and `offset`. */
  readonly query: Readonly<Record<string, string>>;
  readonly limit: number;
  readonly offset: number;
  /** The largest offset that the endpoint accepts. */
  readonly maxOffset: number;
}

export function presentPage<T, P>(
  place: PagePlace,
  { total, items }: Found<T>,
  presentItem: (item: T) => P,
) {
  const { path, query, limit, offset, maxOffset } = place;
  const at = (start: number) =>
    urlOf(path, { ...query, limit: String(limit), offset: String(start) });
  const following = offset + limit;
  return {
    href: at(offset),
    limit,
    next: following < total && following <= maxOffset ? at(following) : null,
    offset,
    previous: offset > 0 ? at(Math.max(0, offset - limit)) : null,
    total,
    items: items.map(presentItem),
  };
}
