import { z } from "zod";
import { type Template, template } from "../../lib/templates/template.ts";
import type { paths } from "../generated/api.ts";
import { type Answer, type Client, dataOf } from "./clients.ts";

const one = z.strictObject({
  status: z.literal("success"),
  template: z.strictObject(template.shape),
});

/** The template of an answer that has exactly the published shape. */
export function templateIn(answer: Answer): Template {
  if (answer.status >= 400) throw new Error(`${answer.status} ${answer.text}`);
  return one.parse(answer.body).template;
}

/** A body that is taken as it is. */
export const validTemplate = {
  title: "Release planner",
  description: "Plans the weeks around a release.",
  prompt: "Plan the four weeks before and after the release of a single.",
  tags: ["release", "planning"],
  is_private: false,
};

type NewTemplate =
  paths["/api/agents/templates"]["post"]["requestBody"]["content"]["application/json"];

export async function createTemplate(
  caller: Client,
  values: Partial<NewTemplate> = {},
): Promise<Template> {
  const body = { ...validTemplate, ...values };
  return (await dataOf(caller.api.POST("/api/agents/templates", { body }))).template;
}

export const setFavorite = (caller: Client, id: string, isFavourite: boolean): Promise<Answer> =>
  caller.request("PUT", `/api/agents/templates/${id}/favorite`, {
    body: { is_favourite: isFavourite },
  });

/** What a template that cannot be seen answers, whether it exists or not. */
export const templateNotFound =
  '{"status":"error","error":"Template not found","missing_fields":[]}';
