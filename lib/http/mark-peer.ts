/**
 * From whom a request came over the wire. `x-forwarded-for` cannot say it: Next passes on what a
 * client wrote there itself. Used in development only.
 */
import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";

const PEER = "x-peer-address";

const isStart = (message: unknown): message is { readonly request: IncomingMessage } =>
  typeof message === "object" && message !== null && "request" in message;

/** From now on every request of this process carries its peer, whatever it claimed to be. */
export function markPeers(): void {
  subscribe("http.server.request.start", (message) => {
    if (!isStart(message)) return;
    message.request.headers[PEER] = message.request.socket.remoteAddress ?? "";
  });
}

/** False, too, where nobody marked. */
export function isFromThisMachine(headers: Headers): boolean {
  const peer = headers.get(PEER) ?? "";
  return ipaddr.isValid(peer) && ipaddr.process(peer).range() === "loopback";
}
