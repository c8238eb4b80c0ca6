/** The handling of callers' URLs: they may lead anywhere, answer anything, and never end. */
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { faultOfUrl } from "@platform/kit/outbound/public-address";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DownloadLimits, download } from "../src/download.ts";

const MIB = 1024 * 1024;
const limits: DownloadLimits = { maxBytes: MIB, deadlineMs: 30_000, allowLoopback: true };
const strict = { ...limits, allowLoopback: false };

let folder: string;
let origin: string;
const paths: string[] = [];
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://x");
  paths.push(pathname);
  pages[pathname]?.(response, searchParams, request) ?? response.writeHead(404).end("no");
});
const pages: Record<
  string,
  (response: ServerResponse, query: URLSearchParams, request: IncomingMessage) => unknown
> = {
  "/good": (response) => response.end("good"),
  "/exact": (response) => response.end(Buffer.alloc(MIB)),
  "/large": (response) => response.end(Buffer.alloc(MIB + 1)),
  "/to": (response, query) =>
    response.writeHead(302, { location: query.get("url") ?? "" }).end("moved"),
  "/round": (response) => response.writeHead(307, { location: "/round" }).end(),
  "/nowhere": (response) => response.writeHead(302).end(),
  "/broken-location": (response) => response.writeHead(302, { location: "http://[" }).end(),
  "/silent": () => true,
  "/stalled": (response) => response.write("a beginning"),
  "/cut": (response) => {
    response.writeHead(200, { "content-length": "100" });
    return response.write("a beginning", () => response.destroy());
  },
  "/bomb": (response) =>
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(200 * MIB))),
  "/endless": (response) => {
    const piece = Buffer.alloc(64 * 1024);
    const more = () => {
      while (!response.destroyed && response.write(piece));
      return response.once("drain", more);
    };
    return more();
  },
  "/headers": (response, _, { headers }) => response.end(JSON.stringify(headers)),
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-platform-download-"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

let files = 0;
async function fetchFrom(url: string | URL, given = limits, signal = new AbortController().signal) {
  files += 1;
  const path = join(folder, String(files));
  return { fault: await download(new URL(url), path, given, signal), path };
}
const through = (url: string) => `${origin}/to?url=${encodeURIComponent(url)}`;

describe("a download", () => {
  test("is whole, after at most five redirects", async () => {
    const far = [1, 2, 3, 4].reduce((url) => through(url), through("/good"));
    for (const url of [`${origin}/good`, `${origin.replace("127.0.0.1", "localhost")}/good`, far]) {
      const { fault, path } = await fetchFrom(url);
      expect(fault).toBeNull();
      expect(await readFile(path, "utf8")).toBe("good");
    }
    expect((await fetchFrom(through(far))).fault).toBe("could not be fetched");
  });

  test("may have exactly as many bytes as are allowed", async () => {
    expect((await fetchFrom(`${origin}/exact`)).fault).toBeNull();
    expect((await fetchFrom(`${origin}/large`)).fault).toBe("must be at most 1 MiB");
  });

  test("is asked for without anything that tells who asks", async () => {
    const { path } = await fetchFrom(`${origin}/headers`);
    const headers: unknown = JSON.parse(await readFile(path, "utf8"));
    for (const name of ["authorization", "cookie", "x-api-key", "referer", "origin"]) {
      expect(headers).not.toHaveProperty([name]);
    }
  });
});

describe("a download that is refused while it arrives", () => {
  test.each(["/endless", "/bomb"])("too much of it, also unpacked: %s", async (path) => {
    expect((await fetchFrom(origin + path)).fault).toBe("must be at most 1 MiB");
  });

  test.each(["/silent", "/stalled"])("a server that keeps the caller waiting: %s", async (path) => {
    const { fault } = await fetchFrom(origin + path, { ...limits, deadlineMs: 1000 });
    expect(fault).toBe("could not be fetched within 1 seconds");
  });

  test.each(["/cut", "/missing", "/round", "/nowhere", "/broken-location"])("%s", async (path) => {
    expect((await fetchFrom(origin + path)).fault).toBe("could not be fetched");
  });

  test("anything, as soon as nobody needs it any more", async () => {
    const controller = new AbortController();
    const fetching = fetchFrom(`${origin}/stalled`, limits, controller.signal);
    await expect.poll(() => paths.at(-1)).toBe("/stalled");
    controller.abort();
    expect((await fetching).fault).toBe("could not be fetched");
  });
});

const private_ = [
  "https://127.0.0.1/x",
  "https://127.1/x",
  "https://2130706433/x",
  "https://0x7f.0.0.1/x",
  "https://0177.0.0.1/x",
  "https://0.0.0.0/x",
  "https://10.0.0.1/x",
  "https://172.16.0.1/x",
  "https://192.168.1.1/x",
  "https://100.64.0.1/x",
  "https://169.254.169.254/latest/meta-data/",
  "https://168.63.129.16/x",
  "https://224.0.0.1/x",
  "https://255.255.255.255/x",
  "https://[::1]/x",
  "https://[::]/x",
  "https://[fe80::1]/x",
  "https://[fd00::1]/x",
  "https://[::ffff:127.0.0.1]/x",
  "https://[::ffff:a9fe:a9fe]/x",
  "https://[64:ff9b::a00:1]/x",
];
const wrongSchemes = [
  "http://example.com/x",
  "http://127.0.0.1/x",
  "http://localhost/x",
  "ftp://example.com/x",
  "file:///etc/passwd",
  "data:image/png;base64,AAAA",
  "gopher://example.com/x",
  "javascript:1",
];

describe("addresses that are never requested", () => {
  test.each(private_)("an address that is not public, however it is written: %s", async (url) => {
    expect(faultOfUrl(new URL(url), false)).toBe("must have a public address");
    expect((await fetchFrom(url, strict)).fault).toBe("could not be fetched");
  });

  test.each(wrongSchemes)("another scheme: %s", async (url) => {
    expect(faultOfUrl(new URL(url), false)).toBe("must be an https URL");
    expect((await fetchFrom(url, strict)).fault).toBe("could not be fetched");
  });

  test("with credentials in the URL", () => {
    const url = new URL("https://user:password@example.com/x");
    expect(faultOfUrl(url, false)).toBe("must not contain credentials");
  });

  test("a name that leads to this machine: nothing of it is connected to", async () => {
    let connections = 0;
    const listener = createTcpServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    for (const name of ["localhost", "LOCALHOST", "localhost."]) {
      const { fault } = await fetchFrom(`https://${name}:${port}/x`, strict);
      expect(fault, name).toBe("could not be fetched");
    }
    listener.close();
    expect(connections).toBe(0);
  });

  test.each([
    ...private_.filter((url) => !/127\.|::1\]|2130706433|0x7f|0177/.test(url)),
    ...wrongSchemes.filter((url) => !/127|localhost/.test(url)),
    "//169.254.169.254/x",
    "https://user:password@example.com/x",
  ])("by a redirect either, where loopback itself is allowed: %s", async (url) => {
    expect((await fetchFrom(through(url))).fault).toBe("could not be fetched");
  });
});
