import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { expectError } from "../support/fixtures/shapes.ts";
import { createAccount, createPerson, link, type Person } from "../support/harness/clients.ts";
import { conversationOf, startedOf, startRun, waitForRun } from "../support/harness/runs.ts";
import { admin, sql } from "../support/harness/stack.ts";
import { textOf } from "../support/harness/turn-stream.ts";

const madeBy = async ({ id }: Person) => {
  const [counts] = await sql`
    select (select count(*)::int from sessions where account_id = ${id}) as sessions,
      (select count(*)::int from turns where account_id = ${id}) as turns,
      (select count(*)::int from api_keys where account_id = ${id} and scope = 'run') as keys`;
  return counts;
};

describe("POST /api/chat/runs 202", () => {
  it("answers run, chat and session with where to poll, and the run completes", async () => {
    const person = await createPerson();
    const answer = await person.withKey.post("/api/chat/runs", { prompt: "  Say hello \n twice " });
    const run = startedOf(answer);
    expect(answer.headers.get("location")).toBe(`/api/chat/runs/${run.runId}`);
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(await waitForRun(person.withKey, run)).toMatchObject({
      status: "completed",
      error: null,
    });

    const { chat, isStreaming, messages } = await conversationOf(person.withKey, run).read();
    expect(isStreaming).toBe(false);
    expect(chat.title).toBe("Say hello twice");
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(messages[0]?.parts).toEqual([{ type: "text", text: "  Say hello \n twice " }]);
    expect(textOf(messages[1])).not.toBe("");
    const session = await person.withKey.get(`/api/sessions/${run.sessionId}`);
    expect(session.body).toMatchObject({ session: { sandboxState: "active", artistId: null } });
  });

  it("works in a separate sandbox, headless", async () => {
    const person = await createPerson();
    const run = await startRun(person.withBearer, { prompt: "run: echo made > it; cat it" });
    expect((await waitForRun(person.withBearer, run)).status).toBe("completed");
    const answer = await conversationOf(person.withBearer, run).answer();
    expect(JSON.stringify(answer.parts)).toContain("made");
    const [turn] = await sql`select headless from turns where run_id = ${run.runId}`;
    expect(turn?.headless).toBe(true);
  });

  it("takes a conversation, stores it in its order and answers its last message", async () => {
    const person = await createPerson();
    const messages = Array.from({ length: 30 }, (_, n) => ({
      id: `m${(n * 7) % 30}`,
      role: n % 2 === 0 ? "user" : "assistant",
      content: `line ${n}`,
    }));
    messages.push({ id: "a-last", role: "user", content: "and now?" });
    const run = await startRun(person.withKey, { messages, prompt: " " });
    await waitForRun(person.withKey, run);
    const stored = (await conversationOf(person.withKey, run).read()).messages;
    expect(stored.slice(0, -1).map(({ id, role }) => ({ id, role }))).toEqual(
      messages.map(({ id, role }) => ({ id, role })),
    );
    expect(stored.slice(0, -1).map(textOf)).toEqual(messages.map(({ content }) => content));
    expect(stored.at(-1)?.role).toBe("assistant");
  });

  it("takes an artist of the caller's organization and a model", async () => {
    const person = await createPerson();
    const organization = await createAccount({ kind: "organization" });
    const artist = await createAccount({ kind: "artist" });
    await link(organization.id, person.id);
    await link(organization.id, artist.id);
    const run = await startRun(person.withKey, {
      prompt: "hello",
      artistId: artist.id.toUpperCase(),
      model: "embedded/rules",
    });
    const session = await person.withKey.get(`/api/sessions/${run.sessionId}`);
    expect(session.body).toMatchObject({ session: { artistId: artist.id } });
    const { chat } = await conversationOf(person.withKey, run).read();
    expect(chat.modelId).toBe("embedded/rules");
    await waitForRun(person.withKey, run);
  });

  it.each(["withKey", "withBearer"] as const)(
    "the run's credential dies with it (%s)",
    async (by) => {
      const caller = (await createPerson())[by];
      const run = await startRun(caller, { prompt: "run: sleep 100" });
      const keys = () =>
        sql`select scope, revoked_at from api_keys where run_id = ${run.runId}`.then((rows) => [
          ...rows,
        ]);
      expect(await keys()).toEqual([{ scope: "run", revoked_at: null }]);
      await conversationOf(caller, run).stop();
      await expect.poll(keys).toEqual([{ scope: "run", revoked_at: expect.any(Date) }]);
    },
  );

  it("closes a turn that a dead request left unstarted, its key included", async () => {
    const person = await createPerson();
    const turnId = randomUUID();
    const effectId = randomUUID();
    const { data } = await admin.rpc("provision_run", {
      p_account_id: person.id,
      p_artist_id: null,
      p_effect_id: effectId,
      p_turn_id: turnId,
      p_assistant_message_id: "a1",
      p_title: "left",
      p_model_id: "embedded/rules",
      p_messages: [{ id: "m1", role: "user", parts: [{ type: "text", text: "left" }] }],
      p_key_hash: randomUUID(),
      p_key_prefix: "ap_left",
      p_key_name: "run",
      p_key_expires_at: "2100-01-01",
      p_kind: "headless",
      p_caller_key_id: null,
      p_max_active: 0,
      p_max_account_bytes: 0,
    });
    await sql`update turns set created_at = now() - interval '11 minutes' where id = ${turnId}`;
    await waitForRun(person.withKey, await startRun(person.withKey, { prompt: "hello" }));
    const [turn] = await sql`
      select t.status, t.error, t.effect_id, c.active_stream_id, k.revoked_at
      from turns t join chats c on c.id = t.chat_id join api_keys k on k.id = t.key_id
      where t.id = ${turnId}`;
    expect(turn, JSON.stringify(data)).toEqual({
      status: "failed",
      error: "not_started",
      effect_id: null,
      active_stream_id: null,
      revoked_at: expect.any(Date),
    });
  });
});

describe("POST /api/chat/runs 400", () => {
  const user = { id: "m1", content: "hello" };
  const filesOf = (...urls: string[]) => ({
    id: "files",
    parts: urls.map((url) => ({ type: "file", mediaType: "text/plain", url })),
  });
  const exactlyOne = "Exactly one of prompt or messages must be provided";
  it.each([
    [{}, exactlyOne],
    [{ prompt: " \n" }, exactlyOne],
    [{ messages: [] }, exactlyOne],
    [{ prompt: null, messages: null }, exactlyOne],
    [{ prompt: "hello", messages: [user] }, exactlyOne],
    [{ prompt: 7 }, "prompt must be a string"],
    [{ messages: "hello" }, "messages must be an array"],
    [{ messages: [{ content: "hello" }] }, "messages.0.id is required"],
    [{ messages: [{ id: "m1" }] }, "messages.0 must have content or parts"],
    [
      {
        messages: [
          { ...user, content: " " },
          { ...user, id: "m2" },
        ],
      },
      "messages.0 must not be empty",
    ],
    [
      { messages: [filesOf("http://example.com/a.png")] },
      "A file of messages.0 must have a data, https or sandbox:/home/agent/ URL",
    ],
    [
      { messages: [user, filesOf(...Array.from({ length: 21 }, () => "data:text/plain,hello"))] },
      "messages.1 must have at most 20 files",
    ],
    [{ messages: [user, user] }, "messages.1.id must be unique"],
    [
      { messages: [user, { id: "m2", role: "assistant", content: "hi" }] },
      "The last message must be a user message",
    ],
    [
      { messages: [{ id: "m1", role: "system", content: "obey" }] },
      "messages.0.role must be one of user, assistant",
    ],
    [{ prompt: "hello", model: "no/such-model" }, "model must be one of the available models"],
    [{ prompt: "hello", model: "" }, "model must not be empty"],
    [{ prompt: "hello", template_id: "42" }, "template_id must be a valid UUID"],
    [
      { prompt: "hello", instructions: "x".repeat(10_001) },
      "instructions must be at most 10000 characters",
    ],
  ])("%j is refused with one sentence, and nothing is made", async (body, sentence) => {
    const person = await createPerson();
    const answer = await person.withKey.post("/api/chat/runs", body);
    expectError(answer, 400, "message", sentence);
    expect(await madeBy(person)).toEqual({ sessions: 0, turns: 0, keys: 0 });
  });
});
