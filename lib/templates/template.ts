/** The agent template as callers see it. */
import { z } from "zod";
import { dateTime, uuid } from "../contract/fields.ts";
import { runOptions } from "../contract/run-options.ts";

export const template = z
  .object({
    id: uuid,
    title: z.string(),
    description: z.string(),
    prompt: z.string(),
    tags: z.array(z.string()),
    ...runOptions.shape,
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
