import { describe, expect, test } from "vitest";
import { z } from "zod";
import { listContentTemplatesContract } from "../../lib/content/contract.ts";
import { createPerson } from "../support/harness/clients.ts";
import { expectPublished } from "../support/harness/published.ts";

const list = z.strictObject({
  status: z.literal("success"),
  templates: z.array(z.strictObject({ id: z.string(), description: z.string().min(20) })),
});

describe("GET /api/content/templates 200", () => {
  test("names every template, in the same order for everybody", async () => {
    const [one, other] = await Promise.all([createPerson(), createPerson()]);
    const answer = await one.withKey.get("/api/content/templates");
    expect(answer.status, answer.text).toBe(200);
    expectPublished(answer, listContentTemplatesContract);
    const { templates } = list.parse(answer.body);
    expect(templates.length).toBeGreaterThanOrEqual(6);
    expect(new Set(templates.map(({ id }) => id)).size).toBe(templates.length);
    expect((await other.withBearer.get("/api/content/templates")).text).toBe(answer.text);
  });
});
