/** Whole requests, served without a server: a contract, a use case, and a service in memory. */

import { log } from "@platform/kit/log";
import { expect, it } from "vitest";
import { z } from "zod";
import { appError } from "../src/contract/app-error.ts";
import { contract } from "../src/contract/contract.ts";
import { createEndpoint } from "../src/endpoint.ts";
import type { Principal } from "../src/exchange.ts";
import { methods, type RouteHandler } from "../src/methods.ts";
import { MemoryService, Outage } from "./exchange.ts";

log().level = "silent";

const parts = { greeting: "Hello" };
const service = new MemoryService();
const endpoint = createEndpoint<Principal, typeof parts>(service, () => parts);

const greet = contract({
  method: "POST",
  path: "/api/greetings/{id}",
  summary: "Greet",
  tag: "Test",
  family: "error",
  auth: "required",
  accountAccess: { in: "body", field: "account_id" },
  params: z.object({ id: z.string() }),
  body: z.object({ account_id: z.guid().optional(), title: z.string() }),
  bodyLimit: 1_000,
  idempotent: true,
  responses: { 200: { description: "A greeting", schema: z.object({ text: z.string() }) } },
  errors: [],
});

const OWN = "2f6e83b3-0000-4000-8000-000000000000";
const OTHER = "2f6e83b3-0000-4000-8000-000000000001";
const credential = { "x-api-key": OWN };

const context = { params: Promise.resolve({ id: "1" }) };
const send = (handler: RouteHandler, headers: Record<string, string>, body?: string) =>
  handler(
    new Request("http://localhost/api/greetings/1", {
      method: "POST",
      headers,
      ...(body !== undefined && { body }),
    }),
    context,
  );

const greeting = endpoint(greet, async ({ app, caller, params, body }) => ({
  body: { text: `${app.greeting} ${body.title} ${params.id} of ${caller.accountId}` },
}));

it("gives a use case the parts, the caller and the parsed input, and makes a response", async () => {
  const body = JSON.stringify({ accountId: OWN, title: "Tour" });
  const response = await send(greeting, { ...credential, "x-request-id": "mine" }, body);
  expect(response.status).toBe(200);
  const text = `Hello Tour 1 of ${OWN}`;
  expect(await response.json()).toEqual({ text });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "x-request-id": "mine",
    "cache-control": "no-store",
    "access-control-allow-origin": "*",
    ratelimit: '"account";r=59;t=1',
  });
  expect(service.answers).toEqual([{ text }]);
  expect(service.requests).toEqual([
    { account: OWN, route: greet.path, status: 200, ms: expect.any(Number) },
  ]);
});

it("names the fields that had no effect", async () => {
  const response = await send(greeting, credential, JSON.stringify({ title: "Tour", titel: "" }));
  expect(response.headers.get("x-ignored-fields")).toBe("titel");
});

/** A request that every stage would refuse; the cases below correct one mistake after the other. */
it("reports one error at a time: credential, size, JSON, schema, access, idempotency key", async () => {
  const wrongKey = { "idempotency-key": "k".repeat(256) };
  const json = (fields: object) => JSON.stringify({ account_id: OTHER, ...fields });
  const codeOf = async (headers: Record<string, string>, body: string) =>
    (await send(greeting, headers, body)).headers.get("x-error-code");
  expect([
    await codeOf(wrongKey, "{".repeat(2_000)),
    await codeOf({ ...credential, ...wrongKey }, "{".repeat(2_000)),
    await codeOf({ ...credential, ...wrongKey }, "{"),
    await codeOf({ ...credential, ...wrongKey }, json({ title: 1 })),
    await codeOf({ ...credential, ...wrongKey }, json({ title: "Tour" })),
    await codeOf({ ...credential, ...wrongKey }, json({ title: "Tour", account_id: OWN })),
    await codeOf(credential, json({ title: "Tour", account_id: OWN })),
  ]).toEqual([
    "unauthorized",
    "payload_too_large",
    "invalid_json",
    "invalid_request",
    "access_denied",
    "invalid_request",
    null,
  ]);
});

it("has one effect for each key, and repeats its response", async () => {
  const effects: (string | null)[] = [];
  const first = Promise.withResolvers<void>();
  const once = endpoint(greet, async ({ effectId, idempotencyKey }) => {
    effects.push(effectId);
    await first.promise;
    return { body: { text: idempotencyKey ?? "" } };
  });
  const keyed = { ...credential, "idempotency-key": "one" };
  const running = send(once, keyed, '{"title":"Tour"}');
  await expect.poll(() => effects.length).toBe(1);
  const early = await send(once, keyed, '{"title":"Tour"}');
  expect([early.status, early.headers.get("x-error-code")]).toEqual([
    409,
    "idempotency_in_progress",
  ]);
  first.resolve();
  expect((await running).status).toBe(200);
  const again = await send(once, keyed, ' {"title": "Tour"} ');
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect(await again.json()).toEqual({ text: "one" });
  expect((await send(once, keyed, '{"title":"Album"}')).status).toBe(422);
  expect(effects).toHaveLength(1);
});

it.each([
  ["a failure of the service", () => Promise.reject(new Outage()), 503],
  ["a full quota", async () => appError("chat_full", "The chat is full"), 403],
  ["a conflict", async () => appError("conflict", "It is running"), 409],
])("calls the use case again with the same effect after %s", async (reason, fail, status) => {
  const effects: (string | null)[] = [];
  const failing = endpoint(greet, async ({ effectId }) => {
    effects.push(effectId);
    return fail();
  });
  const keyed = { ...credential, "idempotency-key": reason };
  for (const _ of [1, 2]) {
    expect((await send(failing, keyed, '{"title":"Tour"}')).status).toBe(status);
  }
  expect(effects).toEqual([expect.any(String), effects[0]]);
});

it("calls a use case without a caller where the credential is optional", async () => {
  const open = contract({
    ...greet,
    auth: "optional",
    accountAccess: undefined,
    idempotent: undefined,
  } as const);
  const handler = endpoint(open, async ({ caller }) => ({ body: { text: String(caller) } }));
  expect(await (await send(handler, {}, '{"title":"Tour"}')).json()).toEqual({ text: "null" });
});

it("answers the methods that a route has no handler for", async () => {
  const route = methods({ POST: greeting });
  const request = new Request("http://localhost/api/greetings/1");
  const refused = await route.GET(request, context);
  expect([refused.status, refused.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
  const preflight = await route.OPTIONS(request, context);
  expect(preflight.headers.get("access-control-allow-methods")).toBe("POST, OPTIONS");
});
