import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { paths } from "../generated/api.ts";
import { createPersonWithSession, createSession } from "../support/fixtures/sessions.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { createTemplate } from "../support/fixtures/templates.ts";
import { type Client, createPerson, dataOf } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

const path = "/api/sessions/{sessionId}/chats";
type NewChat = NonNullable<
  paths[typeof path]["post"]["requestBody"]
>["content"]["application/json"];

const createChat = async (caller: Client, sessionId: string, body: NewChat) =>
  (await dataOf(caller.api.POST(path, { params: { path: { sessionId } }, body }))).chat;

describe("POST /api/sessions/{sessionId}/chats 201", () => {
  test("answers a chat of exactly the eight fields, with the service's default model", async () => {
    const { person, session, chat: first } = await createPersonWithSession();
    expect(await createChat(person.withKey, session.id, { title: " Second " })).toMatchObject({
      sessionId: session.id,
      title: "Second",
      modelId: first.modelId,
      activeStreamId: null,
      lastAssistantMessageAt: null,
    });
  });

  test("instructions and a template are kept, and a repetition does not change them", async () => {
    const { person, session } = await createPersonWithSession();
    const template = await createTemplate(person.withKey, { is_private: true });
    const id = randomUUID();
    const instructed = { id, instructions: " Be brief. ", templateId: template.id };
    await createChat(person.withKey, session.id, instructed);
    await createChat(person.withKey, session.id, { id, instructions: "Other" });
    expect([...(await sql`select instructions, template_id from chats where id = ${id}`)]).toEqual([
      { instructions: "Be brief.", template_id: template.id },
    ]);
  });

  test("repeated with the client's id it answers the chat that is there, unchanged", async () => {
    const { person, session } = await createPersonWithSession();
    const id = randomUUID();
    const create = (body: NewChat) => createChat(person.withKey, session.id, body);
    const first = await create({ id: id.toUpperCase(), title: "First" });
    expect(first).toMatchObject({ id, title: "First" });
    expect(await create({ id, title: "Other" })).toEqual(first);
  });

  test("twenty creations at once with one id make one chat", async () => {
    const { person, session } = await createPersonWithSession();
    const id = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        person.withKey.post(`/api/sessions/${session.id}/chats`, { id }),
      ),
    );
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(await sql`select 1 from chats where session_id = ${session.id}`).toHaveLength(2);
  });
});

describe("POST /api/sessions/{sessionId}/chats 400", () => {
  test("an unknown model is refused", async () => {
    const body = { modelId: "no/such-model" };
    const { person, session } = await createPersonWithSession();
    const answer = await person.withKey.post(`/api/sessions/${session.id}/chats`, body);
    expectError(answer, 400, "error", "modelId must be one of the available models");
  });
});

describe("POST /api/sessions/{sessionId}/chats 409", () => {
  test("an id of another session's chat is refused, and that chat stays as it is", async () => {
    const [person, other] = await Promise.all([createPerson(), createPerson()]);
    const { session } = await createSession(person.withKey);
    for (const owner of [person, other]) {
      const elsewhere = await createSession(owner.withKey);
      const answer = await person.withKey.post(`/api/sessions/${session.id}/chats`, {
        id: elsewhere.chat.id,
        title: "Taken",
      });
      expect(answer.status).toBe(409);
      expect(answer.headers.get("x-error-code")).toBe("conflict");
      expect(answer.body).toEqual({
        status: "error",
        error: "A chat with this id exists in another session",
      });
      const read = await owner.withKey.get(
        `/api/sessions/${elsewhere.session.id}/chats/${elsewhere.chat.id}`,
      );
      expect(read.body).toMatchObject({ chat: elsewhere.chat });
    }
  });
});
