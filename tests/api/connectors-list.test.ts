import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningNext } from "../../scripts/run-next.ts";
import { type FakeComposio, startFakeComposio } from "../support/fakes/composio.ts";
import { composioItem } from "../support/fakes/composio-answers.ts";
import { createPerson } from "../support/harness/clients.ts";
import { authorize, connectionsIn, statesOf } from "../support/harness/connections.ts";
import { decide, openConsent } from "../support/harness/consent.ts";
import { startServer } from "../support/harness/server.ts";
import { sql } from "../support/harness/stack.ts";

describe("200", () => {
  it("pending, active, failed and expired ones, newest first", async () => {
    const { id, withKey } = await createPerson();
    const begin = (connector: string) => authorize(withKey, { connector });
    await begin("gmail");
    await sql`update connections set expires_at = now() where account_id = ${id}`;
    await decide(await openConsent(await begin("slack")), "allow");
    await decide(await openConsent(await begin("notion")), "refuse");
    await begin("github");
    expect(await statesOf(withKey)).toEqual([
      "github pending",
      "notion failed",
      "slack active",
      "gmail expired",
    ]);
  });

  it("a new attempt takes the place of one that came to nothing, and of the one before it", async () => {
    const { id, withKey } = await createPerson();
    const begin = () => authorize(withKey, { connector: "gmail" });
    await decide(await openConsent(await begin()), "refuse");
    await begin();
    expect(await statesOf(withKey)).toEqual(["gmail pending"]);
    await sql`update connections set expires_at = now() where account_id = ${id}`;
    await decide(await openConsent(await begin()), "allow");
    expect(await statesOf(withKey)).toEqual(["gmail active"]);
    await decide(await openConsent(await begin()), "allow");
    expect(await statesOf(withKey)).toEqual(["gmail active"]);
  });
});

describe("200 with Composio", () => {
  let composio: FakeComposio;
  let server: RunningNext;
  beforeAll(async () => {
    composio = await startFakeComposio();
    server = await startServer({ env: composio.env });
  });
  afterAll(async () => {
    await server?.stop();
    await composio?.close();
  });

  it("every page and every state is shown, the odd ones too, and no credential of it", async () => {
    const { id, withKey } = await createPerson(server.url);
    const states = ["INITIALIZING", "EXPIRED", "FAILED", "INACTIVE", "REVOKED"] as const;
    const at = (index: number) => ({ created_at: new Date(Date.now() + index).toISOString() });
    for (const [index, state] of states.entries()) {
      composio.add(id, { ...composioItem(id, "gmail", state), ...at(index) });
    }
    const newer = composioItem(id, "gmail", "ACTIVE");
    composio.addOdd(id, { ...newer, ...at(states.length), status: "SOMETHING_NEW" });
    composio.addOdd(id, { id: 7, status: null });
    const answer = await withKey.get("/api/connectors");
    expect(connectionsIn(answer).map(({ status }) => status)).toEqual([
      "inactive",
      "inactive",
      "inactive",
      "failed",
      "expired",
      "pending",
    ]);
    expect(answer.text).not.toContain("ya29.secret");
  });

  it("another account's are not shown, even when the provider mixes them up", async () => {
    const { id, withKey } = await createPerson(server.url);
    const other = randomUUID();
    composio.add(other, composioItem(other, "slack", "ACTIVE"));
    composio.add(id, composioItem(id, "gmail", "ACTIVE"));
    composio.changeLists({ userFilter: "ignored" });
    expect(await statesOf(withKey)).toEqual(["gmail active"]);
  });
});
