/** Answers kept for a short time, and one question for all who ask the same meanwhile. */
export interface Memory<T> {
  get(key: string, ask: () => Promise<T>): Promise<T>;
}

/**
 * @param options.freshMs how long an answer is given again
 * @param options.most answers kept; the oldest go first
 * @param options.isWorthKeeping what is not is given to those who wait for it and to nobody else
 */
export function createMemory<T>(options: {
  readonly freshMs: number;
  readonly most: number;
  readonly isWorthKeeping: (value: T) => boolean;
}): Memory<T> {
  // In the order of their time, as a Map keeps it.
  const known = new Map<string, { readonly value: Promise<T>; readonly until: number }>();
  return {
    get(key, ask) {
      const found = known.get(key);
      if (found && Date.now() < found.until) return found.value;
      known.delete(key);
      const value = ask();
      const entry = { value, until: Date.now() + options.freshMs };
      known.set(key, entry);
      const forget = () => {
        if (known.get(key) === entry) known.delete(key);
      };
      value.then((given) => {
        if (!options.isWorthKeeping(given)) forget();
      }, forget);
      const [oldest] = known.keys();
      if (known.size > options.most && oldest !== undefined) known.delete(oldest);
      return value;
    },
  };
}
