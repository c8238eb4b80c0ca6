/** Keys for the parts of a text or a message, which have no name but their place. */
export const keyed = <T>(items: readonly T[]): { key: string; item: T }[] =>
  items.map((item, place) => ({ key: String(place), item }));
