import { serve } from "@platform/endpoint/pipeline";
import { expect, it } from "vitest";
import { z } from "zod";
import { createAccount, createKey } from "../../support/harness/clients.ts";
import { exchangeOf } from "../../support/harness/exchange.ts";

const contract = {
  accountAccess: { in: "body", field: "account_id" },
  body: z.object({ account_id: z.guid().optional(), title: z.string() }),
  bodyLimit: 1_000,
  idempotent: true,
  errors: [],
} as const;

/** A request that every stage would refuse; the cases below correct one mistake after the other. */
it("reports one error at a time: credential, size, JSON, schema, access, idempotency key", async () => {
  const [own, other] = [await createAccount(), await createAccount()];
  const credential = { "x-api-key": await createKey(own.id) };
  const wrongKey = { "idempotency-key": "k".repeat(256) };
  const json = (fields: object) => JSON.stringify({ account_id: other.id, ...fields });
  const codeOf = async (headers: Record<string, string>, body: string) =>
    (await serve(exchangeOf({ contract, headers, body }))).headers.get("x-error-code");

  expect([
    await codeOf(wrongKey, "{".repeat(2_000)),
    await codeOf({ ...credential, ...wrongKey }, "{".repeat(2_000)),
    await codeOf({ ...credential, ...wrongKey }, "{"),
    await codeOf({ ...credential, ...wrongKey }, json({ title: 1 })),
    await codeOf({ ...credential, ...wrongKey }, json({ title: "Tour" })),
    await codeOf({ ...credential, ...wrongKey }, json({ title: "Tour", account_id: own.id })),
    await codeOf(credential, json({ title: "Tour", account_id: own.id })),
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
