import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { expectErrorShape, sentenceOf } from "../support/fixtures/shapes.ts";
import { client, createPerson, type Person } from "../support/harness/clients.ts";
import { authorize } from "../support/harness/connections.ts";
import { decide, openConsent } from "../support/harness/consent.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";
import { sql } from "../support/harness/stack.ts";

const ACTION = "/api/connectors/gmail/actions/DESCRIBE_CONNECTION";

let person: Person;
let run: Awaited<ReturnType<typeof createRunCredential>>;
beforeAll(async () => {
  person = await createPerson();
  run = await createRunCredential(person.id, "key");
  const redirectUrl = await authorize(person.withKey, { connector: "gmail" });
  await decide(await openConsent(redirectUrl), "allow");
});

type Place = Pick<typeof run, "sessionId" | "chatId">;
const pathOf = ({ sessionId, chatId }: Place) =>
  `/api/sessions/${sessionId}/chats/${chatId}/connectors`;
const choose = (connectors: unknown, place: Place = run) =>
  person.withKey.request("PUT", pathOf(place), { body: { connectors } });
const named = (place: Place = run) => person.withKey.get(pathOf(place));
const inSandbox = () => client({ key: run.raw });

describe("200", () => {
  it("lists actions and runs one, with both credentials", async () => {
    for (const caller of [person.withKey, person.withBearer]) {
      const listed = await caller.get("/api/connectors/gmail/actions");
      expect(listed.body).toMatchObject({
        data: { actions: [{ name: "DESCRIBE_CONNECTION" }, { name: "SEND_TEST_EVENT" }] },
      });
      const ran = await caller.post(ACTION, { input: {} });
      expect(ran.body).toMatchObject({
        data: { successful: true, output: { connector: "gmail" } },
      });
    }
  });

  it("a run uses a connector that was named for its chat, until it is named no more", async () => {
    const chosen = await choose(["gmail", "slack", "gmail"]);
    expect(chosen.body).toEqual({ status: "success", connectors: ["gmail", "slack"] });
    expect((await named()).body).toEqual(chosen.body);
    const sandbox = inSandbox();
    expect((await sandbox.get("/api/connectors/gmail/actions")).status).toBe(200);
    const asked = await sandbox.post(ACTION, { input: {} });
    expect(asked.status).toBe(403);
    expect(sentenceOf(asked)).toContain("A person must approve this");
    await sql`update turns set options = '{"approvals": {"connectors": "auto"}}'
      where chat_id = ${run.chatId}`;
    const ran = await sandbox.post(ACTION, { input: {} });
    expect(ran.body).toMatchObject({ data: { successful: true } });
    await choose([]);
    expect((await sandbox.post(ACTION, { input: {} })).status).toBe(403);
    expect((await named()).body).toEqual({ status: "success", connectors: [] });
  });

  it("a headless run names its connectors when it starts", async () => {
    const body = { prompt: "hello", connectors: ["gmail"] };
    const started = await person.withKey.post("/api/chat/runs", body);
    expect(started.status, started.text).toBe(202);
    const { chatId } = started.body as { chatId: string };
    expect(
      await sql`select account_id, connectors from chat_connectors where chat_id = ${chatId}`,
    ).toMatchObject([{ account_id: person.id, connectors: ["gmail"] }]);
  });
});

describe("400", () => {
  it("malformed names, inputs and pages", async () => {
    const of = (path: string, body: object) => person.withKey.post(path, body);
    const wrong = [
      await person.withKey.get("/api/connectors/G!/actions"),
      await person.withKey.get("/api/connectors/gmail/actions?limit=0"),
      await of("/api/connectors/gmail/actions/a%20b", { input: {} }),
      await of(ACTION, {}),
      await of(ACTION, { input: [] }),
    ];
    for (const answer of wrong) {
      expect(answer.status, answer.text).toBe(400);
      expectErrorShape(answer, "plain");
    }
    for (const connectors of [undefined, "gmail", ["G!"], Array(21).fill("gmail")]) {
      expect((await choose(connectors)).status).toBe(400);
    }
  });
});

describe("403, of a run", () => {
  it("a connector that was not named for its chat, whatever another chat has", async () => {
    const other = await createRunCredential(person.id, "bearer", run.sessionId);
    await choose(["gmail"], other);
    await choose(["slack"]);
    for (const answer of [
      await inSandbox().get("/api/connectors/gmail/actions"),
      await inSandbox().post(ACTION, { input: {} }),
      await inSandbox().request(
        "PUT",
        `/api/sessions/${run.sessionId}/chats/${run.chatId}/connectors`,
        {
          body: { connectors: ["gmail"] },
        },
      ),
    ]) {
      expect(answer.status, answer.text).toBe(403);
      expect(sentenceOf(answer)).toBe("This credential cannot be used here");
    }
  });
});

describe("404", () => {
  it("a missing chat, and one of another session or account", async () => {
    const foreign = await createRunCredential((await createPerson()).id, "key");
    const missing = { sessionId: run.sessionId, chatId: randomUUID() };
    const misplaced = { sessionId: foreign.sessionId, chatId: run.chatId };
    for (const place of [missing, misplaced, foreign]) {
      for (const ask of [(chat: Place) => choose(["gmail"], chat), named]) {
        const answer = await ask({ ...run, ...place });
        expect(answer.status, answer.text).toBe(404);
        expectErrorShape(answer, "error");
      }
    }
    expect(await sql`select 1 from chat_connectors where chat_id = ${foreign.chatId}`).toEqual([]);
  });
});
