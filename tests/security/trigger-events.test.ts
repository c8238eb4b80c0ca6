/** Only the holder of its secret may start a run at the URL of a trigger, and each message only once. */
import { createHmac, randomUUID } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { beforeAll, describe, expect, test } from "vitest";
import { createTask } from "../support/fixtures/tasks.ts";
import {
  acceptedOf,
  type CreatedTrigger,
  createTrigger,
  eventsOf,
  sendEvent,
} from "../support/fixtures/triggers.ts";
import { createPerson, type Person } from "../support/harness/clients.ts";
import { registerSecret } from "../support/secrets/register.ts";

let person: Person;
let taskId: string;
beforeAll(async () => {
  person = await createPerson();
  taskId = (await createTask(person.withKey)).id;
});

type Headers = Record<string, string>;
interface Sender {
  readonly options: () => object;
  readonly body: () => string;
  /** @param time in seconds */
  readonly sign: (secret: string, body: string, time: number) => Headers;
  /** Whether the signature covers a time. */
  readonly isTimed: boolean;
}

const hmac = (secret: string, text: string) =>
  createHmac("sha256", secret).update(text).digest("hex");
const now = () => Math.floor(Date.now() / 1_000);

const senders: Readonly<Record<string, Sender>> = {
  "Standard Webhooks": {
    options: () => ({ signature: "standard" }),
    body: () => '{"type":"release.published"}',
    sign: (secret, body, time) => {
      const id = `msg_${randomUUID()}`;
      const signature = new Webhook(secret).sign(id, new Date(time * 1_000), body);
      return {
        "webhook-id": id,
        "webhook-timestamp": String(time),
        "webhook-signature": `v1,bm90aGluZw== ${signature}`,
      };
    },
    isTimed: true,
  },
  GitHub: {
    options: () => ({ signature: "github" }),
    body: () => '{"action":"opened"}',
    sign: (secret, body) => ({
      "x-hub-signature-256": `sha256=${hmac(secret, body)}`,
      "x-github-delivery": randomUUID(),
      "x-github-event": "issues",
    }),
    isTimed: false,
  },
  Slack: {
    options: () => ({
      signature: "slack",
      secret: registerSecret(randomUUID().replaceAll("-", ""), "signing secret"),
    }),
    body: () => JSON.stringify({ type: "event_callback", event_id: `Ev${randomUUID()}` }),
    sign: (secret, body, time) => ({
      "x-slack-signature": `v0=${hmac(secret, `v0:${time}:${body}`)}`,
      "x-slack-request-timestamp": String(time),
    }),
    isTimed: true,
  },
};

const without = { authorization: "" };

describe.each(Object.entries(senders))("%s", (_, sender) => {
  let trigger: CreatedTrigger;
  beforeAll(async () => {
    trigger = await createTrigger(person.withKey, sender.options(), taskId);
  });
  const sendAs = (body: string, headers: Headers) =>
    sendEvent(trigger, body, { ...without, ...headers });

  test("a good message starts a run; a replayed one has the same", async () => {
    const body = sender.body();
    const headers = sender.sign(trigger.secret, body, now());
    const { run_id, duplicate } = await acceptedOf(sendAs(body, headers));
    expect({ run_id, duplicate }).toEqual({ run_id: expect.any(String), duplicate: false });
    const replayed = await acceptedOf(sendAs(body, headers));
    expect(replayed).toMatchObject({ run_id, duplicate: true });
  });

  test("a wrong secret, a changed body, no signature and the bare secret are all 401", async () => {
    const before = (await eventsOf(person.withKey, trigger)).length;
    const body = sender.body();
    const headers = sender.sign(trigger.secret, body, now());
    const wrong = trigger.secret.replace(/[a-z](?=[^a-z]*$)/, (letter) =>
      letter === "a" ? "b" : "a",
    );
    const forged = await Promise.all([
      sendAs(body, sender.sign(wrong, body, now())),
      sendAs(body.replace('":"', '": "'), headers),
      sendAs(body, {}),
      sendEvent(trigger, body),
    ]);
    expect(forged.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect(await eventsOf(person.withKey, trigger)).toHaveLength(before);
  });

  test.runIf(sender.isTimed)("an old message, and one from the future, are 401", async () => {
    for (const time of [now() - 310, now() + 310]) {
      const body = sender.body();
      expect((await sendAs(body, sender.sign(trigger.secret, body, time))).status).toBe(401);
    }
  });
});

describe("handshakes start nothing", () => {
  test("GitHub's ping, and Slack's challenge, if they are signed", async () => {
    const { GitHub, Slack } = senders;
    const github = await createTrigger(person.withKey, GitHub?.options(), taskId);
    const zen = '{"zen":"Keep it logically awesome."}';
    const ping = { ...without, ...GitHub?.sign(github.secret, zen, 0), "x-github-event": "ping" };
    const pong = await sendEvent(github, zen, ping);
    expect({ status: pong.status, body: await pong.json() }).toEqual({
      status: 200,
      body: { status: "success" },
    });

    const slack = await createTrigger(person.withKey, Slack?.options(), taskId);
    const body = '{"type":"url_verification","challenge":"3eZbrw1aB"}';
    const signed = { ...without, ...Slack?.sign(slack.secret, body, now()) };
    const verified = await sendEvent(slack, body, signed);
    expect(await verified.json()).toEqual({ status: "success", challenge: "3eZbrw1aB" });
    const unsigned = await sendEvent(slack, body, without);
    expect(unsigned.status).toBe(401);
    expect(await unsigned.text()).not.toContain("3eZbrw1aB");
    for (const one of [github, slack]) expect(await eventsOf(person.withKey, one)).toEqual([]);
  });
});

describe("a secret", () => {
  let trigger: CreatedTrigger;
  beforeAll(async () => {
    trigger = await createTrigger(person.withKey, {}, taskId);
  });

  test("a wrong one, another trigger's, a missing trigger and a key are answered alike", async () => {
    const other = await createTrigger(person.withKey, {}, taskId);
    const answers = await Promise.all([
      sendEvent(trigger, {}, { authorization: "Bearer trg_wrong" }),
      sendEvent({ ...trigger, secret: other.secret }),
      sendEvent({ ...trigger, id: randomUUID() }),
      sendEvent({ ...trigger, secret: person.key }),
      sendEvent(trigger, {}, without),
      // Only where it was asked for.
      fetch(`${trigger.url}?secret=${trigger.secret}`, { method: "POST", body: "{}" }),
    ]);
    const bodies = await Promise.all(answers.map((one) => one.text()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(new Set(bodies)).toEqual(new Set(['{"status":"error","error":"Unauthorized"}']));
    expect(await eventsOf(person.withKey, trigger)).toEqual([]);
  });

  test("is no credential of the API, and an event cannot be sent from a sandbox", async () => {
    const headers = { authorization: `Bearer ${trigger.secret}` };
    expect((await fetch(`${person.withKey.url}/api/tasks`, { headers })).status).toBe(401);
    expect((await sendEvent(trigger, {}, { "x-agent-sandbox": "1" })).status).toBe(403);
  });

  test.each([
    ["1 MiB and a byte", " ".repeat(1024 * 1024 + 1), 413],
    ["101 levels", "[".repeat(101) + "]".repeat(101), 400],
    ["a million levels", "[".repeat(1_000_000), 400],
    ["half of JSON", '{"a":', 400],
    ["UTF-16", new Uint8Array(Buffer.from('{"a":1}', "utf16le")), 400],
    ["half of a character", new Uint8Array([0x22, 0xc3, 0x22]), 400],
    ["nothing", "", 400],
  ])("a body of %s", async (_, body, status) => {
    expect((await sendEvent(trigger, body)).status).toBe(status);
  });

  test("ids of events that are no ids are 400", async () => {
    for (const id of ["", "x".repeat(256), "caf\u00e9"]) {
      expect((await sendEvent(trigger, {}, { "webhook-id": id })).status).toBe(400);
    }
    expect(await eventsOf(person.withKey, trigger)).toEqual([]);
  });
});
