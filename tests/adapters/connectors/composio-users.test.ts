/** The adapter of Composio where its lists ignore or refuse the filter by user, or do not say whose an item is. */
import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../../lib/app.ts";
import { ComposioConnectors } from "../../../lib/connectors/adapters/composio/provider.ts";
import { recordLink } from "../../../lib/connectors/store.ts";
import type { App } from "../../../lib/parts.ts";
import { parseConfig } from "../../../lib/platform/config.ts";
import { receiveComposioEvent } from "../../../lib/triggers/receive-event.ts";
import { selectTriggerEvents } from "../../../lib/triggers/store.ts";
import { type FakeComposio, startFakeComposio } from "../../support/fakes/composio.ts";
import { composioItem } from "../../support/fakes/composio-answers.ts";
import { sql, stack } from "../../support/harness/stack.ts";

let composio: FakeComposio;
let connectors: ComposioConnectors;
let app: App;
beforeAll(async () => {
  composio = await startFakeComposio();
  // The functions under test run in this process, as a server's would.
  Object.assign(process.env, stack.env, composio.env, { LOG_LEVEL: "silent" });
  const { COMPOSIO_API_KEY: apiKey, COMPOSIO_BASE_URL: baseUrl } = composio.env;
  app = await createApp(parseConfig(process.env));
  const given = { db: app.db, apiKey, baseUrl, receivesEvents: true, timeoutMs: 5_000 };
  connectors = new ComposioConnectors(given);
});
afterEach(() => composio.changeLists({ userFilter: "applied", hasUsers: true }));
afterAll(() => composio?.close());

async function createAccount(): Promise<string> {
  const id = randomUUID();
  await sql`insert into accounts (id, kind, email) values (${id}, 'personal', ${`${id}@example.com`})`;
  return id;
}

/** Connects a service as a person does, and returns the connection. */
async function connect(accountId: string, connector: string) {
  const callbackUrl = "https://app.example.com/back";
  const starter = { accountId, keyId: null };
  const started = await connectors.authorize({ accountId, starter, connector, callbackUrl });
  if (started.kind !== "started") throw new Error(started.cause);
  await fetch(started.url, { redirect: "manual" });
}

const statesOf = async (accountId: string) => {
  const listed = await connectors.list(accountId);
  if (listed.kind !== "listed") throw new Error(listed.cause);
  return listed.connections.map(({ connector, status }) => `${connector} ${status}`).sort();
};
const idsOf = async (accountId: string) => {
  const listed = await connectors.list(accountId);
  return listed.kind === "listed" ? listed.connections.map(({ id }) => id) : [];
};
const recordedOf = async (accountId: string) =>
  (await sql`select connection_id from connector_links where account_id = ${accountId}`).map(
    ({ connection_id }) => String(connection_id),
  );

const behaviors = [
  { userFilter: "applied", hasUsers: false },
  { userFilter: "ignored", hasUsers: true },
  { userFilter: "ignored", hasUsers: false },
  { userFilter: "refused", hasUsers: true },
  { userFilter: "refused", hasUsers: false },
] as const;

describe.each(behaviors)("lists with %o", (behavior) => {
  it("have the account's own connections, seen before or not, and no other's", async () => {
    const [account, other] = [await createAccount(), await createAccount()];
    await connect(account, "gmail");
    await connect(other, "slack");
    expect(await statesOf(account)).toEqual(["gmail active"]);
    await connect(account, "notion");
    composio.changeLists(behavior);
    expect(await statesOf(account)).toEqual(["gmail active", "notion active"]);
    expect(await statesOf(other)).toEqual(["slack active"]);
    expect(await statesOf(await createAccount())).toEqual([]);
    expect(await connectors.disconnect({ accountId: account, connector: "gmail" })).toMatchObject({
      count: 1,
    });
    expect(await statesOf(account)).toEqual(["notion active"]);
    expect(await recordedOf(account)).toHaveLength(1);
    expect(await statesOf(other)).toEqual(["slack active"]);
  });

  it("have connections from before they were recorded, if they were listed since", async () => {
    const account = await createAccount();
    for (const status of ["ACTIVE", "EXPIRED"] as const) {
      composio.add(account, composioItem(account, "gmail", status));
    }
    expect(await statesOf(account)).toEqual(["gmail active", "gmail expired"]);
    composio.changeLists(behavior);
    expect(await statesOf(account)).toEqual(["gmail active", "gmail expired"]);
  });

  it("end the account's own subscriptions, disabled ones too, and no other's", async () => {
    const [account, other] = [await createAccount(), await createAccount()];
    for (const accountId of [account, other]) {
      await connect(accountId, "gmail");
      for (const label of ["a", "b", "c"]) {
        const event = { connector: "gmail", event: "GMAIL_NEW_MESSAGE", config: { label } };
        expect(await connectors.subscribe({ accountId, ...event })).toMatchObject({
          kind: "subscribed",
        });
      }
    }
    const [kept, stopped] = composio.instancesOf(account);
    if (!kept || !stopped) throw new Error("no subscription");
    composio.disable("http://localhost", stopped);
    composio.changeLists(behavior);
    const ended = await connectors.unsubscribe({ accountId: account, keptIds: [kept.id] });
    expect(ended).toEqual({ kind: "unsubscribed" });
    expect(composio.instancesOf(account)).toEqual([kept]);
    expect(composio.instancesOf(other)).toHaveLength(3);
  });
});

it("connections that were never listed appear where the filter is refused, but items say whose they are", async () => {
  const account = await createAccount();
  composio.add(account, composioItem(account, "gmail", "ACTIVE"));
  composio.changeLists({ userFilter: "refused" });
  expect(await statesOf(account)).toEqual(["gmail active"]);
});

it("a list refused for another reason is not an empty one", async () => {
  composio.fail({ status: 400 }, "/connected_accounts");
  expect(await connectors.list(await createAccount())).toMatchObject({ status: 400 });
  composio.recover();
});

describe("a recorded connection", () => {
  it("of which Composio says that it is another user's is not shown", async () => {
    const [account, other] = [await createAccount(), await createAccount()];
    const theirs = composioItem(other, "gmail", "ACTIVE");
    composio.add(other, theirs);
    await sql`insert into connector_links (account_id, connection_id) values (${account}, ${theirs.id})`;
    expect(await statesOf(account)).toEqual([]);
  });

  it("is deleted once Composio no longer has it, but not while its link can be used", async () => {
    const account = await createAccount();
    await sql`insert into connector_links (account_id, connection_id, created_at) values
      (${account}, 'ca_old', now() - interval '2 days'), (${account}, 'ca_new', now())`;
    expect(await statesOf(account)).toEqual([]);
    expect(await recordedOf(account)).toEqual(["ca_new"]);
  });

  it("cannot be read: the list fails, because it would lack a connection", async () => {
    const account = await createAccount();
    await sql`insert into connector_links (account_id, connection_id) values (${account}, 'ca_x')`;
    composio.fail({ status: 500 }, "/connected_accounts/ca_");
    expect(await connectors.list(account)).toMatchObject({ kind: "unavailable", status: 500 });
    composio.recover();
    expect(await statesOf(account)).toEqual([]);
  });

  it("stays unusable if its starter had lost the right before it was seen active", async () => {
    const account = await createAccount();
    await connect(account, "gmail");
    await sql`update connector_links set started_by = ${randomUUID()} where account_id = ${account}`;
    for (const behavior of behaviors) {
      composio.changeLists(behavior);
      expect(await statesOf(account)).toEqual(["gmail inactive"]);
    }
  });

  it("that a list has seen before its start was recorded still has its starter", async () => {
    const account = await createAccount();
    const early = composioItem(account, "gmail", "FAILED");
    composio.add(account, early);
    expect(await statesOf(account)).toEqual(["gmail failed"]);
    expect(await recordedOf(account)).toEqual([early.id]);
    await recordLink(app.db, account, early.id, { accountId: randomUUID(), keyId: null });
    early.status = "ACTIVE";
    expect(await statesOf(account)).toEqual(["gmail inactive"]);
  });
});

/** Sends a message of Composio, and returns how many it concerns. */
async function receive(request: Request): Promise<unknown> {
  const readBody = async () => new Uint8Array(await request.arrayBuffer());
  const delivery = { request, readBody, keepAlive: () => {} };
  return receiveComposioEvent(app, delivery, pino({ level: "silent" }));
}

describe("a notice", () => {
  const url = "http://localhost";
  /** Creates an account with a webhook, a task, and a trigger of it at a subscription. */
  async function createTrigger() {
    const account = await createAccount();
    await connect(account, "gmail");
    await idsOf(account);
    const event = { connector: "gmail", event: "GMAIL_NEW_MESSAGE", config: {} };
    await connectors.subscribe({ accountId: account, ...event });
    const [instance] = composio.instancesOf(account);
    if (!instance) throw new Error("no subscription");
    const [task, trigger] = [randomUUID(), randomUUID()];
    await sql`insert into scheduled_prompts (id, account_id, title, prompt, schedule, timezone, enabled, next_run_at)
      values (${task}, ${account}, 'own', 'own', '0 9 * * *', 'UTC', true, now() + interval '1 day')`;
    await sql`insert into task_triggers (id, account_id, task_id, kind, connector, event, config, source_id)
      values (${trigger}, ${account}, ${task}, 'connector', 'gmail', 'GMAIL_NEW_MESSAGE', '{}', ${instance.id})`;
    const events = ["connection.expired", "trigger.disabled"];
    await sql`insert into webhooks (id, account_id, url, events, secret)
      values (${randomUUID()}, ${account}, 'https://hooks.example.com/x', ${events}, 'none')`;
    return { account, task, trigger, instance };
  }
  const queuedOf = async (account: string) =>
    (await sql`select event_type, data from webhook_deliveries where account_id = ${account}`).map(
      ({ event_type, data }) => ({ event_type, data }),
    );

  it.each([{}, { user_id: null }, { user_id: "default" }])(
    "of a disabled subscription is in the events of its triggers and at the webhooks, once, with %o",
    async (changes) => {
      const { account, task, trigger, instance } = await createTrigger();
      const message = composio.disable(url, instance, changes);
      const repeated = message.clone();
      expect(await receive(message)).toEqual({ accepted: 1 });
      expect(await receive(repeated)).toEqual({ accepted: 0 });
      const path = { id: task, trigger_id: trigger };
      expect(await selectTriggerEvents(app.db, account, path, { limit: 10 })).toMatchObject({
        items: [
          { status: "refused", reason: expect.stringMatching(/^The service sends no more events/) },
        ],
      });
      const reason = "connection_expired";
      const gmail = { connector: "gmail", event: "GMAIL_NEW_MESSAGE" };
      expect(await queuedOf(account)).toEqual([
        {
          event_type: "trigger.disabled",
          data: { trigger_id: trigger, task_id: task, ...gmail, reason },
        },
      ]);
    },
  );

  it("of an expired connection is at the webhooks of its account", async () => {
    const { account, instance } = await createTrigger();
    const id = instance.connected_account_id;
    const expired = { id, toolkit: { slug: "GMAIL" } };
    expect(await receive(composio.expire(url, expired))).toEqual({ accepted: 1 });
    expect(await queuedOf(account)).toEqual([
      { event_type: "connection.expired", data: { connection_id: id, connector: "gmail" } },
    ]);
  });

  it("that is not signed, is of no known account or malformed does nothing", async () => {
    const { account, instance } = await createTrigger();
    const unknown = { id: "ca_unknown", toolkit: { slug: "gmail" } };
    expect(await receive(composio.expire(url, unknown))).toEqual({ accepted: 0 });
    const odd = { id: instance.connected_account_id, toolkit: { slug: "<b>" } };
    expect(await receive(composio.expire(url, odd))).toEqual({ accepted: 0 });
    const stranger = { user_id: await createAccount() };
    expect(await receive(composio.disable(url, instance, stranger))).toEqual({ accepted: 0 });
    const forged = composio.disable(url, instance);
    forged.headers.set("webhook-signature", "v1,bm90aGluZw==");
    expect(await receive(forged)).toMatchObject({ code: "unauthorized" });
    expect(await queuedOf(account)).toEqual([]);
  });
});
