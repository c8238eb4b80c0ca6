import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningNext } from "../../scripts/run-next.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { client, createPerson, unknownKey } from "../support/harness/clients.ts";
import { startServer } from "../support/harness/server.ts";

const ACCOUNT = 5;
const ADDRESS = 8;
const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
let one: RunningNext;
let other: RunningNext;

beforeAll(async () => {
  const env = { ACCOUNT_RATE_LIMIT: String(ACCOUNT), ADDRESS_RATE_LIMIT: String(ADDRESS) };
  one = await startServer({ env });
  other = await startServer({ env });
});
afterAll(async () => {
  await one?.stop();
  await other?.stop();
});

describe("the limit of an account", () => {
  it("is one for all servers and both credentials, exact under parallel requests", async () => {
    const person = await createPerson();
    const callers = [one, other].flatMap(({ url }) => [
      client({ key: person.key }, url),
      client({ bearer: person.bearer }, url),
    ]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        callers[index % 4]?.get("/api/keys", from(`203.0.113.${100 + index}`)),
      ),
    );
    const statuses = answers.map((answer) => answer?.status ?? 0).sort();
    expect(statuses).toEqual([
      ...Array.from({ length: ACCOUNT }, () => 200),
      ...Array.from({ length: 20 - ACCOUNT }, () => 429),
    ]);
    const stranger = await createPerson(one.url);
    expect((await stranger.withKey.get("/api/keys", from("203.0.113.120"))).status).toBe(200);
  });

  it("tells what is left on every answer, and when to come again on a refusal", async () => {
    const person = await createPerson(one.url);
    for (let left = ACCOUNT - 1; left >= 0; left--) {
      const answer = await person.withKey.get("/api/sessions", from("203.0.113.121"));
      expect(answer.headers.get("ratelimit")).toMatch(new RegExp(`^"account";r=${left};t=\\d+$`));
      expect(answer.headers.get("ratelimit-policy")).toBe(`"account";q=${ACCOUNT};w=60`);
    }
    const refused = await person.withKey.get("/api/sessions", from("203.0.113.121"));
    expectError(refused, 429, "error", "Too many requests", "rate_limited");
    const seconds = Number(refused.headers.get("retry-after"));
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(60 / ACCOUNT);
  });
});

describe("the limit of an address", () => {
  it("stops who tries keys, before any key is looked at, and nobody else", async () => {
    const guess = () => client({ key: unknownKey() }, one.url);
    for (let index = 0; index < ADDRESS; index++) {
      expect((await guess().get("/api/keys", from("203.0.113.7"))).status).toBe(401);
    }
    const refused = await guess().get("/api/keys", from("203.0.113.7"));
    expect(refused.status).toBe(429);
    expect(refused.headers.get("ratelimit-policy")).toBe(`"address";q=${ADDRESS};w=60`);
    const person = await createPerson(one.url);
    expect((await person.withKey.get("/api/keys", from("203.0.113.7"))).status).toBe(429);
    expect((await person.withKey.get("/api/keys", from("203.0.113.8"))).status).toBe(200);
  });

  it("counts the hop that the proxy in front wrote, not what the caller claims", async () => {
    const claim = (index: number) => ({
      headers: { "x-forwarded-for": `198.51.100.${index}, 203.0.113.50` },
    });
    const guess = () => client({ key: unknownKey() }, one.url);
    for (let index = 0; index < ADDRESS; index++) await guess().get("/api/keys", claim(index));
    expect((await guess().get("/api/keys", claim(99))).status).toBe(429);
  });

  it("counts one IPv6 customer once, however many addresses it has", async () => {
    const guess = (index: number) =>
      client({ key: unknownKey() }, one.url).get("/api/keys", {
        headers: { "x-forwarded-for": `2001:db8:1:2:${index.toString(16)}::1` },
      });
    for (let index = 0; index < ADDRESS; index++) await guess(index);
    expect((await guess(99)).status).toBe(429);
  });
});
