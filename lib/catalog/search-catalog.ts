import type { z } from "zod";
import { type AppError, isAppError } from "../contract/app-error.ts";
import { services } from "../platform/services.ts";
import { MAX_SEARCH_OFFSET } from "./contract.ts";
import type { SearchQuery } from "./port.ts";
import {
  type PagePlace,
  present,
  presentAlbum,
  presentPage,
  presentTrack,
  type searchResult,
} from "./present.ts";
import type { Found, Kind, NamedRecord } from "./records.ts";

interface Search {
  readonly q: string;
  readonly type: readonly Kind[];
  readonly market?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/**
 * Returns one page of each requested type.
 *
 * Errors: 429 with `retry-after`, 502, 504.
 */
export async function searchCatalog(
  query: Search,
): Promise<z.input<typeof searchResult> | AppError> {
  const { q, market, limit, offset } = query;
  const found = await services().catalog.search(forProvider(query));
  if (isAppError(found)) return found;

  const placeOf = (kind: Kind): PagePlace => ({
    path: "/api/catalog/search",
    query: { q, type: kind, ...(market === undefined ? {} : { market }) },
    limit,
    offset,
    maxOffset: MAX_SEARCH_OFFSET,
  });
  const page = <K extends Kind, T extends NamedRecord, P>(
    kind: K,
    records: Found<T> | undefined,
    presentItem: (record: T) => P,
  ) => records && presentPage(placeOf(kind), records, presentItem);

  return {
    artists: page("artist", found.artists, (record) => present("artist", record)),
    albums: page("album", found.albums, presentAlbum),
    tracks: page("track", found.tracks, presentTrack),
    playlists: page("playlist", found.playlists, (record) => present("playlist", record)),
    shows: page("show", found.shows, (record) => present("show", record)),
    episodes: page("episode", found.episodes, (record) => present("episode", record)),
    audiobooks: page("audiobook", found.audiobooks, (record) => present("audiobook", record)),
  };
}

const forProvider = ({ q, type: kinds, market, limit, offset }: Search): SearchQuery => ({
  q,
  kinds,
  // `from_token`: the service authenticates as itself and has no country.
  market: market === "from_token" ? null : (market ?? null),
  limit,
  offset,
});
