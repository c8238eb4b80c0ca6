import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import type { z } from "zod";
import type { Parts } from "../parts.ts";
import type { listArtistAlbumsContract } from "./contract.ts";
import { type albumPage, presentAlbum, presentPage } from "./present.ts";
import { albumGroups } from "./records.ts";

/**
 * Returns one page of an artist's albums, of all groups by default.
 *
 * Errors: 404 `Artist not found`, 429 with `retry-after`, 502, 504.
 */
export async function listArtistAlbums(
  { catalog }: Parts<"catalog">,
  query: z.output<typeof listArtistAlbumsContract.query>,
): Promise<z.input<typeof albumPage> | AppError> {
  const { id, include_groups: groups, market, limit, offset } = query;
  const found = await catalog.listAlbums({
    artistId: id,
    groups: groups ?? albumGroups,
    market: market ?? null,
    limit,
    offset,
  });
  if (isAppError(found)) return found;
  const pageQuery = {
    id,
    ...(groups ? { include_groups: groups.join(",") } : {}),
    ...(market === undefined ? {} : { market }),
  };
  const path = "/api/catalog/artist/albums";
  const maxOffset = Number.MAX_SAFE_INTEGER;
  const place = { path, query: pageQuery, limit, offset, maxOffset };
  const { source } = catalog;
  return { ...(source && { source }), ...presentPage(place, found, presentAlbum) };
}
