/** How the lists of remote model providers are read. */
export const MODEL_LIST_DEADLINE_MS = 5_000;

/** A failure is not cached, so the next caller asks the provider again. */
export const MODEL_LIST_CACHE = {
  ttlMs: 60_000,
  maxEntries: 1,
  shouldKeep: (list: unknown): boolean => list !== null,
} as const;
