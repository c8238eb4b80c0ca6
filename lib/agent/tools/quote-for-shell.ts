/** Quotes any text as one shell word. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Quotes a path. No command takes the result for an option. */
export function quotePath(path: string): string {
  return quoteForShell(path.startsWith("-") ? `./${path}` : path);
}
