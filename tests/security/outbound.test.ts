/**
 * Requests for a caller, a model or a document reach the public internet only, whatever the
 * operator's allowlist, a name or a redirect says.
 */

import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { hostname } from "node:os";
import { runTool } from "@platform/agent/tools";
import { AddressRefused, isPublicAddress } from "@platform/kit/outbound/public-address";
import { publicOnly } from "@platform/kit/outbound/public-only";
import { SandboxError } from "@platform/sandbox/port";
import { fetch } from "undici";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  documentQueue,
  noSearch,
  noServiceTools,
  noSkills,
  seenImages,
} from "../support/fixtures/agent-tools.ts";

let connections = 0;
let inside: Server;
let port: number;
beforeAll(async () => {
  inside = createTcpServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  inside.listen(0);
  await once(inside, "listening");
  port = (inside.address() as AddressInfo).port;
});
afterAll(() => inside.close());
beforeEach(() => {
  connections = 0;
});

/** Names and literals of this machine, as URLs may write them. */
const HOSTS_OF_THIS_MACHINE = [
  "127.0.0.1",
  "127.1",
  "2130706433",
  "0x7f.0.0.1",
  "0.0.0.0",
  "[::1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[2002:7f00:1::]",
  "localhost",
  "sub.localhost",
  hostname(),
];

describe("a connection", () => {
  it.each(HOSTS_OF_THIS_MACHINE)("to %s is refused when it is made", async (host) => {
    const asked = fetch(`http://${host}:${port}/`, { dispatcher: publicOnly });
    const error: unknown = await asked.then(
      () => null,
      ({ cause }: Error) => cause,
    );
    // A name that the resolver does not know leads nowhere, too.
    if (host !== "sub.localhost") expect(error).toBeInstanceOf(AddressRefused);
    expect(connections).toBe(0);
  });

  it("to a private address is refused after a redirect that the client follows itself", async () => {
    // The stand-in for a public site connects by its own agent; the redirect's target does not.
    const site = createServer((_, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
    });
    site.listen(0, "127.0.0.1");
    await once(site, "listening");
    const { port: sitePort } = site.address() as AddressInfo;
    const first = await fetch(`http://127.0.0.1:${sitePort}/`, { redirect: "manual" });
    const target = first.headers.get("location") ?? "";
    await expect(fetch(target, { dispatcher: publicOnly })).rejects.toThrow();
    expect(connections).toBe(0);
    site.close();
  });
});

it("the agent's fetch tool reaches no private address of the operator's allowlist", async () => {
  const sandbox = {
    run: () => Promise.reject(new SandboxError("unavailable", "not used here")),
    readFile: () => Promise.reject(new SandboxError("unavailable", "not used here")),
    writeFile: () => Promise.reject(new SandboxError("unavailable", "not used here")),
  };
  for (const host of ["127.0.0.1", "localhost", hostname()]) {
    const context = {
      sandbox,
      env: {},
      signal: new AbortController().signal,
      runSubagent: () => Promise.reject(new Error("No test runs a subagent here")),
      skills: noSkills,
      searchWeb: noSearch,
      ...noServiceTools,
      images: seenImages,
      serviceOrigin: "http://service",
      judgedRequest: async (_method: string, url: URL) => ({ url, headers: {} }),
      asksForHosts: false,
      addSources: () => {},
      network: [],
      documents: { accountId: "anyone", queue: documentQueue() },
      // The operator's allowlist for the sandbox has no effect here.
      allowedHosts: [`${host}:${port}`],
      reportFault: () => {},
    };
    const answer = await runTool("fetch", { url: `http://${host}:${port}/` }, context);
    expect(answer).toEqual({ error: expect.stringMatching(/^Refused: /) });
  }
  expect(connections).toBe(0);
});

describe("an address", () => {
  it.each([
    ["8.8.8.8", true],
    ["2606:4700::1111", true],
    ["0.0.0.0", false],
    ["0.1.2.3", false],
    ["10.1.2.3", false],
    ["100.64.0.1", false],
    ["127.0.0.1", false],
    ["127.255.255.254", false],
    ["168.63.129.16", false],
    ["169.254.169.254", false],
    ["172.31.255.255", false],
    ["192.0.0.8", false],
    ["192.0.2.1", false],
    ["192.88.99.1", false],
    ["192.168.0.1", false],
    ["198.18.0.1", false],
    ["198.51.100.1", false],
    ["203.0.113.1", false],
    ["224.0.0.1", false],
    ["240.0.0.1", false],
    ["255.255.255.255", false],
    ["::", false],
    ["::1", false],
    ["::127.0.0.1", false],
    ["::ffff:127.0.0.1", false],
    ["::ffff:8.8.8.8", false],
    ["::ffff:169.254.169.254", false],
    ["::ffff:0:169.254.169.254", false],
    ["64:ff9b::a9fe:a9fe", false],
    ["64:ff9b:1::a9fe:a9fe", false],
    ["100::1", false],
    ["2001::1", false],
    ["2001:db8::1", false],
    ["2002:a9fe:a9fe::1", false],
    ["3fff::1", false],
    ["5f00::1", false],
    ["fd00:ec2::254", false],
    ["fe80::1", false],
    ["fec0::1", false],
    ["ff02::1", false],
    ["nonsense", false],
  ])("%s is public: %s", (address, isPublic) => {
    expect(isPublicAddress(address)).toBe(isPublic);
  });
});
