import { randomUUID } from "node:crypto";
import { isAppError } from "@platform/endpoint/contract/app-error";
import type { Effect } from "@platform/endpoint/exchange";
import { once } from "@platform/endpoint/pipeline";
import { expect, it } from "vitest";
import { z } from "zod";
import type { Caller } from "../../../lib/identity/credentials/caller.ts";
import { createAccount } from "../../support/harness/clients.ts";
import { exchangeOf } from "../../support/harness/exchange.ts";

const idempotent = { idempotent: true, body: z.unknown() } as const;

async function createCaller(): Promise<Caller> {
  const { id } = await createAccount();
  return { accountId: id, ownerId: id, credential: { kind: "key", keyId: "k" } };
}

const keyed = (caller: Caller, key: string, value: unknown = {}) =>
  exchangeOf({
    contract: idempotent,
    headers: { "idempotency-key": key },
    found: { caller, body: { value } },
  });

it.each(["", "k".repeat(256)])("refuses a key of a wrong length: %j", async (key) => {
  const answer = () => Promise.reject(new Error("must not be called"));
  expect(await once(keyed(await createCaller(), key), answer)).toMatchObject({
    code: "invalid_request",
    fields: ["Idempotency-Key"],
  });
});

it("refuses a second attempt while the first is running, then repeats its answer", async () => {
  const caller = await createCaller();
  const key = randomUUID();
  const first = Promise.withResolvers<Response>();
  const started = Promise.withResolvers<Effect>();
  const running = once(keyed(caller, key), (effect) => {
    started.resolve(effect);
    return first.promise;
  });
  expect(await started.promise).toEqual({ id: expect.any(String), idempotencyKey: key });
  const again = () => Promise.reject(new Error("must not be called"));
  expect(await once(keyed(caller, key), again)).toMatchObject({
    code: "idempotency_in_progress",
    headers: { "retry-after": "1" },
  });
  first.resolve(Response.json({ made: 1 }, { status: 201 }));
  await running;
  const replayed = await once(keyed(caller, key), again);
  if (isAppError(replayed)) throw new Error(replayed.message);
  expect(replayed.status).toBe(201);
  expect(replayed.headers.get("idempotency-replayed")).toBe("true");
  expect(await replayed.json()).toEqual({ made: 1 });
});

it("refuses a key that was used with another request", async () => {
  const caller = await createCaller();
  const key = randomUUID();
  const answer = async () => Response.json({});
  await once(keyed(caller, key, { title: "one" }), answer);
  expect(await once(keyed(caller, key, { title: "two" }), answer)).toMatchObject({
    code: "idempotency_mismatch",
  });
  expect(await once(keyed(await createCaller(), key, { title: "two" }), answer)).toMatchObject({
    status: 200,
  });
});

it("gives every request without a key a separate effect", async () => {
  const found = { caller: await createCaller() };
  const effects: Effect[] = [];
  for (const contract of [idempotent, idempotent, {}]) {
    await once(exchangeOf({ contract, found }), async (effect) => {
      effects.push(effect);
      return Response.json({});
    });
  }
  expect(effects).toEqual([
    { id: expect.any(String), idempotencyKey: null },
    { id: expect.any(String), idempotencyKey: null },
    { id: null, idempotencyKey: null },
  ]);
  expect(effects[0]?.id).not.toBe(effects[1]?.id);
});
