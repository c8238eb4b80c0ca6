import { SANDBOX_MARK } from "@platform/sandbox/outgoing-headers";
import { expect, it } from "vitest";
import { z } from "zod";
import { service } from "../../../lib/http/endpoint.ts";
import {
  createAccount,
  createBearer,
  createKey,
  unknownKey,
} from "../../support/harness/clients.ts";
import { exchangeOf } from "../../support/harness/exchange.ts";
import { createRunCredential } from "../../support/harness/run-credentials.ts";

const NOT_EXACTLY_ONE = "Exactly one of x-api-key or Authorization must be provided";

async function createOwner() {
  const account = await createAccount();
  const key = await createKey(account.id);
  return { ...account, key, headers: { "x-api-key": key } };
}

it("refuses a request with no credential, two, or one that does not hold", async () => {
  const { key, id, email } = await createOwner();
  const revoked = await createKey(id, { revokedAt: new Date(0) });
  const bearer = `Bearer ${await createBearer("someone@example.com", { exp: 1 })}`;
  const cases: readonly (readonly [Record<string, string>, string])[] = [
    [{}, NOT_EXACTLY_ONE],
    [{ "x-api-key": key, authorization: bearer }, NOT_EXACTLY_ONE],
    [
      { "x-api-key": "", authorization: `Bearer ${await createBearer(email ?? "")}` },
      NOT_EXACTLY_ONE,
    ],
    [{ "x-api-key": "" }, "Unauthorized"],
    [{ authorization: "Bearer " }, "Unauthorized"],
    [{ authorization: "Bearer abc.def.ghi" }, "Unauthorized"],
    [
      { authorization: `Bearer ${(await createBearer(email ?? "")).slice(0, -4)}AAAA` },
      "Unauthorized",
    ],
    [{ "x-api-key": "not a key" }, "Unauthorized"],
    [{ "x-api-key": unknownKey() }, "Unauthorized"],
    [{ "x-api-key": revoked }, "Unauthorized"],
    [{ authorization: "Basic abc" }, "Unauthorized"],
    [{ authorization: bearer }, "Unauthorized"],
    [{ "x-api-key": key, authorization: `Bearer ${key}` }, NOT_EXACTLY_ONE],
    [{ authorization: `Bearer ${unknownKey()}` }, "Unauthorized"],
    [{ authorization: `Bearer ${revoked}` }, "Unauthorized"],
    [{ authorization: `Bearer ${key.slice(0, -1)}` }, "Unauthorized"],
  ];
  for (const [headers, message] of cases) {
    const exchange = exchangeOf({ headers });
    expect(await service.identify(exchange)).toMatchObject({ code: "unauthorized", message });
    expect(exchange.caller).toBeNull();
  }
});

it("names the account of a key in either header and of a bearer token", async () => {
  const { id, email, key, headers } = await createOwner();
  const authorization = `Bearer ${await createBearer(email ?? "")}`;
  for (const [given, kind] of [
    [headers, "key"],
    [{ authorization: `bearer ${key}` }, "key"],
    [{ authorization }, "bearer"],
  ] as const) {
    const exchange = exchangeOf({ headers: given });
    expect(await service.identify(exchange)).toBeUndefined();
    expect(exchange.caller).toMatchObject({ accountId: id, ownerId: id, credential: { kind } });
  }
});

it("refuses a run's credential where the contract does not allow it, and a stolen one", async () => {
  const { id, key, headers } = await createOwner();
  const run = await createRunCredential(id, "bearer");
  const marked = { ...headers, [SANDBOX_MARK]: "1" };
  const markedBearer = { authorization: `Bearer ${key}`, [SANDBOX_MARK]: "1" };
  const { raw: runKey } = await createRunCredential(id, "key");
  const runKeyAsBearer = { authorization: `Bearer ${runKey}` };
  const refused = { code: "forbidden", message: "This credential cannot be used here" };
  for (const given of [marked, markedBearer]) {
    expect(await service.identify(exchangeOf({ headers: given }))).toMatchObject(refused);
  }
  const contract = { method: "POST", path: "/api/tasks", tag: "Tasks" } as const;
  for (const given of [run.headers, runKeyAsBearer]) {
    expect(await service.identify(exchangeOf({ headers: given, contract }))).toMatchObject({
      message: `${refused.message}. The user can do this with POST /api/tasks or on the page Schedules`,
    });
  }
  const open = exchangeOf({ headers: runKeyAsBearer, contract: { auth: "none" } });
  expect(await service.identify(open)).toMatchObject(refused);
  const allowed = exchangeOf({ headers: run.headers, contract: { runCredential: true } });
  expect(await service.identify(allowed)).toBeUndefined();
  expect(allowed.caller?.credential).toMatchObject({ kind: "run" });
});

it("refuses a sandbox where no credential is needed, unless the contract allows it", async () => {
  const headers = { [SANDBOX_MARK]: "1" };
  const open = { auth: "none" } as const;
  expect(await service.identify(exchangeOf({ headers, contract: open }))).toMatchObject({
    code: "forbidden",
    message: "This cannot be used from a sandbox",
  });
  const contract = { ...open, runCredential: true } as const;
  expect(await service.identify(exchangeOf({ headers, contract }))).toBeUndefined();
});

it("decides about a named account, and leaves the refusal to authorize", async () => {
  const { id, headers } = await createOwner();
  const other = await createAccount();
  const contract = {
    accountAccess: { in: "body", field: "account_id" },
    body: z.unknown(),
  } as const;
  const foreign = exchangeOf({ headers, contract, body: JSON.stringify({ account_id: other.id }) });
  expect(await service.identify(foreign)).toBeUndefined();
  expect(foreign.denied).toMatchObject({
    code: "access_denied",
    message: "Access denied to specified account_id",
  });
  expect(foreign.caller?.accountId).toBe(id);
  const own = exchangeOf({ headers, contract, body: JSON.stringify({ account_id: id }) });
  expect(await service.identify(own)).toBeUndefined();
  expect(own.denied).toBeNull();
});
