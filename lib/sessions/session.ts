/** The resources of this domain as callers see them. */

import { dateTime, uuid } from "@platform/endpoint/contract/fields";
import { runOptions } from "@platform/endpoint/contract/run-options";
import { z } from "zod";
import { sandboxStatus } from "../sandbox/stored-sandbox.ts";
import { keptVersion, templateUpdate } from "../templates/template.ts";

export const session = z
  .object({
    id: uuid,
    accountId: uuid,
    organizationId: uuid.nullable(),
    artistId: uuid.nullable(),
    title: z.string(),
    status: z.enum(["running", "archived"]),
    sandboxState: sandboxStatus.meta({
      description: "The last stored state; `GET /api/sandbox` asks the provider",
    }),
    createdAt: dateTime,
    updatedAt: dateTime,
  })
  .meta({ id: "Session" });
export type Session = z.output<typeof session>;

export const chat = z
  .object({
    id: uuid,
    sessionId: uuid,
    title: z.string(),
    modelId: z.string(),
    ...runOptions.shape,
    templateId: uuid.optional().meta({ description: "The agent template that was chosen" }),
    template_version: keptVersion.optional(),
    template_update: templateUpdate.optional(),
    createdAt: dateTime,
    updatedAt: dateTime,
    activeStreamId: z.string().nullable().meta({ description: "Null when no stream is active" }),
    lastAssistantMessageAt: dateTime
      .nullable()
      .meta({ description: "Null until the assistant has answered" }),
  })
  .meta({ id: "Chat" });
export type Chat = z.output<typeof chat>;

/** A chat of a list that may have been searched. */
export const foundChat = chat.extend({
  pinned: z.boolean(),
  archived: z.boolean(),
  snippet: z
    .string()
    .optional()
    .meta({ description: "With `q`: the passage that was found, without markup, or the title" }),
  message_id: z.string().optional().meta({
    description:
      "With `q`: the newest message that has the words; absent if only the title has them, or the message is on a branch that the chat does not show",
  }),
  matched: z.string().optional().meta({
    description:
      "With `q`: the words that were found, which differ from `q` where it has typing errors",
  }),
});
export type FoundChat = z.output<typeof foundChat>;

export const message = z
  .object({
    id: z.string(),
    role: z.enum(["user", "assistant"]),
    parts: z
      .array(z.looseObject({ type: z.string() }))
      .meta({ description: "UI message parts of the AI SDK" }),
    metadata: z.looseObject({}).optional().meta({
      description:
        "For assistant messages: modelId, usage, durationMs, finishReason, and error if the turn has failed",
    }),
    createdAt: dateTime,
  })
  .meta({ id: "Message" });
export type Message = z.output<typeof message>;

export const chatWithMessages = z.object({
  chat,
  isStreaming: z.boolean().meta({ description: "True when `chat.activeStreamId` is not null" }),
  messages: z.array(message).meta({ description: "Oldest first; equal times by id" }),
});

export const branch = z
  .object({
    message_id: z.string().meta({ description: "A message that the chat shows" }),
    sibling_ids: z.array(z.string()).meta({
      description: "The messages that follow the same one, oldest first, with `message_id` itself",
    }),
  })
  .meta({ id: "Branch" });
export type Branch = z.output<typeof branch>;

export const rating = z.enum(["up", "down"]);

export const feedback = z
  .object({
    message_id: z.string(),
    rating,
    comment: z.string().nullable().meta({ description: "Null for none" }),
    updated_at: dateTime,
  })
  .meta({ id: "MessageFeedback" });
export type Feedback = z.output<typeof feedback>;
