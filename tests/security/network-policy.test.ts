/** One table of hosts against everything that network policies apply to. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runTool } from "@platform/agent/tools";
import { networkPolicy, type TurnPolicies } from "@platform/kit/network-policy";
import { isHostAllowed } from "@platform/kit/outbound/network-policy";
import { createLocalProvider } from "@platform/sandbox/local";
import type { SandboxProvider, SandboxState } from "@platform/sandbox/port";
import { createVercelProvider } from "@platform/sandbox/vercel";
import { Agent, buildConnector } from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createFetchTool } from "../../packages/agent/src/tools/fetch.ts";
import { startProxy } from "../../packages/sandbox/src/adapters/system/network-proxy.ts";
import { type FakeVercel, startFakeVercel } from "../support/fakes/vercel-sandbox.ts";
import { createToolFixture } from "../support/fixtures/agent-tools.ts";

const hosts = ["example.com", "*.Example.org", "münchen.example", "8.8.8.8", "[2606:4700:0::1111]"];
const allowlist = [{ of: "chat", ...networkPolicy.parse({ mode: "allowlist", hosts }) }];
const policies = allowlist as TurnPolicies;
const none: TurnPolicies = [{ of: "account", mode: "none" }];

/** Whether the allowlist has the host of a URL. */
const TABLE: readonly (readonly [url: string, isAllowed: boolean])[] = [
  ["http://example.com/", true],
  ["http://EXAMPLE.com/", true],
  ["http://example.com./", true],
  ["http://example.com:8443/", true],
  ["http://a.example.com/", false],
  ["http://evil-example.com/", false],
  ["http://example.com.evil.example/", false],
  ["http://example.com%2eevil.example/", false],
  ["http://example.com@evil.example/", false],
  ["http://evil.example/?example.com#example.com", false],
  ["http://a.example.org/", true],
  ["http://a.b.example.org/", true],
  ["http://example.org/", false],
  ["http://.example.org/", false],
  ["http://a.example.org.evil.example/", false],
  ["http://xn--mnchen-3ya.example/", true],
  ["http://MÜNCHEN.example/", true],
  ["http://munchen.example/", false],
  ["http://8.8.8.8/", true],
  ["http://134744072/", true],
  ["http://0x8.8.010.8/", true],
  ["http://8.8.8.9/", false],
  ["http://[2606:4700:0:0:0::1111]/", true],
  ["http://[2606:4700::1112]/", false],
  ["http://[::ffff:8.8.8.8]/", false],
];
const REFUSED = /The host \S+ is not allowed by the network policy of this chat \(network\.hosts\)/;
const NONE = /by the network policy of the account \(network\.mode is none\)/;

let dir: string;
let web: Server;
let service: Server;
let vercel: FakeVercel;
let local: SandboxProvider;
let state: SandboxState;
let tools: Awaited<ReturnType<typeof createToolFixture>>;
const account = randomUUID();
const originOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const serve = async (location?: string) => {
  const server = createServer((request, response) => {
    if (location) response.writeHead(302, { location });
    response.end(`served ${request.url}`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
};
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "network-policy-"));
  [web, service] = await Promise.all([serve("http://evil.example/"), serve()]);
  vercel = await startFakeVercel(join(dir, "vercel"));
  const rootDir = join(dir, "local");
  const serviceOrigin = originOf(service);
  local = createLocalProvider({ rootDir, diskQuota: 1e6, allowedHosts: [], serviceOrigin });
  state = await local.provision(randomUUID(), account);
  tools = await createToolFixture();
});
afterAll(async () => {
  for (const server of [web, service]) server.close();
  await Promise.all([vercel.close(), local.destroy(state), tools.remove()]);
  await rm(dir, { recursive: true, force: true });
});

it.each(TABLE)("the host of %s is allowed: %s", (url, isAllowed) => {
  expect(isHostAllowed(policies, new URL(url).hostname)).toBe(isAllowed);
  expect(isHostAllowed([...policies, ...none], new URL(url).hostname)).toBe(false);
});

describe("the tool fetch", () => {
  /** Each name leads to a server of this test, which redirects elsewhere. */
  const connector = buildConnector({});
  const outside = new Agent({
    connect: (options, callback) => {
      const { port } = new URL(originOf(web));
      connector({ ...options, protocol: "http:", hostname: "127.0.0.1", port }, callback);
    },
  });
  const fetchAs = (url: string, network: TurnPolicies) =>
    createFetchTool(outside).run(
      { url },
      tools.context({ network, serviceOrigin: originOf(service) }),
    );

  it.each(TABLE)("%s: %s", async (url, isAllowed) => {
    const asked = await fetchAs(url, policies);
    const evil = "The host evil.example is not allowed";
    // An allowed host answers with a redirect, which is refused.
    if (isAllowed) expect(asked).toEqual({ error: expect.stringContaining(evil) });
    else if (url.includes("@")) expect(asked).toHaveProperty("error");
    else {
      expect(asked).toEqual({ error: expect.stringMatching(REFUSED) });
      if (!url.startsWith("http://evil.example")) {
        expect(JSON.stringify(asked)).not.toContain(evil);
      }
    }
  });

  it("has the service's own API without any network", async () => {
    expect(await fetchAs(`${originOf(service)}/api/models`, none)).toMatchObject({ status: 200 });
    expect(await fetchAs("http://example.com/", none)).toEqual({
      error: expect.stringMatching(NONE),
    });
  });
});

const options = { timeoutMs: 30_000, maxOutputChars: 10_000 };

describe("the shell of the local sandbox", () => {
  const curl = (url: string, given: TurnPolicies) =>
    local.open(state, account, given).run(`curl -sS -m 5 '${url}'`, options);

  it("judges every host of the table", async () => {
    for (const [url, isAllowed] of TABLE) {
      const { stderr } = await curl(url, policies);
      // The operator's allowlist is empty, and refuses hosts that the policy allows.
      if (isAllowed) expect(stderr, url).toContain("host is not on the allow-list");
      else expect(stderr, url).toMatch(REFUSED);
    }
  });

  it("applies the policy of each command, and keeps the service's API", async () => {
    const api = `${originOf(service)}/api/x`;
    expect(await curl(api, none)).toMatchObject({ stdout: "served /api/x" });
    expect((await curl("http://example.com/", none)).stderr).toMatch(NONE);
    expect((await curl("http://example.com/", [])).stderr).toContain("allow-list");
    expect((await curl("http://example.com/", none)).stderr).toMatch(NONE);
  });
});

describe("the proxy of the system sandbox", () => {
  /** Resolves to the reason of the refusal; undefined without one. */
  async function ask(head: string, given: TurnPolicies): Promise<[string, string | undefined]> {
    const path = join(dir, randomUUID().slice(0, 8));
    const rules = { allowedHosts: [], serviceOrigin: originOf(service), policies: given };
    const proxy = await startProxy(path, rules);
    const socket = connect(path);
    socket.write(`${head}\r\n\r\n`);
    let answer = "";
    socket.on("data", (bytes) => {
      answer += bytes;
      if (/served/.test(answer)) socket.end();
    });
    await once(socket, "close");
    proxy.close();
    return [answer, proxy.refusals[0]];
  }

  it("judges every host of the table: requests, tunnels and WebSockets", async () => {
    for (const [text, isAllowed] of TABLE) {
      const { href, hostname, port } = new URL(text);
      const request = `GET ${href} HTTP/1.1\r\nHost: example.com`;
      for (const head of [
        request,
        `CONNECT ${hostname}:${port || 443} HTTP/1.1\r\nHost: example.com`,
        `${request}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13`,
      ]) {
        const [, refusal] = await ask(head, policies);
        if (isAllowed) expect(refusal, head).toContain("host is not on the allow-list");
        else expect(refusal, head).toMatch(REFUSED);
      }
    }
  });

  it("keeps the service's API without any network", async () => {
    const url = `${originOf(service)}/api/x`;
    const [answer] = await ask(`GET ${url} HTTP/1.1\r\nHost: service`, none);
    expect(answer).toContain("served /api/x");
  });
});

describe("the network policy of a Vercel sandbox", () => {
  const domains = z.object({ allow: z.record(z.string(), z.unknown()) });
  const create = () =>
    createVercelProvider({
      credentials: vercel.credentials,
      // The operator allows all that the table asks for, and more.
      allowedHosts: [
        ...["example.com", "*.example.com", "*.org", "*.example", "evil-example.com:8443"],
        ...["8.8.8.8", "8.8.8.9", "[2606:4700::1111]", "[2606:4700::1112]"],
      ],
      serviceOrigin: "https://api.service.example",
      fetch: vercel.fetch,
    });
  /** The hosts that are open in the machine once a turn with the policies has used it. */
  async function openHosts(provider: SandboxProvider, at: SandboxState, given: TurnPolicies) {
    await provider.open(at, account, given).run("true", options);
    return Object.keys(domains.parse(vercel.networkPolicyOf(at.name)).allow);
  }

  it("has the hosts of the table that are allowed", async () => {
    const provider = create();
    const at = await provider.provision(randomUUID(), account);
    const open = await openHosts(provider, at, policies);
    for (const [url, isAllowed] of TABLE) {
      const host = new URL(url).hostname.replace(/\.$/, "");
      // As Vercel documents it: a name, or * for the labels before a name.
      const isOpen = open.some((one) => one === host || matchesWildcard(one, host));
      expect(isOpen, url).toBe(isAllowed);
    }
  });

  it("is that of the turn which has used the machine last", async () => {
    const provider = create();
    const at = await provider.provision(randomUUID(), account);
    const initial = domains.parse(vercel.networkPolicyOf(at.name)).allow;
    expect(await openHosts(provider, at, none)).toEqual(["api.service.example"]);
    expect(await openHosts(provider, at, [])).toEqual(Object.keys(initial));
    const [updates, commands] = [vercel.policyUpdates(), vercel.commandsStarted()];
    await openHosts(provider, at, []);
    expect([vercel.policyUpdates(), vercel.commandsStarted()]).toEqual([updates, commands + 1]);
  });

  it("is set before a command, or the command does not run", async () => {
    const provider = create();
    const at = await provider.provision(randomUUID(), account);
    vercel.failNextPolicy();
    const commands = vercel.commandsStarted();
    await expect(openHosts(provider, at, none)).rejects.toMatchObject({ code: "unavailable" });
    expect(vercel.commandsStarted()).toBe(commands);
  });
});

const matchesWildcard = (pattern: string, host: string) =>
  pattern.startsWith("*.") && host.length >= pattern.length && host.endsWith(pattern.slice(1));

describe("web search", () => {
  const result = (url: string) => ({ title: url, url, date: null, excerpt: "" });
  const asked: (readonly string[])[] = [];
  const search = (network: TurnPolicies) =>
    runTool(
      "web_search",
      { query: "anything" },
      tools.context({
        network,
        searchWeb: async ({ domains }) => {
          asked.push(domains);
          return { results: TABLE.map(([url]) => result(url)), costUsd: 0 };
        },
      }),
      { options: { web_search: true } },
    );

  it("finds only pages of allowed hosts, and asks for these where they are few", async () => {
    const allowed = TABLE.filter(([, isAllowed]) => isAllowed).map(([url]) => result(url));
    expect(await search(policies)).toEqual({ results: allowed });
    expect(asked.at(-1)).toEqual(expect.arrayContaining(["example.com", "example.org"]));
  });

  it("is refused without any host that is allowed", async () => {
    asked.length = 0;
    expect(await search(none)).toEqual({
      error:
        "Web search is not allowed by the network policy of the account (network.mode is none). Ask the user to change it.",
    });
    const disjoint = ["a.example", "b.example"].map((host) => ({
      ...{ of: "chat" as const, mode: "allowlist" as const },
      hosts: [host],
    }));
    expect(await search(disjoint)).toEqual({ error: expect.stringContaining("(network.hosts)") });
    expect(asked).toEqual([]);
  });
});
