import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { expectError, expectErrorShape, sentenceOf } from "../support/fixtures/shapes.ts";
import { createPerson } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { sql } from "../support/harness/stack.ts";
import { textOf } from "../support/harness/turn-stream.ts";

describe("GET /api/chat/{chatId}/stream 200", () => {
  it("streams the running turn from where it is asked to", async () => {
    const person = await createPerson();
    const conversation = await openConversation(person.withKey);
    const first = await conversation.send("run: sleep 100");
    await first.until((chunk) => chunk.type === "tool-input-available");
    const [whole, rest, after, asOwner] = await Promise.all([
      conversation.resume(),
      conversation.resume({ startIndex: 2 }),
      conversation.resume({ lastEventId: 2 }),
      conversation.through(person.withBearer).resume(),
    ]);
    for (const stream of [whole, rest, after, asOwner]) {
      expect(stream.status).toBe(200);
      expect(stream.headers.get("content-type")).toContain("text/event-stream");
      expect(stream.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
      expect(stream.runId).toBe(first.runId);
      expect(Number(stream.headers.get("x-workflow-stream-tail-index"))).toBeGreaterThanOrEqual(
        first.frames.length - 1,
      );
    }
    await conversation.stop();
    const frames = await first.ended;
    expect(await whole.ended).toEqual(frames);
    expect(await asOwner.ended).toEqual(frames);
    expect(await rest.ended).toEqual(frames.slice(2));
    expect(await after.ended).toEqual(frames.slice(3));
    expect([whole, rest, after].map((stream) => stream.isDone)).toEqual([true, true, true]);
  });

  it("goes by Last-Event-ID when a startIndex is sent as well", async () => {
    const person = await createPerson();
    const conversation = await openConversation(person.withKey);
    const first = await conversation.send("run: sleep 100");
    await first.until((chunk) => chunk.type === "tool-input-available");
    const both = await conversation.resume({ startIndex: 0, lastEventId: 1 });
    await conversation.stop();
    expect(await both.ended).toEqual((await first.ended).slice(2));
  });
});

describe("GET /api/chat/{chatId}/stream?runId=… 200", () => {
  it("streams the named turn from any chunk, even if it has ended and another one runs", async () => {
    const person = await createPerson();
    const conversation = await openConversation(person.withKey);
    const first = await conversation.send("hello");
    const frames = await first.ended;
    const second = await conversation.send("run: sleep 100");
    await second.until((chunk) => chunk.type === "tool-input-available");
    const { runId } = first;
    const [whole, rest, nothing, running] = await Promise.all([
      conversation.resume({ runId }),
      conversation.resume({ runId, lastEventId: 1 }),
      conversation.resume({ runId, startIndex: frames.length }),
      conversation.resume({ runId: second.runId }),
    ]);
    expect(whole.runId).toBe(runId);
    expect(whole.headers.get("x-workflow-stream-tail-index")).toBe(String(frames.length - 1));
    expect(await whole.ended).toEqual(frames);
    expect(await rest.ended).toEqual(frames.slice(2));
    expect(await nothing.ended).toEqual([]);
    expect([whole, rest, nothing].map(({ isDone }) => isDone)).toEqual([true, true, true]);
    await conversation.stop();
    expect(await running.ended).toEqual(await second.ended);
  });

  it("ends the stream of a run that was lost, at the same index each time", async () => {
    const person = await createPerson();
    const conversation = await openConversation(person.withKey);
    const { ended, runId } = await conversation.send("hello");
    const frames = await ended;
    // Its process writes no more.
    const status = () => sql`select status from engine.runs where run_id = ${runId}`;
    await expect.poll(status).toEqual([{ status: "completed" }]);
    await sql`update turns set status = 'failed', error = 'The turn was lost' where run_id = ${runId}`;
    await sql`delete from engine.runs where run_id = ${runId}`;
    const [log] = await sql`select stream from engine.chunks c join turns t on t.id = c.stream
      where t.run_id = ${runId} limit 1`;
    await sql`delete from engine.chunks where stream = ${log?.stream}`;
    const cut = frames.slice(0, 3).map(({ chunk }) => JSON.stringify(chunk));
    await sql`insert into engine.chunks (stream, first_index, count, data, eof)
      values (${log?.stream}, 0, 3, ${cut.join("\n")}, false)`;
    const whole = await (await conversation.resume({ runId })).ended;
    expect(whole.slice(0, 3)).toEqual(frames.slice(0, 3));
    expect(whole.slice(3)).toEqual([
      { id: 3, chunk: { type: "error", errorText: "The turn was lost" } },
      { id: 4, chunk: { type: "finish", finishReason: "error" } },
    ]);
    const last = await conversation.resume({ runId, startIndex: 4 });
    expect(await last.ended).toEqual(whole.slice(4));
  });
});

describe("GET /api/chat/{chatId}/stream?runId=… 404", () => {
  it("for a turn of another chat or account, an unknown one, and one whose log is deleted", async () => {
    const [owner, stranger] = await Promise.all([createPerson(), createPerson()]);
    const conversation = await openConversation(owner.withKey);
    const other = await openConversation(owner.withKey);
    const { ended, runId } = await conversation.send("hello");
    await ended;
    await sql`delete from engine.chunks where stream = (
      select id from turns where run_id = ${runId})`;
    const { runId: foreign, ended: foreignEnded } = await other.send("hello");
    await foreignEnded;
    for (const [caller, run] of [
      [owner, runId],
      [owner, foreign],
      [owner, `wrun_${randomUUID()}`],
      [stranger, runId],
    ] as const) {
      const path = `/api/chat/${conversation.chatId}/stream?runId=${run}`;
      expectError(await caller.withKey.get(path), 404, "message", "Run not found");
    }
  });
});

describe("GET /api/chat/{chatId}/stream 204", () => {
  it("when nothing was ever asked, and when the turn is over", async () => {
    const person = await createPerson();
    const conversation = await openConversation(person.withKey);
    const before = await person.withKey.get(`/api/chat/${conversation.chatId}/stream`);
    expect([before.status, before.text]).toEqual([204, ""]);
    expect(before.headers.get("x-request-id")).toBeTruthy();
    await (await conversation.send("hello")).ended;
    const after = await person.withKey.get(`/api/chat/${conversation.chatId}/stream?startIndex=3`);
    expect([after.status, after.text]).toEqual([204, ""]);
  });

  it("when the engine lost the turn, however long: what it had streamed is kept", async () => {
    const person = await createPerson();
    const conversation = await openConversation(person.withKey);
    await (await conversation.send("hello")).ended;
    const runId = `wrun_${randomUUID()}`;
    const [turn] = await sql`
      update turns set run_id = ${runId}, status = 'running', finished_at = null
      where chat_id = ${conversation.chatId} returning id, assistant_message_id as message`;
    await sql`update chats set active_stream_id = ${runId} where id = ${conversation.chatId}`;
    const deltas = 150_000;
    const chunks = [
      { type: "start", messageId: turn?.message },
      { type: "start-step" },
      { type: "text-start", id: "t" },
      ...new Array(deltas).fill({ type: "text-delta", id: "t", delta: "a" }),
    ].map((chunk) => JSON.stringify(chunk));
    await sql`delete from engine.chunks where stream = ${turn?.id}`;
    await sql`insert into engine.chunks (stream, first_index, count, data, eof)
      values (${turn?.id}, 0, ${chunks.length}, ${chunks.join("\n")}, false)`;
    const answer = await person.withKey.get(`/api/chat/${conversation.chatId}/stream`);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect((await conversation.read()).isStreaming).toBe(false);
    expect(textOf(await conversation.answer())).toBe("a".repeat(deltas));
  });
});

describe("GET /api/chat/{chatId}/stream 400", () => {
  it.each(["-1", "x", "1.5", ""])("Last-Event-ID: %s", async (lastEventId) => {
    const person = await createPerson();
    const conversation = await openConversation(person.withKey);
    const answer = await person.withKey.get(`/api/chat/${conversation.chatId}/stream`, {
      headers: { "last-event-id": lastEventId },
    });
    expect(answer.status).toBe(400);
    expectErrorShape(answer, "message");
    expect(sentenceOf(answer)).toContain("Last-Event-ID");
  });
});
