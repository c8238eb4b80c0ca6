import type { listArtistAlbumsContract, searchCatalogContract } from "@/lib/catalog/contract.ts";
import type { Answer } from "../_api/request.ts";
import { useInfinitePages } from "../_hooks/use-pages.ts";

/** Addresses of the catalog: of its pages, and of the requests behind them. */

const named = (path: string, query: Readonly<Record<string, string>>): string =>
  `${path}?${new URLSearchParams(query)}`;

/** A filter's value. Quotes cannot be escaped in it. */
const quoted = (text: string): string => `"${text.replaceAll('"', " ").slice(0, 100)}"`;

export const searchPath = (q: string, types: readonly string[], limit: number): string =>
  named("/api/catalog/search", { q, type: types.join(","), limit: String(limit) });

export const artistAlbumsPath = (id: string): string =>
  named("/api/catalog/artist/albums", { id, limit: "50" });

export const byArtist = (name: string): string => `artist:${quoted(name)}`;

/** Finds the tracks of an album, and perhaps those of others with the same name. */
export const ofAlbum = (name: string, artist: string): string =>
  [`album:${quoted(name)}`, ...(artist === "" ? [] : [byArtist(artist)])].join(" ");

export const artistPage = ({ id, name }: Pick<CatalogArtist, "id" | "name">): string =>
  named(`/catalog/artists/${id}`, { name });

/** The catalog reads no single album, so that its page searches for it by name and artist. */
export const albumPage = ({ id, name, artists }: CatalogAlbum): string =>
  named(`/catalog/albums/${id}`, { name, artist: artists[0]?.name ?? "" });

export type CatalogSearch = Answer<typeof searchCatalogContract>;
export type AlbumPage = Answer<typeof listArtistAlbumsContract>;
export type CatalogArtist = NonNullable<CatalogSearch["artists"]>["items"][number];
export type CatalogAlbum = AlbumPage["items"][number];
export type CatalogTrack = NonNullable<CatalogSearch["tracks"]>["items"][number];

interface Part<T> {
  readonly items: readonly T[];
  readonly total: number;
  readonly offset: number;
  readonly limit: number;
}

/**
 * Reads a list of the catalog, whose pages go by offset. `path` has a query.
 * @param pick returns the list of a response
 */
export function useCatalogList<B, T>(path: string, pick: (body: B) => Part<T> | undefined) {
  const pages = useInfinitePages<B, T>(path, {
    addressOf: (offset) => `${path}&offset=${offset ?? 0}`,
    itemsIn: (body) => pick(body)?.items ?? [],
    nextOf: (body) => {
      const { offset, limit, total } = pick(body) ?? { offset: 0, limit: 0, total: 0 };
      return offset + limit < total ? String(offset + limit) : null;
    },
  });
  const last = pages.bodies.at(-1);
  return { ...pages, total: (last && pick(last)?.total) ?? 0 };
}
