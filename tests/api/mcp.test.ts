/** The MCP server, as the protocol's official client sees it over HTTP. */
import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationOptions,
} from "@modelcontextprotocol/client";
import { addressOf } from "@platform/endpoint/openapi/curl";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { toolOperations } from "../../lib/openapi/describe-tools.ts";
import { rows } from "../security/rows.ts";
import { writeSandboxFile } from "../support/fixtures/sessions.ts";
import { expectErrorShape, nameOf } from "../support/fixtures/shapes.ts";
import { client, createPerson, type Person, unknownKey } from "../support/harness/clients.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";
import { stack } from "../support/harness/stack.ts";

type Headers = Readonly<Record<string, string>>;

const connected: Client[] = [];
async function connect(headers: Headers, mode: VersionNegotiationOptions["mode"] = "auto") {
  const made = new Client(
    { name: "tests", version: "1.0.0" },
    { versionNegotiation: { mode: mode ?? "auto" } },
  );
  const url = new URL("/api/mcp", stack.url);
  await made.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  connected.push(made);
  return made;
}

const textBlock = z.object({ type: z.literal("text"), text: z.string() });
/** Calls a tool; its result has one text. */
async function call(by: Client, name: string, input: Record<string, unknown>) {
  const { content, isError } = await by.callTool({ name, arguments: input });
  const [block] = z.tuple([textBlock]).parse(content);
  return { text: block.text, isError };
}

let owner: Person;
let stranger: Person;
let run: Awaited<ReturnType<typeof createRunCredential>>;
let byOwner: Client;
let byStranger: Client;
let byRun: Client;
beforeAll(async () => {
  [owner, stranger] = await Promise.all([createPerson(), createPerson()]);
  run = await createRunCredential(owner.id, "bearer");
  [byOwner, byStranger, byRun] = await Promise.all([
    connect(owner.withKey.headers),
    connect(stranger.withKey.headers),
    connect(run.headers),
  ]);
});
afterAll(() => Promise.all(connected.map((one) => one.close())));

const namesOf = (tools: readonly { readonly name: string }[]) =>
  tools.map(({ name }) => name).sort();

describe("tools/list", () => {
  it.each(["auto", "legacy"] as const)("names every tool, in the %s protocol", async (mode) => {
    const { tools } = await (await connect(owner.withBearer.headers, mode)).listTools();
    expect(namesOf(tools)).toEqual(toolOperations.map(({ id }) => id).sort());
    for (const { name, description, inputSchema } of tools) {
      expect(description, name).toMatch(/\S/);
      expect(inputSchema.type, name).toBe("object");
      expect(JSON.stringify(inputSchema), name).not.toContain("$ref");
    }
  });

  it("names the operations of its credential to a run", async () => {
    const { tools } = await byRun.listTools();
    const allowed = toolOperations.filter(({ contract }) => contract.runCredential !== undefined);
    expect(namesOf(tools)).toEqual(allowed.map(({ id }) => id).sort());
  });

  it("has the arguments of its endpoint, each name once", () => {
    for (const { id, contract } of toolOperations) {
      const shapes = [contract.params, contract.query, contract.body].map((schema) =>
        schema instanceof z.ZodObject ? Object.keys(schema.shape) : [],
      );
      const names = shapes.flat();
      expect(new Set(names).size, id).toBe(names.length);
      // A body of another kind than an object has no names for its fields.
      expect(contract.body === undefined || contract.body instanceof z.ZodObject, id).toBe(true);
    }
  });
});

describe("tools/call", () => {
  it.each(toolOperations.map(({ id, contract }) => [id, contract] as const))(
    "%s: answers as its endpoint does, and refuses whom that refuses",
    async (id, contract) => {
      const row = rows[nameOf(contract)];
      if (!row) throw new Error(`${nameOf(contract)} has no row in tests/security/rows.ts`);
      const ids = await row.arrange(owner, run);
      const query = row.query?.(ids) ?? {};
      const inPath = Object.keys(ids).filter((name) => contract.path.includes(`{${name}}`));
      const params = Object.fromEntries(inPath.map((name) => [name, ids[name]]));
      const input = { ...params, ...query, ...row.body?.(ids) };
      const overHttp = (by: Person) =>
        client(null, stack.url).request(
          contract.method,
          addressOf(contract, { params: ids, query }),
          { headers: by.withKey.headers, body: row.body?.(ids) },
        );

      const mistyped = await call(byOwner, id, { ...input, zz_unknown: 1 });
      expect(mistyped.isError, mistyped.text).toBe(true);
      expect(mistyped.text).toContain("zz_unknown is not a known");

      if (contract.runCredential === undefined) {
        const refused = await call(byRun, id, input);
        expect(refused.isError).toBe(true);
        expect(refused.text).toContain("This credential cannot be used here");
      }
      if (contract.method === "GET") {
        for (const [by, person] of [
          [byStranger, stranger],
          [byOwner, owner],
        ] as const) {
          // A run that has just been started changes between the two.
          await vi.waitFor(async () => {
            const [result, answer] = [await call(by, id, input), await overHttp(person)];
            expect(result.isError).toBe(answer.status >= 400);
            expect(result.text).toBe(answer.text);
          }, 60_000);
        }
      } else {
        const result = await call(byOwner, id, input);
        // Its row is a request that lacks an image.
        expect(result.isError, result.text).toBe(id === "createVideo");
      }
    },
  );

  it("starts a turn, whose run can be read until it has ended", async () => {
    const { sessionId = "", chatId = "" } =
      (await rows["POST /api/chat"]?.arrange(owner, run)) ?? {};
    const messages = [{ id: "m1", content: "Write hello to hello.txt" }];
    const started = await call(byOwner, "startTurn", { sessionId, chatId, messages });
    const { runId } = z.object({ runId: z.string() }).parse(JSON.parse(started.text));
    await expect
      .poll(async () => (await call(byOwner, "getRun", { runId })).text)
      .toContain('"completed"');
    const file = await call(byOwner, "readSandboxFile", { sessionId, path: "hello.txt" });
    expect(file.text).toContain("hello");
  });

  it("gives bytes as a resource, and none beyond what a model has use for", async () => {
    const ids = (await rows["GET /api/sandbox/files/content"]?.arrange(owner, run)) ?? {};
    const { sessionId = "" } = ids;
    await writeSandboxFile(sessionId, "cover.png", "\0PNG");
    await writeSandboxFile(sessionId, "large.txt", "a".repeat(1024 * 1024 + 1));
    const { content } = await byOwner.callTool({
      name: "readSandboxFile",
      arguments: { sessionId, path: "cover.png" },
    });
    const blob = Buffer.from("\0PNG").toString("base64");
    expect(content).toMatchObject([{ type: "resource", resource: { blob } }]);
    const large = await call(byOwner, "readSandboxFile", { sessionId, path: "large.txt" });
    expect(large).toEqual({
      isError: true,
      text: "The answer is larger than 1048576 bytes: read it over HTTP",
    });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["getSession", {}, "sessionId"],
    ["getSession", { sessionId: "../keys" }, "sessionId must be a valid UUID"],
    ["getSession", { sessionId: { toString: "x" } }, "sessionId must be a valid UUID"],
    ["getRun", { runId: "../../keys" }, "Run not found"],
    ["listSessions", { limit: 1e9 }, "limit must be at most 100"],
    ["searchCatalog", { q: "a&type=album", type: "x" }, "type must be"],
    ["updateChat", { sessionId: null, chatId: [] }, "sessionId"],
    ["listSessions", { limt: 5 }, "limt is not a known parameter: did you mean limit?"],
    ["startRun", { prompt: "hello", limits: { steps: 1 } }, "limits.steps is not a known field"],
    ["createSession", { title: "a".repeat(1_100_000) }, "Request body too large"],
  ])("refuses as its endpoint would: %s %j", async (name, input, sentence) => {
    const { isError, text } = await call(byOwner, name, input);
    expect(text).toContain(sentence);
    expect(isError).toBe(true);
  });

  it.each(["deleteSession", "createKey", "callMcp", "__proto__", "constructor", ""])(
    "knows no tool %j",
    async (name) => {
      await expect(byOwner.callTool({ name, arguments: {} })).rejects.toThrow("Unknown tool");
    },
  );
});

describe("what is no message", () => {
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  it.each<[string, unknown]>([
    ["an empty batch", []],
    ["a batch that opens a connection", [ping, { ...ping, method: "initialize" }]],
    ["an array of a thousand calls", Array(1_000).fill(ping)],
    ["another protocol", { ...ping, jsonrpc: "1.0" }],
    ["no method", { jsonrpc: "2.0", id: 1 }],
    ["a list as parameters", { ...ping, params: [] }],
    ["an endless id", { ...ping, id: "1".repeat(257) }],
  ])("%s is 400", async (_, message) => {
    const answer = await owner.withKey.post("/api/mcp", message);
    expect(answer.status).toBe(400);
    expectErrorShape(answer, "rpc");
  });

  it("a revision that there is not is 400 with those that there are", async () => {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2099-01-01",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const message = { ...ping, method: "tools/list", params: { _meta: meta } };
    const headers = { "mcp-protocol-version": "2099-01-01", "mcp-method": "tools/list" };
    const answer = await owner.withKey.post("/api/mcp", message, { headers });
    expect(answer.status, answer.text).toBe(400);
    expect(answer.headers.get("x-error-code")).toBe("invalid_request");
    expect(answer.body).toMatchObject({ jsonrpc: "2.0", error: { data: expect.anything() } });
  });

  it("a batch is answered in the last revision that has them", async () => {
    const list = { ...ping, id: 2, method: "tools/list" };
    const note = { jsonrpc: "2.0", method: "notifications/initialized" };
    const unknown = { ...ping, id: "3", method: "tools/drop" };
    const answer = await owner.withKey.post("/api/mcp", [ping, note, list, unknown]);
    expect(answer.status, answer.text).toBe(200);
    const results = [...answer.text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) =>
      JSON.parse(data),
    );
    expect(results).toMatchObject([
      { id: 1, result: {} },
      { id: 2, result: { tools: expect.any(Array) } },
      { id: "3", error: { code: -32601 } },
    ]);
    expect((await owner.withKey.post("/api/mcp", [note, note])).status).toBe(202);
    const headers = { "mcp-protocol-version": "2025-06-18" };
    const later = await owner.withKey.post("/api/mcp", [ping], { headers });
    expect(later.status).toBe(400);
    expectErrorShape(later, "rpc");
  });

  it("an unknown method is an error of the protocol", async () => {
    const answer = await owner.withKey.post("/api/mcp", { ...ping, method: "tools/drop" });
    expect(answer.text).toContain("-32601");
  });

  it("no session is opened, listened to or ended", async () => {
    for (const method of ["GET", "DELETE"]) {
      expect((await owner.withKey.request(method, "/api/mcp")).status).toBe(405);
    }
  });
});

describe("who is nobody", () => {
  it.each<[string, Headers]>([
    ["no credential", {}],
    ["an unknown key", { "x-api-key": unknownKey() }],
  ])("%s cannot connect", async (_, headers) => {
    await expect(connect(headers)).rejects.toThrow();
    const answer = await client().request("POST", "/api/mcp", {
      headers,
      body: { jsonrpc: "2.0", id: 1, method: "tools/list" },
    });
    expect(answer.status).toBe(401);
    expectErrorShape(answer, "rpc");
    expect(answer.headers.get("www-authenticate")).toBeTruthy();
  });
});
