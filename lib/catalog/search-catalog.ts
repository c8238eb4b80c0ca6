import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import type { z } from "zod";
import type { Parts } from "../parts.ts";
import { MAX_SEARCH_OFFSET, type searchCatalogContract } from "./contract.ts";
import {
  type PagePlace,
  present,
  presentAlbum,
  presentPage,
  presentTrack,
  type searchResult,
} from "./present.ts";
import type { Found, Kind, NamedRecord } from "./records.ts";

/**
 * Returns one page of each requested type.
 *
 * Errors: 429 with `retry-after`, 502, 504.
 */
export async function searchCatalog(
  { catalog }: Parts<"catalog">,
  query: z.output<typeof searchCatalogContract.query>,
): Promise<z.input<typeof searchResult> | AppError> {
  const { q, type: kinds, market, limit, offset } = query;
  // `from_token`: the service authenticates as itself and has no country.
  const country = market === "from_token" ? null : (market ?? null);
  const found = await catalog.search({ q, kinds, market: country, limit, offset });
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
    ...(catalog.source && { source: catalog.source }),
    artists: page("artist", found.artists, (record) => present("artist", record)),
    albums: page("album", found.albums, presentAlbum),
    tracks: page("track", found.tracks, presentTrack),
    playlists: page("playlist", found.playlists, (record) => present("playlist", record)),
    shows: page("show", found.shows, (record) => present("show", record)),
    episodes: page("episode", found.episodes, (record) => present("episode", record)),
    audiobooks: page("audiobook", found.audiobooks, (record) => present("audiobook", record)),
  };
}
