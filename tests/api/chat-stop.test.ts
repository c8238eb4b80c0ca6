import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { expectError } from "../support/fixtures/shapes.ts";
import { createPerson } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { assemble, expectCompleteTurn } from "../support/harness/turn-stream.ts";

describe("POST /api/chat/{chatId}/stop 200", () => {
  it.each(["withKey", "withBearer"] as const)(
    "stopped: true once, then false (%s)",
    async (credential) => {
      const person = await createPerson();
      const conversation = await openConversation(person[credential]);
      const stream = await conversation.send("run: sleep 100");
      const stopped = await conversation.stop();
      expect([stopped.status, stopped.body]).toEqual([200, { status: "success", stopped: true }]);
      // The answer waits for the end, but not for long.
      await expect.poll(async () => (await conversation.read()).isStreaming).toBe(false);
      expectCompleteTurn(await stream.ended);
      expect(await assemble(stream.chunks)).toEqual(await conversation.answer());
      const again = await conversation.stop();
      expect([again.status, again.body]).toEqual([200, { status: "success", stopped: false }]);
    },
  );

  it("stopped: false when nothing was ever asked; needs no body, and takes any", async () => {
    const person = await createPerson();
    const conversation = await openConversation(person.withKey);
    for (const body of [undefined, {}, "not json"]) {
      const answer = await person.withKey.post(`/api/chat/${conversation.chatId}/stop`, body);
      expect([answer.status, answer.body]).toEqual([200, { status: "success", stopped: false }]);
    }
  });
});

describe("POST /api/chat/{chatId}/stop 404", () => {
  it("a chat that is missing, or another account's, whose turn goes on", async () => {
    const [owner, stranger] = await Promise.all([createPerson(), createPerson()]);
    const conversation = await openConversation(owner.withKey);
    const stream = await conversation.send("run: sleep 100");
    for (const caller of [stranger.withKey, stranger.withBearer]) {
      const foreign = await caller.post(`/api/chat/${conversation.chatId}/stop`);
      expectError(foreign, 404, "message", "Chat not found");
      expect(foreign.text).toBe((await caller.post(`/api/chat/${randomUUID()}/stop`)).text);
    }
    expect((await conversation.read()).isStreaming).toBe(true);
    await conversation.stop();
    await stream.ended;
  });
});
