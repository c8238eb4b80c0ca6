import { describe, expect, test } from "vitest";
import { createPersonWithSession } from "../support/fixtures/sessions.ts";
import { expectError } from "../support/fixtures/shapes.ts";

describe("PATCH /api/sessions/{sessionId}/chats/{chatId} 200", () => {
  test("what is given changes, what is not given stays", async () => {
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
  test.each([
    [
      {},
      "One of title, modelId, fallback_models, effort, workspace, outcome, skills, web_search, scheduling, media_tools, approvals, network, mcp_servers, limits, tools, temperature, max_output_tokens, instructions, templateId, template_version, archived, pinned must be provided",
    ],
    [{ pinned: "yes" }, "pinned must be a boolean"],
    [{ instructions: "x".repeat(10_001) }, "instructions must be at most 10000 characters"],
    [{ templateId: "42" }, "templateId must be a valid UUID"],
    [{ title: 1 }, "title must be a string"],
    [{ title: "Hooks", activeStreamId: "mine" }, "activeStreamId is not a known field"],
    [{ modelId: "" }, "modelId must not be empty"],
    [{ modelId: "no/such-model" }, "modelId must be one of the available models"],
  ])("%j is refused", async (body, sentence) => {
    const { person, session, chat } = await createPersonWithSession();
    const answer = await person.withKey.patch(`/api/sessions/${session.id}/chats/${chat.id}`, body);
    expectError(answer, 400, "error", sentence);
  });
});
