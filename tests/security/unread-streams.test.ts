/** A stream without a reader must not live on in the server. */

import { methods, type RouteHandler } from "@platform/endpoint/methods";
import { expect, it } from "vitest";
import type { ChunkBatch, Engine, ReadEnd } from "../../lib/engine/port.ts";
import { streamResponse } from "../../lib/turns/stream-turn.ts";
import { createPerson } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { stack } from "../support/harness/stack.ts";
import { unusedDatabase } from "../support/harness/unused-database.ts";

it("HEAD answers as GET does, at once and without a body, while a turn is running", async () => {
  const person = await createPerson();
  const conversation = await openConversation(person.withKey);
  const turn = await conversation.send("run: sleep 100");
  await turn.until((chunk) => chunk.type === "tool-input-available");
  const response = await fetch(`${stack.url}/api/chat/${conversation.chatId}/stream`, {
    method: "HEAD",
    headers: person.withKey.headers,
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("x-workflow-run-id")).toBe(turn.runId);
  expect(await response.text()).toBe("");
  await conversation.stop();
});

it("HEAD ends the stream that GET has opened", async () => {
  let ended = false;
  const body = new ReadableStream({
    cancel() {
      ended = true;
    },
  });
  const answer: RouteHandler = async () => new Response(body, { headers: { "x-a": "1" } });
  const { HEAD } = methods({ GET: answer });
  const context = { params: Promise.resolve({}) };
  const response = await HEAD(new Request("http://a/", { method: "HEAD" }), context);
  expect([response.body, response.headers.get("x-a"), ended]).toEqual([null, "1", true]);
});

it.each(["before", "after"])(
  "a client that leaves %s its stream is made leaves no timer behind",
  async (moment) => {
    const timers = () =>
      process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const client = new AbortController();
    const before = timers();
    if (moment === "before") client.abort();
    const turn = { turnId: "t", runId: "r" };
    let ends = 0;
    const onEnd = () => {
      ends += 1;
    };
    const response = await streamResponse(
      { db: unusedDatabase, engine: silentEngine },
      turn,
      0,
      client.signal,
      onEnd,
    );
    client.abort();
    expect(ends).toBe(1);
    expect(response.status).toBe(200);
    expect(timers()).toBe(before);
  },
);

/** A turn that says nothing. */
const silentEngine: Engine = {
  executesOwnRuns: false,
  processId: null,
  name: "postgres",
  start: async () => {},
  startWorkflow: () => Promise.reject(new Error("not used")),
  check: async () => {},
  drain: async () => {},
  openLog: () => Promise.reject(new Error("not used")),
  async *read(_turn, _from, signal): AsyncGenerator<ChunkBatch, ReadEnd> {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return "moved";
  },
  tailIndex: async () => -1,
  runState: async () => "running",
  signalStop: async () => {},
  wake: async () => {},
  onStop: () => () => {},
};
