/** The context of a chat: what its model gets of the conversation, and how full the model's window is. */

import { contract } from "@platform/endpoint/contract/contract";
import { uuid } from "@platform/endpoint/contract/fields";
import { z } from "zod";

const shared = { tag: "Sessions", family: "error", auth: "required" } as const;
const chatParams = z.object({
  sessionId: uuid.describe("The session's `id`"),
  chatId: uuid.describe("The chat's `id`"),
});
const tokens = z.int().nonnegative();

const contextPart = z.object({
  kind: z.enum(["system", "skills", "memory", "messages", "tool_results", "summary"]).meta({
    description:
      "`system` is the instructions and the tools. `summary` stands for the older part of the conversation.",
  }),
  tokens,
});

const chatContext = z
  .object({
    status: z.literal("success"),
    model: z.string().meta({ description: "The `modelId` of the chat's next turn" }),
    window: tokens.meta({ description: "The model's context window in tokens" }),
    budget: tokens.meta({
      description:
        "The tokens that a request may have: the window without a reserve for the answer. `contextLimit` of a message can lower it.",
    }),
    tokens: tokens.meta({
      description: "The estimated tokens of the request: the sum of the parts",
    }),
    parts: z.array(contextPart).meta({ description: "The parts that have tokens" }),
  })
  .meta({ id: "ChatContext" });
export type ChatContext = z.output<typeof chatContext>;

const compactedContext = chatContext.extend({
  compaction: z
    .object({
      kind: z.enum(["cleared", "summarized"]).meta({
        description:
          "`cleared`: older tool results were replaced by a note with the path of a file that has them. `summarized`: a summary has replaced the older messages.",
      }),
      tokens_before: tokens,
      tokens_after: tokens,
    })
    .nullable()
    .meta({ description: "What was done; null if nothing could be compacted" }),
});
export type CompactedContext = z.output<typeof compactedContext>;

export const getChatContextContract = contract({
  ...shared,
  method: "GET",
  path: "/api/sessions/{sessionId}/chats/{chatId}/context",
  runCredential: true,
  words: "own",
  summary: "Read how full the context of a chat is",
  description:
    "Describes the request that the chat's next turn sends to its model, without the next message. While a turn is active, its answer is not part of it.",
  params: chatParams,
  responses: { 200: { description: "The context", schema: chatContext } },
  errors: ["not_found"],
});

export const compactChatContract = contract({
  ...shared,
  method: "POST",
  path: "/api/sessions/{sessionId}/chats/{chatId}/compact",
  summary: "Compact the context of a chat",
  description:
    "A turn compacts its conversation by itself above three quarters of the budget; this does so at once. It clears older tool results down to half of the budget. If that is not enough, or there are none to clear, a model summarizes all but the newest messages, and its usage counts. The stored messages do not change. The response is 409 while a turn is active or waits, also if one has started in the meantime, and while another request compacts the chat.",
  params: chatParams,
  responses: { 200: { description: "The context after it", schema: compactedContext } },
  errors: ["budget_reached", "conflict", "not_found", "unpriced_model", "upstream_timeout"],
});
