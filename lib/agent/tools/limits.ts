/** Most characters of a path, and of a pattern to search with. */
export const MAX_PATH_CHARS = 4_096;
export const MAX_PATTERN_CHARS = 1_000;
/** Decisions, section 5. */
export const MAX_OUTPUT_CHARS = 50_000;
export const COMMAND_DEADLINE_MS = 120_000;
export const MAX_SUBAGENT_STEPS = 30;

/** At most `limit` characters, never half a surrogate pair. */
export function cut(text: string, limit = MAX_OUTPUT_CHARS): { text: string; truncated: boolean } {
  if (text.length <= limit) return { text, truncated: false };
  return { text: text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, ""), truncated: true };
}

/** The lines of a text; a last one without a line feed counts. */
export function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0x0a) lines++;
  return bytes.length === 0 || bytes.at(-1) === 0x0a ? lines : lines + 1;
}
