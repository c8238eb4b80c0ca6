/**
 * The only network of a command: an HTTP proxy on a socket that is mounted into its namespaces. It passes
 * on requests to the service's own API and to the hosts of the allowlist at public addresses, marked as
 * requests of a sandbox, and tunnels to these hosts for https. Clients follow redirects themselves, so
 * each hop is checked here.
 */
import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream";
import { lookupPublic } from "@platform/kit/outbound/public-address";
import { isReservedHeader } from "../../outgoing-headers.ts";
import { admitRequest, checkHost, denied, type NetworkRules } from "../network-rules.ts";

const MAX_CONNECTIONS = 64;
const MAX_REFUSALS = 5;
const ESTABLISHED = "HTTP/1.1 200 Connection established\r\n\r\n";

export interface NetworkProxy {
  /** Refused and failed requests, for the command's error output. At most five. */
  readonly refusals: readonly string[];
  /** Ends all connections. */
  close(): void;
}

/** @param path where the socket is created */
export async function startProxy(path: string, rules: NetworkRules): Promise<NetworkProxy> {
  const refusals: string[] = [];
  const tunnels = new Set<Duplex>();
  const refuse = (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    if (refusals.length < MAX_REFUSALS && !refusals.includes(message)) refusals.push(message);
  };

  /** Origins to which clients have made a tunnel for requests without TLS. */
  const plain = new WeakMap<Duplex, string>();

  const server = http.createServer((request, response) => {
    // A client treats a missing answer as a failure, but would mistake a page of ours for the requested
    // one.
    const fail = (error: unknown) => {
      refuse(error);
      request.destroy();
    };
    try {
      const outgoing = forward(request, plain.get(request.socket), rules);
      outgoing.once("error", fail);
      outgoing.once("response", (incoming) => {
        response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, [
          ...endToEnd(incoming.rawHeaders),
        ]);
        pipeline(incoming, response, () => {});
      });
      response.once("close", () => outgoing.destroy());
      pipeline(request, outgoing, () => {});
    } catch (error) {
      fail(error);
    }
  });

  server.on("connect", (request, inner, head) => {
    tunnels.add(inner);
    inner.once("close", () => tunnels.delete(inner));
    inner.on("error", () => {});
    const fail = (error: unknown) => {
      refuse(error);
      inner.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    };
    const origin = plainOrigin(request.url ?? "", rules);
    if (origin !== undefined) {
      plain.set(inner, origin);
      inner.write(ESTABLISHED);
      inner.unshift(head);
      server.emit("connection", inner);
      return;
    }
    try {
      const target = tunnelTarget(request.url ?? "", rules);
      const outer = connect({ ...target, lookup: lookupPublic });
      outer.once("error", fail);
      outer.once("connect", () => {
        outer.off("error", fail);
        inner.write(ESTABLISHED);
        outer.write(head);
        pipeline(inner, outer, inner, () => {});
      });
      inner.once("close", () => outer.destroy());
    } catch (error) {
      fail(error);
    }
  });

  server.maxConnections = MAX_CONNECTIONS;
  server.unref();
  server.listen(path);
  await once(server, "listening");
  return {
    refusals,
    close() {
      server.close();
      server.closeAllConnections();
      for (const tunnel of tunnels) tunnel.destroy();
    },
  };
}

/**
 * Returns the origin by which commands reach the service: without TLS, because the proxy must mark the
 * requests. They leave this machine as the service's origin says.
 */
export function originInside(serviceOrigin: string): string {
  const { host } = new URL(serviceOrigin);
  return `http://${host}`;
}

/**
 * Returns the origin of requests without TLS in a tunnel to this host, as Node's `fetch` makes them. They
 * are parsed and checked one by one, like requests without a tunnel.
 */
function plainOrigin(authority: string, { serviceOrigin }: NetworkRules): string | undefined {
  const origin = URL.parse(`http://${authority}`)?.origin;
  const isService = serviceOrigin !== undefined && origin === originInside(serviceOrigin);
  return isService || authority.endsWith(":80") ? origin : undefined;
}

/**
 * Sends a request on.
 * @param origin of a request in a tunnel, which names only its path
 * @throws Error when it must not leave the sandbox
 */
function forward(
  request: http.IncomingMessage,
  origin: string | undefined,
  rules: NetworkRules,
): http.ClientRequest {
  const url = URL.parse(request.url ?? "", origin);
  if (url?.protocol !== "http:") throw new Error("Network access denied: no http URL");
  const { serviceOrigin } = rules;
  const inside = serviceOrigin === undefined ? undefined : originInside(serviceOrigin);
  const given = new Headers(pairs(request.rawHeaders));
  const { isOwn, headers, lookup } = admitRequest(url, given, rules, inside);
  // The parser has checked it, and the body that is passed on has this length.
  const length = request.headers["content-length"];
  if (length !== undefined) headers.set("content-length", length);
  const target = isOwn ? new URL(`${url.pathname}${url.search}`, serviceOrigin) : url;
  const client = target.protocol === "https:" ? https : http;
  return client.request(target, {
    method: request.method,
    headers: Object.fromEntries(headers),
    agent: false,
    ...lookup,
  });
}

/** @throws Error if a tunnel to this host is not permitted */
function tunnelTarget(authority: string, rules: NetworkRules): { host: string; port: number } {
  const url = URL.parse(`https://${authority}`);
  if (!url) throw new Error("Network access denied: no host");
  // The content of a tunnel cannot be marked.
  if (rules.serviceOrigin !== undefined) {
    const service = new URL(rules.serviceOrigin);
    if (url.hostname === service.hostname) {
      throw denied(url, `call this service at ${originInside(rules.serviceOrigin)}`);
    }
  }
  checkHost(url, rules);
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || 443) };
}

/** The headers of a response that are not about the connection. The length and encoding stay. */
function* endToEnd(rawHeaders: readonly string[]): Generator<string> {
  for (const [name, value] of pairs(rawHeaders)) {
    if (/^content-length$/i.test(name) || !isReservedHeader(name)) yield* [name, value];
  }
}

function pairs(rawHeaders: readonly string[]): [string, string][] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""] as [string, string]] : [],
  );
}
