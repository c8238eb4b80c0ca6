/** The state of an open chat in the console, without a browser, when its responses break off. */
import { HttpResponse, http } from "msw";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { Conversation } from "@/app/(console)/chat/_state/conversation.ts";
import { serveHandlers } from "../support/fakes/vendor-server.ts";

const CHAT = "/api/sessions/s/chats/c";

let service: Awaited<ReturnType<typeof serveHandlers>>;
beforeAll(async () => {
  service = await serveHandlers([
    http.get(`*${CHAT}/branches`, () => HttpResponse.json({ branches: [] })),
    http.get(`*${CHAT}/feedback`, () => HttpResponse.json({ feedback: [] })),
    http.get(`*${CHAT}`, () =>
      HttpResponse.json({ chat: { id: "c", title: "Plan" }, isStreaming: false, messages: [] }),
    ),
    http.get("*/api/chat/c/queue", () => HttpResponse.json({ status: "success", messages: [] })),
  ]);
});
afterEach(() => service.recover());
afterAll(() => service.close());

/** `onResponse` is called when the headers of a response have arrived. */
const open = (onResponse: (path: string) => void = () => {}) =>
  new Conversation({
    sessionId: "s",
    chatId: "c",
    async fetch(path, init) {
      const response = await fetch(service.origin + path, init);
      onResponse(path);
      return response;
    },
    waitForRetry: () => new Promise((resolve) => setImmediate(resolve)),
    onTurn: () => {},
    onBranch: () => {},
  });

it.each([CHAT, `${CHAT}/branches`, "/api/chat/c/queue"])(
  "a chat that is left while the body of %s arrives ends quietly",
  async (path) => {
    service.fail("stalled body", path);
    const conversation = open((arrived) => {
      if (arrived === path) setImmediate(() => conversation.close());
    });
    await expect(conversation.refresh()).resolves.toBeUndefined();
  },
);

it.each([CHAT, `${CHAT}/branches`, "/api/chat/c/queue"])(
  "a chat is shown, and can be read again, after the body of %s has broken off",
  async (path) => {
    service.failNext(path, "cut");
    const conversation = open();
    await conversation.refresh();
    expect(conversation.getView()).toMatchObject({ phase: "ready", chat: { title: "Plan" } });
    const before = service.count(CHAT);
    await conversation.refresh();
    expect(service.count(CHAT)).toBeGreaterThan(before);
    conversation.close();
  },
);
