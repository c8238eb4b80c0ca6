const escapeText = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/**
 * Returns a pattern of the matches of a search for `query`, as a group: the query itself, and words
 * that start with one of its words. Null if it has none.
 */
export function foundWords(query: string): RegExp | null {
  const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0) return null;
  const starts = words.map((word) => `(?<![\\p{L}\\p{N}])${word}`);
  return new RegExp(`(${[escapeText(query), ...starts].join("|")})`, "giu");
}
