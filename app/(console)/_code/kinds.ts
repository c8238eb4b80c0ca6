/** What a piece of code is; `code.css` has a color for each. */
export const kinds = [
  "plain",
  "comment",
  "keyword",
  "string",
  "constant",
  "function",
  "type",
  "property",
  "inserted",
  "deleted",
] as const;

/** A text and the index of its kind in `kinds`. */
type CodePiece = readonly [text: string, kind: number];
export type CodeLine = readonly CodePiece[];
