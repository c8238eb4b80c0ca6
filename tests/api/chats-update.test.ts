import { describe, expect, test } from "vitest";
import { createPersonWithSession } from "../support/fixtures/sessions.ts";
import { expectError } from "../support/fixtures/shapes.ts";

describe("PATCH /api/sessions/{sessionId}/chats/{chatId} 200", () => {
  test("given fields change, the rest stays", async () => {
    const { person, session, chat } = await createPersonWithSession();
    const path = `/api/sessions/${session.id}/chats/${chat.id}`;
    const renamed = await person.withKey.patch(path, { title: " Hooks " });
    expect(renamed.status).toBe(200);
    expect(renamed.body).toEqual({
      chat: { ...chat, title: "Hooks", updatedAt: expect.any(String) },
    });
    const chosen = await person.withKey.patch(path, { modelId: chat.modelId });
    expect(chosen.body).toMatchObject({ chat: { title: "Hooks", modelId: chat.modelId } });
    const emptied = await person.withKey.patch(path, { title: "" });
    expect(emptied.body).toMatchObject({ chat: { title: "" } });
  });
});

describe("PATCH /api/sessions/{sessionId}/chats/{chatId} 400", () => {
  test("an unknown model is refused", async () => {
    const body = { modelId: "no/such-model" };
    const { person, session, chat } = await createPersonWithSession();
    const answer = await person.withKey.patch(`/api/sessions/${session.id}/chats/${chat.id}`, body);
    expectError(answer, 400, "error", "modelId must be one of the available models");
  });
});
