/** What both providers of connections guarantee at the API. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { type FakeComposio, startFakeComposio } from "../../support/fakes/composio.ts";
import { createOrganization } from "../../support/fixtures/organization.ts";
import { type Client, createPerson } from "../../support/harness/clients.ts";
import { authorize, statesOf } from "../../support/harness/connections.ts";
import { decide, openConsent } from "../../support/harness/consent.ts";
import { startServer } from "../../support/harness/server.ts";
import { stack } from "../../support/harness/stack.ts";

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

interface Provider {
  readonly url: () => string;
  /** What the person does at the redirect URL, and where that leads. */
  readonly agree: (redirectUrl: string) => Promise<string>;
}
const providers: Record<string, Provider> = {
  embedded: {
    url: () => stack.url,
    agree: async (redirectUrl) => (await decide(await openConsent(redirectUrl), "allow")).location,
  },
  composio: {
    url: () => server.url,
    agree: async (redirectUrl) => {
      const response = await fetch(redirectUrl, { redirect: "manual" });
      return response.headers.get("location") ?? "";
    },
  },
};

describe.each(Object.entries(providers))("connections by %s", (_, { url, agree }) => {
  let caller: Client;
  beforeAll(async () => {
    caller = (await createPerson(url())).withKey;
  });

  it("begin pending, end active, and lead back to the callback with its own query kept", async () => {
    expect(await statesOf(caller)).toEqual([]);
    const callback = "https://app.example.com/back?tab=2";
    const redirectUrl = await authorize(caller, { connector: "gmail", callback_url: callback });
    expect(await statesOf(caller)).toEqual(["gmail pending"]);
    const end = new URL(await agree(redirectUrl));
    expect(end.origin + end.pathname).toBe("https://app.example.com/back");
    expect(end.searchParams.get("tab")).toBe("2");
    expect(end.searchParams.get("status")).toBe("success");
    expect(await statesOf(caller)).toEqual(["gmail active"]);
    await agree(await authorize(caller, { connector: "slack" }));
    expect(await statesOf(caller)).toEqual(["slack active", "gmail active"]);
  });

  it("lead to the console's page of connections when no callback was given", async () => {
    const end = new URL(await agree(await authorize(caller, { connector: "notion" })));
    expect(end.origin + end.pathname).toBe(`${new URL(url()).origin}/connectors`);
    expect(end.searchParams.get("status")).toBe("success");
    expect((await fetch(end)).status).toBe(200);
  });

  it("are unknown where the provider has no such connector", async () => {
    const answer = await caller.post("/api/connectors", { connector: "no-such-service" });
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({ error: "Unknown connector" });
  });

  it("belong to the account they were made for", async () => {
    const { member, artistId, stranger } = await createOrganization(url());
    await agree(await authorize(member, { connector: "gmail", account_id: artistId }));
    expect(await statesOf(member, artistId)).toEqual(["gmail active"]);
    expect(await statesOf(member)).toEqual([]);
    expect(await statesOf(stranger)).toEqual([]);
  });
});
