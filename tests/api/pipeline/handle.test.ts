import { handle } from "@platform/endpoint/pipeline";
import { FairQueue, QueueRefusal } from "@platform/kit/fair-queue";
import { expect, it } from "vitest";
import type { Caller } from "../../../lib/identity/credentials/caller.ts";
import { appOf, exchangeOf } from "../../support/harness/exchange.ts";

const effect = { id: null, idempotencyKey: null };
const callerOf = (accountId: string): Caller => ({
  accountId,
  ownerId: accountId,
  credential: { kind: "key", keyId: "k" },
});

it("refuses an account that uses its whole share, and no other one", async () => {
  // One account may hold one of two slots.
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
