/** The endpoints of agent templates. */

import { contract, type RunRule, successResponse } from "@platform/endpoint/contract/contract";
import {
  emailAddress,
  pathVersion,
  queryVersion,
  readableText,
  uuid,
  versionNumber,
  withAnyField,
  withoutTags,
} from "@platform/endpoint/contract/fields";
import { pageQuery, pageResponse } from "@platform/endpoint/contract/pagination";
import { z } from "zod";
import {
  template,
  templateComparison,
  templateOptionChanges,
  templateOptions,
  templateVersion,
} from "./template.ts";

const title = readableText(z.string().trim().min(3).max(50), "title");
const description = withoutTags(z.string().min(10).max(200));
const prompt = withoutTags(z.string().min(20).max(10_000));
const tags = z.array(z.string().max(100)).max(100);
const isPrivate = z
  .boolean()
  .meta({ description: "Visible only to the creator and the accounts of `share_emails`" });
/** Bounds the removal of duplicates. */
const MAX_GIVEN_EMAILS = 1_000;
const shareEmails = z
  .array(emailAddress)
  .max(MAX_GIVEN_EMAILS)
  .overwrite((emails) => [...new Set(emails)])
  .max(100)
  .meta({
    description: "Case-insensitive, without duplicates; an address need not have an account yet",
  });

const byId = z.object({ id: uuid.describe("The template's `id`") });
const one = z.object({ status: z.literal("success"), template });

/**
 * Templates instruct agents, so the agent of a run must not be able to share one with other
 * accounts.
 */
const unshared = z.object({ is_private: z.literal(true), share_emails: z.tuple([]) });
const onlyUnshared: RunRule = {
  only: "for a private template without `share_emails`",
  allows: ({ body }) => unshared.safeParse(body).success,
};

const shared = { tag: "Agent templates", family: "missing", auth: "required" } as const;

export const createTemplateContract = contract({
  ...shared,
  method: "POST",
  path: "/api/agents/templates",
  runCredential: onlyUnshared,
  words: "own",
  tool: true,
  summary: "Create an agent template",
  description:
    "A private template is visible to its creator and the accounts of `share_emails`. `model`, `fallback_models`, `effort`, `outcome`, `tools`, `temperature` and `max_output_tokens` apply to the creator's own chats, runs and tasks, and not to those of other accounts; `limits` apply to all, and `skills` name those of whoever uses the template.",
  idempotent: true,
  strictBody: true,
  body: z.object({
    title,
    description,
    prompt,
    tags,
    ...templateOptions.shape,
    is_private: isPrivate,
    share_emails: shareEmails
      .default([])
      .meta({ description: "Applied only when `is_private` is true" }),
  }),
  responses: { 201: { description: "The template", schema: one } },
  errors: [],
});

export type NewTemplate = z.output<typeof createTemplateContract.body>;

export const listTemplatesContract = contract({
  ...shared,
  method: "GET",
  path: "/api/agents/templates",
  runCredential: true,
  words: "templates",
  tool: true,
  summary: "List agent templates, newest first",
  description:
    "The caller's own templates, public ones, and those shared with the caller's email address.",
  query: pageQuery,
  responses: pageResponse("templates", template),
  errors: [],
});

export const getTemplateContract = contract({
  ...shared,
  method: "GET",
  path: "/api/agents/templates/{id}",
  runCredential: true,
  words: "templates",
  tool: true,
  summary: "Read an agent template",
  params: byId,
  responses: { 200: { description: "The template", schema: one } },
  errors: ["not_found"],
});

const changes = z.object({
  title: title.optional(),
  description: description.optional(),
  prompt: prompt.optional(),
  tags: tags.optional(),
  ...templateOptionChanges.shape,
  is_private: isPrivate.optional(),
  share_emails: shareEmails.optional(),
});
export type TemplateChanges = z.output<typeof changes>;

export const updateTemplateContract = contract({
  ...shared,
  method: "PATCH",
  path: "/api/agents/templates/{id}",
  tool: true,
  summary: "Change an agent template",
  description:
    "Omitted fields stay unchanged. A new content is the template's next version, which other accounts' chats and tasks use once they accept it. `share_emails` replaces the whole list. A template that becomes " +
    "public loses its list, and a public template ignores `share_emails`.",
  params: byId,
  strictBody: true,
  body: withAnyField(changes),
  responses: { 200: { description: "The template", schema: one } },
  errors: ["not_owner", "not_found"],
});

export const deleteTemplateContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/agents/templates/{id}",
  summary: "Delete an agent template with its shares and favourites",
  description: "Permanent. Only the owner can delete a template.",
  params: byId,
  responses: successResponse("The template has been deleted", {}),
  errors: ["not_owner", "not_found"],
});

export const setFavoriteContract = contract({
  ...shared,
  method: "PUT",
  path: "/api/agents/templates/{id}/favorite",
  summary: "Add an agent template to the caller's favourites, or remove it",
  params: byId,
  body: z.object({ is_favourite: z.boolean() }),
  responses: { 200: { description: "The template", schema: one } },
  errors: ["not_found"],
});

export const listedVersion = templateVersion.pick({
  version: true,
  title: true,
  author_id: true,
  created_at: true,
});

export const listTemplateVersionsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/agents/templates/{id}/versions",
  runCredential: true,
  words: "templates",
  summary: "List the versions of an agent template, newest first",
  description:
    "The owner sees all; the first, the newest 500, and those that chats and tasks keep are stored. Other accounts see the newest version, and those that their chats and tasks keep.",
  params: byId,
  query: pageQuery,
  responses: pageResponse("versions", listedVersion),
  errors: ["not_found"],
});

export const getTemplateVersionContract = contract({
  ...shared,
  method: "GET",
  path: "/api/agents/templates/{id}/versions/{version}",
  runCredential: true,
  words: "templates",
  summary: "Read a version of an agent template, or compare it with another one",
  params: byId.extend({ version: pathVersion.describe("The number of the version") }),
  query: z.object({ compare_to: queryVersion(1, "A version to compare it with") }),
  responses: successResponse("The version", {
    version: templateVersion,
    comparison: templateComparison.optional().meta({ description: "Only with `compare_to`" }),
  }),
  errors: ["not_found"],
});

export const restoreTemplateContract = contract({
  ...shared,
  method: "POST",
  path: "/api/agents/templates/{id}/restore",
  summary: "Make an earlier version of an agent template the next version",
  description: "A version that equals the newest one creates none.",
  params: byId,
  strictBody: true,
  body: z.object({ version: versionNumber }),
  responses: { 200: { description: "The template", schema: one } },
  errors: ["not_owner", "not_found"],
});

export const apiTags = {
  "Agent templates": "Prompts to start from: own, public or shared by e-mail.",
};
