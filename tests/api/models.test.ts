import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createPerson } from "../support/harness/clients.ts";

const list = z.strictObject({
  status: z.literal("success"),
  default: z.string(),
  models: z
    .array(
      z.strictObject({
        id: z.string(),
        name: z.string(),
        provider: z.string(),
        context_window: z.int().positive().nullable(),
        pricing: z.strictObject({ input: z.number(), output: z.number() }).nullable(),
      }),
    )
    .min(1),
});

describe("GET /api/models", () => {
  it.each(["withKey", "withBearer"] as const)(
    "200: lists what can be chosen, the default among it (%s)",
    async (credential) => {
      const person = await createPerson();
      const answer = await person[credential].get("/api/models");
      expect(answer.status).toBe(200);
      const { models, default: chosen } = list.parse(answer.body);
      expect(models.map((model) => model.id)).toContain(chosen);
    },
  );
});
