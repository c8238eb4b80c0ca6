/** Decisions, section 5. */
export const MAX_OUTPUT_CHARS = 50_000;
export const COMMAND_DEADLINE_MS = 120_000;
export const MAX_SUBAGENT_STEPS = 30;

/** At most `limit` characters, never half a surrogate pair. */
export function cut(text: string, limit = MAX_OUTPUT_CHARS): { text: string; truncated: boolean } {
  if (text.length <= limit) return { text, truncated: false };
  return { text: text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, ""), truncated: true };
}
