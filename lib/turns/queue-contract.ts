/** The messages of a chat that wait for its active turn (`onBusy` of `POST /api/chat`). */

import { contract } from "@platform/endpoint/contract/contract";
import { dateTime, uuid } from "@platform/endpoint/contract/fields";
import { z } from "zod";

const shared = { tag: "Chat", family: "error", auth: "required" } as const;
const chatId = uuid.describe("The chat's `id`");

export const queuedMessage = z
  .object({
    id: z.string().meta({ description: "The id of the message in the request that sent it" }),
    parts: z
      .array(z.looseObject({ type: z.string() }))
      .meta({ description: "UI message parts of the AI SDK" }),
    created_at: dateTime,
  })
  .meta({ id: "QueuedMessage" });

export const queuedMessages = z.object({ messages: z.array(queuedMessage) });
export type QueuedMessages = z.output<typeof queuedMessages>;

export const listQueuedMessagesContract = contract({
  ...shared,
  method: "GET",
  path: "/api/chat/{chatId}/queue",
  runCredential: true,
  words: "chats",
  summary: "List the messages that wait in a chat",
  description:
    "In the order in which their turns begin, at most 10. A message leaves the list when its turn begins, or the active turn takes it, and is in the chat from then on.",
  params: z.object({ chatId }),
  responses: {
    200: {
      description: "The waiting messages",
      schema: z.object({ status: z.literal("success"), ...queuedMessages.shape }),
    },
  },
  errors: ["not_found"],
});

export const removeQueuedMessageContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/chat/{chatId}/queue/{message_id}",
  summary: "Remove a message that waits in a chat",
  description:
    "The other messages keep their order. A message whose turn has begun, or that the active turn has taken, is no longer in the queue: 404.",
  params: z.object({
    chatId,
    message_id: z.string().min(1).max(128).describe("The `id` of the waiting message"),
  }),
  responses: {
    200: {
      description: "It is removed, and will not be answered",
      schema: z.object({ status: z.literal("success") }),
    },
  },
  errors: ["not_found"],
});
