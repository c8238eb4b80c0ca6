/**
 * A sandbox and a proxy on the same machine call from loopback, and can send any headers. They
 * share one limit, like one address.
 */
// Needs a build.
import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningNext } from "../../scripts/run-next.ts";
import { client, unknownKey } from "../support/harness/clients.ts";
import { startServer } from "../support/harness/server.ts";
import { startOwnParts } from "../support/harness/stack.ts";

const LIMIT = 4;
const limits = {
  ADDRESS_RATE_LIMIT: String(LIMIT),
  ANONYMOUS_RATE_LIMIT: String(LIMIT),
  SIGNUP_RATE_LIMIT: String(LIMIT),
};

/** A separate database, because other processes of this machine are counted, too. */
let parts: Awaited<ReturnType<typeof startOwnParts>>;
/** Without a proxy in front, callers are counted by their connection. */
let exposed: RunningNext;
/** A proxy stands in front, by the settings; it does not say for whom it asks. */
let proxied: RunningNext;
beforeAll(async () => {
  parts = await startOwnParts();
  const env = { ...parts.env, ...limits };
  exposed = await startServer({ env: { ...env, TRUSTED_PROXIES: "0" } });
  proxied = await startServer({ env: { ...env, TRUSTED_PROXIES: "2" } });
});
afterAll(async () => {
  await exposed?.stop();
  await proxied?.stop();
  await parts?.stop();
});

/** Headers with which a caller may claim a new address each time. */
const claims = (index: number): Record<string, string> => ({
  "x-forwarded-for": `203.0.113.${index}`,
  "x-peer-address": `203.0.113.${index}`,
  "x-real-ip": `203.0.113.${index}`,
  forwarded: `for=203.0.113.${index}`,
});

const attempts: Record<string, (url: string, headers: Record<string, string>) => Promise<number>> =
  {
    "sign-up": async (url, headers) => {
      const body = { email: `${randomUUID()}@example.com` };
      return (await client(null, url).post("/api/agents/signup", body, { headers })).status;
    },
    "a look-up without a credential": async (url, headers) => {
      const path = "/api/catalog/search?q=velvet&type=artist";
      return (await client(null, url).get(path, { headers })).status;
    },
    "a guessed key": async (url, headers) =>
      (await client({ key: unknownKey() }, url).get("/api/keys", { headers })).status,
    "a sign-in at the console": async (url, headers) => {
      const answer = await fetch(`${url}/auth/v1/otp`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ email: `${randomUUID()}@example.com` }),
      });
      await answer.arrayBuffer();
      return answer.status;
    },
  };

describe.each(Object.entries(attempts))("%s", (_, attempt) => {
  it("is counted when it comes from loopback, whatever its headers claim", async () => {
    const statuses: number[] = [];
    for (let index = 0; index <= LIMIT; index++) {
      statuses.push(await attempt(exposed.url, claims(index)));
    }
    expect(statuses.slice(0, LIMIT)).not.toContain(429);
    expect(statuses.at(-1)).toBe(429);
  });

  it("is counted when nobody knows where it comes from", async () => {
    const statuses: number[] = [];
    for (let index = 0; index <= LIMIT; index++) {
      statuses.push(await attempt(proxied.url, { "x-forwarded-for": "nonsense, 10.0.0.1" }));
    }
    expect(statuses.slice(0, LIMIT)).not.toContain(429);
    expect(statuses.at(-1)).toBe(429);
  });
});

it("counts all loopback addresses as one", async () => {
  const from = (localAddress: string) =>
    new Promise<number>((resolve, reject) => {
      const path = "/api/research/tracks?artist=velvet";
      request(exposed.url + path, { localAddress }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      })
        .on("error", reject)
        .end();
    });
  // The others of this file have used up the limit of 127.0.0.1.
  expect(await from("127.0.0.2")).toBe(429);
});
