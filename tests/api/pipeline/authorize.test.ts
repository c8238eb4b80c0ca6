import { appError } from "@platform/endpoint/contract/app-error";
import type { RunScope } from "@platform/endpoint/contract/contract";
import { expect, it } from "vitest";
import { service } from "../../../lib/http/endpoint.ts";
import type { Caller } from "../../../lib/identity/credentials/caller.ts";
import { exchangeOf } from "../../support/harness/exchange.ts";

const denied = appError("forbidden", "Access denied to specified account_id");
const run: RunScope = {
  sessionId: "own",
  chatId: "chat",
  runId: "run",
  artistId: null,
  workspace: "write",
  turnId: "turn",
  asks: [],
  network: [],
};
const ofRun: Caller = {
  accountId: "a",
  ownerId: "a",
  credential: { kind: "run", keyId: "k", run },
};
const ofPerson: Caller = { ...ofRun, credential: { kind: "key", keyId: "k" } };

const ownSessionOnly = {
  runCredential: {
    only: "for its own session",
    allows: (
      { query }: { readonly query: unknown },
      { sessionId }: { readonly sessionId: string },
    ) => query === sessionId,
  },
};
const input = (query: string) => ({ params: undefined, query, body: undefined, ignored: [] });

it("refuses a run's credential beyond the condition of the contract", async () => {
  const found = { caller: ofRun, input: input("another") };
  expect(await service.authorize(exchangeOf({ contract: ownSessionOnly, found }))).toMatchObject({
    code: "forbidden",
    message: expect.stringMatching(/^This credential cannot be used here\. The user can/),
  });
});

it("admits a run's credential within the condition, and a person's without one", async () => {
  for (const found of [
    { caller: ofRun, input: input("own") },
    { caller: ofPerson, input: input("another") },
  ]) {
    expect(
      await service.authorize(exchangeOf({ contract: ownSessionOnly, found })),
    ).toBeUndefined();
  }
});

it("refuses an account that the caller has no access to, after the run's own condition", async () => {
  expect(await service.authorize(exchangeOf({ found: { caller: ofPerson, denied } }))).toBe(denied);
  const found = { caller: ofRun, input: input("another"), denied };
  expect(await service.authorize(exchangeOf({ contract: ownSessionOnly, found }))).toMatchObject({
    message: expect.stringMatching(/^This credential cannot be used here\. The user can/),
  });
});

it("admits a caller without a credential where the contract needs none", async () => {
  expect(await service.authorize(exchangeOf({ contract: { auth: "none" } }))).toBeUndefined();
});
