/**
 * The embedded catalog in the database (supabase/schemas/80_catalog.sql).
 * @throws DatabaseUnavailable from every function here.
 */
import { z } from "zod";
import type { AccountQuery } from "../platform/database/account-query.ts";
import { call } from "../platform/database/query.ts";
import { parseQuery } from "./parse-query.ts";
import type { AlbumsQuery, SearchQuery } from "./port.ts";
import { type AlbumRecord, type Findings, type Found, findingsOf, records } from "./records.ts";

const pageOf = <S extends z.ZodType>(item: S) => z.object({ total: z.int(), items: z.array(item) });

const findings = findingsOf(pageOf);
const albums = pageOf(records.album).nullable();

export function findingsQuery(query: SearchQuery): AccountQuery<Findings> {
  const { q, kinds, market, limit, offset } = query;
  const { text, fields } = parseQuery(q);
  const page = { p_market: market, p_limit: limit, p_offset: offset };
  return {
    name: "catalog_search",
    args: { p_kinds: kinds, p_text: text, p_fields: fields, ...page },
    takesAccount: false,
    schema: findings,
  };
}

/** Returns null for an unknown artist. */
export function selectAlbums(query: AlbumsQuery): Promise<Found<AlbumRecord> | null> {
  return call(
    "catalog_artist_albums",
    {
      p_artist_id: query.artistId,
      p_groups: query.groups,
      p_market: query.market,
      p_limit: query.limit,
      p_offset: query.offset,
    },
    albums,
  );
}
