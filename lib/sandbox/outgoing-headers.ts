/**
 * The headers of requests that leave a sandbox. What runs there may not say where a request came from,
 * how it is framed, or what only a server's own parts tell each other; and every request is marked, so
 * that the service knows its own sandboxes whatever name they reach it by.
 *
 * The mark only ever takes rights away (lib/http/guard-run.ts): who sends it of their own accord gains
 * nothing, and so it is no secret.
 */

/** Set on everything that leaves a sandbox, over whatever was there. */
export const SANDBOX_MARK = "x-agent-sandbox";

const RESERVED =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|via|forwarded|x-forwarded-.*|x-original-.*|x-real-ip|x-client-ip|x-cluster-client-ip|x-peer-address|true-client-ip|fastly-.*|cf-.*|cdn-loop|proxy-.*|x-vercel-.*|x-now-.*|x-workflow-.*|x-middleware-.*|x-nextjs-.*|x-agent-sandbox)$/i;

/** May what runs in a sandbox set it? */
export const isReservedHeader = (name: string): boolean => RESERVED.test(name.trim());

/** `given` without what is reserved, and marked. */
export function markedHeaders(given: Headers): Headers {
  const headers = new Headers([...given].filter(([name]) => !isReservedHeader(name)));
  headers.set(SANDBOX_MARK, "1");
  return headers;
}

export const isFromSandbox = (headers: Headers): boolean => headers.has(SANDBOX_MARK);
