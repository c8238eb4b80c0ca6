/** The most characters that an agent gets of one output of a tool. */
export const MAX_OUTPUT_CHARS = 50_000;

/** Cuts a text at `maxChars` characters, and never between the halves of a surrogate pair. */
export function cutOutput(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return text.slice(0, maxChars).replace(/[\uD800-\uDBFF]$/, "");
}
