import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asSchema } from "ai";
import { Agent, buildConnector } from "undici";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createEmbeddedModel } from "@/lib/agent/models/adapters/embedded/create-embedded-model.ts";
import { createFetchTool } from "@/lib/agent/tools/fetch.ts";
import { runTool, type ToolContext, toolSchemas } from "@/lib/agent/tools/index.ts";
import { QueueRefusal } from "@/lib/platform/fair-queue.ts";
import { connectPublic } from "@/lib/platform/outbound/public-only.ts";
import { createLocalProvider } from "@/lib/sandbox/adapters/local/provider.ts";
import type { Sandbox, SandboxProvider, SandboxState } from "@/lib/sandbox/port.ts";

const TOKEN = "ap_0123456789abcdefghijABCDEFGHIJ";
const account = randomUUID();
let root: string;
let provider: SandboxProvider;
let state: SandboxState;
let sandbox: Sandbox;
const faults: unknown[] = [];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "agent-tools-"));
  provider = createLocalProvider({ rootDir: root, diskQuota: 64 * 1024 * 1024, allowedHosts: [] });
  state = await provider.provision(randomUUID(), account);
  sandbox = provider.open(state, account);
});
afterAll(async () => {
  await provider.destroy(state);
  await rm(root, { recursive: true, force: true });
});

const context = (more: Partial<ToolContext> = {}): ToolContext => ({
  sandbox,
  env: { AGENT_API_URL: "http://service", AGENT_API_AUTH_HEADER: `x-api-key: ${TOKEN}` },
  signal: new AbortController().signal,
  model: createEmbeddedModel(),
  serviceOrigin: "http://service",
  reportFault: (_, error) => faults.push(error),
  ...more,
});
const run = (name: string, input: unknown, more?: Partial<ToolContext>) =>
  runTool(name, input, context(more));

describe("the set", () => {
  const names = "bash read write grep glob todo task skill fetch".split(" ");

  test("has the ten names, none with execute, each input an object schema", async () => {
    const tools = toolSchemas({ headless: false });
    expect(Object.keys(tools).sort()).toEqual([...names, "ask_user_question"].sort());
    for (const tool of Object.values(tools)) {
      expect(tool.execute).toBeUndefined();
      expect(tool.description).toBeTruthy();
      expect((await asSchema(tool.inputSchema).jsonSchema).type).toBe("object");
    }
  });

  test("cannot ask where nobody is there to answer", () => {
    expect(Object.keys(toolSchemas({ headless: true })).sort()).toEqual([...names].sort());
  });

  test.each(names)("%s answers malformed input with an error", async (name) => {
    for (const input of [undefined, null, 1, "x", [], {}, { command: 1, filePath: null }]) {
      expect(await run(name, input)).toEqual({ error: expect.stringMatching(/^Invalid input: /) });
    }
  });

  test("an unknown tool, and one that only the client answers, are errors", async () => {
    for (const name of ["nope", "ask_user_question", "__proto__", "constructor"]) {
      expect(await run(name, {})).toEqual({ error: "There is no such tool" });
    }
  });
});

describe("bash", () => {
  test("gives exit code, stdout and stderr", async () => {
    expect(await run("bash", { command: "echo out; echo err >&2; exit 3" })).toEqual({
      exitCode: 3,
      stdout: "out\n",
      stderr: "err\n",
      truncated: false,
    });
  });

  test("cuts a flood at 50,000 characters and says so", async () => {
    const result = await run("bash", { command: "seq 1 50000" });
    expect(result).toMatchObject({ exitCode: 0, truncated: true });
    expect(String(Object(result).stdout)).toHaveLength(50_000);
  });

  test("has the service's address in its environment", async () => {
    const result = await run("bash", { command: "echo $AGENT_API_URL" });
    expect(result).toMatchObject({ stdout: "http://service\n" });
  });

  test("a credential that a command prints does not come back", async () => {
    const commands = [
      "env",
      'echo "$AGENT_API_AUTH_HEADER" > leak; cat leak',
      "echo $AGENT_API_AUTH_HEADER | cut -d ' ' -f 2",
    ];
    for (const command of commands) {
      expect(JSON.stringify(await run("bash", { command }))).not.toContain(TOKEN);
    }
    expect(JSON.stringify(await run("read", { filePath: "leak" }))).not.toContain(TOKEN);
  });

  test("gives back what PostgreSQL can store", async () => {
    const result = await run("bash", { command: "printf 'a\\000b'" });
    expect(JSON.stringify(result)).not.toContain("\\u0000");
  });

  test("ends with the turn", async () => {
    const controller = new AbortController();
    const running = run("bash", { command: "sleep 60" }, { signal: controller.signal });
    controller.abort();
    expect(await running).toEqual({ error: "Stopped before it finished" });
    expect(await run("bash", { command: "true" }, { signal: controller.signal })).toHaveProperty(
      "error",
    );
  });
});

describe("read and write", () => {
  test("what was written is read, as a whole and by lines", async () => {
    const content = "one\ntwo\nthree\n";
    expect(await run("write", { filePath: "dir/a.txt", content })).toEqual({
      filePath: "dir/a.txt",
      bytes: 14,
      lines: 3,
    });
    const whole = {
      filePath: "dir/a.txt",
      content,
      startLine: 1,
      endLine: 3,
      totalLines: 3,
      truncated: false,
    };
    expect(await run("read", { filePath: "dir/a.txt" })).toEqual(whole);
    expect(await run("read", { filePath: "dir/a.txt", offset: 2, limit: 1 })).toEqual({
      ...whole,
      content: "two\n",
      startLine: 2,
      endLine: 2,
      truncated: true,
    });
  });

  test("an empty file has no lines", async () => {
    await run("write", { filePath: "empty", content: "" });
    expect(await run("read", { filePath: "empty" })).toMatchObject({
      content: "",
      totalLines: 0,
      endLine: 0,
    });
  });

  test("a long file is cut, and says so", async () => {
    await run("write", { filePath: "long", content: "ab\n".repeat(30_000) });
    const result = Object(await run("read", { filePath: "long" }));
    expect(result.content).toHaveLength(50_000);
    expect(result).toMatchObject({ truncated: true, totalLines: 30_000, endLine: 16_667 });
  });

  test("a binary file is refused", async () => {
    await sandbox.writeFile("bin", new Uint8Array([1, 0, 255]));
    await sandbox.writeFile("latin", new Uint8Array([0xe9, 0x20]));
    for (const filePath of ["bin", "latin"]) {
      expect(await run("read", { filePath })).toEqual({ error: expect.stringContaining("binary") });
    }
  });

  test("a missing file and a path outside are answers", async () => {
    expect(await run("read", { filePath: "nope" })).toEqual({
      error: "No such file in the sandbox",
    });
    for (const filePath of ["../../../etc/passwd", "/etc/passwd", "dir", "dir/../.."]) {
      expect(await run("read", { filePath })).toHaveProperty("error");
    }
    expect(await run("write", { filePath: "/etc/x", content: "" })).toHaveProperty("error");
    expect(faults).toEqual([]);
  });
});

describe("grep and glob", () => {
  beforeAll(async () => {
    const files = {
      "tree/a.md": "# Title\nhello World 42\n",
      "tree/b.ts": "const hello = 1;\n",
      "tree/c.tsx": "hello\n",
      "tree/sub/deep/d.md": "say hello: 7:8\n",
      "tree/node_modules/e.md": "hello\n",
      "tree/it's a file.md": "hello\n",
      "tree/-dash.md": "hello\n",
    };
    for (const [path, content] of Object.entries(files)) await sandbox.writeFile(path, content);
  });
  const filesOf = (result: unknown): string[] =>
    Object(result)
      .matches.map((match: { file: string }) => match.file)
      .sort();

  test("finds lines by regular expression, below a folder", async () => {
    expect(await run("grep", { pattern: "\\w+ \\d{2}$", path: "tree" })).toEqual({
      matches: [{ file: "tree/a.md", line: 2, text: "hello World 42" }],
      truncated: false,
    });
    expect(filesOf(await run("grep", { pattern: "hello", path: "tree" }))).toEqual([
      "tree/-dash.md",
      "tree/a.md",
      "tree/b.ts",
      "tree/c.tsx",
      "tree/it's a file.md",
      "tree/sub/deep/d.md",
    ]);
  });

  test("filters by file name, and by case", async () => {
    expect(
      filesOf(await run("grep", { pattern: "hello", path: "tree", glob: "*.{ts,tsx}" })),
    ).toEqual(["tree/b.ts", "tree/c.tsx"]);
    expect(filesOf(await run("grep", { pattern: "hello", path: "tree", glob: "**/*.ts" }))).toEqual(
      ["tree/b.ts"],
    );
    expect(await run("grep", { pattern: "WORLD", path: "tree" })).toMatchObject({ matches: [] });
    expect(
      filesOf(await run("grep", { pattern: "WORLD", path: "tree", caseSensitive: false })),
    ).toEqual(["tree/a.md"]);
  });

  test("searches a single file, whatever its name", async () => {
    for (const path of ["tree/it's a file.md", "./tree/-dash.md"]) {
      expect(filesOf(await run("grep", { pattern: "hello", path }))).toHaveLength(1);
    }
    expect(await run("grep", { pattern: "say", path: "tree/sub" })).toMatchObject({
      matches: [{ line: 1, text: "say hello: 7:8" }],
    });
  });

  test("nothing in pattern, path or glob is run as a command", async () => {
    for (const evil of [
      "'; touch pwned; '",
      "$(touch pwned)",
      "`touch pwned`",
      "a\ntouch pwned",
      "--file=/etc/passwd",
      "-rf",
    ]) {
      await run("grep", { pattern: evil, path: evil, glob: evil });
      await run("glob", { pattern: evil, path: evil });
      await run("grep", { pattern: evil, path: "tree" });
      await run("glob", { pattern: evil, path: "tree" });
      await run("skill", { skill: evil, args: evil });
    }
    expect(await run("glob", { pattern: "**/pwned*" })).toEqual({ files: [], truncated: false });
  });

  test("a wrong pattern and a missing path are answers", async () => {
    expect(await run("grep", { pattern: "(", path: "tree" })).toHaveProperty("error");
    expect(await run("grep", { pattern: "x", path: "nope" })).toEqual({
      error: "nope does not exist",
    });
    expect(await run("glob", { pattern: "*", path: "nope" })).toEqual({
      error: "nope is not a folder",
    });
    expect(await run("grep", { pattern: "x", glob: "src/*.ts" })).toHaveProperty("error");
  });

  test.each<[string, string[]]>([
    ["*.md", ["-dash.md", "a.md", "it's a file.md"]],
    ["**/*.md", ["-dash.md", "a.md", "it's a file.md", "sub/deep/d.md"]],
    ["sub/**", ["sub/deep/d.md"]],
    ["*.{ts,tsx}", ["b.ts", "c.tsx"]],
    ["[ab].*", ["a.md", "b.ts"]],
    ["[!a].md", []],
    ["?.ts", ["b.ts"]],
    ["a.md", ["a.md"]],
    ["a*md", ["a.md"]],
    ["a+md", []],
    ["{a,b", []],
  ])("glob %s", async (pattern, expected) => {
    const files = expected.map((file) => `tree/${file}`);
    expect(await run("glob", { pattern, path: "tree" })).toEqual({ files, truncated: false });
  });

  test("glob stops at its limit, and says so", async () => {
    expect(await run("glob", { pattern: "**/*.md", path: "tree", limit: 2 })).toEqual({
      files: ["tree/-dash.md", "tree/a.md"],
      truncated: true,
    });
  });
});

test("todo gives the list back", async () => {
  const todos = [{ id: "1", content: "a", status: "pending" }];
  expect(await run("todo", { todos })).toEqual({ todos });
});

describe("skill", () => {
  beforeAll(async () => {
    await sandbox.writeFile(
      ".skills/kit/SKILL.md",
      '---\nname: press-kit\ndescription: "Makes a kit: quick"\n---\nMake a kit for $ARGUMENTS ($1).\n',
    );
    await sandbox.writeFile("skills/plain/SKILL.md", "Do it.\n");
    await sandbox.writeFile(".claude/skills/odd/SKILL.md", "---\n: [\n---\nOdd.\n");
  });

  test("lists what there is, also without front matter", async () => {
    const list = Object(await run("skill", { skill: "list" }));
    expect(list.skills).toEqual([
      { name: "odd", description: "", path: ".claude/skills/odd/SKILL.md" },
      { name: "press-kit", description: "Makes a kit: quick", path: ".skills/kit/SKILL.md" },
      { name: "plain", description: "", path: "skills/plain/SKILL.md" },
    ]);
  });

  test("loads one, with its arguments in place or at the end", async () => {
    expect(await run("skill", { skill: "press-kit", args: "Nova Drift" })).toEqual({
      skill: "press-kit",
      path: ".skills/kit/SKILL.md",
      instructions: "Make a kit for Nova Drift (Nova).\n",
    });
    expect(await run("skill", { skill: "plain", args: "x" })).toMatchObject({
      instructions: "Do it.\n\nARGUMENTS: x\n",
    });
  });

  test("an unknown one is an error that names the others", async () => {
    expect(await run("skill", { skill: "nope" })).toEqual({
      error: expect.stringContaining("press-kit"),
    });
  });
});

const refuse = () => Promise.reject(new QueueRefusal("timeout"));

describe("task", () => {
  test("a subagent works in the same sandbox and reports", async () => {
    const instructions = 'write "from below" to sub.txt, then run `cat sub.txt`';
    const result = Object(await run("task", { task: "try it", instructions }));
    expect(result.steps).toBe(3);
    expect(result.result).toContain("from below");
    expect(await run("read", { filePath: "sub.txt" })).toMatchObject({ content: "from below" });
  });

  test("it has no tools beyond files and commands", async () => {
    const result = await run("task", { task: "nest", instructions: "delegate: run `ls`" });
    expect(result).toMatchObject({ steps: 1, result: expect.stringContaining("does not have it") });
  });

  test("it ends after 30 steps, and with the turn", async () => {
    const instructions = Array.from({ length: 40 }, (_, n) => `run \`echo ${n}\``).join("\n");
    expect(await run("task", { task: "long", instructions })).toMatchObject({ steps: 30 });
    const controller = new AbortController();
    const running = run(
      "task",
      { task: "x", instructions: "run `sleep 60`" },
      { signal: controller.signal },
    );
    controller.abort();
    expect(await running).toEqual({ error: "Stopped before it finished" });
  });

  test("a model that is busy with other work of the account is said to be", async () => {
    const busy = { ...createEmbeddedModel(), doGenerate: refuse };
    faults.length = 0;
    expect(await run("task", { task: "x", instructions: "y" }, { model: busy })).toEqual({
      error: "Too many model calls of this account are running. Try again later",
    });
    expect(faults).toEqual([]);
  });

  test("a model that fails is a fixed text, and is reported", async () => {
    const broken = {
      ...createEmbeddedModel(),
      doGenerate: () => Promise.reject(new Error("provider secret")),
    };
    faults.length = 0;
    expect(await run("task", { task: "x", instructions: "y" }, { model: broken })).toEqual({
      error: "The subagent failed",
    });
    expect(faults).toEqual([expect.objectContaining({ message: "provider secret" })]);
  });
});

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

    test("is not reached by a redirect from elsewhere that it led to itself", async () => {
      const back = `${site}/?to=${encodeURIComponent(`${service}/api/keys`)}`;
      const url = `${service}/api/x?to=${encodeURIComponent(back)}`;
      expect(await fetchWith({ url }, own())).toHaveProperty("error");
      expect(seen.map((request) => request.headers.host)).toEqual([hostOf(service), hostOf(site)]);
    });

    test("its credential goes nowhere else by redirect", async () => {
      await fetchWith(
        { url: `${service}/api/x?to=${encodeURIComponent(site)}`, headers: { "x-secret": "1" } },
        own(),
      );
      expect(seen).toHaveLength(2);
      expect(seen[1]?.headers).not.toHaveProperty("x-api-key");
      expect(seen[1]?.headers).not.toHaveProperty("x-secret");
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
