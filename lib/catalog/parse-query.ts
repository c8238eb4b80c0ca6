/**
 * Field filters in a search text: `artist:`, `album:`, `track:`, `genre:`, `isrc:`, `year:` (one
 * year or `1990-1999`), each followed by a word or by `"several words"`. The web API has them too.
 */
export interface ParsedQuery {
  /** What is no filter. */
  readonly text: string;
  /** As the SQL function `catalog_search` takes them. */
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
    // `year:soon` is no filter, but words like others.
    if (from === undefined || to === undefined) return whole;
    fields.year_from = from;
    fields.year_to = to;
    return " ";
  });
  return { text: text.trim(), fields };
}
