import { describe, expect, it } from "vitest";
import { createPersonWithSession } from "../support/fixtures/sessions.ts";
import { expectError, expectErrorShape, sentenceOf } from "../support/fixtures/shapes.ts";
import { createPerson, type Person } from "../support/harness/clients.ts";
import { type Conversation, openConversation } from "../support/harness/conversation.ts";
import { sql } from "../support/harness/stack.ts";
import { assemble, expectCompleteTurn } from "../support/harness/turn-stream.ts";

async function open(): Promise<{ person: Person; conversation: Conversation }> {
  const person = await createPerson();
  return { person, conversation: await openConversation(person.withKey) };
}

describe("POST /api/chat 200", () => {
  it.each(["withKey", "withBearer"] as const)(
    "streams the turn as the AI SDK's UI message stream (%s)",
    async (credential) => {
      const person = await createPerson();
      const conversation = await openConversation(person[credential]);
      const stream = await conversation.send("hello");
      await stream.ended;
      expect(stream.status).toBe(200);
      expect(stream.headers.get("content-type")).toContain("text/event-stream");
      expect(stream.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
      expect(stream.headers.get("cache-control")).toContain("no-");
      expect(stream.headers.get("access-control-allow-origin")).toBe("*");
      expect(stream.headers.get("x-request-id")).toBeTruthy();
      expect(stream.runId).toMatch(/^\S+$/);
      expect(Number(stream.headers.get("x-workflow-stream-tail-index"))).toBeGreaterThanOrEqual(-1);
      expectCompleteTurn(stream.frames);
      expect(stream.isDone).toBe(true);
      expect(await assemble(stream.chunks)).toEqual(await conversation.answer());
    },
  );

  it("takes parts as well as content, and ignores unknown ones", async () => {
    const { person, conversation } = await open();
    const answer = await person.withKey.post("/api/chat", {
      sessionId: conversation.sessionId.toUpperCase(),
      chatId: conversation.chatId.toUpperCase(),
      messages: [
        { id: "m", role: "user", parts: [{ type: "text", text: "hello" }], createdAt: "now" },
      ],
      trigger: "submit-message",
    });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain("data: [DONE]");
    expect((await conversation.read()).messages[0]).toMatchObject({
      id: "m",
      role: "user",
      parts: [{ type: "text", text: "hello" }],
    });
  });

  it("has stored the user's message by the time it answers", async () => {
    const { conversation } = await open();
    const stream = await conversation.send([{ id: "first", content: "run: sleep 100" }]);
    const { messages, isStreaming, chat } = await conversation.read();
    expect(messages.map(({ id }) => id)).toEqual(["first"]);
    expect(isStreaming).toBe(true);
    expect(chat.activeStreamId).toBe(stream.runId);
    await conversation.stop();
    await stream.ended;
  });
});

describe("POST /api/chat with the id of a stored message", () => {
  it("replays the stored answer of the same content, also once the log of its turn is deleted", async () => {
    const { conversation } = await open();
    const message = [{ id: "once", content: "run: echo x >> effects; wc -l effects" }];
    const first = await conversation.send(message);
    const frames = await first.ended;
    const again = await conversation.send(message);
    expect([again.status, again.runId]).toEqual([200, first.runId]);
    expect(await again.ended).toEqual(frames);
    const before = await conversation.read();
    await sql`delete from engine.chunks where stream = (
      select id from turns where run_id = ${first.runId})`;
    const stored = await conversation.send(message);
    await stored.ended;
    expectCompleteTurn(stored.frames);
    const { metadata: _, ...answer } = await conversation.answer();
    expect(await assemble(stored.chunks)).toEqual(answer);
    expect(await conversation.read()).toEqual(before);
  });

  it("409 for other content, with the remedy, whether or not its turn has ended", async () => {
    const { conversation } = await open();
    const running = await conversation.send([{ id: "m1", content: "run: sleep 100" }]);
    const change = () => conversation.send([{ id: "m1", content: "something else" }]);
    const early = await change();
    await conversation.stop();
    await running.ended;
    const late = await change();
    await Promise.all([early.ended, late.ended]);
    for (const { status, text } of [early, late]) {
      expect([status, JSON.parse(text)]).toEqual([
        409,
        {
          status: "error",
          message:
            "A message with this id and other content is stored: send the new content with a new id, and with parentId to replace the message",
        },
      ]);
    }
    expect((await conversation.read()).messages[0]?.parts).toEqual([
      { type: "text", text: "run: sleep 100" },
    ]);
  });

  it("recognizes a message whose file was stored", async () => {
    const { conversation } = await open();
    const file = { type: "file", mediaType: "text/plain", url: "data:text/plain,hello" };
    const message = [{ id: "m1", parts: [{ type: "text", text: "hello" }, file] }];
    const first = await conversation.send(message);
    await first.ended;
    const again = await conversation.send(message);
    expect([again.status, again.runId]).toEqual([200, first.runId]);
    await again.ended;
  });
});

describe("POST /api/chat 400", () => {
  const message = { id: "m", content: "hello" };
  const wrong: [string, Record<string, unknown>, RegExp][] = [
    ["no messages", { messages: undefined }, /messages/],
    ["empty messages", { messages: [] }, /messages/],
    ["more than 1000 messages", { messages: Array(1001).fill(message) }, /messages/],
    ["messages that are no array", { messages: "hello" }, /messages/],
    ["no chatId", { chatId: undefined }, /chatId/],
    ["a chatId that is no UUID", { chatId: "x" }, /^chatId must be a valid UUID$/],
    ["no sessionId", { sessionId: undefined }, /sessionId/],
    ["a sessionId that is no UUID", { sessionId: "x" }, /^sessionId must be a valid UUID$/],
    ["a message without an id", { messages: [{ content: "hello" }] }, /id/],
    ["an empty id", { messages: [{ id: "", content: "hello" }] }, /id/],
    ["an id of 129 characters", { messages: [{ id: "x".repeat(129), content: "h" }] }, /id/],
    ["a role that may not speak", { messages: [{ ...message, role: "system" }] }, /role/],
    ["a message without content", { messages: [{ id: "m" }] }, /content or parts/],
    ["a blank message", { messages: [{ id: "m", content: " \n\t " }] }, /empty/],
    ["parts that are none", { messages: [{ id: "m", parts: [{ type: "bogus" }] }] }, /parts/],
    ["a text part without text", { messages: [{ id: "m", parts: [{ type: "text" }] }] }, /parts/],
    ["data parts", { messages: [{ id: "m", parts: [{ type: "data-x", data: 1 }] }] }, /part/],
    [
      "an assistant's message that nobody stored",
      { messages: [{ id: "m", role: "assistant", content: "I said" }] },
      /last message/,
    ],
    ["a NUL", { messages: [{ id: "m", content: "a\0b" }] }, /Unicode/],
    ["half a surrogate pair", { messages: [{ id: "m", content: "a\ud83db" }] }, /Unicode/],
    ["a contextLimit of 0", { context: { contextLimit: 0 } }, /contextLimit/],
    ["half a token", { context: { contextLimit: 1.5 } }, /contextLimit/],
    ["a contextLimit in words", { context: { contextLimit: "1000" } }, /contextLimit/],
    ["a context that is no object", { context: 1 }, /context/],
    ["an unknown model", { model: "none-such" }, /^model must be one of the available models$/],
    ["an unknown fallback", { fallback_models: ["none-such"] }, /fallback_models/],
    ["an unknown effort", { effort: "most" }, /effort/],
    ["an unknown onBusy", { onBusy: "wait" }, /^onBusy must be one of/],
    ["an unknown policy", { approvals: { bash: "never" } }, /approvals/],
    ["a policy of an unknown effect", { approvals: { shell: "ask" } }, /approvals/],
    ["a network without a mode", { network: { hosts: ["a.example"] } }, /network/],
    ["an unknown limit", { limits: { max_turns: 1 } }, /limits/],
    ["a skill that is no name", { skills: ["No Name"] }, /skill/],
    ["an unknown use of the workspace", { workspace: "all" }, /workspace/],
    ["a search that is no boolean", { web_search: "yes" }, /web_search/],
    ["an MCP server that the account lacks", { mcp_servers: ["crm"] }, /has no MCP server crm/],
    ["one in the other spelling", { mcpServers: ["crm"] }, /has no MCP server crm/],
  ];

  it("names the error, and stores nothing", async () => {
    const { person, conversation } = await open();
    for (const [what, change, sentence] of wrong) {
      const answer = await person.withKey.post("/api/chat", {
        sessionId: conversation.sessionId,
        chatId: conversation.chatId,
        messages: [message],
        ...change,
      });
      expect(answer.status, `${what}: ${answer.text}`).toBe(400);
      expectErrorShape(answer, "message");
      expect(sentenceOf(answer), what).toMatch(sentence);
      expect(answer.headers.get("x-error-code")).toBe("invalid_request");
    }
    const { messages, isStreaming } = await conversation.read();
    expect(messages).toEqual([]);
    expect(isStreaming).toBe(false);
  });

  it("when the session has no sandbox", async () => {
    const { person, session, chat } = await createPersonWithSession();
    const answer = await person.withKey.post("/api/chat", {
      sessionId: session.id,
      chatId: chat.id,
      messages: [message],
    });
    expectError(answer, 400, "message", "Sandbox not initialized", "sandbox_missing");
    const read = await person.withKey.get(`/api/sessions/${session.id}/chats/${chat.id}`);
    expect(read.body).toMatchObject({ messages: [], isStreaming: false });
  });
});

describe("POST /api/chat 409", () => {
  it("while the chat names a turn that has ended, which no request can end", async () => {
    const { conversation } = await open();
    const ended = await conversation.send("hello");
    await ended.ended;
    await sql`update chats set active_stream_id = ${ended.runId} where id = ${conversation.chatId}`;
    const answer = await conversation.send("again");
    await answer.ended;
    expect(answer.status).toBe(409);
    expect(answer.headers.get("x-error-code")).toBe("stream_active");
  });

  it("for an id that is an assistant message's", async () => {
    const { person, conversation } = await open();
    await (await conversation.send("hello")).ended;
    const { id } = await conversation.answer();
    const answer = await person.withKey.post("/api/chat", {
      sessionId: conversation.sessionId,
      chatId: conversation.chatId,
      messages: [{ id, content: "mine now" }],
    });
    expect(answer.status).toBe(409);
    expectErrorShape(answer, "message");
    expect(answer.headers.get("x-error-code")).toBe("message_id_taken");
    expect((await conversation.read()).messages).toHaveLength(2);
  });
});
