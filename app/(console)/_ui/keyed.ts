/** Pairs each item with its index as a React key, for lists whose items have no identity. */
export const keyed = <T>(items: readonly T[]): { key: string; item: T }[] =>
  items.map((item, index) => ({ key: String(index), item }));
