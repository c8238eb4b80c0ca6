/**
 * Builds the rows of the catalog's tables from entries, one per track. Missing ids are derived from
 * names, so the same file always results in the same ids.
 */
import { createHash } from "node:crypto";
import { markets } from "../../lib/catalog/markets.ts";
import type { Entry } from "./read-entries.ts";

/** The rows of each table, which have the names of its columns. */
export interface CatalogRows {
  readonly artists: readonly { readonly images: readonly Image[] }[];
  readonly albums: readonly { readonly images: readonly Image[] }[];
  readonly albumArtists: readonly AlbumArtistRow[];
  readonly tracks: readonly object[];
  readonly trackArtists: readonly object[];
}
interface AlbumArtistRow {
  readonly album_id: string;
  readonly artist_id: string;
  readonly is_main: boolean;
  readonly place: number;
}
interface Image {
  readonly url: string;
  readonly height: null;
  readonly width: null;
}

/** Returns the rows, or every contradiction between entries with its line. */
export function buildRows(
  entries: readonly Entry[],
): { readonly rows: CatalogRows } | { readonly faults: readonly string[] } {
  const faults: string[] = [];
  const { merge, merged } = createMerger(faults);
  // An id that one line gives for an artist applies to all lines, including lines that feature the
  // artist.
  const idOfName = new Map<string, string>();
  for (const { artist, artist_id } of entries) {
    if (artist_id !== undefined && !idOfName.has(artist)) idOfName.set(artist, artist_id);
  }
  const artistIdOf = (name: string) => idOfName.get(name) ?? deriveId("artist", name);

  const lineOfTrack = new Map<string, number>();
  const lineOfPosition = new Map<string, number>();
  const nextNumber = new Map<string, number>();
  const tracks: object[] = [];
  const trackArtists: object[] = [];
  const albumArtists = new Map<string, AlbumArtistRow>();

  for (const entry of entries) {
    const { line } = entry;
    const artistId = entry.artist_id ?? artistIdOf(entry.artist);
    const albumId = entry.album_id ?? deriveId("album", artistId, entry.album);
    merge("artist", artistId, line, {
      artist: entry.artist,
      artist_genres: entry.artist_genres,
      artist_popularity: entry.artist_popularity,
      artist_followers: entry.artist_followers,
      artist_image: entry.artist_image,
      artist_url: entry.artist_url,
    });
    merge("album", albumId, line, {
      album: entry.album,
      album_type: entry.album_type,
      release_date: entry.release_date,
      markets: entry.markets,
      album_image: entry.album_image,
      album_url: entry.album_url,
    });

    const disc = entry.disc_number ?? 1;
    const discKey = `${albumId} ${disc}`;
    const number = entry.track_number ?? (nextNumber.get(discKey) ?? 0) + 1;
    nextNumber.set(discKey, number);
    const trackId = entry.track_id ?? deriveId("track", albumId, `${disc} ${number}`, entry.title);
    reportRepeated(lineOfTrack, trackId, line, faults);
    reportRepeated(lineOfPosition, `${discKey} ${number}`, line, faults);
    tracks.push({
      id: trackId,
      album_id: albumId,
      name: entry.title,
      disc_number: disc,
      track_number: number,
      duration_ms: entry.duration_ms ?? 0,
      explicit: entry.explicit ?? false,
      isrc: entry.isrc ?? null,
      popularity: entry.popularity ?? 0,
      url: entry.track_url ?? null,
    });

    const guests = [...new Set(entry.featured ?? [])].map((name) => {
      const id = artistIdOf(name);
      merge("artist", id, line, { artist: name });
      return id;
    });
    for (const [at, id] of [artistId, ...guests.filter((id) => id !== artistId)].entries()) {
      trackArtists.push({ track_id: trackId, artist_id: id, place: at + 1 });
      const isMain = id === artistId;
      const known = albumArtists.get(`${albumId} ${id}`);
      if (known && (known.is_main || !isMain)) continue;
      const place = known?.place ?? albumArtists.size;
      albumArtists.set(`${albumId} ${id}`, {
        album_id: albumId,
        artist_id: id,
        is_main: isMain,
        place,
      });
    }
  }
  if (faults.length > 0) return { faults };

  const artists = merged("artist").map(([id, given]) => ({
    id,
    name: String(given.artist),
    genres: given.artist_genres ?? [],
    popularity: given.artist_popularity ?? 0,
    followers: given.artist_followers ?? 0,
    images: imagesOf(given.artist_image),
    url: given.artist_url ?? null,
  }));
  const albums = merged("album").map(([id, given]) => ({
    id,
    name: String(given.album),
    album_type: given.album_type ?? "album",
    release_date: String(given.release_date),
    markets: given.markets ?? markets,
    images: imagesOf(given.album_image),
    url: given.album_url ?? null,
  }));
  return {
    rows: { artists, albums, albumArtists: [...albumArtists.values()], tracks, trackArtists },
  };
}

type Given = string | number | readonly string[];
type Fields = Readonly<Record<string, Given | undefined>>;

/** Merges the data of several lines about an item: a line may omit a field but must not contradict another. */
function createMerger(faults: string[]) {
  const items = new Map<string, Map<string, { value: Given; line: number }>>();
  return {
    merge(kind: "artist" | "album", id: string, line: number, fields: Fields): void {
      const key = `${kind} ${id}`;
      const known = items.get(key) ?? new Map<string, { value: Given; line: number }>();
      items.set(key, known);
      for (const [name, value] of Object.entries(fields)) {
        if (value === undefined) continue;
        const before = known.get(name);
        if (!before) known.set(name, { value, line });
        else if (String(before.value) !== String(value)) {
          faults.push(
            `line ${line}: ${name} is "${String(value)}", but "${String(before.value)}" in line ${before.line}`,
          );
        }
      }
    },
    merged(kind: "artist" | "album"): [string, Fields][] {
      return [...items]
        .filter(([key]) => key.startsWith(`${kind} `))
        .map(([key, fields]) => [
          key.slice(kind.length + 1),
          Object.fromEntries([...fields].map(([name, { value }]) => [name, value])),
        ]);
    },
  };
}

function reportRepeated(
  lines: Map<string, number>,
  key: string,
  line: number,
  faults: string[],
): void {
  const before = lines.get(key);
  if (before === undefined) lines.set(key, line);
  // One pair of lines may repeat both an id and a position, which is reported once.
  else if (faults.at(-1) !== repeated(line, before)) faults.push(repeated(line, before));
}

const repeated = (line: number, before: number) =>
  `line ${line}: the same track as in line ${before}`;

/** Derives an id of 22 letters and digits. */
function deriveId(...parts: readonly string[]): string {
  const digest = createHash("sha256").update(JSON.stringify(parts)).digest("base64");
  return digest.replaceAll(/[+/=]/g, "").slice(0, 22).padEnd(22, "0");
}

const imagesOf = (value: Given | undefined): Image[] =>
  typeof value === "string" ? [{ url: value, height: null, width: null }] : [];
