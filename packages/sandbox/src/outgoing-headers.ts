/**
 * The headers of requests that leave a sandbox. Code in a sandbox must not set headers that describe the
 * origin or the framing of a request, or that a server's parts use among themselves. Every request is
 * marked, so the service recognizes its own sandboxes under any host name.
 *
 * The mark only restricts a request (lib/http/guard-run.ts). A client that sends it gains nothing,
 * so the mark is not a secret.
 */

/** Is set on every request that leaves a sandbox, and replaces any value that the request has. */
export const SANDBOX_MARK = "x-agent-sandbox";

const RESERVED =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|via|forwarded|x-forwarded-.*|x-original-.*|x-real-ip|x-client-ip|x-cluster-client-ip|x-peer-address|true-client-ip|fastly-.*|cf-.*|cdn-loop|proxy-.*|x-vercel-.*|x-now-.*|x-workflow-.*|x-middleware-.*|x-nextjs-.*|x-agent-.*)$/i;

/** Returns whether code in a sandbox must not set the header. */
export const isReservedHeader = (name: string): boolean => RESERVED.test(name.trim());

/** Returns the headers without the reserved ones, and with the mark. */
export function markedHeaders(given: Headers): Headers {
  const headers = new Headers([...given].filter(([name]) => !isReservedHeader(name)));
  headers.set(SANDBOX_MARK, "1");
  return headers;
}

export const isFromSandbox = (headers: Headers): boolean => headers.has(SANDBOX_MARK);
