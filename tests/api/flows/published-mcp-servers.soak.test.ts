/**
 * MCP servers of others as npm installs them, and the client scenarios of the protocol's conformance suite. It is a
 * soak test because it asks the registry: `npm run soak -- tests/api/flows/published-mcp-servers.soak.test.ts`.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { http } from "msw";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveHandlers } from "../../support/fakes/vendor-server.ts";
import { serverOf } from "../../support/fixtures/mcp-servers.ts";
import type { Client } from "../../support/harness/clients.ts";
import { installPackages, MAX_OUTPUT_BYTES, run } from "../../support/harness/install-packages.ts";
import { startRun, waitForRun } from "../../support/harness/runs.ts";
import { startWorkspace, type Workspace } from "../../support/harness/workspace.ts";

const packages = {
  "@modelcontextprotocol/conformance": "0.1.16",
  "@modelcontextprotocol/server-everything": "2026.8.31",
  "@modelcontextprotocol/server-filesystem": "2026.8.31",
  "@modelcontextprotocol/server-memory": "2026.8.31",
  "@modelcontextprotocol/server-pdf": "2.0.4",
  "@modelcontextprotocol/server-sequential-thinking": "2026.8.31",
};

let folder: string;
let workspace: Workspace;
let caller: Client;
const opened: { close: () => Promise<unknown> }[] = [];
beforeAll(async () => {
  // An https address, at which authorization servers could read what this service says of itself.
  const env = { PUBLIC_URL: "https://agents.example.com", LOOPBACK_URLS: "mcp" };
  [folder, workspace] = await Promise.all([installPackages(packages), startWorkspace(env)]);
  caller = await workspace.createCaller();
  await mkdir(join(folder, "files"));
  await writeFile(join(folder, "files/nightjar.txt"), "ISRC QZ1234567890");
  await writeFile(join(folder, "drive.mjs"), DRIVER);
  workspace.model.script("published", function* ({ step, tools, userText, toolResults }) {
    const given = /input (.*)$/s.exec(userText)?.[1] ?? "{}";
    const called = tools.filter((name) => name.startsWith("mcp__"));
    const wanted = /tool (\S+)/.exec(userText)?.[1];
    const tool = called.find((name) => wanted === undefined || name.endsWith(`__${wanted}`));
    if (step === 0 && tool) yield { tool, input: JSON.parse(given) };
    else yield { text: `Result: ${toolResults.join(" ")}` };
  });
}, 600_000);
afterAll(async () => {
  await Promise.all(opened.map((each) => each.close()));
  await workspace.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Serves a program that speaks the protocol on its standard streams over HTTP: one process for each session. */
async function bridge(name: string, args: readonly string[], env: Record<string, string> = {}) {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const start = join(folder, "node_modules/@modelcontextprotocol", name, "dist/index.js");
  const server = await serveHandlers([
    http.all("/mcp", async ({ request }) => {
      const known = sessions.get(request.headers.get("mcp-session-id") ?? "");
      if (known) return known.handleRequest(request);
      const given = { command: process.execPath, args: [start, ...args], env };
      const program = new StdioClientTransport({ ...given, cwd: folder, stderr: "ignore" });
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: async (id) => {
          sessions.set(id, transport);
          opened.push(program);
          await program.start();
        },
        onsessionclosed: (id) => {
          sessions.delete(id);
          return program.close();
        },
      });
      transport.onmessage = (message) => void program.send(message);
      program.onmessage = (message) => void transport.send(message);
      await transport.start();
      return transport.handleRequest(request);
    }),
  ]);
  opened.push(server);
  return `${server.origin}/mcp`;
}

const CASES: [server: string, args: string[], tool: string, input: object, result: RegExp][] = [
  ["server-everything", ["stdio"], "echo", { message: "Nightjar" }, /Echo: Nightjar/],
  ["server-everything", ["stdio"], "get-tiny-image", {}, /\.results\/image-[0-9a-f]{16}\.png/],
  ["server-filesystem", ["files"], "read_text_file", { path: "nightjar.txt" }, /ISRC QZ1234567890/],
  [
    "server-memory",
    [],
    "create_entities",
    { entities: [{ name: "Nightjar", entityType: "artist", observations: ["Berlin"] }] },
    /Berlin/,
  ],
  [
    "server-sequential-thinking",
    [],
    "sequentialthinking",
    { thought: "Which store?", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    /"thoughtHistoryLength": ?1/,
  ],
  ["server-pdf", ["--stdio"], "list_pdfs", {}, /pdf/i],
];

describe("a published server", () => {
  it.each(CASES)("%s %j is called as a tool: %s", async (server, args, tool, input, result) => {
    const env = { MEMORY_FILE_PATH: join(folder, `${randomUUID()}.jsonl`) };
    const url = await bridge(server, args, env);
    const name = `s-${randomUUID().slice(0, 8)}`;
    const added = serverOf(await caller.post("/api/mcp-servers", { name, url }));
    expect(added.refresh_error).toBeNull();
    expect(added.tools.filter(({ fault }) => fault !== null)).toEqual([]);
    const started = await startRun(caller, {
      prompt: `[script:published] tool ${tool} input ${JSON.stringify(input)}`,
      model: "fake-vision",
      mcp_servers: [name],
      approvals: { mcp: "auto" },
    });
    expect(await waitForRun(caller, started)).toMatchObject({ status: "completed" });
    const last = workspace.model.calls.at(-1);
    expect(last?.toolResults[0]).toMatch(result);
    const isShown = JSON.stringify(last?.messages.at(-1)).includes("data:image/png;base64,");
    expect(isShown).toBe(tool === "get-tiny-image");
  });
});

/** Adds the server that it is given, connects it as a person would, and lets an agent call a tool. */
const DRIVER = `
const [, , url] = process.argv;
const { API, KEY, MCP_CONFORMANCE_SCENARIO: scenario } = process.env;
const headers = { "x-api-key": KEY, "content-type": "application/json" };
async function post(path, body = {}) {
  const response = await fetch(API + path, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = await response.json();
  console.log(path, response.status, JSON.stringify(answer));
  return answer;
}
const name = "c-" + crypto.randomUUID().slice(0, 8);
const type = scenario.startsWith("auth/") ? "oauth" : "none";
const { server } = await post("/api/mcp-servers", { name, url, auth: { type } });
async function connect() {
  const page = await post("/api/mcp-servers/" + server.id + "/authorize");
  if (!page.url) return;
  const { headers: led } = await fetch(page.url, { redirect: "manual" });
  const { searchParams } = new URL(led.get("location"));
  await post("/api/mcp-servers/authorizations", Object.fromEntries(searchParams));
}
if (type === "oauth") await connect();
async function runOnce() {
  const prompt = '[script:published] input {"a":2,"b":3}';
  const run = { prompt, mcp_servers: [name], approvals: { mcp: "auto" } };
  const { runId } = await post("/api/chat/runs", run);
  for (;;) {
    const read = await (await fetch(API + "/api/chat/runs/" + runId, { headers })).json();
    if (!["queued", "running"].includes(read.status)) return console.log(JSON.stringify(read));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
await runOnce();
if (scenario === "auth/scope-step-up") {
  // The tool needs more than the person has agreed to: the account connects the server again.
  await connect();
  await runOnce();
}
`;

/**
 * Of the client scenarios, those with what this service does: no elicitation, and no clients that are known before.
 * Left out is `2025-03-26-oauth-metadata-backcompat`, whose metadata names another issuer than RFC 8414 allows.
 */
const SCENARIOS = [
  "initialize",
  "tools_call",
  "sse-retry",
  "auth/metadata-default",
  "auth/metadata-var1",
  "auth/metadata-var2",
  "auth/metadata-var3",
  "auth/basic-cimd",
  "auth/scope-from-www-authenticate",
  "auth/scope-from-scopes-supported",
  "auth/scope-omitted-when-undefined",
  "auth/scope-step-up",
  "auth/scope-retry-limit",
  "auth/token-endpoint-auth-basic",
  "auth/token-endpoint-auth-post",
  "auth/token-endpoint-auth-none",
  "auth/2025-03-26-oauth-endpoint-fallback",
  "auth/resource-mismatch",
  "auth/offline-access-scope",
  "auth/offline-access-not-supported",
];

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

it.each(SCENARIOS)("passes the conformance scenario %s", async (scenario) => {
  const bin = join(folder, "node_modules/.bin/conformance");
  const results = join(folder, "results", randomUUID());
  const key = await workspace.createKey();
  const args = ["client", "--command", `"${process.execPath}" drive.mjs`, "--scenario", scenario];
  const { stdout } = await run(process.execPath, [bin, ...args, "--output-dir", results], {
    cwd: folder,
    env: {
      NODE_ENV: "production",
      PATH: dirname(process.execPath),
      API: workspace.server.url,
      KEY: key,
    },
    maxBuffer: MAX_OUTPUT_BYTES,
  }).catch((error: unknown) => Object(error));
  const files = await run("find", [results, "-name", "checks.json"]);
  const checks: Check[] = JSON.parse(await readFile(files.stdout.trim(), "utf8"));
  const failed = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  const expected = scenario === "auth/basic-cimd" ? ["cimd-client-id-used"] : [];
  expect(failed.map(({ id }) => id).toSorted(), stdout).toEqual(expected);
  if (scenario === "auth/basic-cimd") {
    // The suite expects its own client; this service is one with its own document.
    const own = "https://agents.example.com/api/mcp-servers/client-metadata";
    expect(failed[0]?.details).toMatchObject({ actualClientId: own });
  }
});
