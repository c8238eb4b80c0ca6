/** A cache whose entries expire, with single-flight loading: concurrent readers share one load. */
export interface TtlCache<T> {
  /** Returns the cached value of the key, or the result of `load`. A failed load is not cached. */
  get(key: string, load: () => Promise<T>): Promise<T>;
}

/**
 * @param options.ttlMs how long a value is served
 * @param options.maxEntries beyond which the oldest entry is evicted
 * @param options.shouldKeep false for a value that only its concurrent readers get. Default: true
 */
export function createTtlCache<T>(options: {
  readonly ttlMs: number;
  readonly maxEntries: number;
  readonly shouldKeep?: (value: T) => boolean;
}): TtlCache<T> {
  // A Map keeps its keys in insertion order, so the first one is the oldest.
  const entries = new Map<string, { readonly value: Promise<T>; readonly until: number }>();
  return {
    get(key, load) {
      const cached = entries.get(key);
      if (cached && Date.now() < cached.until) return cached.value;
      entries.delete(key);
      const value = load();
      const entry = { value, until: Date.now() + options.ttlMs };
      entries.set(key, entry);
      const evict = () => {
        if (entries.get(key) === entry) entries.delete(key);
      };
      value.then((loaded) => {
        if (options.shouldKeep?.(loaded) === false) evict();
      }, evict);
      const [oldest] = entries.keys();
      if (entries.size > options.maxEntries && oldest !== undefined) entries.delete(oldest);
      return value;
    },
  };
}
