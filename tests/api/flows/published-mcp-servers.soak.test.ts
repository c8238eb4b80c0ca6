/**
 * MCP servers of others as npm installs them. It is a soak test because it asks the registry:
 * `npm run soak -- tests/api/flows/published-mcp-servers.soak.test.ts`.
 */
import { randomUUID } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { http } from "msw";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveHandlers } from "../../support/fakes/vendor-server.ts";
import { serverOf } from "../../support/fixtures/mcp-servers.ts";
import type { Client } from "../../support/harness/clients.ts";
import { installPackages } from "../../support/harness/install-packages.ts";
import { startRun, waitForRun } from "../../support/harness/runs.ts";
import { startWorkspace, type Workspace } from "../../support/harness/workspace.ts";

const packages = {
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
  const env = { LOOPBACK_URLS: "mcp" };
  [folder, workspace] = await Promise.all([installPackages(packages), startWorkspace(env)]);
  caller = await workspace.createCaller();
  await mkdir(join(folder, "files"));
  await writeFile(join(folder, "files/nightjar.txt"), "ISRC QZ1234567890");
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
