/**
 * Unknown fields over HTTP: refused where they could configure an agent and where the request prefers it, and named
 * in `x-ignored-fields` elsewhere. tests/api/unknown-fields.test.ts has each place of each body.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import { operations } from "../../lib/openapi/registry.ts";
import { sentenceOf } from "../support/fixtures/shapes.ts";
import { client, createPerson, type Person } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";

const HEADER = "x-ignored-fields";
const strict = { prefer: "respond-async, handling=strict" };

let person: Person;
beforeAll(async () => {
  person = await createPerson();
});

const configures = [
  "answerApproval",
  "chooseConnectors",
  "confirmMcpTools",
  "createChat",
  "createMcpServer",
  "createSession",
  "createTask",
  "createTemplate",
  "createTrigger",
  "restoreTemplate",
  "sendToolResults",
  "startRun",
  "updateAccount",
  "updateChat",
  "updateMcpServer",
  "updateTask",
  "updateTemplate",
];

it("has a list of the bodies that start or configure an agent", () => {
  const listed = operations.filter(({ contract }) => contract.strictBody);
  expect(listed.map(({ id }) => id).sort()).toEqual(configures);
});

it("names the ignored fields of a stream", async () => {
  const { sessionId, chatId } = await openConversation(person.withKey);
  const turn = { sessionId, chatId, messages: [{ id: "m1", content: "hello", createdAt: 1 }] };
  const body = { ...turn, approval: {}, context: { "a,\r\nb": 1 } };
  const refused = await person.withKey.post("/api/chat", body, { headers: strict });
  expect([refused.status, sentenceOf(refused)]).toEqual([
    400,
    "context.a,\r\nb is not a known field",
  ]);
  const stream = await person.withKey.post("/api/chat", body);
  expect(stream.status).toBe(200);
  expect(stream.headers.get("content-type")).toContain("text/event-stream");
  expect(stream.headers.get(HEADER)).toBe("context.a%2C%0D%0Ab, approval");
});

it("names those of a repetition, which is answered from the store", async () => {
  const headers = { "idempotency-key": randomUUID() };
  const body = { prompt: "hello" };
  for (const replayed of [null, "true"]) {
    const answer = await person.withKey.post("/api/chat/runs?maxSteps=1", body, { headers });
    expect(answer.status, answer.text).toBe(202);
    expect(answer.headers.get("idempotency-replayed")).toBe(replayed);
    expect(answer.headers.get(HEADER)).toBe("maxSteps");
  }
});

it("may be preferred by a page of another origin, which may read the header", async () => {
  const { headers } = await client().request("OPTIONS", "/api/chat");
  expect(headers.get("access-control-allow-headers")?.split(", ")).toContain("prefer");
  expect(headers.get("access-control-expose-headers")?.split(", ")).toContain(HEADER);
});
