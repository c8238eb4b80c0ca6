/** The console's chat over HTTP, through a proxy that cuts its connections, and across restarts. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FaultProxy, startFaultProxy } from "../support/fakes/fault-proxy.ts";
import { gate } from "../support/fakes/openai.ts";
import {
  collect,
  expectCompleteTurn,
  openTransport,
  sendThrough,
  userMessage,
} from "../support/harness/chat-transport.ts";
import type { Client } from "../support/harness/clients.ts";
import { Conversation, openConversation } from "../support/harness/conversation.ts";
import { clientAt, crash, startWorkspace, type Workspace } from "../support/harness/workspace.ts";

let workspace: Workspace;
let caller: Client;
let proxy: FaultProxy;
beforeAll(async () => {
  workspace = await startWorkspace();
  caller = await workspace.createCaller();
  proxy = await startFaultProxy(workspace.server.port);
  workspace.model.script("varied", function* ({ step }) {
    yield { reasoning: "First a look." };
    yield { text: `Step ${step}: a word, ` };
    yield { text: "and “another”\n\n— 𝄞" };
    if (step === 0) yield { tool: "todo", input: { todos: [] }, pieces: 3 };
    if (step === 1) {
      yield { tool: "write", input: { filePath: "a.txt", content: "a\n\nb" } };
      yield { tool: "bash", input: { command: "cat a.txt" } };
    }
  });
});
afterAll(async () => {
  await proxy.close();
  await workspace.stop();
});

const transportOf = (conversation: Conversation, options?: Parameters<typeof openTransport>[2]) =>
  openTransport({ origin: proxy.url, headers: () => caller.headers }, conversation, options);

describe("a connection that is cut", () => {
  it.each([
    ["after every single chunk", false],
    ["inside every single chunk", true],
  ])("%s loses nothing and repeats nothing", async (_, inside) => {
    const conversation = await openConversation(caller);
    proxy.cutAfterFrames({ frames: 1, inside });
    try {
      const before = proxy.connections;
      const chunks = await collect(
        await sendThrough(transportOf(conversation), conversation, userMessage("[script:varied]")),
      );
      expect(proxy.connections - before).toBeGreaterThan(1);
      await expectCompleteTurn(chunks, conversation);
    } finally {
      proxy.cutAfterFrames(null);
    }
  });

  it("at any one chunk, while the turn goes on, is taken up again at the next", async () => {
    const held = gate();
    workspace.model.script("held", async function* ({ step }) {
      yield { text: `Step ${step}: ` };
      yield { text: "words" };
      if (step === 0) yield { tool: "bash", input: { command: "echo hi" }, pieces: 3 };
      else {
        await held.pass();
        yield { text: " and the end" };
      }
    });
    const owner = await openConversation(caller);
    const message = userMessage("[script:held]");
    // Where it can be cut: the chunks that there are before the gate.
    const first = await owner.send([{ id: message.id, content: "[script:held]" }]);
    await held.reached;
    const seen = (
      await first.until(({ type }, { id }) => type === "text-delta" && id > 8, "the gate's text")
    ).id;
    const readers = [];
    for (let cut = 1; cut <= seen; cut++) {
      proxy.cutAfterFrames({ frames: cut, inside: cut % 2 === 0, once: true });
      const mine = transportOf(owner);
      const sent = await sendThrough(mine, owner, message);
      const reached = Promise.withResolvers<void>();
      const reading = collect(sent, (_, index) => {
        if (index === seen) reached.resolve();
      });
      await reached.promise;
      readers.push({ cut, reading, mine });
    }
    held.open();
    const whole = (await first.ended).map((frame) => frame.chunk);
    for (const { cut, reading, mine } of readers) {
      expect(await reading, `cut after ${cut}`).toEqual(whole);
      expect(mine.reported.connections).toContain("lost");
      expect(mine.reported.connections.at(-1)).toBe("live");
      expect(mine.reported.missedEnds).toBe(0);
    }
    await expectCompleteTurn(whole, owner);
  });

  it("before the answer to the message came: it is sent again, and is one turn", async () => {
    const conversation = await openConversation(caller);
    let refused = 0;
    proxy.refuse();
    const mine = transportOf(conversation, {
      waitForRetry: async () => {
        if (++refused === 3) proxy.open();
      },
    });
    const message = userMessage("[deltas:5]");
    // The first try reaches the server, whose answer never comes back.
    await conversation
      .send([{ id: message.id, content: "[deltas:5]" }])
      .then((stream) => stream.leave());
    await collect(await sendThrough(mine, conversation, message)).catch(() => []);
    expect(refused).toBe(3);
    const { messages } = await conversation.read();
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(1);
  });

  it("while the turn ended and another began: its own last chunks are read", async () => {
    const held = gate();
    const next = gate();
    workspace.model.script("one", async function* () {
      yield { text: "one" };
      await held.pass();
    });
    workspace.model.script("two", async function* () {
      yield { text: "two" };
      await next.pass();
    });
    const conversation = await openConversation(caller);
    const began = Promise.withResolvers<void>();
    const mine = transportOf(conversation, {
      waitForRetry: () => began.promise.then(() => proxy.open()),
    });
    const stream = await sendThrough(mine, conversation, userMessage("[script:one]"));
    const chunks = await collect(stream, async (chunk) => {
      if (chunk.type !== "text-delta") return;
      const rest = await conversation.resume();
      proxy.refuse();
      proxy.cutAll();
      held.open();
      await rest.ended;
      await conversation.send("[script:two]");
      await next.reached;
      began.resolve();
    });
    next.open();
    expect(chunks.at(-1)?.type).toBe("finish");
    expect(JSON.stringify(chunks)).not.toContain("two");
    expect(mine.reported.missedEnds).toBe(0);
  });
});

describe("a server that is killed in mid-turn and comes back", () => {
  it("is waited for, and the stream goes on to a whole turn", async () => {
    const held = gate();
    workspace.model.script("restart", async function* ({ step }) {
      yield { text: `Step ${step} ` };
      if (step === 0) yield { tool: "bash", input: { command: "echo once >> effects" } };
      else {
        await held.pass();
        yield { text: "done" };
      }
    });
    const conversation = await openConversation(caller);
    const mine = transportOf(conversation, {
      waitForRetry: () => new Promise((resolve) => setTimeout(resolve, 50)),
    });
    const stream = await sendThrough(mine, conversation, userMessage("[script:restart]"));
    let restarted: Promise<void> | undefined;
    const restart = async () => {
      await held.reached;
      await crash(workspace.server);
      const { port, url } = await workspace.startServer();
      proxy.setTarget(port);
      caller = clientAt(url, caller);
      held.open();
    };
    const chunks = await collect(stream, (chunk) => {
      if (chunk.type === "tool-output-available") restarted ??= restart();
    });
    await restarted;
    await expectCompleteTurn(
      chunks,
      new Conversation(caller, conversation.sessionId, conversation.chatId),
    );
    expect(mine.reported.connections).toContain("lost");
    expect(await workspace.readSandboxFile(conversation.sessionId, "effects")).toBe("once\n");
  }, 120_000);
});
