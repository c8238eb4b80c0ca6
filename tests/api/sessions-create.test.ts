import { describe, expect, test } from "vitest";
import { z } from "zod";
import { chat, session } from "../../lib/sessions/session.ts";
import {
  client,
  createAccount,
  createKey,
  createPerson,
  link,
} from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

const created = z.strictObject({
  session: z.strictObject(session.shape),
  chat: z.strictObject(chat.shape),
});

describe("POST /api/sessions 201", () => {
  test("answers the session and its first chat, with exactly the fields of the contract", async () => {
    const person = await createPerson();
    const answer = await person.withKey.post("/api/sessions", { title: "  Release plan " });
    expect(answer.status).toBe(201);
    const body = created.parse(answer.body);
    expect(body.session).toMatchObject({
      accountId: person.id,
      organizationId: null,
      artistId: null,
      title: "Release plan",
      status: "running",
      sandboxState: "none",
    });
    expect(body.chat).toMatchObject({
      sessionId: body.session.id,
      title: "",
      activeStreamId: null,
      lastAssistantMessageAt: null,
    });
    expect(body.chat.modelId).not.toBe("");
    expect(body.session.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test("an empty body makes an untitled session of the account itself", async () => {
    const person = await createPerson();
    const answer = await person.withBearer.request("POST", "/api/sessions");
    expect(answer.status).toBe(201);
    expect(created.parse(answer.body).session).toMatchObject({ title: "", accountId: person.id });
  });

  test("sets its chat up and provisions its sandbox, as a chat that is added is set up", async () => {
    const { withKey } = await createPerson();
    const setup = { modelId: "embedded/rules", connectors: ["gmail"] };
    const unknown = { ...setup, modelId: "no-such-model" };
    const refused = await withKey.post("/api/sessions", unknown);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("modelId must")]);
    const answer = await withKey.post("/api/sessions", { ...setup, sandbox: true });
    const { session, chat: first } = created.parse(answer.body);
    expect(session.sandboxState).toBe("active");
    const path = `/api/sessions/${session.id}`;
    const stored = { session: { sandboxState: "active" } };
    expect((await withKey.get(path)).body).toMatchObject(stored);
    const added = Object((await withKey.post(`${path}/chats`, setup)).body).chat;
    for (const { id } of [first, added]) {
      const read = await withKey.get(`${path}/chats/${id}?include=connectors,model`);
      const model = { id: "embedded/rules", name: expect.any(String), is_default: true };
      expect(read.body).toMatchObject({ connectors: ["gmail"], model, messages: [] });
    }
  });

  test("a member names the organization, and the organization itself may", async () => {
    const person = await createPerson();
    const organization = await createAccount({ kind: "organization" });
    await link(organization.id, person.id);
    const own = client({ key: await createKey(organization.id) });
    for (const caller of [person.withKey, person.withBearer, own]) {
      const answer = await caller.post("/api/sessions", {
        organization_id: organization.id.toUpperCase(),
      });
      expect(answer.status).toBe(201);
      expect(created.parse(answer.body).session.organizationId).toBe(organization.id);
    }
  });

  test("an artist of the caller's organization may be named", async () => {
    const person = await createPerson();
    const organization = await createAccount({ kind: "organization" });
    const artist = await createAccount({ kind: "artist" });
    await link(organization.id, person.id);
    await link(organization.id, artist.id);
    const answer = await person.withKey.post("/api/sessions", { artistId: artist.id });
    expect(answer.status).toBe(201);
    expect(created.parse(answer.body).session.artistId).toBe(artist.id);
  });

  test("a session never exists without its chat", async () => {
    const person = await createPerson();
    await Promise.all(Array.from({ length: 10 }, () => person.withKey.post("/api/sessions", {})));
    const [count] = await sql`
      select count(*)::int as sessions, count(c.id)::int as chats
      from sessions s left join chats c on c.session_id = s.id and c.account_id = s.account_id
      where s.account_id = ${person.id}`;
    expect(count).toEqual({ sessions: 10, chats: 10 });
  });
});
