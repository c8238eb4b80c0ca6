import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { contracts } from "../../lib/http/registry.ts";
import {
  type Client,
  client,
  createBearer,
  createKey,
  createPerson,
  type Person,
  strangersKey,
} from "../support/clients.ts";
import { expectErrorShape, fillPath, nameOf, sentenceOf } from "../support/shapes.ts";
import { type Ids, rows } from "./rows.ts";

const find = (name: string) => {
  const contract = contracts.find((one) => nameOf(one) === name);
  if (!contract) throw new Error(`${name} is in no contract`);
  return contract;
};

const send = (caller: Client, name: string, ids: Ids) => {
  const { method, path } = find(name);
  const row = rows[name];
  const query = row?.query ? `?${new URLSearchParams(row.query(ids))}` : "";
  const body = row?.body?.(ids);
  return caller.request(method, fillPath(path, ids) + query, body === undefined ? {} : { body });
};

describe("another account's thing answers as one that does not exist", () => {
  let owner: Person;
  let stranger: Person;
  beforeAll(async () => {
    [owner, stranger] = await Promise.all([createPerson(), createPerson()]);
  });

  const names = Object.keys(rows);

  it("every endpoint that takes an id has a row", () => {
    const takingIds = contracts
      .filter(({ auth, params }) => auth === "required" && params !== undefined)
      .map(nameOf);
    expect(names).toEqual(expect.arrayContaining(takingIds));
  });

  it.each(names)("%s", async (name) => {
    const ids = await rows[name]?.arrange(owner);
    if (!ids) throw new Error("nothing arranged");
    const missing = Object.fromEntries(Object.keys(ids).map((key) => [key, randomUUID()]));
    for (const caller of [stranger.withKey, stranger.withBearer]) {
      const foreign = await send(caller, name, ids);
      const absent = await send(caller, name, missing);
      expect(foreign.status).toBe(404);
      expect(foreign.text).toBe(absent.text);
      expect(foreign.status).toBe(absent.status);
      expect(foreign.headers.get("x-error-code")).toBe(absent.headers.get("x-error-code"));
      expect([...foreign.headers.keys()].sort()).toEqual([...absent.headers.keys()].sort());
    }
    const own = await send(owner.withKey, name, ids);
    expect(own.status, `the owner: ${own.text}`).toBeLessThan(400);
  });
});

describe("without a good credential nothing answers", () => {
  const guarded = contracts.filter(({ auth }) => auth !== "none");
  let refused: Record<string, Client>;
  let wrongInNumber: Record<string, Client>;

  beforeAll(async () => {
    const person = await createPerson();
    const past = new Date(Date.now() - 1000);
    const typo = `${person.key.slice(0, -1)}${person.key.endsWith("a") ? "b" : "a"}`;
    refused = {
      "an unknown key": client({ key: strangersKey() }),
      "a revoked key": client({ key: await createKey(person.id, { revokedAt: past }) }),
      "an expired key": client({ key: await createKey(person.id, { expiresAt: past }) }),
      "a key with a typo": client({ key: typo }),
      "an empty key": client({ key: "" }),
      "a bearer that is no token": client({ bearer: "abc.def.ghi" }),
      "an empty bearer": client({ bearer: "" }),
      "a tampered bearer": client({ bearer: `${person.bearer.slice(0, -4)}AAAA` }),
      "an expired bearer": client({
        bearer: await createBearer(person.email, { exp: Math.floor(Date.now() / 1000) - 60 }),
      }),
    };
    const withHeaders = (headers: Record<string, string>): Client => ({
      ...client(),
      request: (method, path, options) =>
        client().request(method, path, {
          ...options,
          headers: { ...options?.headers, ...headers },
        }),
    });
    refused["basic authentication"] = withHeaders({ authorization: "Basic YTpi" });
    refused["a key as a bearer"] = client({ bearer: person.key });
    wrongInNumber = {
      both: withHeaders({ "x-api-key": person.key, authorization: `Bearer ${person.bearer}` }),
      "both, one of them empty": withHeaders({
        "x-api-key": "",
        authorization: `Bearer ${person.bearer}`,
      }),
    };
  });

  it.each(guarded.map(nameOf))("%s", async (name) => {
    const contract = find(name);
    const path = fillPath(contract.path, {});
    const sendAs = (caller: Client) =>
      caller.request(contract.method, path, contract.body ? { body: "not json" } : {});
    for (const [what, caller] of Object.entries(refused)) {
      const answer = await sendAs(caller);
      expect(answer.status, what).toBe(401);
      expectErrorShape(answer, contract.family);
      expect(sentenceOf(answer)).toBe("Unauthorized");
      expect(answer.headers.get("x-error-code")).toBe("unauthorized");
      expect(answer.headers.get("www-authenticate")).toBeTruthy();
    }
    const none = contract.auth === "required" ? { none: client() } : {};
    for (const [what, caller] of Object.entries({ ...wrongInNumber, ...none })) {
      const answer = await sendAs(caller);
      expect(answer.status, what).toBe(401);
      expectErrorShape(answer, contract.family);
      expect(sentenceOf(answer)).toBe("Exactly one of x-api-key or Authorization must be provided");
    }
  });
});
