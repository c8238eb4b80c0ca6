export interface Piece {
  readonly text: string;
  readonly isFound: boolean;
}

/** Splits a text at what a search for `query` finds in it: the query itself, and words that begin with one of its words. */
export function markWords(text: string, query: string): Piece[] {
  const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0) return [{ text, isFound: false }];
  const starts = words.map((word) => `(?<![\\p{L}\\p{N}])${word}`);
  const pattern = new RegExp(`(${[escapeText(query), ...starts].join("|")})`, "giu");
  // Every second piece is a match, because the pattern is a group.
  return text
    .split(pattern)
    .map((piece, index) => ({ text: piece, isFound: index % 2 === 1 }))
    .filter((piece) => piece.text !== "");
}

const escapeText = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
