/**
 * The console's chat over HTTP, through a proxy that cuts its connections. Cuts after every chunk, and the
 * sandbox of a new session, are with the client that it uses (tests/client/library-suite.ts).
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ApiError } from "@/packages/client/src/api-error.ts";
import { type FaultProxy, startFaultProxy } from "../support/fakes/fault-proxy.ts";
import { gate } from "../support/fakes/openai.ts";
import { createSession } from "../support/fixtures/sessions.ts";
import {
  collect,
  expectCompleteTurn,
  openTransport,
  sendThrough,
  userMessage,
} from "../support/harness/chat-transport.ts";
import type { Client } from "../support/harness/clients.ts";
import { Conversation, openConversation } from "../support/harness/conversation.ts";
import { textOf } from "../support/harness/turn-stream.ts";
import { startWorkspace, type Workspace } from "../support/harness/workspace.ts";

let workspace: Workspace;
let caller: Client;
let proxy: FaultProxy;
beforeAll(async () => {
  workspace = await startWorkspace();
  caller = await workspace.createCaller();
  proxy = await startFaultProxy(workspace.server.port);
});
afterAll(async () => {
  await proxy.close();
  await workspace.stop();
});

const transportOf = (conversation: Conversation, options?: Parameters<typeof openTransport>[2]) =>
  openTransport({ origin: proxy.url, headers: () => caller.headers }, conversation, options);

describe("a connection that is cut", () => {
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

describe("a message", () => {
  it("while another turn runs is refused, and says why", async () => {
    const held = gate();
    workspace.model.script("busy", async function* () {
      yield { text: "busy" };
      await held.pass();
    });
    const conversation = await openConversation(caller);
    const running = await conversation.send("[script:busy]");
    await held.reached;
    const refusal = await sendThrough(
      transportOf(conversation),
      conversation,
      userMessage("me too"),
    ).catch((e) => e);
    expect(refusal).toBeInstanceOf(ApiError);
    expect(refusal).toMatchObject({ status: 409, code: "stream_active" });
    held.open();
    await running.ended;
  });

  it.each([
    ["a sandbox that cannot be provisioned", 502, "upstream_error"],
    ["too many requests", 429, "rate_limited"],
  ])("that meets %s is refused at once", async (_, status, code) => {
    const { session, chat } = await createSession(caller);
    const conversation = new Conversation(caller, session.id, chat.id);
    const mine = transportOf(conversation, {
      answer: (path) =>
        path === "/api/sandbox"
          ? Response.json({ error: "Told so" }, { status, headers: { "x-error-code": code } })
          : null,
    });
    const refusal = await sendThrough(mine, conversation, userMessage("hello")).catch(
      (error) => error,
    );
    expect(refusal).toBeInstanceOf(ApiError);
    expect(refusal).toMatchObject({ status, code, message: "Told so" });
    expect(mine.reported.connections).not.toContain("lost");
  });

  it("that is given up stops the reading, and nothing else", async () => {
    const held = gate();
    workspace.model.script("left", async function* () {
      yield { text: "half" };
      await held.pass();
      yield { text: " whole" };
    });
    const conversation = await openConversation(caller);
    const leave = new AbortController();
    const stream = await sendThrough(
      transportOf(conversation),
      conversation,
      userMessage("[script:left]"),
      leave.signal,
    );
    await collect(stream, (chunk) => {
      if (chunk.type === "text-delta") leave.abort();
    }).catch(() => []);
    const rest = await conversation.resume();
    held.open();
    await rest.ended;
    expect(textOf(await conversation.answer())).toBe("half whole");
  });
});
