/**
 * Returns the origin at which a server that listens on `host` is reached from its own machine. The
 * wildcard addresses listen on loopback, too.
 */
export function localOrigin(host: string, port: number): string {
  if (host === "0.0.0.0") return `http://127.0.0.1:${port}`;
  if (host === "::") return `http://[::1]:${port}`;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
