/** Addresses that take results: confirmed by their holders, who may end them at any time. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { deliveryAddress } from "../../lib/delivery/contract.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { createTask, validTask } from "../support/fixtures/tasks.ts";
import { type Answer, createPerson, type Person } from "../support/harness/clients.ts";
import { mailsTo } from "../support/harness/mailbox.ts";
import { sql, stack } from "../support/harness/stack.ts";

const one = z.strictObject({ status: z.literal("success"), address: deliveryAddress });
const list = z.object({ addresses: z.array(deliveryAddress) });

const newAddress = () => `${randomUUID()}@example.com`;
const ask = (person: Person, address: string): Promise<Answer> =>
  person.withKey.post("/api/delivery-addresses", { address });
const stateOf = async (person: Person, address: string) => {
  const { addresses } = list.parse((await person.withKey.get("/api/delivery-addresses")).body);
  return addresses.find((found) => found.address === address)?.state;
};
const deliverTo = (address: string) => ({ deliver: [{ kind: "email", to: [address] }] });

/** The link in the newest mail to an address, at the shared server. */
async function linkIn(address: string): Promise<string> {
  const text = ((await mailsTo(address)).at(-1) ?? "")
    .replaceAll("=\r\n", "")
    .replaceAll("=3D", "=");
  const path = /\/delivery\/\w+\?token=[\w-]+/.exec(text)?.[0];
  return stack.url + (path ?? expect.unreachable(text));
}

describe("POST /api/delivery-addresses 201", () => {
  test("its holder confirms with a button, once; a scanner that follows the link does not", async () => {
    const person = await createPerson();
    const address = newAddress();
    const asked = await ask(person, address.toUpperCase());
    expect(asked.status, asked.text).toBe(201);
    expect(one.parse(asked.body).address).toMatchObject({ address, state: "pending" });
    expect(
      (await person.withKey.post("/api/tasks", { ...validTask, ...deliverTo(address) })).status,
    ).toBe(400);

    const link = await linkIn(address);
    const page = await fetch(link);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain(person.email);
    await fetch(link, { method: "HEAD" });
    expect(await stateOf(person, address)).toBe("pending");
    const fromSandbox = { method: "POST", headers: { "x-agent-sandbox": "1" } };
    expect((await fetch(link, fromSandbox)).status).toBe(403);
    expect((await fetch(link, { method: "POST" })).status).toBe(200);
    expect(await stateOf(person, address)).toBe("confirmed");
    expect((await fetch(link, { method: "POST" })).status).toBe(410);
    const task = await createTask(person.withKey, deliverTo(address));
    expect(task.deliver).toEqual([{ kind: "email", to: [address] }]);
    expect((await ask(person, address)).status).toBe(201);
    expect(await mailsTo(address)).toHaveLength(1);
  });

  test("a link that has expired, or whose address was deleted, confirms nothing", async () => {
    const person = await createPerson();
    const [expired, deleted] = [newAddress(), newAddress()];
    const ids = await Promise.all(
      [expired, deleted].map(
        async (address) => one.parse((await ask(person, address)).body).address.id,
      ),
    );
    await sql`update delivery_confirmations set created_at = now() - interval '25 hours'
      where address = ${expired}`;
    expect((await person.withKey.delete(`/api/delivery-addresses/${ids[1]}`)).status).toBe(200);
    await ask(person, deleted);
    const links = [
      await linkIn(expired),
      `${stack.url}/delivery/confirm`,
      `${stack.url}/delivery/confirm?token=%00`,
    ];
    for (const link of links) expect((await fetch(link, { method: "POST" })).status).toBe(410);
    const [first = ""] = await mailsTo(deleted);
    const token =
      /token=3D([\w-]+)/.exec(first.replaceAll("=\r\n", ""))?.[1] ??
      /token=([\w-]+)/.exec(first)?.[1];
    const void_ = await fetch(`${stack.url}/delivery/confirm?token=${token}`, { method: "POST" });
    expect(void_.status).toBe(410);
    expect([await stateOf(person, expired), await stateOf(person, deleted)]).toEqual([
      "pending",
      "pending",
    ]);
  });

  test("one whose mail has bounced gets mail again once it is confirmed again", async () => {
    const person = await createPerson();
    await sql`insert into delivery_blocks (account_id, address, reason)
      values (${person.id}, ${person.email}, 'bounced')`;
    const task = () =>
      person.withKey.post("/api/tasks", { ...validTask, ...deliverTo(person.email) });
    expect((await task()).text).toContain("has bounced");
    expect(one.parse((await ask(person, person.email)).body).address.state).toBe("bounced");
    expect((await fetch(await linkIn(person.email), { method: "POST" })).status).toBe(200);
    expect((await task()).status).toBe(201);
  });

  test("one address gets five mails a day from all accounts, and the answer does not say so", async () => {
    const address = newAddress();
    for (let number = 1; number <= 6; number++) {
      const answer = await ask(await createPerson(), address);
      expect(answer.status).toBe(201);
    }
    expect(await mailsTo(address)).toHaveLength(5);
  });
});

describe("POST /api/delivery-addresses 429", () => {
  test("an account sends 20 links a day", async () => {
    const person = await createPerson();
    await sql`insert into delivery_confirmations (token_hash, account_id, address)
      select ${person.id} || n, ${person.id}, 'a' || n || '@example.com' from generate_series(1, 20) n`;
    const answer = await ask(person, newAddress());
    expectError(answer, 429, "error", "The account has sent too many confirmations today");
  });
});

describe("an address that may not get results", () => {
  test("is refused by name, the same with and without an account", async () => {
    const [person, stranger] = [await createPerson(), await createPerson()];
    const refusals = [];
    for (const address of [stranger.email, newAddress()]) {
      const body = { ...validTask, ...deliverTo(address) };
      const { status, text } = await person.withKey.post("/api/tasks", body);
      expect(text).toContain(address);
      refusals.push({ status, text: text.replaceAll(address, "") });
      const run = await person.withKey.post("/api/chat/runs", {
        prompt: "hi",
        ...deliverTo(address),
      });
      expect(run.status).toBe(400);
      expect(Object(run.body).message).toContain(address);
    }
    expect(refusals[0]).toEqual(refusals[1]);
    const task = await createTask(person.withKey, deliverTo(person.email));
    const changed = await person.withKey.patch(`/api/tasks/${task.id}`, deliverTo(stranger.email));
    expect(changed.status).toBe(400);
  });
});

describe("unsubscribing", () => {
  test("needs one click and no credential, ends all mail, and can be undone", async () => {
    const person = await createPerson();
    const { runId } = Object(
      (
        await person.withKey.post("/api/chat/runs", {
          prompt: "Say hello",
          ...deliverTo(person.email),
        })
      ).body,
    );
    const delivery = async () =>
      Object((await person.withKey.get(`/api/chat/runs/${runId}`)).body).delivery;
    await expect.poll(delivery, { timeout: 90_000 }).toBe("sent");
    const link = await linkIn(person.email);
    expect((await fetch(link)).status).toBe(200);
    const task = () =>
      person.withKey.post("/api/tasks", { ...validTask, ...deliverTo(person.email) });
    expect((await task()).status).toBe(201);
    const oneClick = {
      method: "POST",
      body: new URLSearchParams({ "List-Unsubscribe": "One-Click" }),
    };
    expect((await fetch(link, oneClick)).status).toBe(200);
    expect((await task()).text).toContain("has unsubscribed");
    const before = (await mailsTo(person.email)).length;
    const asked = one.parse((await ask(person, person.email)).body);
    expect(asked.address.state).toBe("unsubscribed");
    expect(await mailsTo(person.email)).toHaveLength(before);
    expect((await fetch(`${link}&undo=1`, { method: "POST" })).status).toBe(200);
    expect((await task()).status).toBe(201);
  });

  test("a token that was changed does nothing", async () => {
    for (const token of ["", "x", "A".repeat(60)]) {
      const url = `${stack.url}/delivery/unsubscribe?token=${token}`;
      expect((await fetch(url, { method: "POST" })).status).toBe(410);
    }
  });
});
