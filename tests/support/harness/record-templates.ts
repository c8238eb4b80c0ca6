/** Records the examples of agent templates. */
import { z } from "zod";
import { validTemplate } from "../fixtures/templates.ts";
import { type Context, withId } from "./example-recorder.ts";

export async function recordTemplates({ record }: Context) {
  const headers = { "idempotency-key": "release-planner-1" };
  const body = { ...validTemplate, is_private: true, share_emails: ["grace@example.com"] };
  const schema = z.object({ template: withId });
  const made = await record("createTemplate", { headers, body }, { schema });
  const params = { id: made.template.id };
  await record("getTemplate", { params });
  await record("updateTemplate", { params, body: { tags: ["release"] } });
  await record("listTemplateVersions", { params });
  const version = { params: { ...params, version: "2" }, query: { compare_to: "1" } };
  await record("getTemplateVersion", version);
  await record("restoreTemplate", { params, body: { version: 1 } });
  await record("setFavorite", { params, body: { is_favourite: true } });
  await record("listTemplates", { query: { limit: "1" } });
  await record("deleteTemplate", { params });
}
