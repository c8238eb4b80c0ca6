/** The console's chat over HTTP, through a proxy that cuts its connections, and across restarts. */
import type { UIMessage, UIMessageChunk } from "ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Connection,
  createDurableChatTransport,
} from "@/app/(console)/chat/_state/durable-chat-transport.ts";
import { ChatRefused } from "@/app/(console)/chat/_state/refused.ts";
import { type CuttingProxy, startCuttingProxy } from "../support/fakes/cutting-proxy.ts";
import { gate } from "../support/fakes/openai.ts";
import { createSession } from "../support/fixtures/sessions.ts";
import type { Client } from "../support/harness/clients.ts";
import { openTalk, type Talk, talk as talkIn } from "../support/harness/converse.ts";
import { assemble, textOf } from "../support/harness/turn-stream.ts";
import { at, crash, type Place, startPlace } from "../support/harness/workspace.ts";

let place: Place;
let caller: Client;
let proxy: CuttingProxy;
beforeAll(async () => {
  place = await startPlace();
  caller = await place.createCaller();
  proxy = await startCuttingProxy(place.server.port);
  place.model.script("varied", function* ({ step }) {
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
  await place.stop();
});

/** A transport behind the proxy, and what it told its owner. */
function transportOf(
  { sessionId }: Talk,
  more: {
    untilRetry?: () => Promise<void>;
    /** What a service that is in trouble answers to a path; null: it is not. */
    answer?: (path: string) => Response | null;
  } = {},
) {
  const told = { outrun: 0, connections: [] as Connection[] };
  const transport = createDurableChatTransport({
    sessionId,
    fetch: async (path, init) =>
      more.answer?.(path) ??
      fetch(proxy.url + path, {
        ...init,
        headers: { ...caller.headers, "accept-encoding": "identity", connection: "close" },
      }),
    onOutrun: async () => void told.outrun++,
    onConnection: (state) => void told.connections.push(state),
    // Another event is let in, so that a server that is away is not asked without a pause.
    untilRetry: more.untilRetry ?? (() => new Promise((resolve) => setImmediate(resolve))),
  });
  return { transport, told };
}

const userMessage = (text: string): UIMessage => ({
  id: crypto.randomUUID(),
  role: "user",
  parts: [{ type: "text", text }],
});

function send(
  { transport }: ReturnType<typeof transportOf>,
  { chatId }: Talk,
  message: UIMessage,
  abortSignal?: AbortSignal,
) {
  return transport.sendMessages({
    trigger: "submit-message",
    chatId,
    messageId: undefined,
    messages: [message],
    abortSignal,
  });
}

async function collect(
  stream: ReadableStream<UIMessageChunk>,
  onChunk: (chunk: UIMessageChunk, index: number) => void | Promise<void> = () => {},
): Promise<UIMessageChunk[]> {
  const chunks: UIMessageChunk[] = [];
  for await (const chunk of stream) {
    chunks.push(chunk);
    await onChunk(chunk, chunks.length - 1);
  }
  return chunks;
}

/** One whole turn, equal to what is stored. */
async function expectWhole(chunks: readonly UIMessageChunk[], talk: Talk): Promise<void> {
  expect(chunks[0]?.type).toBe("start");
  expect(chunks.at(-1)?.type).toBe("finish");
  expect(chunks.filter(({ type }) => type === "start")).toHaveLength(1);
  expect(await assemble(chunks)).toEqual(await talk.answer());
}

describe("a connection that is cut", () => {
  it.each([
    ["after every single chunk", false],
    ["inside every single chunk", true],
  ])("%s loses nothing and repeats nothing", async (_, inside) => {
    const talk = await openTalk(caller);
    proxy.cutAfterFrames({ frames: 1, inside });
    try {
      const before = proxy.connections;
      const chunks = await collect(
        await send(transportOf(talk), talk, userMessage("[script:varied]")),
      );
      // A turn may be over before the last of its chunks was asked for; then it was told so.
      expect(proxy.connections - before).toBeGreaterThan(1);
      const stored = await talk.answer();
      const whole = chunks.at(-1)?.type === "finish";
      if (whole) await expectWhole(chunks, talk);
      else expect(JSON.stringify(stored)).toContain("Step 2");
    } finally {
      proxy.cutAfterFrames(null);
    }
  });

  it("at any one chunk, while the turn goes on, is taken up again at the next", async () => {
    const held = gate();
    place.model.script("held", async function* ({ step }) {
      yield { text: `Step ${step}: ` };
      yield { text: "words" };
      if (step === 0) yield { tool: "bash", input: { command: "echo hi" }, pieces: 3 };
      else {
        await held.pass();
        yield { text: " and the end" };
      }
    });
    const owner = await openTalk(caller);
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
      const sent = await send(mine, owner, message);
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
      expect(mine.told.connections).toContain("lost");
      expect(mine.told.connections.at(-1)).toBe("live");
      expect(mine.told.outrun).toBe(0);
    }
    await expectWhole(whole, owner);
  });

  it("before the answer to the message came: it is sent again, and is one turn", async () => {
    const talk = await openTalk(caller);
    let refused = 0;
    proxy.shut();
    const mine = transportOf(talk, {
      untilRetry: async () => {
        if (++refused === 3) proxy.open();
      },
    });
    const message = userMessage("[deltas:5]");
    // The first try reaches the server, whose answer never comes back.
    await talk.send([{ id: message.id, content: "[deltas:5]" }]).then((stream) => stream.leave());
    await collect(await send(mine, talk, message)).catch(() => []);
    expect(refused).toBe(3);
    const { messages } = await talk.read();
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(1);
  });

  it("while the turn ended: its owner takes what is stored, and the stream ends", async () => {
    const held = gate();
    place.model.script("outrun", async function* () {
      yield { text: "before " };
      await held.pass();
      yield { text: "after" };
    });
    const talk = await openTalk(caller);
    const ended = Promise.withResolvers<void>();
    const mine = transportOf(talk, { untilRetry: () => ended.promise.then(() => proxy.open()) });
    const stream = await send(mine, talk, userMessage("[script:outrun]"));
    const chunks = await collect(stream, async (chunk) => {
      if (chunk.type !== "text-delta" || chunk.delta !== "before ") return;
      const rest = await talk.resume();
      proxy.shut();
      proxy.cutAll();
      held.open();
      await rest.ended;
      ended.resolve();
    });
    expect(chunks.at(-1)?.type).not.toBe("finish");
    expect(mine.told.outrun).toBe(1);
    expect(textOf(await talk.answer())).toBe("before after");
  });

  it("while the turn ended and another began: the other one is not mixed in", async () => {
    const held = gate();
    const next = gate();
    place.model.script("one", async function* () {
      yield { text: "one" };
      await held.pass();
    });
    place.model.script("two", async function* () {
      yield { text: "two" };
      await next.pass();
    });
    const talk = await openTalk(caller);
    const began = Promise.withResolvers<void>();
    const mine = transportOf(talk, { untilRetry: () => began.promise.then(() => proxy.open()) });
    const stream = await send(mine, talk, userMessage("[script:one]"));
    const chunks = await collect(stream, async (chunk) => {
      if (chunk.type !== "text-delta") return;
      const rest = await talk.resume();
      proxy.shut();
      proxy.cutAll();
      held.open();
      await rest.ended;
      await talk.send("[script:two]");
      await next.reached;
      began.resolve();
    });
    next.open();
    expect(JSON.stringify(chunks)).not.toContain("two");
    expect(mine.told.outrun).toBe(1);
  });
});

describe("a server that is killed in mid-turn and comes back", () => {
  it("is waited for, and the stream goes on to a whole turn", async () => {
    const held = gate();
    place.model.script("restart", async function* ({ step }) {
      yield { text: `Step ${step} ` };
      if (step === 0) yield { tool: "bash", input: { command: "echo once >> effects" } };
      else {
        await held.pass();
        yield { text: "done" };
      }
    });
    const talk = await openTalk(caller);
    const mine = transportOf(talk, {
      untilRetry: () => new Promise((resolve) => setTimeout(resolve, 50)),
    });
    const stream = await send(mine, talk, userMessage("[script:restart]"));
    let restarted: Promise<void> | undefined;
    const restart = async () => {
      await held.reached;
      await crash(place.server);
      const { port, url } = await place.startServer();
      proxy.lead(port);
      caller = at(url, caller);
      held.open();
    };
    const chunks = await collect(stream, (chunk) => {
      if (chunk.type === "tool-output-available") restarted ??= restart();
    });
    await restarted;
    await expectWhole(chunks, talkIn(caller, talk.sessionId, talk.chatId));
    expect(mine.told.connections).toContain("lost");
    expect(await place.readSandboxFile(talk.sessionId, "effects")).toBe("once\n");
  }, 120_000);
});

describe("a message", () => {
  it("to a session without a sandbox provisions one first", async () => {
    const { session, chat } = await createSession(caller);
    const talk = talkIn(caller, session.id, chat.id);
    const chunks = await collect(await send(transportOf(talk), talk, userMessage("[deltas:3]")));
    await expectWhole(chunks, talk);
  });

  it("while another turn runs is refused, and says why", async () => {
    const held = gate();
    place.model.script("busy", async function* () {
      yield { text: "busy" };
      await held.pass();
    });
    const talk = await openTalk(caller);
    const running = await talk.send("[script:busy]");
    await held.reached;
    const refusal = await send(transportOf(talk), talk, userMessage("me too")).catch((e) => e);
    expect(refusal).toBeInstanceOf(ChatRefused);
    expect(refusal).toMatchObject({ status: 409, code: "stream_active" });
    held.open();
    await running.ended;
  });

  it.each([
    ["a sandbox that cannot be provisioned", 502, "upstream_error"],
    ["too many requests", 429, "rate_limited"],
  ])("that meets %s is refused at once", async (_, status, code) => {
    const { session, chat } = await createSession(caller);
    const talk = talkIn(caller, session.id, chat.id);
    const mine = transportOf(talk, {
      answer: (path) =>
        path === "/api/sandbox"
          ? Response.json({ error: "Told so" }, { status, headers: { "x-error-code": code } })
          : null,
    });
    const refusal = await send(mine, talk, userMessage("hello")).catch((error) => error);
    expect(refusal).toBeInstanceOf(ChatRefused);
    expect(refusal).toMatchObject({ status, code, message: "Told so" });
    expect(mine.told.connections).not.toContain("lost");
  });

  it("that is given up stops the reading, and nothing else", async () => {
    const held = gate();
    place.model.script("left", async function* () {
      yield { text: "half" };
      await held.pass();
      yield { text: " whole" };
    });
    const talk = await openTalk(caller);
    const leave = new AbortController();
    const stream = await send(transportOf(talk), talk, userMessage("[script:left]"), leave.signal);
    await collect(stream, (chunk) => {
      if (chunk.type === "text-delta") leave.abort();
    }).catch(() => []);
    const rest = await talk.resume();
    held.open();
    await rest.ended;
    expect(textOf(await talk.answer())).toBe("half whole");
  });
});
