/** How the lists of remote model providers are read: at most once a minute, within seconds. */
export const MODEL_LIST_DEADLINE_MS = 5_000;

/** A provider that does not answer is asked again by the next caller. */
export const MODEL_LIST_CACHE = {
  ttlMs: 60_000,
  maxEntries: 1,
  shouldKeep: (list: unknown): boolean => list !== null,
} as const;
