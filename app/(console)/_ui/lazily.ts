/**
 * Returns a function that makes a value at its first call and returns the same one ever after. A format of
 * `Intl` takes so long to make that a module must not do it while its page is loading.
 */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
