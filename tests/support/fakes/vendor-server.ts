/**
 * Serves msw handlers on loopback, where the server under test reaches them. Faults that a handler
 * cannot produce stand in front of it: a cut body, a silent socket, a closed port.
 *
 * `@mswjs/http-middleware` serves handlers too, but works with msw 2 only. It neither informs a handler
 * that its client has disconnected nor breaks the connection when the body of a response fails.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { getResponse, HttpResponse, http, type RequestHandler } from "msw";
import { checkOpenApi, type Published } from "./check-openapi.ts";

export type Fault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  /** The handlers answer; the next fault in the list is for the next request. */
  | "none"
  /** An HTML page with status 200. */
  | "html"
  /** The connection ends in the middle of the body. */
  | "cut"
  /** The connection ends before any response. */
  | "hang-up"
  /** The connection is reset before any response. */
  | "reset"
  /** Nothing is ever sent. */
  | "silence"
  /** The headers and the beginning of a body are sent, and nothing else. */
  | "stalled body";

/** Serves the handlers, whose requests and answers must be as the vendor publishes them. */
export const servePublished = (published: Published, handlers: RequestHandler[]) =>
  serveHandlers(handlers, checkOpenApi(published));

/** In every method, `part` is a piece of the request's path and query; "/" is in all of them. */
export async function serveHandlers(
  handlers: RequestHandler[],
  check: ReturnType<typeof checkOpenApi> = async () => {},
) {
  const next: { part: string; fault: Fault }[] = [];
  let lasting: { part: string; fault: Fault } | undefined;
  const targets: string[] = [];

  const takeFault = (target: string): Fault | undefined => {
    const index = next.findIndex(({ part }) => target.includes(part));
    if (index >= 0) return next.splice(index, 1)[0]?.fault;
    return lasting && target.includes(lasting.part) ? lasting.fault : undefined;
  };

  const server = createServer((incoming, outgoing) => {
    const target = incoming.url ?? "/";
    targets.push(target);
    const fault = takeFault(target);
    if (fault !== undefined && fault !== "none") sendFault(fault, outgoing);
    else void respond(handlers, check, incoming, outgoing);
  });
  const listen = (port: number) => once(server.listen(port, "127.0.0.1"), "listening");
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    /** The next requests that match end with these faults, one each. */
    failNext: (part: string, ...faults: readonly Fault[]) =>
      void next.push(...faults.map((fault) => ({ part, fault }))),
    /** Every request that matches ends with this fault until `recover()` or the next call. */
    fail(fault: Fault, part = "/") {
      lasting = { part, fault };
    },
    recover() {
      lasting = undefined;
    },
    /** Returns how many requests have matched, failed ones included. */
    count: (part: string) => targets.filter((target) => target.includes(part)).length,
    /** Breaks every connection and refuses new ones until `reopen()`. */
    async close() {
      const closed = once(server.close(), "close");
      server.closeAllConnections();
      await closed;
    },
    reopen: () => listen(port),
  };
}

/** A Request follows the signal it was made with only while it is reachable itself. */
const openRequests = new Set<Request>();

async function respond(
  handlers: RequestHandler[],
  check: ReturnType<typeof checkOpenApi>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const abort = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) abort.abort();
  });
  const body = await buffer(incoming);
  const url = new URL(incoming.url ?? "/", `http://${incoming.headers.host}`);
  const request = new Request(url, {
    method: incoming.method ?? "GET",
    headers: Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    signal: abort.signal,
    ...(body.length > 0 ? { body } : {}),
  });
  openRequests.add(request);
  try {
    const resolution = { baseUrl: url.origin };
    // A teapot's status, which no vendor uses, so a defect of a fake is recognized.
    const response =
      (await getResponse(handlers, request, resolution).catch((error: unknown) =>
        HttpResponse.text<string>(`The fake failed: ${error}`, { status: 418 }),
      )) ?? HttpResponse.text<string>(PROVIDER_TEXT, { status: 404 });
    if (response.type === "error") return void outgoing.destroy();
    await check(request, body.toString(), response);
    outgoing.writeHead(response.status, [...response.headers].flat());
    if (!response.body) return void outgoing.end();
    outgoing.flushHeaders();
    // A body that fails breaks the connection, and a client that goes away cancels the body.
    await pipeline(Readable.fromWeb(response.body as ReadableStream), outgoing).catch(() => {});
  } finally {
    openRequests.delete(request);
  }
}

/** Refuses every request without this header. Handlers in front of it need no credential. */
export const requireHeader = (name: string, value: string, refuse: () => Response) =>
  http.all("*", ({ request }) => {
    if (request.headers.get(name) !== value) return refuse();
  });

export const queryOf = (request: Request): Record<string, string> =>
  Object.fromEntries(new URL(request.url).searchParams);

/** The vendor's internal text in its errors. None of it may reach a caller. */
export const PROVIDER_TEXT = "Spotify-Songstats internal: see https://status.example.com/secret";

function sendFault(fault: Exclude<Fault, "none">, response: ServerResponse): void {
  if (fault === "silence") return;
  if (fault === "reset") return void response.socket?.resetAndDestroy();
  if (fault === "hang-up") return void response.destroy();
  if (fault === "html") {
    const page = `<!doctype html><title>${PROVIDER_TEXT}</title>`;
    return void response.writeHead(200, { "content-type": "text/html" }).end(page);
  }
  if (fault === "cut" || fault === "stalled body") {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    const start = '{"artists": {"items": [';
    return void response.write(start, () => fault === "cut" && response.destroy());
  }
  const { status, headers = {}, body } = fault;
  response
    .writeHead(status, { "content-type": "application/json", ...headers })
    .end(body ?? JSON.stringify({ error: { status, message: PROVIDER_TEXT } }));
}
