/**
 * Sends calls of vendors whose address no setting changes to other origins. Preloaded into a server by `NODE_OPTIONS`,
 * it takes them from `REDIRECTS`.
 */
export function redirectFetch(redirects: string): void {
  const origins = Object.entries(JSON.parse(redirects) as Record<string, string>);
  const fetchAnything = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    const [from, to] = origins.find(([origin]) => url.startsWith(`${origin}/`)) ?? [];
    if (from === undefined || to === undefined) return fetchAnything(input, init);
    const moved = to + url.slice(from.length);
    return fetchAnything(input instanceof Request ? new Request(moved, input) : moved, init);
  };
}

if (process.env.REDIRECTS) redirectFetch(process.env.REDIRECTS);
