/** The state of an open chat in the console, without a browser, when its responses break off. */
import { HttpResponse, http, type RequestHandler } from "msw";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { Conversation } from "@/app/(console)/chat/_state/conversation.ts";
import type { Outbox, SentMessage } from "@/app/(console)/chat/_state/drafts.ts";
import { serveHandlers } from "../support/fakes/vendor-server.ts";

const CHAT = "/api/sessions/s/chats/c";

let service: Awaited<ReturnType<typeof serveHandlers>>;
const handlers: RequestHandler[] = [];
let commonHandlers = 0;
beforeAll(async () => {
  handlers.push(
    http.get(`*${CHAT}`, () =>
      HttpResponse.json({ chat: { id: "c", title: "Plan" }, isStreaming: false, messages: [] }),
    ),
  );
  commonHandlers = handlers.length;
  service = await serveHandlers(handlers);
});
afterEach(() => {
  service.recover();
  // The handlers of a test come before the common ones.
  handlers.splice(0, handlers.length - commonHandlers);
});
afterAll(() => service.close());

function createOutbox(...kept: SentMessage[]): Outbox & { readonly kept: SentMessage[] } {
  const forget = (messageId: string) => {
    kept = kept.filter(({ id }) => id !== messageId);
  };
  return {
    get kept() {
      return kept;
    },
    read: () => kept,
    keep: (message) => void kept.push(message),
    forget,
  };
}

/** `onResponse` is called when the headers of a response have arrived. */
const open = (onResponse: (path: string) => void = () => {}, outbox = createOutbox()) =>
  new Conversation({
    outbox,
    sessionId: "s",
    chatId: "c",
    baseUrl: service.origin,
    async fetch(request) {
      const response = await fetch(request);
      onResponse(new URL(request.url).pathname);
      return response;
    },
    waitForRetry: () => new Promise((resolve) => setImmediate(resolve)),
    onTurn: () => {},
    onBranch: () => {},
  });

it("a chat that is left while its body arrives ends quietly", async () => {
  service.fail("stalled body", CHAT);
  const conversation = open((arrived) => {
    if (arrived.startsWith(CHAT)) setImmediate(() => conversation.close());
  });
  await expect(conversation.refresh()).resolves.toBeUndefined();
});

it.each(["cut", "html"] as const)(
  "a chat is shown, and can be read again, after it has answered with: %s",
  async (fault) => {
    service.failNext(CHAT, fault);
    const conversation = open();
    await conversation.refresh();
    expect(conversation.getView()).toMatchObject({ phase: "ready", chat: { title: "Plan" } });
    const before = service.count(CHAT);
    await conversation.refresh();
    expect(service.count(CHAT)).toBeGreaterThan(before);
    conversation.close();
  },
);

it.each(["cut", "html"] as const)(
  "a change that was answered with %s is reported, and the chat can be changed again",
  async (fault) => {
    handlers.unshift(
      http.patch(`*${CHAT}`, () => HttpResponse.json({ chat: { id: "c", title: "Plan" } })),
    );
    service.failNext(CHAT, fault);
    const conversation = open();
    await conversation.changeChat({ modelId: "fast" });
    expect(conversation.getView().error?.text).toContain("cannot be reached");
    await conversation.changeChat({ modelId: "fast" });
    expect(conversation.getView().chat?.title).toBe("Plan");
    conversation.close();
  },
);

it("an internal error of a chat is shown, and the next refresh reads the chat", async () => {
  service.fail({ status: 500 }, CHAT);
  const conversation = open();
  await conversation.refresh();
  expect(conversation.getView()).toMatchObject({ phase: "failed", connection: "live" });
  service.recover();
  await conversation.refresh();
  expect(conversation.getView()).toMatchObject({ phase: "ready", chat: { title: "Plan" } });
  conversation.close();
});

it("an internal error of a turn's stream is shown, and the stream is not requested forever", async () => {
  handlers.unshift(
    http.get(`*${CHAT}`, () =>
      HttpResponse.json({ chat: { id: "c", title: "Plan" }, isStreaming: true, messages: [] }),
    ),
    http.get("*/api/chat/c/stream", () => new HttpResponse(null, { status: 500 })),
  );
  const conversation = open();
  await conversation.refresh();
  expect(conversation.getView().error?.text).toBe("Something went wrong. Try again.");
  conversation.close();
});

it("a chat whose question was answered in another tab only reads the turn that continues", async () => {
  const question = { questions: [{ question: "Which format?", header: "Format", options: [] }] };
  const asked = {
    ...{ id: "a", role: "assistant" as const, createdAt: new Date().toISOString() },
    parts: [
      {
        ...{ type: "tool-ask_user_question", toolCallId: "t", state: "output-available" },
        ...{ input: question, output: { answers: { "Which format?": "Single" } } },
      },
    ],
  };
  const end = { type: "text", text: "A single it is.", state: "done" };
  let isStreaming = true;
  const posts: string[] = [];
  handlers.unshift(
    http.get(`*${CHAT}`, () => {
      const parts = isStreaming ? asked.parts : [...asked.parts, end];
      const chat = { id: "c", title: "Plan", activeStreamId: isStreaming ? "turn" : null };
      return HttpResponse.json({ chat, isStreaming, messages: [{ ...asked, parts }] });
    }),
    http.get("*/api/chat/c/stream", () => {
      isStreaming = false;
      const chunks = [
        { type: "start", messageId: "a" },
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: "A single it is." },
        { type: "text-end", id: "1" },
        { type: "finish" },
      ];
      const events = chunks.map((chunk, id) => `id: ${id}\ndata: ${JSON.stringify(chunk)}\n\n`);
      return new HttpResponse(events.join(""), {
        headers: { "content-type": "text/event-stream" },
      });
    }),
    http.post("*", ({ request }) => {
      posts.push(request.url);
      isStreaming = false;
      return HttpResponse.json({ message: "The question has been answered" }, { status: 409 });
    }),
  );
  const conversation = open();
  const shown: unknown[] = [];
  conversation.chat.subscribe(() => shown.push(conversation.chat.messages[0]?.parts.length));
  await conversation.refresh();
  expect(posts).toEqual([]);
  expect(conversation.getView().error).toBeNull();
  expect(conversation.chat.messages).toMatchObject([
    { id: "a", parts: [{ toolCallId: "t" }, end] },
  ]);
  // The question stays in the message while the rest of the answer streams.
  expect(Math.min(...shown.map(Number))).toBe(1);
  conversation.close();
});

it("a message that was being sent when the page was left is returned, unless it is stored", async () => {
  const stored = { id: "stored", role: "user", parts: [{ type: "text", text: "Plan" }] };
  handlers.unshift(
    http.get(`*${CHAT}`, () =>
      HttpResponse.json({
        chat: { id: "c", title: "Plan" },
        isStreaming: false,
        messages: [stored],
        queue: [{ id: "queued", parts: [] }],
      }),
    ),
  );
  const file = { type: "file" as const, mediaType: "text/csv", url: "sandbox:/home/agent/a.csv" };
  const outbox = createOutbox(
    { id: "stored", text: "Plan", files: [] },
    { id: "queued", text: "Then this", files: [] },
    { id: "lost", text: "And that", files: [file] },
  );
  const conversation = open(undefined, outbox);
  const returned = new Promise<void>((resolve) => {
    conversation.subscribe(() => conversation.getView().returned && resolve());
  });
  void conversation.refresh();
  await returned;
  expect(conversation.getView().returned).toEqual({ text: "And that", files: [file] });
  expect(outbox.kept).toEqual([]);
  conversation.close();
});

it.each([402, 409, 413, 429, 500])(
  "a message is kept until it is stored or refused with %s",
  async (status) => {
    const outbox = createOutbox();
    const keptWhileSending: string[] = [];
    handlers.unshift(
      http.post("*/api/chat", () => {
        keptWhileSending.push(...outbox.kept.map(({ text }) => text));
        return HttpResponse.json({ message: "No" }, { status });
      }),
    );
    const conversation = open(undefined, outbox);
    await conversation.send("Plan the tour");
    expect(keptWhileSending).toEqual(["Plan the tour"]);
    expect(outbox.kept).toEqual([]);
    expect(conversation.getView()).toMatchObject({
      ...{ error: expect.anything(), returned: { text: "Plan the tour", files: [] } },
    });
    conversation.close();
  },
);

it("a message that is sent before the turn of the last one is read waits for that turn", async () => {
  const ended = Promise.withResolvers<void>();
  const sent: Promise<void>[] = [];
  const posts: unknown[] = [];
  let isStreaming = true;
  handlers.unshift(
    http.get(`*${CHAT}`, () =>
      HttpResponse.json({ chat: { id: "c", title: "Plan" }, isStreaming, messages: [] }),
    ),
    http.get("*/api/chat/c/stream", async () => {
      if (posts.length > 0) isStreaming = false;
      else {
        void conversation.send("Then this");
        await ended.promise;
      }
      return new HttpResponse(null, { status: 204 });
    }),
    http.post("*/api/chat", async ({ request }) => {
      posts.push(await request.json());
      // It came too late for the first turn, and starts the next one.
      const isBegun = posts.length === 1;
      return new HttpResponse(null, isBegun ? { headers: { "x-workflow-run-id": "next" } } : {});
    }),
  );
  const conversation = open();
  conversation.subscribe(() => {
    const { queued, isReading } = conversation.getView();
    if (queued.length > 0) ended.resolve();
    if (posts.length === 1 && queued.length === 0 && !isReading && sent.length === 0) {
      sent.push(conversation.send("And that"));
    }
  });
  await conversation.refresh();
  await Promise.all(sent);
  expect(posts).toMatchObject([{ onBusy: "steer" }, { onBusy: "steer" }]);
  conversation.close();
});
