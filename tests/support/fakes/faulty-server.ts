/** A loopback HTTP server that can be told to fail: what stands under the fakes of web APIs. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Fault =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** No fault: it is answered as usual, and the next one in the list is for the next request. */
  | "none"
  /** A page for people, with status 200. */
  | "html"
  /** The connection ends in the middle of the body. */
  | "cut"
  /** The connection ends before any answer. */
  | "reset"
  /** Nothing is ever sent. */
  | "silence"
  /** The headers are sent, and nothing else. */
  | "stalled body";

export interface FaultyServer {
  readonly origin: string;
  /** The next requests to a path that begins so end like this, one each. */
  failNext(path: string, ...faults: readonly Fault[]): void;
  /** From now on, or with null no longer, every request to a path that begins so ends like this. */
  failAlways(path: string, fault: Fault | null): void;
  /** Requests to paths that begin so, failed ones included. */
  count(path: string): number;
  /** Refuses connections until `open()`. */
  shut(): Promise<void>;
  open(): Promise<void>;
}

export async function startFaultyServer(
  answer: (request: IncomingMessage, url: URL, response: ServerResponse) => Promise<void>,
): Promise<FaultyServer> {
  const next = new Map<string, Fault[]>();
  const always = new Map<string, Fault>();
  const paths: string[] = [];
  const starting = (path: string) => (candidate: string) => path.startsWith(candidate);

  const faultOf = (path: string): Fault | undefined => {
    const queued = [...next.keys()].filter(starting(path)).find((key) => next.get(key)?.length);
    if (queued !== undefined) return next.get(queued)?.shift();
    const lasting = [...always.keys()].find(starting(path));
    return lasting === undefined ? undefined : always.get(lasting);
  };

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://fake");
    paths.push(url.pathname);
    const fault = faultOf(url.pathname);
    if (fault !== undefined && fault !== "none") return fail(fault, response);
    answer(request, url, response).catch((error: unknown) => {
      response.writeHead(418).end(String(error));
    });
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    failNext: (path, ...faults) => next.set(path, [...(next.get(path) ?? []), ...faults]),
    failAlways: (path, fault) => {
      if (fault === null) always.delete(path);
      else always.set(path, fault);
    },
    count: (path) => paths.filter((one) => one.startsWith(path)).length,
    shut: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    open: () => listen(port),
  };
}

/** What a provider says about itself in its errors: none of it may get through. */
export const PROVIDER_TEXT = "Spotify-Songstats internal: see https://status.example.com/secret";

function fail(fault: Exclude<Fault, "none">, response: ServerResponse): void {
  if (fault === "silence") return;
  if (fault === "reset") {
    response.destroy();
    return;
  }
  if (fault === "html") {
    const page = `<!doctype html><title>${PROVIDER_TEXT}</title>`;
    response.writeHead(200, { "content-type": "text/html" }).end(page);
    return;
  }
  if (fault === "cut" || fault === "stalled body") {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"artists": {"items": [', () => {
      if (fault === "cut") response.destroy();
    });
    return;
  }
  const { status, headers = {}, body } = fault;
  response
    .writeHead(status, { "content-type": "application/json", ...headers })
    .end(body ?? JSON.stringify({ error: { status, message: PROVIDER_TEXT } }));
}
