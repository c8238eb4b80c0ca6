/**
 * From whom a request came over the wire. `x-forwarded-for` cannot say it: Next passes on what a
 * client wrote there itself.
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

/** An IP address; null where nobody marked, as on Vercel, and for a peer that has gone. */
export function peerOf(headers: Headers): string | null {
  return headers.get(PEER) || null;
}

/** False, too, where nobody marked. */
export function isFromThisMachine(headers: Headers): boolean {
  const peer = peerOf(headers) ?? "";
  return ipaddr.isValid(peer) && ipaddr.process(peer).range() === "loopback";
}
