import { describe, expect, it } from "vitest";
import { createPerson } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";

describe("POST /api/chat/{chatId}/stop 200", () => {
  it("stopped: false when nothing was ever asked; needs no body, and takes any", async () => {
    const person = await createPerson();
    const conversation = await openConversation(person.withKey);
    for (const body of [undefined, {}, "not json"]) {
      const answer = await person.withKey.post(`/api/chat/${conversation.chatId}/stop`, body);
      expect([answer.status, answer.body]).toEqual([200, { status: "success", stopped: false }]);
    }
  });
});
