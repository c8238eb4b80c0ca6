/** A turn's knowledge of its caller is stored nowhere, and its credentials end with it. */
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gate } from "../support/fakes/openai.ts";
import { client, createBearer } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import type { TurnStream } from "../support/harness/turn-stream.ts";
import { startWorkspace, type Workspace } from "../support/harness/workspace.ts";
import { registerDisguised } from "../support/secrets/register.ts";

let workspace: Workspace;
beforeAll(async () => {
  workspace = await startWorkspace({ LOG_LEVEL: "trace" });
});
afterAll(() => workspace.stop());

/** Every row of every table of the project, as text. */
async function dumpTables(): Promise<string> {
  const tables = await workspace.sql`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`;
  const rows = await Promise.all(
    tables.map(({ name }) => workspace.sql.unsafe(`select t::text as row from ${name} t`)),
  );
  return rows.flatMap((table) => table.map(({ row }) => String(row))).join("\n");
}

/** Every file of every sandbox. */
async function dumpSandboxes(): Promise<string> {
  const root = join(workspace.env.DATA_DIR ?? "", "sandboxes");
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(
    files.map((file) => readFile(join(file.parentPath, file.name), "latin1")),
  );
  return texts.join("\n");
}

/** A secret as it is, as PostgreSQL prints bytes, and as base64 at any offset. */
function traces(secret: string): string[] {
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.from("-".repeat(offset) + secret)
      .toString("base64")
      .slice(4, -4),
  );
  return [secret, Buffer.from(secret).toString("hex"), ...base64];
}

async function expectNowhere(secrets: readonly string[]): Promise<void> {
  const places = {
    database: await dumpTables(),
    sandboxes: await dumpSandboxes(),
    logs: workspace.server.logs(),
  };
  expect(places.database.length).toBeGreaterThan(1000);
  for (const secret of secrets) {
    for (const [where, text] of Object.entries(places)) {
      for (const trace of traces(secret)) expect(text.includes(trace), where).toBe(false);
    }
  }
}

/** Prints the environment, calls back, and reveals the header in a form that is not redacted. */
const COMMANDS = {
  env: "env | grep AGENT; echo $AGENT_API_AUTH_HEADER",
  reversed: 'printf %s "$AGENT_API_AUTH_HEADER" | rev',
  callback: 'curl -s -H "$AGENT_API_AUTH_HEADER" "$AGENT_API_URL/api/sessions?limit=1"',
};

const stdoutOf = (stream: TurnStream, id: string): string => {
  const chunk = stream.chunks.find(
    (one) => one.type === "tool-output-available" && one.toolCallId === id,
  );
  if (chunk?.type !== "tool-output-available") throw new Error(`no output of ${id}`);
  return (chunk.output as { stdout: string }).stdout;
};

const unreverse = (text: string) => [...text.trim()].reverse().join("");

/** Runs a turn that uses its credential, and holds it open until the gate is opened. */
async function startTurn(name: string, caller: ReturnType<typeof client>) {
  const held = gate();
  workspace.model.script(name, async function* ({ step }) {
    if (step > 0) return await held.pass();
    for (const [id, command] of Object.entries(COMMANDS)) {
      yield { tool: "bash", id, input: { command } };
    }
  });
  const conversation = await openConversation(caller);
  const stream = await conversation.send(`[script:${name}]`);
  await held.reached;
  await stream.until((chunk) => chunk.type === "finish-step");
  // The command writes it to the chunk log in reverse, which redaction cannot recognize.
  registerDisguised(unreverse(stdoutOf(stream, "reversed")).replace(/^.*[ ]/, ""));
  return { conversation, stream, held };
}

describe("a turn that was asked for with an API key", () => {
  it("gives its sandbox a key of its own, which works as long as the turn", async () => {
    const key = await workspace.createKey();
    const caller = client({ key }, workspace.server.url);
    const { conversation, stream, held } = await startTurn("with-key", caller);

    const header = unreverse(stdoutOf(stream, "reversed"));
    const [, runKey = ""] = /^x-api-key: (ap_\w+)$/.exec(header) ?? [];
    expect(runKey).not.toBe("");
    expect(runKey).not.toBe(key);
    expect(stdoutOf(stream, "env")).toContain("AGENT_API_URL=");
    expect(stdoutOf(stream, "env")).toContain("[redacted]");
    expect(JSON.stringify(stream.chunks)).not.toContain(runKey);
    // The command itself had it.
    expect(JSON.parse(stdoutOf(stream, "callback"))).toMatchObject({
      sessions: [{ id: conversation.sessionId }],
    });

    const asRun = client({ key: runKey }, workspace.server.url);
    expect((await asRun.get(`/api/sessions/${conversation.sessionId}`)).status).toBe(200);
    const forbidden = [
      await asRun.get("/api/keys"),
      await asRun.post("/api/keys", { key_name: "mine" }),
      await asRun.delete(`/api/keys/${randomUUID()}`),
    ];
    expect(forbidden.map((answer) => answer.status)).toEqual([403, 403, 403]);
    const listed = await caller.get("/api/keys");
    expect(listed.text).not.toContain(runKey.slice(0, 20));
    await expectNowhere([key, runKey]);

    held.open();
    await stream.until((chunk) => chunk.type === "finish");
    expect((await asRun.get(`/api/sessions/${conversation.sessionId}`)).status).toBe(401);
    await stream.ended;
    await expectNowhere([key, runKey]);
  });

  it("that is stopped takes its key with it", async () => {
    const caller = client({ key: await workspace.createKey() }, workspace.server.url);
    const { conversation, stream } = await startTurn("stopped-with-key", caller);
    const header = unreverse(stdoutOf(stream, "reversed"));
    const asRun = client({ key: header.replace("x-api-key: ", "") }, workspace.server.url);
    expect((await asRun.get("/api/sessions")).status).toBe(200);
    await conversation.stop();
    expect((await asRun.get("/api/sessions")).status).toBe(401);
  });
});

describe("a turn that was asked for with a bearer", () => {
  it("gives its sandbox a token of its own, which works as long as the turn", async () => {
    const email = `${randomUUID()}@example.com`;
    const bearer = await createBearer(email, {}, workspace.env.SUPABASE_JWT_SECRET);
    const caller = client({ bearer }, workspace.server.url);
    const { conversation, stream, held } = await startTurn("with-bearer", caller);
    const header = unreverse(stdoutOf(stream, "reversed"));
    const [, token = ""] = /^Authorization: Bearer (rt_\w+)$/.exec(header) ?? [];
    expect(token).not.toBe("");
    expect(stdoutOf(stream, "env")).toContain("[redacted]");
    expect(JSON.parse(stdoutOf(stream, "callback"))).toMatchObject({
      sessions: [{ id: conversation.sessionId }],
    });
    expect(JSON.stringify(stream.chunks)).not.toContain(token);
    await expectNowhere([bearer, token]);

    const asRun = client({ bearer: token }, workspace.server.url);
    expect((await asRun.get(`/api/sessions/${conversation.sessionId}`)).status).toBe(200);
    expect((await asRun.get("/api/keys")).status).toBe(403);
    expect((await client({ key: token }, workspace.server.url).get("/api/sessions")).status).toBe(
      401,
    );
    held.open();
    await stream.until((chunk) => chunk.type === "finish");
    expect((await asRun.get(`/api/sessions/${conversation.sessionId}`)).status).toBe(401);
    await stream.ended;
    await expectNowhere([bearer, token]);
  });
});
