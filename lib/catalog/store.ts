/**
 * The embedded catalog in the database (supabase/schemas/80_catalog.sql).
 * @throws DatabaseUnavailable from every function here.
 */
import { z } from "zod";
import { call } from "../platform/database/query.ts";
import { parseQuery } from "./parse-query.ts";
import type { AlbumsQuery, SearchQuery } from "./port.ts";
import { type AlbumRecord, type Findings, type Found, findingsOf, records } from "./records.ts";

const pageOf = <S extends z.ZodType>(item: S) => z.object({ total: z.int(), items: z.array(item) });

const findings = findingsOf(pageOf);
const albums = pageOf(records.album).nullable();

export function selectFindings(query: SearchQuery): Promise<Findings> {
  const { q, kinds, market, limit, offset } = query;
  const { text, fields } = parseQuery(q);
  const page = { p_market: market, p_limit: limit, p_offset: offset };
  return call(
    "catalog_search",
    { p_kinds: kinds, p_text: text, p_fields: fields, ...page },
    findings,
  );
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
