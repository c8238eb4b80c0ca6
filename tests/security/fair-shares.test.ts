/**
 * One account holds its maximum of a shared resource while another one makes a request. The server
 * lets no request wait for more than a millisecond and refuses it otherwise: a success therefore
 * started at once, and the holders are still there afterwards.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningNext } from "../../scripts/run-next.ts";
import { gate } from "../support/fakes/openai.ts";
import { imagesIn } from "../support/fixtures/generations.ts";
import { runsIn } from "../support/fixtures/task-runs.ts";
import type { Client } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { conversationOf, readRun, startRun, waitForRun } from "../support/harness/runs.ts";
import { startServer } from "../support/harness/server.ts";
import { clientAt, startWorkspace, type Workspace } from "../support/harness/workspace.ts";

const ACTIVE_TURNS = 10;
const STREAMS = 3;

let workspace: Workspace;
let tight: RunningNext;
let greedy: Client;
let other: Client;
beforeAll(async () => {
  workspace = await startWorkspace({ ACCOUNT_ACTIVE_TURNS: String(ACTIVE_TURNS) });
  tight = await startServer({
    env: {
      ...workspace.env,
      OPENAI_BASE_URL: workspace.model.url,
      CHECK_RESPONSES: "true",
      SANDBOX_COMMANDS_AT_ONCE: "2",
      RENDERS_AT_ONCE: "2",
      MODEL_CALLS_AT_ONCE: "2",
      TEST_CONSTANTS: JSON.stringify({
        QUEUE_WAIT_MS: 1,
        REQUESTS_AT_ONCE: 4,
        ACCOUNT_STREAMS: STREAMS,
      }),
    },
  });
  greedy = await workspace.createCaller(tight.url);
  other = await workspace.createCaller(tight.url);
});
afterAll(async () => {
  await tight?.stop();
  await workspace?.stop();
});

/** A turn that runs one command and then reports its result. */
function scriptCommand(name: string, command: string): void {
  workspace.model.script(name, function* ({ step, toolResults }) {
    if (step === 0) yield { tool: "bash", input: { command } };
    else yield { text: `Result: ${toolResults.at(-1)}` };
  });
}

describe("while one account runs every command it may", () => {
  it("another account's command starts at once, and its own next one is told that it waited", async () => {
    scriptCommand("holder", "echo held > started; sleep 100");
    scriptCommand("refused", "echo never > ran");
    scriptCommand("quick", "echo at once > ran");
    const holder = await startRun(greedy, { prompt: "[script:holder]" });
    await expect
      .poll(() => workspace.readSandboxFile(holder.sessionId, "started"), { interval: 20 })
      .toBe("held\n");

    const refused = await startRun(greedy, { prompt: "[script:refused]" });
    const quick = await startRun(other, { prompt: "[script:quick]" });
    expect(await waitForRun(other, quick)).toMatchObject({ status: "completed" });
    expect(await workspace.readSandboxFile(quick.sessionId, "ran")).toBe("at once\n");

    // The turn continues: the model sees the error as the tool's answer.
    expect(await waitForRun(greedy, refused)).toMatchObject({ status: "completed" });
    expect(workspace.model.callsOf("refused")[1]?.toolResults.at(-1)).toContain(
      "too many commands of this account are running",
    );
    expect(await workspace.readSandboxFile(refused.sessionId, "ran")).toBe("");

    // A response about files waits for no command, not even of the same account.
    const answer = await greedy.get(
      `/api/sandbox/files/content?sessionId=${holder.sessionId}&path=started`,
    );
    expect([answer.status, answer.text]).toEqual([200, "held\n"]);
    expect(await readRun(greedy, holder)).toMatchObject({ status: "running" });
    await conversationOf(greedy, holder).stop();
  });
});

describe("while one account makes every model call it may", () => {
  it("another account's turn starts at once, and its own next one fails with the reason", async () => {
    const held = gate();
    workspace.model.script("calling", async function* () {
      await held.pass();
      yield { text: "late" };
    });
    const calling = await startRun(greedy, { prompt: "[script:calling]" });
    await held.reached;
    const refused = await startRun(greedy, { prompt: "hello" });
    const answered = await startRun(other, { prompt: "hello" });
    expect(await waitForRun(other, answered)).toMatchObject({ status: "completed" });
    expect(await waitForRun(greedy, refused)).toMatchObject({
      status: "failed",
      error: "Too many model calls are waiting: try again later",
    });
    expect(await readRun(greedy, calling)).toMatchObject({ status: "running" });
    held.open();
    expect(await waitForRun(greedy, calling)).toMatchObject({ status: "completed" });
  });
});

describe("while one account has all the requests under way that it may", () => {
  it("another account is answered at once, and its own further ones wait without the database", async () => {
    const { sessionId } = await openConversation(greedy);
    const lock = await workspace.sql.reserve();
    await lock`begin`;
    await lock`lock table sessions in access exclusive mode`;
    // Only these requests: the servers' own work may wait for the table, too.
    const stuck = async () => {
      const [row] = await workspace.sql`select count(*)::int from pg_stat_activity
        where wait_event_type = 'Lock' and query like '%get_session%'`;
      return row?.count;
    };
    const requests = Array.from({ length: 6 }, () => greedy.get(`/api/sessions/${sessionId}`));
    try {
      await expect.poll(stuck, { interval: 20 }).toBe(2);
      expect((await other.get("/api/keys")).status).toBe(200);
      expect(await stuck()).toBe(2);
    } finally {
      await lock`rollback`;
      lock.release();
    }
    const answers = await Promise.all(requests);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });
});

describe("the streams of a process", () => {
  it("are bounded for each account, and one that ends makes room", async () => {
    const held = gate();
    workspace.model.script("streaming", async function* () {
      yield { text: "first" };
      await held.pass();
    });
    const conversation = await openConversation(greedy);
    const turn = await conversation.send("[script:streaming]");
    await turn.until((chunk) => chunk.type === "text-delta");
    const readers = [await conversation.resume(), await conversation.resume()];
    expect(readers.map(({ status }) => status)).toEqual([200, 200]);

    const refused = await conversation.resume();
    await refused.ended;
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(JSON.parse(refused.text)).toEqual({ status: "error", message: "Too many requests" });
    // A message is refused before its turn is claimed.
    const second = await openConversation(greedy);
    const unsent = await second.send("hello");
    await unsent.ended;
    expect(unsent.status).toBe(429);
    expect((await second.read()).messages).toEqual([]);

    const theirs = await openConversation(other);
    const answer = await theirs.send("hello");
    await answer.ended;
    expect(answer.isDone).toBe(true);

    readers[0]?.leave();
    await expect
      .poll(async () => {
        const reader = await conversation.resume();
        if (reader.status === 200) readers.push(reader);
        return reader.status;
      })
      .toBe(200);
    held.open();
    await Promise.all([turn, ...readers].map((stream) => stream.ended));
    // Ended turns hold no slot: as many as before may be open again.
    const more = gate();
    workspace.model.script("again", async function* () {
      yield { text: "first" };
      await more.pass();
    });
    const next = await conversation.send("[script:again]");
    await next.until((chunk) => chunk.type === "text-delta");
    const again = [await conversation.resume(), await conversation.resume()];
    expect(again.map(({ status }) => status)).toEqual([200, 200]);
    more.open();
    await Promise.all([next, ...again].map((stream) => stream.ended));
  });
});

describe(`${ACTIVE_TURNS} active turns of one account`, () => {
  it("are all that 40 posts at once to two servers start; the rest are 429", async () => {
    const second = await workspace.startServer();
    const here = await workspace.createCaller(workspace.server.url);
    const urls = [workspace.server.url, second.url];
    const held = gate();
    workspace.model.script("held", async function* () {
      await held.pass();
      yield { text: "done" };
    });
    const prompt = "[script:held]";
    const message = [{ id: "m1", content: prompt }];
    const conversations = await Promise.all(
      Array.from({ length: 20 }, async (_, n) =>
        (await openConversation(here)).through(clientAt(urls[n % 2] ?? "", here)),
      ),
    );
    const conversation = (await openConversation(here)).through(clientAt(second.url, here));
    const first = await conversation.send(message);
    const sent = await Promise.all(
      conversations.flatMap((conversation, n) => [
        conversation
          .send(message)
          .then(({ status, headers }) => ({ status, headers, conversation })),
        clientAt(urls[n % 2] ?? "", here)
          .post("/api/chat/runs", { prompt })
          .then(({ status, headers }) => ({ status, headers, conversation: null })),
      ]),
    );
    const started = sent.filter(({ status }) => status === 200 || status === 202);
    const refused = sent.filter(({ status }) => status === 429);
    const others = ACTIVE_TURNS - 1;
    expect([first.status, started.length, refused.length]).toEqual([200, others, 40 - others]);
    for (const { headers } of refused) expect(headers.get("retry-after")).toBe("5");
    const [row] = await workspace.sql`select count(*)::int from turns t
      join chats c on c.id = t.chat_id where c.account_id = (
        select account_id from sessions where id = ${conversation.sessionId})`;
    expect(row?.count).toBe(ACTIVE_TURNS);

    // Nothing of a refused message is stored, and another account is free to start.
    const untouched =
      refused.find(({ conversation }) => conversation)?.conversation ?? expect.unreachable();
    expect(await untouched.read()).toMatchObject({ isStreaming: false, messages: [] });
    await startRun(await workspace.createCaller(), { prompt });
    const body = { prompt };
    const again = await here.post("/api/chat/runs", body);
    expect(again.body).toEqual({
      status: "error",
      message: "Too many active turns: wait for one to end, or stop one",
    });

    // The same message again finds its own turn, which is among the ten.
    const retried = await conversation.send(message);
    expect([retried.status, retried.runId]).toEqual([200, first.runId]);

    // A turn that ends makes room.
    held.open();
    await expect.poll(async () => (await here.post("/api/chat/runs", body)).status).toBe(202);
  });
});

describe("while one account renders all it may", () => {
  it("another account's image is made at once, and its own next one is 503 with retry-after", async () => {
    const image = { prompt: "Night drive" };
    const { imageUrl } = imagesIn(await greedy.post("/api/content/image", image));
    const long = { mode: "animate", image_url: imageUrl, resolution: "4k", duration: "8s" };
    // It ends with the server.
    greedy.post("/api/content/video", long).catch(() => undefined);
    const videoRun = async () =>
      runsIn(await greedy.get("/api/tasks/runs")).find(
        ({ taskIdentifier }) => taskIdentifier === "generate-video",
      );
    await expect
      .poll(async () => (await videoRun())?.metadata, { interval: 20 })
      .toMatchObject({ step: "generating" });

    const refused = await greedy.post("/api/content/image", image);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(refused.body).toEqual({ error: "Service temporarily unavailable" });
    imagesIn(await other.post("/api/content/image", image));
    expect(await videoRun()).toMatchObject({ status: "EXECUTING" });
  });
});

describe("a call of a tool, which is a request within a request", () => {
  it("needs no second slot while the first is held", async () => {
    const params = { name: "listModels", arguments: {} };
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => greedy.post("/api/mcp", message)),
    );
    for (const { text } of answers) expect(text).toContain('"isError":false');
  });
});
