/** The address of a request's TCP peer. Next passes on the client's own `x-forwarded-for`. */
import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";

const PEER = "x-peer-address";

const isStart = (message: unknown): message is { readonly request: IncomingMessage } =>
  typeof message === "object" && message !== null && "request" in message;

/** Sets the peer's address on every request of this process, and replaces a value that the client sent. */
export function markPeers(): void {
  subscribe("http.server.request.start", (message) => {
    if (!isStart(message)) return;
    message.request.headers[PEER] = message.request.socket.remoteAddress ?? "";
  });
}

/** Returns the peer's IP address; null on Vercel, which has no server of ours, and after a hang-up. */
export function peerOf(headers: Headers): string | null {
  return headers.get(PEER) || null;
}

/** Returns whether the peer is this machine; false where the peer is unknown. */
export function isFromThisMachine(headers: Headers): boolean {
  const peer = peerOf(headers) ?? "";
  return ipaddr.isValid(peer) && ipaddr.process(peer).range() === "loopback";
}
