import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contracts } from "../../lib/openapi/registry.ts";
import type { RunningNext } from "../../scripts/run-next.ts";
import { expectErrorShape, nameOf, sentenceOf } from "../support/fixtures/shapes.ts";
import { client, createPerson } from "../support/harness/clients.ts";
import { startServer } from "../support/harness/server.ts";

const LIMIT = 4;
const lookups = contracts.filter(({ auth }) => auth === "optional");
const paths: Readonly<Record<string, string>> = {
  "GET /api/catalog/search": "/api/catalog/search?q=velvet&type=artist",
  "GET /api/catalog/artist/albums": "/api/catalog/artist/albums?id=nobody",
  "GET /api/research/tracks": "/api/research/tracks?artist=velvet",
};
const from = (address: string) => ({ headers: { "x-forwarded-for": address } });

let limited: RunningNext;
let closed: RunningNext;
beforeAll(async () => {
  limited = await startServer({ env: { ANONYMOUS_RATE_LIMIT: String(LIMIT) } });
  closed = await startServer({ env: { ANONYMOUS_LOOKUPS: "false" } });
});
afterAll(async () => {
  await limited?.stop();
  await closed?.stop();
});

it("every endpoint that may be asked without a credential is tried here", () => {
  expect(lookups.map(nameOf).sort()).toEqual(Object.keys(paths).sort());
});

describe.each(lookups.map((one) => [nameOf(one), one] as const))("%s", (name, { family }) => {
  const path = paths[name] ?? "";

  it("without a credential an address has a limit of its own, told on every answer", async () => {
    const address = `198.51.100.${lookups.findIndex((one) => nameOf(one) === name) + 1}`;
    for (let left = LIMIT - 1; left >= 0; left--) {
      const answer = await client(null, limited.url).get(path, from(address));
      expect(answer.status).not.toBe(429);
      expect(answer.headers.get("ratelimit")).toMatch(new RegExp(`^"address";r=${left};t=\\d+$`));
      expect(answer.headers.get("ratelimit-policy")).toBe(`"address";q=${LIMIT};w=60`);
    }
    const refused = await client(null, limited.url).get(path, from(address));
    expect(refused.status).toBe(429);
    expectErrorShape(refused, family);
    expect(sentenceOf(refused)).toBe("Too many requests");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    const person = await createPerson(limited.url);
    expect((await person.withKey.get(path, from(address))).status).not.toBe(429);
    expect((await client(null, limited.url).get(path, from("198.51.100.99"))).status).not.toBe(429);
  });

  it("with ANONYMOUS_LOOKUPS=false exactly one credential is needed", async () => {
    const refused = await client(null, closed.url).get(path);
    expect(refused.status).toBe(401);
    expectErrorShape(refused, family);
    expect(sentenceOf(refused)).toBe("Exactly one of x-api-key or Authorization must be provided");
    const person = await createPerson(closed.url);
    expect((await person.withKey.get(path)).status).not.toBe(401);
    expect((await person.withBearer.get(path)).status).not.toBe(401);
  });
});

describe("GET /api/shares/{token}", () => {
  it("has the same limit of an address, for guesses as for links", async () => {
    const anonymous = client(null, limited.url);
    const path = `/api/shares/${"A".repeat(43)}`;
    for (let asked = 0; asked < LIMIT; asked++) {
      expect((await anonymous.get(path, from("198.51.100.77"))).status).toBe(404);
    }
    const refused = await anonymous.get(path, from("198.51.100.77"));
    expect(refused.status).toBe(429);
    expectErrorShape(refused, "error");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  });
});
