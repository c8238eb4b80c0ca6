/**
 * The data that an OpenTelemetry collector receives: connected traces without content, and
 * consistent metrics.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { projectRoot } from "../../scripts/project-root.ts";
import { gate } from "../support/fakes/openai.ts";
import {
  type FakeCollector,
  type ReceivedSpan,
  startFakeCollector,
} from "../support/fakes/otel-collector.ts";
import type { Client } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import {
  collectorKey,
  createContent,
  observed,
  runTurn,
  withTwoTools,
} from "../support/harness/telemetry.ts";
import { clientAt, crash, startWorkspace, type Workspace } from "../support/harness/workspace.ts";

let collector: FakeCollector;
let workspace: Workspace;
let caller: Client;
beforeAll(async () => {
  collector = await startFakeCollector();
  workspace = await startWorkspace(observed(collector));
  caller = await workspace.createCaller();
});
afterAll(async () => {
  await workspace.stop();
  await collector.close();
});

const rootOf = (requestId: string) =>
  collector.spans.find(({ attributes }) => attributes["app.request.id"] === requestId);

/**
 * Waits until the request's trace has these spans, in the order of their names and among others, and
 * until their parents have been exported too. Not by `expect.poll`, which no hook may call.
 */
function traceOf(requestId: string, names: readonly string[]): Promise<ReceivedSpan[]> {
  return vi.waitFor(
    () => {
      const trace = collector.traceOf(rootOf(requestId)?.traceId ?? "");
      const found = trace.map(({ name }) => name).filter((name) => names.includes(name));
      expect(found.sort()).toEqual(names);
      expect(orphansOf(trace)).toEqual([]);
      return trace;
    },
    { timeout: 60_000, interval: 20 },
  );
}

const orphansOf = (trace: readonly ReceivedSpan[]): string[] => {
  const ids = new Set(trace.map(({ spanId }) => spanId));
  const isKnown = (parent: string | undefined) => !parent || ids.has(parent);
  return trace.filter(({ parentSpanId }) => !isKnown(parentSpanId)).map(({ name }) => name);
};

const namesOf = (trace: readonly ReceivedSpan[], prefix: string) =>
  trace.map(({ name }) => name).filter((name) => name.startsWith(prefix));

describe("a turn with two tools and a vendor that fails", () => {
  const content = createContent();
  let trace: ReceivedSpan[];
  let requestId: string;
  let turnId: string;
  beforeAll(async () => {
    workspace.model.script("two-tools", withTwoTools(content));
    const turn = await runTurn("two-tools", content.prompt, caller);
    requestId = turn.requestId;
    const [row] = await workspace.sql`
      select id from turns where chat_id = ${turn.conversation.chatId}`;
    turnId = String(row?.id);
    const stored = JSON.stringify(await turn.conversation.answer());
    for (const part of [content.input, content.output, content.file, content.answer]) {
      expect(stored).toContain(part);
    }
    trace = await traceOf(requestId, [
      // The failed one, its retry with the tool calls, and the answer.
      ...Array.from({ length: 3 }, () => "chat auto"),
      "execute_tool bash",
      "execute_tool write",
      // The workspace's folder, its listing, and the command itself.
      ...Array.from({ length: 3 }, () => "sandbox.run"),
      "sandbox.write",
      "turn.claim",
      "turn.finish",
      "turn.start",
    ]);
  });

  it("is one trace from the request through its steps", () => {
    const [root, ...others] = trace.filter(({ parentSpanId }) => !parentSpanId);
    expect(others).toEqual([]);
    expect(root?.name).toBe("POST /api/chat");
    expect(root?.attributes).toMatchObject({
      "http.response.status_code": 200,
      "app.request.id": requestId,
    });
    expect(namesOf(trace, "turn.")).toContain("turn.step");
    expect(namesOf(trace, "sql finish_turn")).toHaveLength(1);
    const ofTurn = trace.filter(({ attributes }) => "app.turn.id" in attributes);
    expect(new Set(ofTurn.map(({ attributes }) => attributes["app.turn.id"]))).toEqual(
      new Set([turnId]),
    );
  });

  it("shows which call of the vendor has failed, and how", () => {
    const calls = trace.filter(({ name }) => name.startsWith("chat "));
    const failed = calls.filter(({ status }) => status.code === 2);
    expect(failed).toHaveLength(1);
    expect(failed[0]?.attributes["error.type"]).toBe("AI_APICallError");
    const requests = trace.filter(
      ({ name, attributes }) =>
        name === "vendor model" && attributes["http.request.method"] === "POST",
    );
    expect(
      requests.map(({ attributes }) => attributes["http.response.status_code"]).sort(),
    ).toEqual([200, 200, 503]);
    expect(requests.filter(({ status }) => status.code === 2)).toHaveLength(1);
  });

  it("is found from the log by its request, and the other way round", () => {
    const lines = workspace.server
      .logs()
      .split("\n")
      .filter((line) => line.includes(requestId))
      .map((line) => JSON.parse(line));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line.traceId).toBe(trace[0]?.traceId);
  });

  it("has no span that docs/operations.md leaves out", async () => {
    const document = await readFile(join(projectRoot, "docs/operations.md"), "utf8");
    const listed = [...document.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = ""]) => name);
    const patterns = listed.map(
      (name) => new RegExp(`^${name.replaceAll(".", "\\.").replaceAll(/[A-Z]{4,}/g, ".+")}$`),
    );
    const unknown = collector.spans
      .map(({ name }) => name)
      .filter((name) => !patterns.some((pattern) => pattern.test(name)));
    expect([...new Set(unknown)]).toEqual([]);
  });

  it("says nothing of what was asked, answered, run or written, and no credential", () => {
    const received = collector.received();
    expect(received).toContain(turnId);
    const secrets = {
      ...content,
      collectorKey,
      key: caller.headers["x-api-key"],
      databaseKey: workspace.env.SUPABASE_SECRET_KEY,
      database: workspace.env.DATABASE_URL,
    };
    const leaked = Object.entries(secrets).filter(([, text]) => received.includes(String(text)));
    expect(leaked).toEqual([]);
    expect(collector.spans.filter(({ status }) => status.message)).toEqual([]);
    expect(collector.spans.filter(({ events }) => events.length > 0)).toEqual([]);
  });
});

describe("metrics", () => {
  it("add up with the database, and have no ids among their labels", async () => {
    workspace.model.script("fails", function* () {
      yield { fail: 400 };
    });
    const held = gate();
    workspace.model.script("held", async function* () {
      yield { text: "Waiting" };
      await held.pass();
    });
    await runTurn("none", "answered at once", caller);
    await runTurn("none", "[tools:3]", caller);
    await runTurn("fails", "never answered", caller);
    const stopped = await openConversation(caller);
    const stream = await stopped.send("[script:held]");
    await held.reached;
    await expect.poll(() => collector.total("agent_platform.turns.active")).toBe(1);
    await stopped.stop();
    await stream.ended;
    const accepted = await caller.post("/api/chat/runs", { prompt: "without a client" });
    expect(accepted.status).toBe(202);

    const rows = () => workspace.sql`
      select t.status, count(*)::int as turns,
        sum((m.metadata -> 'usage' ->> 'inputTokens')::int)::int as input,
        sum((m.metadata -> 'usage' ->> 'outputTokens')::int)::int as output
      from turns t
      join messages m on m.chat_id = t.chat_id and m.id = t.assistant_message_id
      group by t.status order by t.status`;
    await expect
      .poll(async () => (await rows()).map(({ status }) => status))
      .toEqual(["cancelled", "completed", "failed"]);
    await expect
      .poll(
        async () => (await workspace.sql`select id from turns where finished_at is null`).length,
      )
      .toBe(0);
    const stored = await rows();
    const sum = (of: "turns" | "input" | "output") =>
      stored.reduce((total, row) => total + Number(row[of]), 0);

    await expect
      .poll(() => ({
        started: collector.total("agent_platform.turns.started"),
        byStatus: stored.map(({ status }) =>
          collector.total("agent_platform.turns.ended", { status }),
        ),
        input: collector.total("agent_platform.turns.tokens", { type: "input" }),
        output: collector.total("agent_platform.turns.tokens", { type: "output" }),
        durations: collector.total("agent_platform.turn.duration"),
        active: collector.total("agent_platform.turns.active"),
      }))
      .toEqual({
        started: sum("turns"),
        byStatus: stored.map(({ turns }) => turns),
        input: sum("input"),
        output: sum("output"),
        durations: sum("turns"),
        active: 0,
      });
    expect(sum("input")).toBeGreaterThan(0);
    const received = collector.metricNames();
    for (const name of [
      "agent_platform.turn.first_delta",
      "agent_platform.turn.step.duration",
      "agent_platform.queue.wait",
      "agent_platform.queue.used",
      "agent_platform.sandbox.processes",
      "agent_platform.database.size",
      "agent_platform.inbox.age",
      "agent_platform.model.cost",
      "agent_platform.part.ready",
      "agent_platform.queue.age",
      "db.client.connection.count",
      "gen_ai.client.token.usage",
      "http.server.request.duration",
      "http.client.request.duration",
      "nodejs.eventloop.delay.max",
      "process.unix.file_descriptor.count",
      "system.filesystem.utilization",
    ]) {
      expect(received).toContain(name);
    }
    const ids = [...collector.labels()].filter((label) => /[0-9a-f]{8}-[0-9a-f]{4}-/.test(label));
    expect(ids).toEqual([]);
  });
});

describe("the trace of a caller", () => {
  it("is linked and not joined, because anybody can name one", async () => {
    const foreign = { traceId: "ab".repeat(16), spanId: "cd".repeat(8) };
    const traceparent = `00-${foreign.traceId}-${foreign.spanId}-01`;
    const answer = await caller.get("/api/sessions", { headers: { traceparent } });
    const requestId = answer.headers.get("x-request-id") ?? "";
    await expect.poll(() => rootOf(requestId)?.links).toMatchObject([foreign]);
    expect(rootOf(requestId)?.traceId).not.toBe(foreign.traceId);
  });
});

describe("a turn whose process is killed", () => {
  it("goes on in another process within the same trace", async () => {
    const held = gate();
    workspace.model.script("killed", async function* ({ step }) {
      if (step === 0) yield { tool: "bash", input: { command: "echo one" } };
      else {
        yield { text: "Before " };
        await held.pass();
        yield { text: "and after." };
      }
    });
    const conversation = await openConversation(caller);
    const stream = await conversation.send("[script:killed]");
    const requestId = stream.headers.get("x-request-id") ?? "";
    await held.reached;
    await expect.poll(() => rootOf(requestId)?.name).toBe("POST /api/chat");
    const first = rootOf(requestId)?.process;
    await crash(workspace.server);
    const { url } = await workspace.startServer();
    held.open();
    const back = conversation.through(clientAt(url, caller));
    caller = clientAt(url, caller);
    await expect.poll(async () => (await back.read()).isStreaming, { timeout: 60_000 }).toBe(false);

    const traceId = rootOf(requestId)?.traceId ?? "";
    const later = () => collector.traceOf(traceId).filter(({ process }) => process !== first);
    await expect.poll(() => later().map(({ name }) => name)).toContain("turn.finish");
    const known = new Set(collector.traceOf(traceId).map(({ spanId }) => spanId));
    await expect.poll(() => later().map(({ name }) => name)).toContain("turn.step");
    expect(later().filter(({ parentSpanId }) => !known.has(parentSpanId ?? ""))).toEqual([]);
    await expect.poll(() => collector.total("agent_platform.runs.freed")).toBe(1);
    await expect.poll(() => collector.total("agent_platform.runs.adopted")).toBe(1);
  });
});
