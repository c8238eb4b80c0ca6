import { describe, expect, test } from "vitest";
import { z } from "zod";
import { getContentTemplateContract } from "../../lib/content/contract.ts";
import { contentTemplate } from "../../lib/content/template.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { createPerson } from "../support/harness/clients.ts";
import { expectPublished } from "../support/harness/published.ts";

const listed = z.object({
  templates: z.array(z.object({ id: z.string(), description: z.string() })),
});

describe("GET /api/content/templates/{id} 200", () => {
  test("is the bare configuration, with something in every part of it", async () => {
    const { withKey } = await createPerson();
    const { templates } = listed.parse((await withKey.get("/api/content/templates")).body);
    for (const { id, description } of templates) {
      const answer = await withKey.get(`/api/content/templates/${id}`);
      expect(answer.status, answer.text).toBe(200);
      expectPublished(answer, getContentTemplateContract);
      const template = contentTemplate.parse(answer.body);
      expect(template).toMatchObject({ id, description });
      expect(template.image?.prompt?.length).toBeGreaterThan(50);
      expect(template.image?.style_rules).not.toEqual({});
      expect(template.video?.moods?.length).toBeGreaterThan(1);
      expect(template.video?.movements?.length).toBeGreaterThan(1);
      expect(template.caption?.guide?.rules?.length).toBeGreaterThan(0);
      expect(template.caption?.examples?.length).toBeGreaterThan(0);
      expect(template.edit?.operations?.length).toBeGreaterThan(0);
    }
  });
});

describe("404", () => {
  test.each(["no-such-template", "Night-Drive", "%27%20or%201%3D1", "x".repeat(200)])(
    "%s",
    async (id) => {
      const { withKey } = await createPerson();
      const answer = await withKey.get(`/api/content/templates/${id}`);
      expectError(answer, 404, "plain", "Template not found", "not_found");
    },
  );
});
