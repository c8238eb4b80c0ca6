/**
 * Disconnects clients that stop reading a response. Such a client otherwise holds resources: a page of a
 * chat, a part of an export, a stream's slot.
 */
import { subscribe } from "node:diagnostics_channel";
import { ServerResponse } from "node:http";

const STALLED_MS = 60_000;

/**
 * From now on, destroys each response that has bytes to send and whose client takes none of them for
 * `stalledMs`. A response that waits for its first or next bytes is left alone.
 */
export function dropStalledReaders(stalledMs = STALLED_MS): void {
  subscribe("http.server.request.start", (message) => {
    if (typeof message !== "object" || message === null || !("response" in message)) return;
    const { response } = message;
    if (!(response instanceof ServerResponse)) return;
    // Node restarts the timer whenever the client takes or sends a byte.
    response.setTimeout(stalledMs, () => {
      if (response.writableLength > 0) response.destroy();
    });
  });
}
