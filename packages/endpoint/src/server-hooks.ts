/**
 * Hooks into each request of this process: of routes, pages, files, redirects and Next's own errors. On
 * Vercel, which has no server of ours, `next.config.ts` and the platform set the security headers.
 */
import { subscribe } from "node:diagnostics_channel";
import { IncomingMessage, ServerResponse } from "node:http";
import { PEER_HEADER } from "./client-address.ts";

const ONE_YEAR_SECONDS = 31_536_000;
const STALLED_MS = 60_000;

function onRequest(hook: (request: IncomingMessage, response: ServerResponse) => void): void {
  subscribe("http.server.request.start", (message) => {
    if (typeof message !== "object" || message === null) return;
    if (!("request" in message && "response" in message)) return;
    const { request, response } = message;
    if (request instanceof IncomingMessage && response instanceof ServerResponse) {
      hook(request, response);
    }
  });
}

/**
 * Sets the peer's address on every request from now on, and replaces a value that the client sent. Adds
 * `nosniff` to every response, and HSTS where the service is reached over https.
 */
export function markRequests(isHttps: boolean): void {
  onRequest((request, response) => {
    request.headers[PEER_HEADER] = request.socket.remoteAddress ?? "";
    response.setHeader("x-content-type-options", "nosniff");
    if (isHttps) response.setHeader("strict-transport-security", `max-age=${ONE_YEAR_SECONDS}`);
  });
}

/**
 * From now on, destroys each response that has bytes to send and whose client takes none of them for
 * `stalledMs`. Such a client otherwise holds resources: a page of a chat, a part of an export, a stream's
 * slot. A response that waits for its first or next bytes is left alone.
 */
export function dropStalledReaders(stalledMs = STALLED_MS): void {
  onRequest((_, response) => {
    // Node restarts the timer whenever the client takes or sends a byte.
    response.setTimeout(stalledMs, () => {
      if (response.writableLength > 0) response.destroy();
    });
  });
}
