/**
 * The scenarios of the Model Context Protocol's conformance suite, with this service as the client or as the server. npm
 * installs the suite: `npm run soak -- tests/api/flows/mcp-conformance.soak.test.ts`.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { request as ask, createServer } from "node:http";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { installPackages, MAX_OUTPUT_BYTES, run } from "../../support/harness/install-packages.ts";
import { startWorkspace, type Workspace } from "../../support/harness/workspace.ts";

const SUITE = "@modelcontextprotocol/conformance";

let folder: string;
let workspace: Workspace;
beforeAll(async () => {
  // An https address, which authorization servers could fetch for the service's client metadata.
  const env = { PUBLIC_URL: "https://agents.example.com", LOOPBACK_URLS: "mcp" };
  [folder, workspace] = await Promise.all([
    installPackages({ [SUITE]: "0.1.16" }),
    startWorkspace(env),
  ]);
  await writeFile(join(folder, "drive.mjs"), DRIVER);
  workspace.model.script("conformance", function* ({ step, tools, userText, toolResults }) {
    const tool = tools.find((name) => name.startsWith("mcp__"));
    const input = JSON.parse(/input (.*)$/s.exec(userText)?.[1] ?? "{}");
    if (step === 0 && tool) yield { tool, input };
    else yield { text: `Result: ${toolResults.join(" ")}` };
  });
}, 600_000);
afterAll(async () => {
  await workspace?.stop();
  await rm(folder, { recursive: true, force: true });
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
  const prompt = '[script:conformance] input {"a":2,"b":3}';
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
 * The client scenarios of supported features: no elicitation, and no pre-registered clients.
 * `2025-03-26-oauth-metadata-backcompat` is left out, because its metadata names another issuer
 * than RFC 8414 allows.
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

/** Runs a program of the suite, and returns its output and its checks. */
async function runSuite(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const results = join(folder, "results", randomUUID());
  const program = join(folder, "node_modules", SUITE, "dist/index.js");
  const { stdout } = await run(process.execPath, [program, ...args, "--output-dir", results], {
    cwd: folder,
    env: { NODE_ENV: "production", PATH: dirname(process.execPath), ...env },
    maxBuffer: MAX_OUTPUT_BYTES,
  }).catch((error: unknown) => Object(error));
  const files = await readdir(results, { recursive: true });
  const found = files.find((file) => basename(file) === "checks.json") ?? "";
  const checks: Check[] = JSON.parse(await readFile(join(results, found), "utf8"));
  const failed = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  return { stdout, checks, failed };
}

it.each(SCENARIOS)("passes the conformance scenario %s", async (scenario) => {
  const key = await workspace.createKey();
  const args = ["client", "--command", `"${process.execPath}" drive.mjs`, "--scenario", scenario];
  const { stdout, failed } = await runSuite(args, { API: workspace.server.url, KEY: key });
  const expected = scenario === "auth/basic-cimd" ? ["cimd-client-id-used"] : [];
  expect(failed.map(({ id }) => id).toSorted(), stdout).toEqual(expected);
  if (scenario === "auth/basic-cimd") {
    // The suite expects its own client; this service is one with its own document.
    const own = "https://agents.example.com/api/mcp-servers/client-metadata";
    expect(failed[0]?.details).toMatchObject({ actualClientId: own });
  }
});

/**
 * The server scenarios of supported methods. Most others call the tools, prompts and resources of
 * the suite's server. `dns-rebinding-protection` is for servers that trust every client, and this
 * one requires a key; the stream scenarios are for servers with sessions.
 */
const SERVER_SCENARIOS = ["server-initialize", "ping", "tools-list"];

it.each(SERVER_SCENARIOS)("passes the conformance scenario %s as a server", async (scenario) => {
  const key = await workspace.createKey();
  // The suite sends no credentials.
  const proxy = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const { host: _, ...sent } = headers;
    const target = ask(new URL(url ?? "", workspace.server.url), {
      method,
      headers: { ...sent, "x-api-key": key },
    });
    target.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(target);
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  try {
    const url = `http://127.0.0.1:${Object(proxy.address()).port}/api/mcp`;
    const args = ["server", "--url", url, "--scenario", scenario];
    const { stdout, checks, failed } = await runSuite(args);
    expect(failed, stdout).toEqual([]);
    expect(checks.filter(({ status }) => status === "SUCCESS")).not.toEqual([]);
  } finally {
    proxy.close();
  }
});
