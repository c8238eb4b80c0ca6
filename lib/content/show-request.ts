/**
 * Returns a request as its run shows it: URLs lose their queries and fragments, which may be
 * signatures that grant access to files.
 */
export function showRequest(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(body).map(([name, value]): [string, unknown] => {
    if (Array.isArray(value)) return [name, value.map(String).map(showUrl)];
    return [name, name.endsWith("_url") ? showUrl(String(value)) : value];
  });
  return Object.fromEntries(entries);
}

export function showUrl(text: string): string {
  const url = new URL(text);
  url.search = "";
  url.hash = "";
  return url.href;
}
