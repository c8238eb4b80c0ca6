/**
 * Matches a path against a pattern, in time that grows with the product of their lengths: a pattern is a caller's,
 * and a backtracking matcher could be kept busy. `*` stands for any characters of a name, a name `**` for any folders.
 */
export function matchesPattern(pattern: string, path: string): boolean {
  const names = path.split("/");
  const matcher = (part: string) =>
    part === "**"
      ? { repeats: true, matches: () => true }
      : { repeats: false, matches: (name: string | undefined) => matchesName(part, name ?? "") };
  return matchesAll(pattern.split("/").map(matcher), names);
}

const matchesName = (pattern: string, name: string): boolean =>
  matchesAll(
    [...pattern].map((sign) => ({
      repeats: sign === "*",
      matches: (letter: string | undefined) => sign === "*" || sign === letter,
    })),
    [...name],
  );

interface Matcher {
  /** Whether it matches any number of items. */
  readonly repeats: boolean;
  readonly matches: (item: string | undefined) => boolean;
}

function matchesAll(matchers: readonly Matcher[], items: readonly string[]): boolean {
  // Whether the matchers so far match the first items, by their number.
  let reached: boolean[] = [true, ...items.map(() => false)];
  for (const { repeats, matches } of matchers) {
    const next = [repeats && reached[0] === true];
    for (const [index, item] of items.entries()) {
      const before = repeats ? next[index] === true || reached[index + 1] === true : reached[index];
      next.push(before === true && (repeats || matches(item)));
    }
    reached = next;
  }
  return reached.at(-1) === true;
}
