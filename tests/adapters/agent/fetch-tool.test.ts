import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ToolContext } from "@platform/agent/tools";
import { connectPublic } from "@platform/kit/outbound/public-only";
import { Agent, buildConnector } from "undici";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createFetchTool } from "@/packages/agent/src/tools/fetch.ts";
import { createToolFixture, TOKEN } from "../../support/fixtures/agent-tools.ts";

const { context, remove } = await createToolFixture();
afterAll(remove);

describe("fetch", () => {
  const servers: Server[] = [];
  const seen: { path: string; method: string; headers: Record<string, unknown>; body: string }[] =
    [];

  async function serve(answer: RequestListener): Promise<string> {
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => {
        seen.push({
          path: request.url ?? "",
          method: request.method ?? "",
          headers: { ...request.headers },
          body,
        });
        answer(request, response);
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  const hostOf = (origin: string): string => new URL(origin).host;

  let site: string;
  let service: string;
  beforeAll(async () => {
    site = await serve((request, response) => {
      const url = new URL(request.url ?? "/", "http://x");
      const to = url.searchParams.get("to");
      if (to)
        response
          .writeHead(Number(url.searchParams.get("status") ?? 302), { location: to })
          .end("moved");
      else if (url.pathname === "/big") response.end("é".repeat(200_000));
      else if (url.pathname === "/binary") response.end(Buffer.from([0, 1, 2]));
      else if (url.pathname === "/cut")
        response
          .writeHead(200, { "content-length": "100" })
          .write("x", () => request.socket.destroy());
      else if (url.pathname === "/loop") response.writeHead(302, { location: "/loop" }).end();
      else response.setHeader("set-cookie", "s=1").setHeader("etag", '"1"').end("hello");
    });
    service = await serve((request, response) => {
      const to = new URL(request.url ?? "/", "http://x").searchParams.get("to");
      if (to) response.writeHead(307, { location: to }).end();
      else response.end("own");
    });
  });
  beforeEach(() => {
    seen.length = 0;
  });
  afterAll(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** The tool as it is, but that `site`, on this machine, counts as a public one. */
  const fetchWith = (input: unknown, more?: Partial<ToolContext>) =>
    createFetchTool(outside).run(input, context(more));
  const connect = buildConnector({});
  const outside = new Agent({
    connect: (options, callback) => {
      const isSite = `${options.hostname}:${options.port}` === hostOf(site);
      return isSite ? connect(options, callback) : connectPublic(options, callback);
    },
  });
  const allowed = () => ({ serviceOrigin: service });

  test("gives status, some headers and the text", async () => {
    expect(await fetchWith({ url: `${site}/a#b` }, allowed())).toEqual({
      status: 200,
      url: `${site}/a`,
      headers: { "content-length": "5", etag: '"1"' },
      body: "hello",
      truncated: false,
    });
  });

  test("sends method, headers and body", async () => {
    await fetchWith({ url: site, method: "PUT", headers: { "X-A": "1" }, body: "data" }, allowed());
    const headers = { "x-a": "1", "x-agent-sandbox": "1" };
    expect(seen).toMatchObject([{ method: "PUT", body: "data", headers }]);
  });

  test("cuts a large body, leaves out a binary one, survives a broken one", async () => {
    const big = Object(await fetchWith({ url: `${site}/big` }, allowed()));
    expect(big.truncated).toBe(true);
    expect(big.body).toBe("é".repeat(50_000));
    expect(await fetchWith({ url: `${site}/binary` }, allowed())).toMatchObject({
      body: "",
      note: expect.any(String),
    });
    expect(await fetchWith({ url: `${site}/cut` }, allowed())).toEqual({
      error: "The request failed",
    });
  });

  test("stores a body in a file, also a binary one and one that is too large to be shown", async () => {
    const inSandbox = context(allowed());
    const store = (path: string, saveTo: string) =>
      createFetchTool(outside).run({ url: site + path, saveTo }, inSandbox);
    expect(await store("/binary", "in/a.bin")).toMatchObject({ savedTo: "in/a.bin", bytes: 3 });
    expect([...(await inSandbox.sandbox.readFile("in/a.bin"))]).toEqual([0, 1, 2]);
    expect(await store("/big", "big.txt")).toMatchObject({ bytes: 400_000 });
    await expect(store("/a", "../../etc/passwd")).rejects.toThrow("etc");
  });

  test.each([
    "http://127.0.0.1:PORT/",
    "http://localhost:PORT/",
    "http://127.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f.0.0.1:PORT/",
    "http://0:PORT/",
    "http://[::1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[64:ff9b::7f00:1]:PORT/",
    "http://10.0.0.1/",
    "http://192.168.1.1/",
    "http://172.16.0.1/",
    "http://100.100.100.200/latest/meta-data/",
    "http://169.254.169.254/latest/meta-data/",
    "http://168.63.129.16/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
  ])("refuses %s, also as the target of a redirect", async (template) => {
    const url = template.replace("PORT", new URL(service).port);
    const away = { serviceOrigin: "http://elsewhere" };
    expect(await fetchWith({ url }, away)).toEqual({
      error: expect.stringMatching(/^Refused: /),
    });
    const redirect = `${site}/?to=${encodeURIComponent(url)}`;
    expect(await fetchWith({ url: redirect }, away)).toEqual({
      error: expect.stringMatching(/^Refused: /),
    });
    expect(seen.every((request) => request.headers.host === hostOf(site))).toBe(true);
  });

  test.each([
    "file:///etc/passwd",
    "ftp://a.b/",
    "gopher://a",
    "data:,x",
    "/relative",
    "http://u:p@example.com/",
    "not a url",
  ])("refuses %s", async (url) => {
    expect(await fetchWith({ url })).toEqual({ error: expect.stringMatching(/^url must/) });
  });

  test("headers that proxies trust cannot be set", async () => {
    for (const name of [
      "Host",
      "X-Forwarded-For",
      "Content-Length",
      "Transfer-Encoding",
      "Forwarded",
      "X-Real-IP",
      "CF-Connecting-IP",
      "X-Vercel-Forwarded-For",
      "X-Peer-Address",
      "X-Middleware-Subrequest",
      "X-Agent-Sandbox",
    ]) {
      expect(await fetchWith({ url: site, headers: { [name]: "1" } }, allowed())).toHaveProperty(
        "error",
      );
    }
    expect(seen).toEqual([]);
  });

  describe("to the service itself", () => {
    const own = () => ({ serviceOrigin: service });

    test("carries the user's credential, and that it comes from a sandbox", async () => {
      expect(await fetchWith({ url: `${service}/api/keys` }, own())).toMatchObject({
        body: "own",
      });
      expect(seen[0]?.headers).toMatchObject({
        "x-api-key": TOKEN,
        forwarded: "for=_sandbox",
        "x-agent-sandbox": "1",
      });
    });

    test("does not add a second credential to one that is given", async () => {
      await fetchWith(
        { url: `${service}/api/keys`, headers: { Authorization: "Bearer x" } },
        own(),
      );
      expect(seen[0]?.headers).not.toHaveProperty("x-api-key");
    });

    test.each([
      "/.well-known/workflow/v1/flow",
      "/",
      "/api/../.well-known/x",
      "/api/%2e%2e/x",
      "/apix",
      "//api/",
    ])("reaches nothing but the API: %s", async (path) => {
      expect(await fetchWith({ url: service + path }, own())).toHaveProperty("error");
      expect(seen).toEqual([]);
    });

    test("is not reached by a redirect from elsewhere", async () => {
      const to = encodeURIComponent(`${service}/api/keys`);
      expect(await fetchWith({ url: `${site}/?to=${to}` }, own())).toHaveProperty("error");
      expect(seen.map((request) => request.headers.host)).toEqual([hostOf(site)]);
    });

    test.each(["/api/chats", "https://example.com/?d=SECRET"])(
      "is called once: its redirect to %s is not followed",
      async (to) => {
        const url = `${service}/api/keys?to=${encodeURIComponent(to)}`;
        expect(await fetchWith({ url }, own())).toMatchObject({
          status: 307,
          headers: { location: to },
        });
        expect(seen.map(({ path }) => path)).toEqual([expect.stringContaining("/api/keys")]);
      },
    );
  });

  describe("while a person must approve other hosts", () => {
    const asking = () => ({ ...allowed(), asksForHosts: true });
    test.each([
      "https://example.com/?d=SECRET",
      "//example.com/",
      "http://localhost:1/",
      "http://127.0.0.1:1/",
      "\\\\example.com/",
    ])("ends at a redirect to %s", async (to) => {
      const from = `${site}/?to=${encodeURIComponent(to)}`;
      const answer = Object(await fetchWith({ url: from, headers: { "x-a": "1" } }, asking()));
      expect(seen).toHaveLength(1);
      const location = new URL(to, site).href;
      expect(answer).toMatchObject({ status: 302, body: "", headers: { location } });
    });

    test("follows a redirect within the host", async () => {
      expect(await fetchWith({ url: `${site}/?to=/a` }, asking())).toMatchObject({
        status: 200,
        url: `${site}/a`,
      });
    });
  });

  test("a POST that is redirected becomes a GET as browsers do it, and loops end", async () => {
    await fetchWith({ url: `${site}/?status=302&to=/a`, method: "POST", body: "x" }, allowed());
    expect(seen.map((request) => [request.method, request.body])).toEqual([
      ["POST", "x"],
      ["GET", ""],
    ]);
    expect(await fetchWith({ url: `${site}/loop` }, allowed())).toEqual({
      error: "More than 5 redirects",
    });
  });
});
