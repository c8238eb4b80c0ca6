/** The agent template as callers see it. */

import { dateTime, uuid, versionNumber } from "@platform/endpoint/contract/fields";
import {
  outputSchema,
  removable,
  runOptionChanges,
  runOptions,
} from "@platform/endpoint/contract/run-options";
import { z } from "zod";

/** The options of a template: the options of runs, and a model and an output schema for runs that name none. */
export const templateOptions = runOptions.extend({
  model: z.string().trim().min(1).max(200).optional().meta({
    description:
      "The `id` of a model in `GET /api/models`, for the chats, runs and tasks of the template's owner that name none. A chat takes it when the template is chosen.",
  }),
  output_schema: outputSchema.optional().meta({
    description: `${outputSchema.meta()?.description} It applies to runs and tasks with the template that name none, not to chats.`,
  }),
});
export const templateOptionChanges = runOptionChanges.extend({
  model: removable(templateOptions.shape.model, "model must have 1 to 200 characters"),
  output_schema: removable(templateOptions.shape.output_schema, "output_schema must be an object"),
});

export const template = z
  .object({
    id: uuid,
    title: z.string(),
    description: z.string(),
    prompt: z.string(),
    tags: z.array(z.string()),
    ...templateOptions.shape,
    version: z.int().positive().meta({ description: "The number of the newest version" }),
    creator: z.object({
      id: uuid,
      name: z.string().meta({ description: "Empty when the account has none" }),
      image: z.string().meta({ description: "Empty when the account has none" }),
      is_admin: z
        .boolean()
        .meta({ description: "Whether the account belongs to the internal admin organization" }),
    }),
    is_private: z.boolean(),
    is_favourite: z
      .boolean()
      .meta({ description: "Whether the caller has marked it as a favourite" }),
    favorites_count: z.int().min(0),
    shared_emails: z
      .array(z.string())
      .meta({ description: "In alphabetical order; empty for everyone but the owner" }),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: "AgentTemplate" });
export type Template = z.output<typeof template>;

export const templateVersion = z
  .object({
    version: z.int().positive(),
    ...template.pick({ title: true, description: true, prompt: true, tags: true }).shape,
    ...templateOptions.shape,
    author_id: uuid.meta({ description: "The account that wrote it" }),
    created_at: dateTime,
  })
  .meta({ id: "AgentTemplateVersion" });
export type TemplateVersion = z.output<typeof templateVersion>;

export const templateComparison = z
  .object({
    version: z.int().positive().meta({ description: "The version that is compared to" }),
    changes: z.array(
      z.object({
        field: z.string(),
        before: z.unknown().meta({ description: "Null for an option that is not set" }),
        after: z.unknown().meta({ description: "Null for an option that is not set" }),
      }),
    ),
    diff: z.string().nullable().meta({
      description: "The changes of the prompt as a unified diff; null for none",
    }),
  })
  .meta({ id: "AgentTemplateComparison" });
export type TemplateComparison = z.output<typeof templateComparison>;

/** The state of the template of a chat or a task. */
export const keptVersion = z.int().positive().meta({
  description:
    "The version of the template that applies. A newer version of another account's template applies once it is accepted with `PATCH`.",
});
export const templateUpdate = z
  .object({ version: z.int().positive() })
  .meta({ id: "AgentTemplateUpdate", description: "The newest version, if it does not apply yet" });

/** The number that accepts a version of the template. */
export const acceptedVersion = versionNumber.optional().meta({
  description:
    "Accepts a version of the template, which must be the newest, the one that the caller has accepted last, or one that its chats and tasks keep. Without it, another account's template is taken in the version that the caller has accepted or used last, and the newest at its first use. Of an own template, which is followed otherwise, it keeps any version.",
});
