/**
 * The guarantees of both connection providers at the API. This file is long because its tests share
 * one server.
 */

import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { isDestructive } from "../../../lib/connectors/adapters/composio/answers.ts";
import { ComposioConnectors } from "../../../lib/connectors/adapters/composio/provider.ts";
import { createTrigger } from "../../../lib/triggers/create-trigger.ts";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { type FakeComposio, startFakeComposio } from "../../support/fakes/composio.ts";
import { createOrganization } from "../../support/fixtures/organization.ts";
import { joinOrganization, makeArtist, makeOrganization } from "../../support/fixtures/people.ts";
import { expectError } from "../../support/fixtures/shapes.ts";
import { createTask, fireTasks } from "../../support/fixtures/tasks.ts";
import { createConnectorTrigger, eventsOf } from "../../support/fixtures/triggers.ts";
import {
  type Answer,
  type Client,
  createPerson,
  type Person,
} from "../../support/harness/clients.ts";
import { authorize, statesOf } from "../../support/harness/connections.ts";
import { decide, openConsent } from "../../support/harness/consent.ts";
import { startServer } from "../../support/harness/server.ts";
import { sql, stack } from "../../support/harness/stack.ts";
import { unusedDatabase } from "../../support/harness/unused-database.ts";

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
const events = z.object({
  success: z.literal(true),
  data: z.strictObject({
    events: z.array(
      z.strictObject({
        name: z.string(),
        title: z.string(),
        description: z.string(),
        configSchema: z.record(z.string(), z.unknown()),
      }),
    ),
    nextCursor: z.string().nullable(),
  }),
});
const eventsIn = (answer: Answer) => {
  expect(answer.status, answer.text).toBe(200);
  return events.parse(answer.body).data;
};
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
  /** Completes the authorization at the redirect URL, and returns where it leads. */
  readonly agree: (redirectUrl: string) => Promise<string>;
  /** Produces an event at the person's service. */
  readonly happen: (person: Person) => Promise<unknown>;
}
const providers: Record<string, Provider> = {
  embedded: {
    url: () => stack.url,
    agree: async (redirectUrl) => (await decide(await openConsent(redirectUrl), "allow")).location,
    happen: async ({ withKey }) => {
      const path = "/api/connectors/gmail/actions/SEND_TEST_EVENT";
      expect((await withKey.post(path, { input: { n: 1 } })).status).toBe(200);
      await fireTasks();
    },
  },
  composio: {
    url: () => server.url,
    agree: async (redirectUrl) => {
      const response = await fetch(redirectUrl, { redirect: "manual" });
      return response.headers.get("location") ?? "";
    },
    happen: ({ id }) =>
      Promise.all(composio.instancesOf(id).map((one) => composio.send(server.url, one))),
  },
};

describe.each(Object.entries(providers))("connections by %s", (_, { url, agree, happen }) => {
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

  it.skipIf(stack.program)(
    "lead to the console's page of connections when no callback was given",
    async () => {
      const end = new URL(await agree(await authorize(caller, { connector: "notion" })));
      expect(end.origin + end.pathname).toBe(`${new URL(url()).origin}/connectors`);
      expect(end.searchParams.get("status")).toBe("success");
      expect((await fetch(end)).status).toBe(200);
    },
  );

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
      { error: "The account has no active connection to this connector: connect it first" },
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

  it("have events with the schemas of their configs, page by page, of known connectors alone", async () => {
    const { events, nextCursor } = eventsIn(
      await caller.get("/api/connectors/gmail/events?limit=1"),
    );
    expect(events).toMatchObject([{ configSchema: { type: "object" } }]);
    if (nextCursor !== null) {
      const next = await caller.get(`/api/connectors/gmail/events?limit=1&cursor=${nextCursor}`);
      expect(eventsIn(next).events).not.toEqual(events);
    }
    const unknown = await caller.get("/api/connectors/no-such-service/events");
    expect([unknown.status, unknown.body]).toEqual([404, { error: "Unknown connector" }]);
  });

  it("have events that start runs until their trigger or the connection is deleted", async () => {
    const person = await createPerson(url());
    const { withKey } = person;
    const [known] = eventsIn(await caller.get("/api/connectors/gmail/events")).events;
    const gmail = { connector: "gmail", event: known?.name ?? "" };
    const [{ id: first }, { id: second }] = [await createTask(withKey), await createTask(withKey)];
    const path = `/api/tasks/${first}/triggers`;
    const create = (changes: object) =>
      withKey.post(path, { kind: "connector", ...gmail, ...changes });

    const { withKey: stranger } = await createPerson(url());
    const foreign = await stranger.post(path, { kind: "connector", ...gmail });
    expectError(foreign, 404, "error", "Task not found");
    const text = "The account has no active connection to this connector: connect it first";
    expectError(await create({}), 409, "error", text);
    await agree(await authorize(withKey, { connector: "gmail" }));
    expectError(
      await create({ event: "NO_SUCH_EVENT" }),
      404,
      "error",
      "Unknown event: GET /api/connectors/{connector}/events lists those of the connector",
    );
    const refused = await create({ config: { no_such_field: true } });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("The service refuses config: ");
    expect((await withKey.get(path)).body).toMatchObject({ triggers: [] });

    const triggers = await Promise.all(
      [first, second].map((task) => createConnectorTrigger(withKey, gmail, task)),
    );
    const { kind, id, created_at } = triggers[0] ?? {};
    const listed = { kind, id, task_id: first, ...gmail, config: {}, created_at };
    expect(Object((await withKey.get(path)).body).triggers).toEqual([listed]);
    /** How many events have started a run, by trigger; null where it is gone. */
    const started = () =>
      Promise.all(
        triggers.map(async (trigger) => {
          const path = `/api/tasks/${trigger.task_id}/triggers/${trigger.id}/events`;
          if ((await withKey.get(path)).status === 404) return null;
          const events = await eventsOf(withKey, trigger);
          return events.filter(({ status }) => status === "started").length;
        }),
      );
    await happen(person);
    await expect.poll(started).toEqual([1, 1]);
    const turns = await sql`select kind, untrusted from turns where account_id = ${person.id}`;
    const untrusted = { kind: "task", untrusted: [{ kind: "event", name: "event.json" }] };
    expect([...turns]).toEqual([untrusted, untrusted]);

    await withKey.delete(`${path}/${id}`);
    await happen(person);
    await expect.poll(started).toEqual([null, 2]);
    expect((await withKey.delete("/api/connectors/gmail")).status).toBe(200);
    expect(await started()).toEqual([null, null]);
    expect(await sql`select 1 from event_checks where account_id = ${person.id}`).toEqual([]);
    expect(composio.instancesOf(person.id)).toEqual([]);
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
    const input = { unknown_field: 1 };
    const corrected = await withKey.post("/api/connectors/slack/actions/SLACK_SEND", { input });
    expect(corrected.body).toMatchObject({
      data: { successful: false, error: expect.stringContaining("unknown_field is not a field") },
    });
    const events = await withKey.get("/api/connectors/slack/events?limit=100");
    expect(events.status, events.text).toBe(200);
    expect(composio.executions.filter(({ user_id }) => user_id === id)).toMatchObject([
      { tool: "SLACK_FAIL", arguments: body.input },
    ]);
  });

  it("an action is destructive if its tags say so, or do not say", async () => {
    const { COMPOSIO_API_KEY: apiKey, COMPOSIO_BASE_URL: baseUrl } = composio.env;
    const given = { db: unusedDatabase, apiKey, baseUrl, receivesEvents: false, timeoutMs: 10_000 };
    const adapter = new ComposioConnectors(given);
    const describe = (connector: string, action: string) =>
      adapter.describeAction({ connector, action });
    expect(await describe("gmail", "GMAIL_SEND")).toEqual({ kind: "action", isDestructive: false });
    expect(await describe("gmail", "GMAIL_FAIL")).toEqual({ kind: "action", isDestructive: true });
    expect(await describe("gmail", "SLACK_SEND")).toMatchObject({ kind: "unknown_action" });
    const tagged = (tags: string[]) =>
      isDestructive({
        ...{ slug: "A", description: "", input_parameters: {} },
        toolkit: { slug: "a" },
        tags,
      });
    expect([tagged([]), tagged(["important"]), tagged(["readOnlyHint"])]).toEqual([
      true,
      true,
      false,
    ]);
    expect(tagged(["updateHint", "destructiveHint"])).toBe(true);
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

  it("an event starts runs once, of its account and active connection, if Composio has signed it", async () => {
    const { agree, url } = providers.composio as Provider;
    const person = await createPerson(url());
    const { id, withKey } = person;
    await agree(await authorize(withKey, { connector: "gmail" }));
    const gmail = { connector: "gmail", event: "GMAIL_NEW_MESSAGE", config: { label: "INBOX" } };
    const trigger = await createConnectorTrigger(withKey, gmail);
    const [instance] = composio.instancesOf(id);
    if (!instance) throw new Error("no subscription");
    expect(instance).toMatchObject({ trigger_config: { label: "INBOX" } });
    const send = async (changes?: Parameters<FakeComposio["send"]>[2]) => {
      const response = await composio.send(url(), instance, changes);
      return [response.status, Object(await response.json()).accepted];
    };
    const none = [200, 0];
    const stranger = await createPerson(url());
    expect(await send({ metadata: { user_id: stranger.id } })).toEqual(none);
    expect(await send({ metadata: { user_id: "default" } })).toEqual(none);
    expect(await send({ metadata: { trigger_id: "ti_other" } })).toEqual(none);
    expect(await send({ metadata: { connected_account_id: "ca_other" } })).toEqual(none);
    const old = String(Math.floor(Date.now() / 1_000) - 310);
    const forged: Record<string, string>[] = [
      { "webhook-signature": "v1,bm90aGluZw==" },
      { "webhook-signature": "" },
      { "webhook-timestamp": old },
    ];
    for (const headers of forged) {
      expect(await send({ headers })).toEqual([401, undefined]);
    }
    expect(await eventsOf(withKey, trigger)).toEqual([]);
    const headers = { "webhook-id": "msg_1" };
    const repeated = await Promise.all([send({ headers }), send({ headers })]);
    expect(repeated).toEqual([
      [200, 1],
      [200, 1],
    ]);
    expect(await eventsOf(withKey, trigger)).toMatchObject([
      { event_id: "msg_1", requests: 2, status: "started" },
    ]);
    const direct = await fetch(`${url()}/api/triggers/${trigger.id}`, { method: "POST" });
    expect(direct.status).toBe(401);

    await withKey.patch(`/api/tasks/${trigger.task_id}`, { enabled: false });
    expect(await send()).toEqual(none);
    expect(await eventsOf(withKey, trigger)).toMatchObject([
      { status: "refused", reason: "The task is disabled: enable it to accept events" },
      { status: "started" },
    ]);
    await withKey.delete("/api/accounts/me", { body: { confirm: person.email } });
    expect(composio.instancesOf(id)).toEqual([]);
    expect(await send()).toEqual(none);
  });

  it("no trigger at an event is created where the secret is missing with which they are signed", async () => {
    const { COMPOSIO_API_KEY: apiKey, COMPOSIO_BASE_URL: baseUrl } = composio.env;
    const given = { db: unusedDatabase, apiKey, baseUrl, receivesEvents: false, timeoutMs: 1_000 };
    const app = { db: unusedDatabase, connectors: new ComposioConnectors(given) };
    const values = { kind: "connector", connector: "gmail", event: "ANY", config: {} } as const;
    expect(await createTrigger(app, randomUUID(), randomUUID(), values, pino())).toMatchObject({
      code: "not_configured",
      message: expect.stringContaining("set COMPOSIO_API_KEY and COMPOSIO_WEBHOOK_SECRET"),
    });
  });

  it("a subscription that was not confirmed, or could not be ended, is ended later", async () => {
    const { agree, url } = providers.composio as Provider;
    const { id, withKey } = await createPerson(url());
    await agree(await authorize(withKey, { connector: "gmail" }));
    const gmail = { connector: "gmail", event: "GMAIL_NEW_MESSAGE" };
    const lost = await createConnectorTrigger(withKey, gmail);
    // As when the process dies between the vendor's answer and the confirmation.
    await sql`update task_triggers set source_id = null, created_at = now() - interval '2 minutes'
      where id = ${lost.id}`;
    const listed = await withKey.get(`/api/tasks/${lost.task_id}/triggers`);
    expect(listed.body).toMatchObject({ triggers: [] });
    const kept = { label: "kept" };
    const { task_id } = await createConnectorTrigger(withKey, { ...gmail, config: kept });
    const ended = await createConnectorTrigger(withKey, { ...gmail, config: { label: "ended" } });
    composio.fail({ status: 500, body: "" }, "/trigger_instances/manage");
    const deleted = await withKey.delete(`/api/tasks/${ended.task_id}/triggers/${ended.id}`);
    expect(deleted.status).toBe(200);
    expect(composio.instancesOf(id)).toHaveLength(3);
    composio.recover();
    await withKey.delete(`/api/tasks/${ended.task_id}`);
    expect(composio.instancesOf(id)).toMatchObject([{ trigger_config: kept }]);
    await withKey.delete(`/api/tasks/${task_id}`);
    expect(composio.instancesOf(id)).toEqual([]);
    expect(await sql`select 1 from task_triggers where account_id = ${id}`).toEqual([]);

    const path = `/api/tasks/${lost.task_id}/triggers`;
    const body = { kind: "connector", ...gmail };
    composio.fail({ status: 500, body: "" }, "/upsert");
    expect((await withKey.post(path, body)).status).toBe(502);
    composio.recover();
    // While a process ends subscriptions, none is made that it could end.
    await sql`update event_checks set lease_until = now() + interval '1 minute'
      where account_id = ${id}`;
    expect((await withKey.post(path, body)).status).toBe(503);
  });
});
