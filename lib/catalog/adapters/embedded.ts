/** The catalog in the project's own database (supabase/schemas/80_catalog.sql). */

import { appError } from "@platform/endpoint/contract/app-error";
import { z } from "zod";
import type { Database } from "../../platform/database/port.ts";
import { call } from "../../platform/database/query.ts";
import type { CatalogProvider } from "../port.ts";
import { findingsOf, records } from "../records.ts";

const pageOf = <S extends z.ZodType>(item: S) => z.object({ total: z.int(), items: z.array(item) });

/** @throws DatabaseUnavailable from `search` and `listAlbums` */
export function createEmbeddedCatalog(db: Database): CatalogProvider {
  return {
    name: "embedded",
    source: "small index of this installation",
    search({ q, kinds, market, limit, offset }) {
      const { text, fields } = parseQuery(q);
      const page = { market, limit, offset };
      return call(db, "catalog_search", { kinds, text, fields, ...page }, findingsOf(pageOf));
    },
    async listAlbums({ artistId, groups, market, limit, offset }) {
      const page = { market, limit, offset };
      const args = { artistId, groups, ...page };
      const found = await call(db, "catalog_artist_albums", args, pageOf(records.album).nullable());
      return found ?? appError("not_found", "Artist not found");
    },
    pageOf: () => null,
  };
}

const FILTER = /(?<![\p{L}\p{N}])(artist|album|track|genre|isrc|year):\s*(?:"([^"]*)"|(\S+))/giu;

/**
 * Parses the field filters of a search text: `artist:`, `album:`, `track:`, `genre:`, `isrc:` and
 * `year:` (one year or `1990-1999`), each followed by a word or by `"several words"`. The web API
 * parses them itself.
 * @returns the text without the filters, and the filters as the SQL function `catalog_search` expects them
 */
function parseQuery(q: string) {
  const fields: Record<string, string> = {};
  const text = q.replace(FILTER, (whole, rawName: string, quoted?: string, word?: string) => {
    const name = rawName.toLowerCase();
    const value = (quoted ?? word ?? "").trim();
    if (name !== "year") {
      fields[name] = value;
      return " ";
    }
    const years = /^(\d{4})(?:-(\d{4}))?$/.exec(value);
    const [, from, to = from] = years ?? [];
    // `year:soon` is not a filter and remains part of the text.
    if (from === undefined || to === undefined) return whole;
    fields.year_from = from;
    fields.year_to = to;
    return " ";
  });
  return { text: text.trim(), fields };
}
