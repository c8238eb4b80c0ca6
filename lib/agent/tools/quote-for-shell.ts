/** One shell word, whatever is in the text. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A path that no command takes for an option. */
export function quotePath(path: string): string {
  return quoteForShell(path.startsWith("-") ? `./${path}` : path);
}
