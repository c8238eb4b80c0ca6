/**
 * Parses the field filters of a search text: `artist:`, `album:`, `track:`, `genre:`, `isrc:` and
 * `year:` (one year or `1990-1999`), each followed by a word or by `"several words"`. The web API
 * parses them itself.
 */
export interface ParsedQuery {
  /** The text without the filters. */
  readonly text: string;
  /** The filters, as the SQL function `catalog_search` expects them. */
  readonly fields: Readonly<Record<string, string>>;
}

const FILTER = /(?<![\p{L}\p{N}])(artist|album|track|genre|isrc|year):\s*(?:"([^"]*)"|(\S+))/giu;

export function parseQuery(q: string): ParsedQuery {
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
