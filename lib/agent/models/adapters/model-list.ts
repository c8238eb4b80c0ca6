/** How the lists of remote model providers are read: at most once a minute, within seconds. */
export const MODEL_LIST_DEADLINE_MS = 5_000;

/** A provider that does not answer is asked again by the next caller. */
export const MODEL_LIST_CACHE = {
  freshMs: 60_000,
  most: 1,
  isWorthKeeping: (list: unknown): boolean => list !== null,
} as const;
