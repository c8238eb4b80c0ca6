/** What both providers of connections guarantee at the API. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { type FakeComposio, startFakeComposio } from "../../support/fakes/composio.ts";
import { createOrganization } from "../../support/fixtures/organization.ts";
import { joinOrganization, makeArtist, makeOrganization } from "../../support/fixtures/people.ts";
import { type Answer, type Client, createPerson } from "../../support/harness/clients.ts";
import { authorize, statesOf } from "../../support/harness/connections.ts";
import { decide, openConsent } from "../../support/harness/consent.ts";
import { startServer } from "../../support/harness/server.ts";
import { stack } from "../../support/harness/stack.ts";

const actions = z.object({
  success: z.literal(true),
  data: z.strictObject({
    actions: z.array(
      z.strictObject({
        name: z.string(),
        description: z.string(),
        inputSchema: z.record(z.string(), z.unknown()),
      }),
    ),
    nextCursor: z.string().nullable(),
  }),
});
const actionsIn = (answer: Answer) => {
  expect(answer.status, answer.text).toBe(200);
  return actions.parse(answer.body).data;
};

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

  it("have actions with JSON schemas, page by page, of known connectors alone", async () => {
    const { actions, nextCursor } = actionsIn(
      await caller.get("/api/connectors/gmail/actions?limit=1"),
    );
    expect(actions).toMatchObject([{ inputSchema: { type: "object" } }]);
    if (nextCursor !== null) {
      const next = await caller.get(`/api/connectors/gmail/actions?limit=1&cursor=${nextCursor}`);
      expect(actionsIn(next).actions).not.toEqual(actions);
    }
    const unknown = await caller.get("/api/connectors/no-such-service/actions");
    expect([unknown.status, unknown.body]).toEqual([404, { error: "Unknown connector" }]);
  });

  it("run an action for the account that is connected, and for no other", async () => {
    const { withKey } = await createPerson(url());
    const [action] = actionsIn(await caller.get("/api/connectors/gmail/actions")).actions;
    const path = `/api/connectors/gmail/actions/${action?.name}`;
    const body = { input: { text: "hello" } };
    const early = await withKey.post(path, body);
    expect([early.status, early.body]).toEqual([
      409,
      { error: "The account has no active connection to this connector" },
    ]);
    await agree(await authorize(withKey, { connector: "gmail" }));
    const ran = await withKey.post(path, body);
    expect(ran.status, ran.text).toBe(200);
    expect(ran.body).toEqual({
      success: true,
      data: { successful: true, output: expect.any(Object), error: null },
    });
    const [other] = actionsIn(await caller.get("/api/connectors/slack/actions")).actions;
    for (const name of ["NO_SUCH_ACTION", `${other?.name}_X`]) {
      const missing = await withKey.post(`/api/connectors/gmail/actions/${name}`, body);
      expect([missing.status, missing.body]).toEqual([404, { error: "Unknown action" }]);
    }
  });

  it("end for the account that disconnects, whatever their status, and for no other", async () => {
    const [one, other] = [await createPerson(url()), await createPerson(url())];
    for (const { withKey } of [one, other]) {
      await agree(await authorize(withKey, { connector: "gmail" }));
      await authorize(withKey, { connector: "slack" });
    }
    const ended = await one.withKey.delete("/api/connectors/gmail");
    expect([ended.status, ended.body]).toEqual([
      200,
      { success: true, data: { connector: "gmail", removed: 1 } },
    ]);
    expect((await one.withKey.delete("/api/connectors/slack")).status).toBe(200);
    expect(await statesOf(one.withKey)).toEqual([]);
    expect(await statesOf(other.withKey)).toEqual(["slack pending", "gmail active"]);
    const repeated = await one.withKey.delete("/api/connectors/gmail");
    expect([repeated.status, repeated.body]).toEqual([
      404,
      { error: "The connector is not connected" },
    ]);
  });

  it("belong to the account they were made for", async () => {
    const { member, artistId, stranger } = await createOrganization(url());
    await agree(await authorize(member, { connector: "gmail", account_id: artistId }));
    expect(await statesOf(member, artistId)).toEqual(["gmail active"]);
    expect(await statesOf(member)).toEqual([]);
    expect(await statesOf(stranger)).toEqual([]);
  });

  it("are of no use when they were completed after their starter had lost the right", async () => {
    const [founder, member] = [await createPerson(url()), await createPerson(url())];
    const organization = await makeOrganization(founder.withKey);
    await joinOrganization(founder.withKey, organization, member);
    const account_id = await makeArtist(founder.withKey, organization);
    const early = await authorize(member.withKey, { connector: "slack", account_id });
    await agree(early);
    expect(await statesOf(founder.withKey, account_id)).toEqual(["slack active"]);
    const late = await authorize(member.withKey, { connector: "gmail", account_id });
    await founder.withKey.delete(`/api/organizations/${organization}/members/${member.id}`);
    await agree(late).catch(() => {});
    expect(await statesOf(founder.withKey, account_id)).toEqual([
      expect.stringMatching(/^gmail (pending|inactive)$/),
      "slack active",
    ]);
    const [action] = actionsIn(await caller.get("/api/connectors/gmail/actions")).actions;
    const path = `/api/connectors/gmail/actions/${action?.name}`;
    const ran = await founder.withKey.post(path, { account_id, input: { text: "hello" } });
    expect(ran.status).toBe(409);
  });
});

describe("with Composio", () => {
  it("an action of another connector is unknown, and what a service refuses is told", async () => {
    const { agree, url } = providers.composio as Provider;
    const { id, withKey } = await createPerson(url());
    for (const connector of ["gmail", "slack"])
      await agree(await authorize(withKey, { connector }));
    const body = { input: { text: "hello" } };
    const other = await withKey.post("/api/connectors/gmail/actions/SLACK_SEND", body);
    expect([other.status, other.body]).toEqual([404, { error: "Unknown action" }]);
    const refused = await withKey.post("/api/connectors/slack/actions/SLACK_FAIL", body);
    expect(refused.body).toMatchObject({
      data: { successful: false, error: "The service refused it" },
    });
    expect(composio.executions.filter(({ user_id }) => user_id === id)).toMatchObject([
      { tool: "SLACK_FAIL", arguments: body.input },
    ]);
  });

  it("an action is not repeated when the answer to it is lost", async () => {
    const { agree, url } = providers.composio as Provider;
    const { withKey } = await createPerson(url());
    await agree(await authorize(withKey, { connector: "notion" }));
    composio.fail({ status: 500, body: "" }, "/tools/execute");
    const before = composio.count("/tools/execute");
    const lost = await withKey.post("/api/connectors/notion/actions/NOTION_SEND", { input: {} });
    composio.recover();
    expect(lost.status).toBe(502);
    expect(composio.count("/tools/execute")).toBe(before + 1);
  });
});
