/** Each cell of the table of grants (grants.ts), over HTTP, and that docs/security.md has the same table. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { queuedMessages } from "../../lib/turns/queue-contract.ts";
import {
  inviteTo,
  joinOrganization,
  makeArtist,
  makeOrganization,
} from "../support/fixtures/people.ts";
import { createTask, fireTasks } from "../support/fixtures/tasks.ts";
import { createTemplate } from "../support/fixtures/templates.ts";
import { createConnectorTrigger, eventsOf } from "../support/fixtures/triggers.ts";
import { createWebhook } from "../support/fixtures/webhooks.ts";
import { client, createPerson, type Person } from "../support/harness/clients.ts";
import { authorize, statesOf } from "../support/harness/connections.ts";
import { decide, openConsent } from "../support/harness/consent.ts";
import { openConversation, startEndlessTurn } from "../support/harness/conversation.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";
import { readRun, startRun } from "../support/harness/runs.ts";
import { sql } from "../support/harness/stack.ts";
import { type Event, events, type Grant, grants, type Outcome } from "./grants.ts";

interface Place {
  readonly founder: Person;
  readonly holder: Person;
  readonly other: Person;
  readonly organization: string;
  readonly artist: string;
}

interface Held {
  readonly use: () => Promise<Outcome>;
  /** The key to revoke; by default the one that has made the grant. */
  readonly keyId?: string;
}

const outcome = (stays: boolean): Outcome => (stays ? "stays" : "ends");
const answers = async (asked: Promise<{ readonly status: number }>): Promise<Outcome> =>
  outcome((await asked).status < 400);

const keyOf = async ({ id }: Person): Promise<string> => {
  const [key] = await sql`select id from api_keys where account_id = ${id} and scope = 'full'`;
  return String(key?.id);
};

const arrange: Readonly<Record<Grant, (place: Place) => Promise<Held>>> = {
  "Invitation that the holder has sent": async ({ founder, holder, other, organization }) => {
    const id = await inviteTo(holder.withKey, organization, other.email, "owner");
    return {
      async use() {
        const listed = await founder.withKey.get(`/api/organizations/${organization}/invitations`);
        const accepted = await answers(other.withKey.post(`/api/invitations/${id}/accept`));
        expect(outcome(listed.text.includes(id)), "the list").toBe(accepted);
        return accepted;
      },
    };
  },
  "Link that connects a service to the artist, not yet completed": async ({ holder, artist }) => {
    const link = await authorize(holder.withKey, { connector: "gmail", account_id: artist });
    const form = await openConsent(link);
    return {
      async use() {
        const page = await answers(fetch(link));
        const decided = await answers(decide(form, "allow"));
        expect(page, "the page").toBe(decided);
        return decided;
      },
    };
  },
  "Service that the holder has connected to the artist": async ({ founder, holder, artist }) => {
    const link = await authorize(holder.withKey, { connector: "gmail", account_id: artist });
    await decide(await openConsent(link), "allow");
    return {
      use: async () => outcome((await statesOf(founder.withKey, artist)).includes("gmail active")),
    };
  },
  "Running turn for the artist": async ({ holder, artist: artistId }) => {
    const run = await startRun(holder.withKey, { prompt: "run: sleep 100", artistId });
    return {
      async use() {
        const [turn] = await sql`
          select stop_requested_at from turns where chat_id = ${run.chatId}`;
        if (turn?.stop_requested_at)
          await expect
            .poll(async () => (await readRun(holder.withBearer, run)).status)
            .toBe("cancelled");
        return outcome(turn?.stop_requested_at === null);
      },
    };
  },
  "Credential of the sandbox of that turn": async ({ holder, artist }) => {
    const { headers, turnId } = await createRunCredential(holder.id, "key");
    await sql`update turns set artist_id = ${artist}, caller_key_id = ${await keyOf(holder)}
      where id = ${turnId}`;
    return { use: () => answers(client().get("/api/sessions", { headers })) };
  },
  "Message that waits in the holder's chat": async ({ holder }) => {
    const conversation = await openConversation(holder.withKey);
    await startEndlessTurn(holder.withBearer, conversation);
    await conversation.send([{ id: "waits", content: "hello" }], { onBusy: "enqueue" });
    return {
      async use() {
        const answer = await holder.withBearer.get(`/api/chat/${conversation.chatId}/queue`);
        return outcome(
          answer.status === 200 && queuedMessages.parse(answer.body).messages.length > 0,
        );
      },
    };
  },
  "Scheduled prompt for the artist": async ({ holder, artist }) => {
    const { id } = await createTask(holder.withKey, { artist_id: artist });
    return { use: () => answers(holder.withBearer.post(`/api/tasks/${id}/run`)) };
  },
  "Trigger of that prompt at events of the holder's own service": async ({ holder, artist }) => {
    const link = await authorize(holder.withKey, { connector: "gmail" });
    await decide(await openConsent(link), "allow");
    const { id } = await createTask(holder.withKey, { artist_id: artist });
    const event = { connector: "gmail", event: "TEST_EVENT" };
    const trigger = await createConnectorTrigger(holder.withKey, event, id);
    return {
      async use() {
        const path = "/api/connectors/gmail/actions/SEND_TEST_EVENT";
        if ((await holder.withBearer.post(path, { input: {} })).status === 401) return "ends";
        const state = async () => {
          await fireTasks();
          return (await eventsOf(holder.withBearer, trigger))[0]?.status;
        };
        await expect.poll(state).not.toBe("waiting");
        return outcome((await state()) === "started");
      },
    };
  },
  "Webhook of the holder's account": async ({ holder }) => {
    const { webhook } = await createWebhook(holder);
    return { use: () => answers(holder.withBearer.get(`/api/webhooks/${webhook.id}`)) };
  },
  "Link to a chat that the holder has shared": async ({ holder }) => {
    const { sessionId, chatId } = await openConversation(holder.withKey);
    const path = `/api/sessions/${sessionId}/chats/${chatId}/share`;
    const { body } = await holder.withKey.request("PUT", path);
    const { share } = z.object({ share: z.object({ url: z.string() }) }).parse(body);
    return { use: () => answers(client().get(`/api/shares/${share.url.split("/").at(-1)}`)) };
  },
  "Private template that the holder has shared with an address": async ({ holder, other }) => {
    const values = { is_private: true, share_emails: [other.email] };
    const { id } = await createTemplate(holder.withKey, values);
    return { use: () => answers(other.withKey.get(`/api/agents/templates/${id}`)) };
  },
  "Rotated key within its grace time, when that key is revoked": async ({ holder }) => {
    const created = z.object({ id: z.string(), key: z.string() });
    const made = await holder.withBearer.post("/api/keys", { key_name: "rotated" });
    const { id, key } = created.parse(made.body);
    await holder.withBearer.post(`/api/keys/${id}/rotate`, { grace_seconds: 3600 });
    return { keyId: id, use: () => answers(client({ key }).get("/api/sessions")) };
  },
};

async function happen(event: Event, { founder, holder, organization }: Place, keyId: string) {
  const member = `/api/organizations/${organization}/members/${holder.id}`;
  const confirm = { body: { confirm: holder.email } };
  const answer = await {
    "Removed from the organization": () => founder.withKey.delete(member),
    "Owner becomes a member": () => founder.withKey.patch(member, { role: "member" }),
    "Key revoked": () => holder.withBearer.delete(`/api/keys/${keyId}`),
    "Account deleted": () => holder.withBearer.delete("/api/accounts/me", confirm),
  }[event]();
  expect(answer.status, answer.text).toBeLessThan(300);
}

async function openPlace(): Promise<Place> {
  const [founder, holder, other] = await Promise.all([
    createPerson(),
    createPerson(),
    createPerson(),
  ]);
  const organization = await makeOrganization(founder.withKey);
  await joinOrganization(founder.withKey, organization, holder, "owner");
  const artist = await makeArtist(founder.withKey, organization);
  return { founder, holder, other, organization, artist };
}

describe("what ends with its holder", () => {
  const cells = Object.entries(grants).flatMap(([grant, outcomes]) =>
    events.map((event, column) => [grant as Grant, event, outcomes[column]] as const),
  );

  it.concurrent.each(cells)("%s; %s: %s", async (grant, event, expected) => {
    const place = await openPlace();
    const held = await arrange[grant](place);
    await happen(event, place, held.keyId ?? (await keyOf(place.holder)));
    expect(await held.use()).toBe(expected);
  });

  it("is the table of docs/security.md", () => {
    const text = readFileSync("docs/security.md", "utf8");
    const lines = text.split("\n").filter((line) => / \| (ends|stays) \|$/.test(line));
    const rows = Object.entries(grants).map(([grant, cells]) => [grant, ...cells]);
    expect(lines).toEqual(rows.map((row) => `| ${row.join(" | ")} |`));
    expect(text).toContain(`| Granted or started | ${events.join(" | ")} |`);
  });
});

describe("an account that is deleted", () => {
  it("leaves no share of a template with its address", async () => {
    const [owner, holder] = await Promise.all([createPerson(), createPerson()]);
    await createTemplate(owner.withKey, { is_private: true, share_emails: [holder.email] });
    await holder.withKey.delete("/api/accounts/me", { body: { confirm: holder.email } });
    expect(await sql`select 1 from agent_template_shares where email = ${holder.email}`).toEqual(
      [],
    );
  });
});
