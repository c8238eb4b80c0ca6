import { appError } from "@platform/endpoint/contract/app-error";
import { FairQueue, QueueRefusal } from "@platform/kit/fair-queue";
import { expect, it } from "vitest";
import { z } from "zod";
import { handle } from "../../../lib/http/pipeline.ts";
import type { Caller } from "../../../lib/identity/credentials/caller.ts";
import { appOf, exchangeOf } from "../../support/harness/exchange.ts";

const effect = { id: null, idempotencyKey: null };
const callerOf = (accountId: string): Caller => ({
  accountId,
  ownerId: accountId,
  credential: { kind: "key", keyId: "k" },
});

it("returns what the use case refuses", async () => {
  const refusal = appError("not_found", "Session not found");
  expect(await handle(exchangeOf({ handle: async () => refusal }), effect)).toBe(refusal);
});

it("makes a response of a plain success", async () => {
  const exchange = exchangeOf({
    contract: { responses: { 201: { description: "Made", schema: z.object({ id: z.string() }) } } },
    handle: async () => ({ status: 201, body: { id: "1" }, headers: { location: "/1" } }),
  });
  const response = await handle(exchange, effect);
  expect(response).toMatchObject({ status: 201 });
  expect(response).toBeInstanceOf(Response);
  if (!(response instanceof Response)) return;
  expect(response.headers.get("location")).toBe("/1");
  expect(await response.json()).toEqual({ id: "1" });
});

it.each([
  ["a status", { status: 204 }, /^POST \/api\/echo 204 is not in the contract/],
  ["a body", { body: { ok: "no" } }, /^POST \/api\/echo 200 differs from the contract/],
])("fails, in development and tests, for %s that the contract does not declare", async (...row) => {
  const [, answer, message] = row;
  await expect(handle(exchangeOf({ handle: async () => answer }), effect)).rejects.toThrow(message);
});

it("refuses an account that uses its whole share, and no other one", async () => {
  // Of two slots one account may hold one.
  const limits = { name: "requests", slots: 2, waitersPerAccount: 0, maxWaitMs: 0 } as const;
  const app = appOf({ requests: new FairQueue(limits) });
  const slow = Promise.withResolvers<{ body: unknown }>();
  const running = handle(
    exchangeOf({ handle: () => slow.promise, found: { app, caller: callerOf("busy") } }),
    effect,
  );
  const next = (accountId: string) =>
    handle(exchangeOf({ found: { app, caller: callerOf(accountId) } }), effect);
  await expect(next("busy")).rejects.toBeInstanceOf(QueueRefusal);
  expect(await next("other")).toMatchObject({ status: 200 });
  slow.resolve({ body: { ok: true } });
  expect(await running).toMatchObject({ status: 200 });
  expect(await next("busy")).toMatchObject({ status: 200 });
});
