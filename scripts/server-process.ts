/**
 * Program: one production server process. It also listens on a separate port on loopback, at which it
 * reaches itself where several processes share the public port. After SIGTERM it accepts no further
 * connection, hands its runs over, ends its responses and exits.
 */
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { drain } from "@platform/kit/drain";
import { setBuiltPrograms } from "@platform/kit/isolation/program";
import { openFileLimit } from "@platform/kit/open-file-limit";
import next from "next";
import { z } from "zod";
import { config } from "../lib/platform/config.ts";

const CLOSE_INTERVAL_MS = 50;
/** Proxies keep idle connections for a minute, and would send a request on one that is just being closed. */
const KEEP_ALIVE_MS = 75_000;
/** Refused connections are reported once in this time. */
const REPORT_INTERVAL_MS = 60_000;

/** Next answers others with a 500. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/** The target of a request through a proxy, which Next would redirect to. */
const ABSOLUTE = /^https?:\/\//i;

const buildRecord = z.object({ config: z.unknown() });

const { HOST: hostname, PORT: port, NEXT_DIST_DIR: distDir = ".next" } = process.env;
// The configuration of the build, as Next's own standalone server takes it: a package has no
// next.config.ts, and evaluating one takes longer than the rest of the start.
const record = readFileSync(join(distDir, "required-server-files.json"), "utf8");
const built = buildRecord.parse(JSON.parse(record)).config;
process.env.__NEXT_PRIVATE_STANDALONE_CONFIG = JSON.stringify(built);
setBuiltPrograms(join(distDir, "programs"));
const app = next({ dev: false, hostname, port: Number(port) });
const answer = app.getRequestHandler();
const prepared = Promise.withResolvers<void>();
const listener: RequestListener = async (request, response) => {
  await prepared.promise;
  // The client's next request is to reach another process.
  if (drain().hasBegun) response.setHeader("connection", "close");
  const { method = "", url = "" } = request;
  const isOfServer = url === "*" && method === "OPTIONS";
  if (isOfServer || !METHODS.includes(method)) {
    response.writeHead(isOfServer ? 204 : 405, {
      allow: METHODS.join(", "),
      ...(isOfServer ? {} : { "content-type": "application/json" }),
    });
    response.end(isOfServer ? undefined : '{"status":"error","error":"Method not allowed"}');
    return;
  }
  if (ABSOLUTE.test(url)) {
    // RFC 9112, section 3.2.2: its host replaces the header.
    const target = URL.parse(url);
    request.url = target ? target.pathname + target.search : "/";
    if (target) request.headers.host = target.host;
  }
  await answer(request, response);
};

const own = createServer(listener);
const ownPort = await listen(own, 0, "127.0.0.1");
process.env.SELF_ORIGIN = `http://127.0.0.1:${ownPort}`;
await app.prepare();
prepared.resolve();
const health = await fetch(`${process.env.SELF_ORIGIN}/api/health`);
// Next has logged the reason, and would answer every request with 500 from now on.
if (!health.ok) process.exit(1);
const server = createServer(listener);
server.keepAliveTimeout = KEEP_ALIVE_MS;
refuseTooMany(server);
await listen(server, Number(port), hostname);
// The answer to a ping of the program that replaces processes.
process.on("message", (message) => process.send?.(message));
// Otherwise only a process that exits in order leaves its compiled modules to the next.
flushCompileCache();

for (const signal of ["SIGTERM", "SIGINT"]) {
  process.on(signal, () => {
    if (!drain().hasBegun) void shutDown();
  });
}

/**
 * Closes connections beyond half of the files that this process may open: the other half is for what requests open.
 * Without any left, it could neither take a connection nor answer one.
 */
function refuseTooMany(server: Server): void {
  const max = Math.floor(openFileLimit() / 2);
  if (!Number.isFinite(max)) return;
  // Otherwise the connection would go to another process, which may have as many.
  Object.assign(server, { maxConnections: max, dropMaxConnection: true });
  let reportedAt = -REPORT_INTERVAL_MS;
  server.on("drop", () => {
    if (performance.now() - reportedAt < REPORT_INTERVAL_MS) return;
    reportedAt = performance.now();
    console.error(`More than ${max} connections are refused. Raise the limit of open files.`);
  });
}

/** The second port is not shared with other processes: `exclusive`. */
function listen(server: Server, port: number, host: string | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, exclusive: port === 0 }, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

async function shutDown(): Promise<void> {
  const deadline = AbortSignal.timeout(config().DRAIN_SECONDS * 1_000);
  const closed = new Promise((resolve) => server.close(resolve));
  // A connection that becomes idle only now would be kept open.
  setInterval(() => server.closeIdleConnections(), CLOSE_INTERVAL_MS);
  const late = new Promise((resolve) => deadline.addEventListener("abort", resolve));
  const served = Promise.race([closed, late]);
  await drain()
    .begin(deadline, served)
    .catch((error: unknown) => console.error(error));
  process.exit(0);
}
