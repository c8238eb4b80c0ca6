import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createTemplate } from "../support/fixtures/templates.ts";
import {
  type Client,
  client,
  createBearer,
  createPerson,
  dataOf,
} from "../support/harness/clients.ts";

const path = "/api/agents/templates";

const read = async (caller: Client, id: string) =>
  (await dataOf(caller.api.GET("/api/agents/templates/{id}", { params: { path: { id } } })))
    .template;

describe("GET /api/agents/templates/{id} 200", () => {
  test("whom it is shared with sees it, but not with whom else", async () => {
    const [owner, friend] = await Promise.all([createPerson(), createPerson()]);
    const created = await createTemplate(owner.withKey, {
      is_private: true,
      share_emails: [friend.email, "someone@example.com"],
    });
    for (const caller of [friend.withKey, friend.withBearer]) {
      expect(await read(caller, created.id)).toEqual({ ...created, shared_emails: [] });
    }
    expect(await read(owner.withBearer, created.id)).toEqual(created);
  });

  test("an address that signs up later sees what was shared with it before", async () => {
    const [owner, friend] = await Promise.all([createPerson(), createPerson()]);
    const email = `${randomUUID()}@example.com`;
    const { id } = await createTemplate(owner.withKey, { is_private: true, share_emails: [email] });
    const before = await friend.withBearer.get(`${path}/${id}`);
    const late = client({ bearer: await createBearer(email) });
    const after = await late.get(`${path}/${id}`);
    expect([before.status, after.status]).toEqual([404, 200]);
  });
});
