const MAX_LENGTH = 500;

/** Markdown and HTML syntax, including the remains at the cut ends of an excerpt. */
const MARKUP: readonly (readonly [RegExp, string])[] = [
  [/^\s*(```|~~~)\S*\s*$/gm, " "],
  [/^[ \t]{0,3}(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+)+/gm, ""],
  [/!?\[([^\][\n]*)\]\([^)\s]*(?:\)|$)/g, "$1"],
  [/<\/?[a-z][^<>\n]*>/gi, " "],
  [/\|?[ \t]*:?-{3,}:?[ \t]*(?=\||\n|$)/g, " "],
  [/\*\*|__|~~|`+/g, ""],
  [/(?<![\p{L}\p{N}*])[*_](?=[\p{L}\p{N}])|(?<=[\p{L}\p{N}.!?])[*_](?![\p{L}\p{N}*])/gu, ""],
  [/\s*\|\s*/g, " "],
  [/\s+/g, " "],
];

/** Returns an excerpt of Markdown as text on one line, at most 500 characters. */
export const plainText = (excerpt: string): string =>
  MARKUP.reduce(
    (text, [markup, rest]) => text.replace(markup, rest),
    excerpt.slice(0, MAX_LENGTH),
  ).trim();
