/**
 * What a label does with the packed client, on one server with the system sandbox; and the package as
 * npm installs it. It is a soak test because it starts servers and asks the registry:
 * `npm run soak -- tests/client`.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { isolation } from "@platform/kit/isolation/isolation";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFaultProxy } from "../support/fakes/fault-proxy.ts";
import { gate } from "../support/fakes/openai.ts";
import { startWebhookEndpoint } from "../support/fakes/webhook-endpoint.ts";
import { Conversation, openConversation } from "../support/harness/conversation.ts";
import { installPackedClient, type PackedClient } from "../support/harness/packed-client.ts";
import { assemble } from "../support/harness/turn-stream.ts";
import { clientAt, crash, startWorkspace, type Workspace } from "../support/harness/workspace.ts";
import { registerSecret } from "../support/secrets/register.ts";

const run = promisify(execFile);

const STATEMENT = "artist,amount\nHana Mizuki,12.50\nVelvet Harbor,7.25\nHana Mizuki,30.00\n";
const PROGRAM = `import csv, collections, pathlib
totals = collections.defaultdict(float)
for row in csv.DictReader(open("statement.csv")):
    totals[row["artist"]] += float(row["amount"])
pathlib.Path("summary.csv").write_text("".join(f"{name},{total:.2f}\\n" for name, total in sorted(totals.items())))
print(len(totals))`;

let packed: PackedClient;
let workspace: Workspace;
beforeAll(async () => {
  packed = await installPackedClient();
  const isReal = isolation().kind === "namespaces";
  workspace = await startWorkspace({
    LOOPBACK_URLS: "webhooks",
    ...(isReal ? { SANDBOX: "system" } : {}),
  });
}, 300_000);
afterAll(async () => {
  await workspace?.stop();
  await packed?.remove();
});

describe.runIf(isolation().kind === "namespaces")("a royalty statement", () => {
  it("is uploaded, read by Python, its result downloaded and the end of the turn told", async () => {
    workspace.model.script("royalties", function* ({ step, toolResults }) {
      if (step === 0) yield { tool: "write", input: { filePath: "sum.py", content: PROGRAM } };
      else if (step === 1) yield { tool: "bash", input: { command: "python3 sum.py" } };
      else yield { text: `Artists: ${toolResults.at(-1)}` };
    });
    const endpoint = await startWebhookEndpoint();
    try {
      const apiKey = await workspace.createKey();
      const client = packed.module.createClient({ baseUrl: workspace.server.url, apiKey });
      const { data: hook } = await client.api.POST("/api/webhooks", {
        body: { url: endpoint.url, events: ["run.completed"] },
      });
      const secret = registerSecret(hook?.secret ?? "", "webhook secret");
      const { data: made } = await client.api.POST("/api/sessions", { body: {} });
      const sessionId = made?.session.id ?? "";
      const chatId = made?.chat.id ?? "";
      await client.api.POST("/api/sandbox", { body: { sessionId } });

      await client.uploadFile({ sessionId, path: "statement.csv", content: STATEMENT });
      const turn = client.streamTurn({ sessionId, chatId, message: "[script:royalties]" });
      for await (const event of turn) expect(event.type).toBe("chunk");
      const summary = await client.downloadFile({ sessionId, path: "summary.csv" });
      expect(await summary.text()).toBe("Hana Mizuki,42.50\nVelvet Harbor,7.25\n");

      await expect.poll(() => endpoint.received.length).toBe(1);
      const [{ headers = {}, body = "" } = {}] = endpoint.received;
      const delivery = new Request(endpoint.url, { method: "POST", headers, body });
      const event = await packed.module.verifyWebhook(delivery, secret);
      expect(event).toMatchObject({
        type: "run.completed",
        data: { chat_id: chatId, session_id: sessionId, status: "completed" },
      });
    } finally {
      await endpoint.stop();
    }
  });
});

describe("a server that is killed in mid-turn and comes back", () => {
  it("is waited for, and each chunk comes once", async () => {
    const held = gate();
    workspace.model.script("restart", async function* ({ step }) {
      yield { text: `Step ${step} ` };
      if (step === 0) yield { tool: "bash", input: { command: "echo once >> effects" } };
      else {
        await held.pass();
        yield { text: "done" };
      }
    });
    const proxy = await startFaultProxy(workspace.server.port);
    const caller = await workspace.createCaller();
    const { sessionId, chatId } = await openConversation(caller);
    let retries = 0;
    let isBack = false;
    const client = packed.module.createClient({
      baseUrl: proxy.url,
      apiKey: caller.headers["x-api-key"],
      onRetry: () => void retries++,
      async fetch(request) {
        const response = await fetch(request);
        // The turn is not over before the client is back, so that its end cannot be missed.
        if (isBack && response.ok) held.open();
        return response;
      },
    });
    let restarted: Promise<void> | undefined;
    const restart = async () => {
      await held.reached;
      await crash(workspace.server);
      proxy.setTarget((await workspace.startServer()).port);
      isBack = true;
    };
    const chunks = [];
    for await (const event of client.streamTurn({
      sessionId,
      chatId,
      message: "[script:restart]",
    })) {
      if (event.type !== "chunk") throw new Error("the end was missed");
      expect(event.index).toBe(chunks.length);
      chunks.push(event.chunk);
      if (event.chunk.type === "tool-output-available") restarted ??= restart();
    }
    await restarted;
    expect(retries).toBeGreaterThan(0);
    expect(chunks.at(-1)?.type).toBe("finish");
    const now = clientAt(workspace.server.url, caller);
    const stored = await new Conversation(now, sessionId, chatId).answer();
    expect((await assemble(chunks as never)).parts).toEqual(stored.parts);
    expect(await workspace.readSandboxFile(sessionId, "effects")).toBe("once\n");
    await proxy.close();
  });
});

describe.each(["20", "22", "24"])("an empty folder with Node %s and its types", (version) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), `client-node-${version}-`));
    await writeFile(
      join(folder, "package.json"),
      JSON.stringify({ type: "module", allowScripts: { node: true } }),
    );
    const packages = [
      packed.archive,
      `node@${version}`,
      `@types/node@${version}`,
      "typescript@5.9.3",
    ];
    await run("npm", ["install", "--no-audit", "--no-fund", ...packages], {
      cwd: folder,
    });
  }, 300_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("compiles, runs and has the command", async () => {
    await writeFile(
      join(folder, "use.ts"),
      `import { ApiError, createClient, type TurnEvent, verifyWebhook } from "agent-platform-client";
const client = createClient({ baseUrl: process.argv[2] ?? "", apiKey: process.argv[3] ?? "" });
const { data, error } = await client.api.GET("/api/models");
if (error) throw new ApiError(new Response(), error);
const first: string | undefined = data.models[0]?.id;
const texts = async (events: AsyncIterable<TurnEvent>): Promise<number> => {
  let count = 0;
  for await (const event of events) if (event.type === "chunk") count++;
  return count;
};
// @ts-expect-error there is no such endpoint
client.api.GET("/api/nothing");
console.log(process.version, first, typeof texts, typeof verifyWebhook);
`,
    );
    const options = ["--module", "nodenext", "--target", "es2022", "--lib", "es2023", "--strict"];
    await run("node_modules/.bin/tsc", [...options, "use.ts"], { cwd: folder });
    const node = join(folder, "node_modules/node/bin/node");
    const key = await workspace.createKey();
    const used = await run(node, ["use.js", workspace.server.url, key], { cwd: folder });
    expect(used.stdout).toMatch(new RegExp(`^v${version}\\.\\S+ \\S+ function function\\n$`));
    const command = join(folder, "node_modules/.bin/agent-platform");
    const env = { NODE_ENV: "production" as const, AGENT_PLATFORM_URL: workspace.server.url };
    const answered = await run(node, [command, "run", "count to 3"], {
      cwd: folder,
      env: { ...env, AGENT_PLATFORM_API_KEY: key },
    });
    expect(answered.stdout).toMatch(/\S/);
  });
});
