import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createPersonWithSession, createSession } from "../support/fixtures/sessions.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { createTemplate } from "../support/fixtures/templates.ts";
import { createPerson } from "../support/harness/clients.ts";

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

describe("PATCH /api/sessions/{sessionId}/chats/{chatId} 404", () => {
  test("a template that the caller does not see answers as a missing one, and nothing changes", async () => {
    const [owner, other] = await Promise.all([createPerson(), createPerson()]);
    const template = await createTemplate(other.withKey, { is_private: true });
    const { session, chat } = await createSession(owner.withKey);
    const path = `/api/sessions/${session.id}/chats/${chat.id}`;
    for (const templateId of [template.id, randomUUID()]) {
      const answer = await owner.withKey.patch(path, { title: "Changed", templateId });
      expectError(answer, 404, "error", "Template not found");
    }
    expect((await owner.withKey.get(path)).body).toMatchObject({ chat });
  });
});
