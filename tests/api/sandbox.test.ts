import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { sandbox } from "../../lib/sandbox/contract.ts";
import { createPersonWithSession, sandboxFolderExists } from "../support/fixtures/sessions.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import type { createPerson } from "../support/harness/clients.ts";
import { startEndlessTurn } from "../support/harness/conversation.ts";
import { setting, sql } from "../support/harness/stack.ts";

const answered = z.strictObject({
  status: z.literal("success"),
  sessionId: z.uuid(),
  sandbox: z.strictObject(sandbox.shape),
});
const none = {
  provider: null,
  state: "none",
  createdAt: null,
  expiresAt: null,
  readyMs: null,
};

async function stateInSession(caller: Awaited<ReturnType<typeof createPerson>>, id: string) {
  const read = await caller.withKey.get(`/api/sessions/${id}`);
  return z.object({ session: z.object({ sandboxState: z.string() }) }).parse(read.body).session
    .sandboxState;
}

describe("POST /api/sandbox 200", () => {
  test("provisions, and the session says so", async () => {
    const { person, session } = await createPersonWithSession();
    const answer = await person.withKey.post("/api/sandbox", { sessionId: session.id });
    expect(answer.status).toBe(200);
    const body = answered.parse(answer.body);
    expect(body.sessionId).toBe(session.id);
    expect(body.sandbox).toMatchObject({ provider: "local", state: "active" });
    expect(body.sandbox.readyMs).toBeGreaterThanOrEqual(0);
    expect(await stateInSession(person, session.id)).toBe("active");
    expect(await sandboxFolderExists(session.id)).toBe(true);
  });

  test("a sandbox made by a request that died before it was stored is taken up", async () => {
    const { person, session } = await createPersonWithSession();
    await person.withKey.post("/api/sandbox", { sessionId: session.id });
    await sql`update sessions set sandbox_state = null where id = ${session.id}`;
    const answer = await person.withKey.post("/api/sandbox", { sessionId: session.id });
    expect(answer.status).toBe(200);
    expect(await stateInSession(person, session.id)).toBe("active");
  });

  test("an expired sandbox is replaced by a new one", async () => {
    const { person, session } = await createPersonWithSession();
    const first = await person.withKey.post("/api/sandbox", { sessionId: session.id });
    await rm(join(setting("DATA_DIR"), "sandboxes", session.id), { recursive: true });
    const path = `/api/sandbox?sessionId=${session.id}`;
    expect((await person.withKey.get(path)).body).toMatchObject({ sandbox: { state: "expired" } });

    const second = await person.withKey.post("/api/sandbox", { sessionId: session.id });
    expect(answered.parse(second.body).sandbox.state).toBe("active");
    expect(second.text).not.toBe(first.text);
    expect((await person.withKey.get(path)).text).toBe(second.text);
  });
});

describe("GET /api/sandbox 200", () => {
  test("none before, active after, none when it was stopped", async () => {
    const { person, session } = await createPersonWithSession();
    const path = `/api/sandbox?sessionId=${session.id}`;
    const before = await person.withKey.get(path);
    expect(before.body).toEqual({ status: "success", sessionId: session.id, sandbox: none });

    const made = await person.withKey.post("/api/sandbox", { sessionId: session.id });
    expect((await person.withBearer.get(path)).text).toBe(made.text);

    await person.withKey.delete(path);
    expect((await person.withKey.get(path)).text).toBe(before.text);
  });
});

describe("DELETE /api/sandbox 200", () => {
  test("its files are gone and sandbox_state is null; repeated it says the same", async () => {
    const { person, session } = await createPersonWithSession();
    await person.withKey.post("/api/sandbox", { sessionId: session.id });
    for (let time = 0; time < 2; time++) {
      const answer = await person.withKey.delete(`/api/sandbox?sessionId=${session.id}`);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ status: "success", sessionId: session.id, sandbox: none });
    }
    expect(await sandboxFolderExists(session.id)).toBe(false);
    expect(await sql`select sandbox_state from sessions where id = ${session.id}`).toEqual([
      { sandbox_state: null },
    ]);
  });

  test("a turn that uses it ends, and its answer so far is kept", async () => {
    const { person, session, chat } = await createPersonWithSession();
    const ids = { sessionId: session.id, chatId: chat.id };
    const { stream } = await startEndlessTurn(person.withKey, ids);

    const answer = await person.withKey.delete(`/api/sandbox?sessionId=${session.id}`);
    expect(answer.status).toBe(200);
    expect(await stream).toContain("[DONE]");
    const read = await person.withKey.get(`/api/sessions/${session.id}/chats/${chat.id}`);
    expect(read.body).toMatchObject({
      isStreaming: false,
      chat: { activeStreamId: null, lastAssistantMessageAt: expect.any(String) },
      messages: [{ role: "user" }, { role: "assistant" }],
    });
    expect(await sandboxFolderExists(session.id)).toBe(false);
  });

  test("whatever provisions and stops at once, the next provision gives one that answers", async () => {
    const { person, session } = await createPersonWithSession();
    const path = `/api/sandbox?sessionId=${session.id}`;
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all([
        person.withKey.post("/api/sandbox", { sessionId: session.id }),
        person.withKey.delete(path),
        person.withKey.post("/api/sandbox", { sessionId: session.id }),
        person.withKey.delete(path),
      ]);
      expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
      await person.withKey.post("/api/sandbox", { sessionId: session.id });
      expect((await person.withKey.get(path)).body).toMatchObject({ sandbox: { state: "active" } });
    }
  });
});

describe("502 while the provider fails", () => {
  test("POST says so in the words of the contract, and nothing is stuck afterwards", async () => {
    const { person, session } = await createPersonWithSession();
    const inTheWay = join(setting("DATA_DIR"), "sandboxes", session.id);
    await writeFile(inTheWay, "a file where the folder should be");

    const answer = await person.withKey.post("/api/sandbox", { sessionId: session.id });
    expect(answer.status).toBe(502);
    expect(answer.headers.get("x-error-code")).toBe("upstream_error");
    expect(answer.body).toEqual({ status: "error", error: "Failed to provision sandbox" });
    expect(await stateInSession(person, session.id)).toBe("none");

    await rm(inTheWay);
    expect((await person.withKey.post("/api/sandbox", { sessionId: session.id })).status).toBe(200);
  });

  test("GET, DELETE and the deletion of the session change nothing and may be repeated", async () => {
    const { person, session } = await createPersonWithSession();
    await person.withKey.post("/api/sandbox", { sessionId: session.id });
    const rename = (name: string) => sql`
      update sessions set sandbox_state = jsonb_set(sandbox_state, '{name}', to_jsonb(${name}::text))
      where id = ${session.id}`;
    await rename("no/such/name");
    const path = `/api/sandbox?sessionId=${session.id}`;
    for (const [answer, error] of [
      [await person.withKey.get(path), "Failed to read sandbox state"],
      [await person.withKey.delete(path), "Failed to stop sandbox"],
      [await person.withKey.delete(`/api/sessions/${session.id}`), "Failed to stop sandbox"],
    ] as const) {
      expectError(answer, 502, "error", error);
    }
    expect(await stateInSession(person, session.id)).toBe("active");

    await rename(session.id);
    expect((await person.withKey.delete(`/api/sessions/${session.id}`)).status).toBe(200);
    expect(await sandboxFolderExists(session.id)).toBe(false);
  });
});
