/**
 * Unknown fields of every endpoint, over HTTP: refused where they could configure an agent and where the
 * request prefers it, and named in `x-ignored-fields` elsewhere. tests/api/unknown-fields.test.ts has each
 * place of each body.
 */
import { randomUUID } from "node:crypto";
import { addressOf } from "@platform/endpoint/openapi/curl";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { examples } from "../../lib/openapi/examples.ts";
import { operations } from "../../lib/openapi/registry.ts";
import { expectErrorShape, nameOf, sentenceOf } from "../support/fixtures/shapes.ts";
import { client, createPerson, type Person } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { rows } from "./rows.ts";

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

describe.each(operations.map(({ id, contract }) => [id, contract] as const))(
  "%s",
  (id, contract) => {
    const recorded = Object.values(examples[id] ?? {}).find(
      ({ response }) => response.status < 400,
    );
    // Two endpoints answer with what cannot be recorded.
    const query = recorded?.request.query ?? rows[nameOf(contract)]?.query?.({ id: "none" }) ?? {};
    const given = { ...recorded?.request, query };
    const known = z.record(z.string(), z.unknown()).parse(contract.body ? (given.body ?? {}) : {});
    const path = addressOf(contract, given).replaceAll(/\{\w+\}/g, () => randomUUID());
    const send = (search: string, fields: object, headers: Record<string, string> = {}) =>
      person.withKey.request(
        contract.method,
        `${path}${search && `${path.includes("?") ? "&" : "?"}${search}`}`,
        {
          headers,
          ...(contract.body && { body: { ...known, ...fields } }),
        },
      );
    const hasFields = contract.body !== undefined && id !== "callMcp";

    it("refuses an unknown field and parameter where the request prefers it", async () => {
      for (const [search, fields] of [
        ["zz_unknown=1", {}],
        ...(hasFields ? ([["", { zz_unknown: { a: 1 } }]] as const) : []),
      ] as const) {
        const answer = await send(search, fields, strict);
        expect(answer.status, answer.text).toBe(400);
        expectErrorShape(answer, contract.family);
        expect(sentenceOf(answer)).toBe(
          `zz_unknown is not a known ${search === "" ? "field" : "parameter"}`,
        );
        expect(answer.headers.has(HEADER)).toBe(false);
        if (contract.family === "missing") {
          expect(answer.body).toMatchObject({ missing_fields: ["zz_unknown"] });
        }
      }
    });

    it("otherwise names the ignored parameter, and the field unless it refuses it", async () => {
      const answer = await send("zz_unknown=1", {});
      expect(sentenceOrNone(answer)).not.toContain("zz_unknown");
      expect(answer.headers.get(HEADER), answer.text.slice(0, 500)).toBe("zz_unknown");
      if (!hasFields) return;
      const withField = await send("", { zz_unknown: 1 });
      if (contract.strictBody) {
        expect(withField.status).toBe(400);
        expectErrorShape(withField, contract.family);
        expect(sentenceOf(withField)).toBe("zz_unknown is not a known field");
      } else expect(withField.headers.get(HEADER), withField.text.slice(0, 500)).toBe("zz_unknown");
      const withNone = await send("", {});
      expect(withNone.headers.has(HEADER)).toBe(false);
    });
  },
);

const sentenceOrNone = (answer: Parameters<typeof sentenceOf>[0] & { readonly status: number }) =>
  answer.status < 400 ? "" : sentenceOf(answer);

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

it("names fields inside of lists, and none of what may have any field", async () => {
  const { withKey } = person;
  const tools = [{ name: "one", description: "", input_schema: { type: "object", any: 1 }, x: 1 }];
  const messages = [{ id: "m1", parts: [{ type: "text", text: "hello", any: 1 }], any: 1 }];
  const chat = { id: randomUUID(), messages, client_tools: tools };
  const refused = await withKey.post("/api/chat", chat, { headers: strict });
  expect([refused.status, sentenceOf(refused)]).toEqual([
    400,
    "client_tools.0.x is not a known field",
  ]);
});

it("is refused in what a run starts with, however deep", async () => {
  for (const [fields, sentence] of [
    [{ approval: { bash: "ask" } }, "approval is not a known field: did you mean approvals?"],
    [{ maxSteps: 1 }, "maxSteps is not a known field: did you mean limits.max_steps?"],
    [
      { limits: { maxStep: 1 } },
      "limits.maxStep is not a known field: did you mean limits.max_steps?",
    ],
  ] as const) {
    const answer = await person.withKey.post("/api/chat/runs", { prompt: "hello", ...fields });
    expect([answer.status, sentenceOf(answer)]).toEqual([400, sentence]);
  }
});

it("may be preferred by a page of another origin, which may read the header", async () => {
  const { headers } = await client().request("OPTIONS", "/api/chat");
  expect(headers.get("access-control-allow-headers")?.split(", ")).toContain("prefer");
  expect(headers.get("access-control-expose-headers")?.split(", ")).toContain(HEADER);
});
