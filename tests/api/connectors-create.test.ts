import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningNext } from "../../scripts/run-next.ts";
import { startFakeComposio } from "../support/fakes/composio.ts";
import type { Fault } from "../support/fakes/vendor-server.ts";
import { createOrganization, type Organization } from "../support/fixtures/organization.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { type Client, createPerson, type Person } from "../support/harness/clients.ts";
import { authorize, redirectIn, statesOf } from "../support/harness/connections.ts";
import { type HostedProject, startHostedProject } from "../support/harness/hosted-project.ts";
import { startServer } from "../support/harness/server.ts";
import { sql, stack } from "../support/harness/stack.ts";

let person: Person;
let organization: Organization;
let composio: Awaited<ReturnType<typeof startFakeComposio>>;
/** With a provider, and with a list of origins. */
let server: RunningNext;
beforeAll(async () => {
  [person, organization] = await Promise.all([createPerson(), createOrganization()]);
  composio = await startFakeComposio();
  const CONNECTOR_CALLBACK_ORIGINS = "https://app.example.com, http://localhost:5173/";
  const TEST_CONSTANTS = '{"VENDOR_TIMEOUT_MS":4000}';
  const env = { ...composio.env, CONNECTOR_CALLBACK_ORIGINS, TEST_CONSTANTS };
  server = await startServer({ env });
});
afterAll(async () => {
  await server?.stop();
  await composio?.close();
});

const post = (caller: Client, body: object) => caller.post("/api/connectors", body);

describe("200", () => {
  it("a link of this service, once for each request, whose secret is not stored", async () => {
    const one = await authorize(person.withKey, { connector: "gmail" });
    const other = await authorize(person.withBearer, { connector: "gmail" });
    expect(one).not.toBe(other);
    expect(new URL(one).origin).toBe(stack.url);
    const state = new URL(one).searchParams.get("state") ?? "";
    expect(state).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const rows = await sql`select * from connections where account_id = ${person.id}`;
    expect(rows.length).toBeGreaterThanOrEqual(2);
    expect(JSON.stringify(rows)).not.toContain(state);
  });

  it("callbacks on https and, with http, on this machine", async () => {
    for (const callback_url of [
      "https://app.example.com/back#done",
      "https://[2001:db8::1]/back",
      "http://localhost:5173/back",
      "http://127.0.0.1/back",
      "http://[::1]:8080/",
      null,
    ]) {
      redirectIn(await post(person.withKey, { connector: "slack", callback_url }));
    }
  });

  it("account_id: the caller itself, a member's artist, anybody for the admin organization", async () => {
    const { member, memberId, admin, artistId, strangerId } = organization;
    for (const [caller, account_id] of [
      [member, memberId],
      [member, artistId],
      [member, artistId.toUpperCase()],
      [member, null],
      [admin, artistId],
      [admin, strangerId],
    ] as const) {
      redirectIn(await post(caller, { connector: "notion", account_id }));
    }
    expect(await statesOf(admin, strangerId)).toEqual(["notion pending"]);
    expect((await statesOf(member, artistId)).length).toBe(3);
  });
});

describe("400", () => {
  describe("with CONNECTOR_CALLBACK_ORIGINS", () => {
    it("a callback of another origin, and nothing is missing among the settings", async () => {
      expect(server.logs()).not.toContain("CONNECTOR_CALLBACK_ORIGINS is not set");
      const { withKey } = await createPerson(server.url);
      for (const callback_url of [
        "https://app.example.com/back",
        "http://localhost:5173/back",
        undefined,
      ]) {
        redirectIn(await post(withKey, { connector: "gmail", callback_url }));
      }
      for (const callback_url of [
        "https://other.example.com/back",
        "https://app.example.com:8443/back",
        "https://app.example.com.evil.example/back",
        "http://localhost:5174/back",
      ]) {
        const answer = await post(withKey, { connector: "gmail", callback_url });
        expectError(answer, 400, "plain", "callback_url must have one of the allowed origins");
      }
    });
  });
});

describe("a provider that fails", () => {
  let caller: Client;
  beforeAll(async () => {
    caller = (await createPerson(server.url)).withKey;
  });

  const both = () =>
    Promise.all([post(caller, { connector: "gmail" }), caller.get("/api/connectors")]);
  const words = '{"error":{"message":"Composio says hunter2","slug":"Internal","status":500}}';
  const faults: [string, Fault][] = [
    ["400", { status: 400, body: words }],
    ["401", { status: 401, body: words }],
    ["403", { status: 403, body: words }],
    ["404", { status: 404, body: words }],
    ["429", { status: 429, body: words }],
    ["500", { status: 500, body: words }],
    ["HTML", { status: 200, body: "<html>Composio hunter2</html>" }],
    ["JSON of another shape", { status: 200, body: '{"hunter2":true}' }],
    ["a redirect", { status: 302, body: "" }],
    ["a body cut in the middle", "cut"],
    ["a closed connection", "hang-up"],
  ];
  it.each(faults)("502: %s, and none of its words", async (_, fault) => {
    composio.fail(fault);
    for (const answer of await both()) {
      expectError(answer, 502, "plain", "Connector provider unavailable", "upstream_error");
      expect([...answer.headers.values()].join()).not.toMatch(/composio/i);
    }
  });

  it("502: 429 has the provider's retry-after with it", async () => {
    composio.fail({ status: 429, headers: { "retry-after": "7" }, body: words });
    for (const answer of await both()) expect(answer.headers.get("retry-after")).toBe("7");
  });

  it.each(["silence", "stalled body"] as const)("504: %s", async (fault) => {
    composio.fail(fault);
    for (const answer of await both()) {
      expectError(answer, 504, "plain", "Connector provider did not answer in time");
      expect(answer.headers.get("x-error-code")).toBe("upstream_timeout");
    }
  });

  it.each<[string, Fault, number, string]>([
    ["403", { status: 403, body: words }, 502, "Connector provider unavailable"],
    ["404", { status: 404, body: words }, 404, "Unknown connector"],
    ["500", { status: 500, body: words }, 502, "Connector provider unavailable"],
    ["HTML", { status: 200, body: "<html>Composio" }, 502, "Connector provider unavailable"],
    ["silence", "silence", 504, "Connector provider did not answer in time"],
  ])("of its two answers the second fails: %s", async (_, fault, status, error) => {
    composio.fail(fault, "/link");
    expectError(await post(caller, { connector: "gmail" }), status, "plain", error);
  });

  it("502: a later page of the list fails, and the list is not shorter", async () => {
    composio.recover();
    const person = await createPerson(server.url);
    for (const connector of ["gmail", "slack", "notion"]) {
      await authorize(person.withKey, { connector });
    }
    composio.fail({ status: 500, body: words }, "cursor=");
    expect((await person.withKey.get("/api/connectors")).status).toBe(502);
  });
});

describe("503", () => {
  let project: HostedProject;
  let server: RunningNext;
  beforeAll(async () => {
    project = await startHostedProject();
    server = await startServer({ env: project.env });
  });
  afterAll(async () => {
    await server?.stop();
    await project?.close();
  });

  it("no provider beside a hosted database", async () => {
    const { withKey } = await createPerson(server.url);
    for (const answer of [
      await post(withKey, { connector: "gmail" }),
      await withKey.get("/api/connectors"),
    ]) {
      expectError(answer, 503, "plain", "Connectors are not configured", "not_configured");
    }
    const link = await authorize(person.withKey, { connector: "gmail" });
    expect((await fetch(link.replace(stack.url, server.url))).status).toBe(404);
  });
});
