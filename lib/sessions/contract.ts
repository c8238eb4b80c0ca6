/** Sessions, chats and stored messages. This file is long because their operations share their fields. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import {
  commaList,
  instructions,
  readableText,
  uuid,
  withAnyField,
} from "@platform/endpoint/contract/fields";
import { listResponse, nextCursor, pageQuery } from "@platform/endpoint/contract/pagination";
import { runOptionChanges, runOptions } from "@platform/endpoint/contract/run-options";
import { z } from "zod";
import { chosenConnectors } from "../connectors/contract.ts";
import { acceptedVersion } from "../templates/template.ts";
import { queuedMessages } from "../turns/queue-contract.ts";
import { branch, chat, chatWithMessages, feedback, rating, session } from "./session.ts";

const title = readableText(z.string().trim().max(200), "title");
const modelId = z.string().trim().min(1).max(200);
const chatInstructions = {
  instructions: instructions.optional().meta({
    description: "Instructions to the agent in this chat, after those of the template",
  }),
  templateId: uuid.optional().meta({
    description: "An agent template that the caller can see: its prompt instructs the agent",
  }),
};
const ofChat = {
  modelId: modelId.optional().meta({ description: "The model of the chat" }),
  connectors: chosenConnectors.optional().meta({
    description: "The connectors that the agent may use in the chat, at most 20 slugs",
  }),
};
/** The tools that a chat has on request. */
const toolOptions = runOptions.pick({ web_search: true, scheduling: true, media_tools: true });
const sessionId = uuid.describe("The session's `id`");
const sessionParams = z.object({ sessionId });
const chatParams = z.object({ sessionId, chatId: uuid.describe("The chat's `id`") });
const messageId = z.string().min(1).max(128);
const branches = z.array(branch);

/** The parts that can be read with a chat. */
const CHAT_PARTS = ["branches", "connectors", "feedback", "model", "queue"] as const;
export type ChatPart = (typeof CHAT_PARTS)[number];

const shared = { tag: "Sessions", family: "error", auth: "required" } as const;

export const createSessionContract = contract({
  ...shared,
  method: "POST",
  path: "/api/sessions",
  tool: true,
  summary: "Create a session with its first chat",
  description:
    "Its sandbox is provisioned by `POST /api/sandbox`, or with `sandbox`: if that fails, the session is created nevertheless, with the `sandboxState` `none`.",
  organizationAccess: { in: "body", field: "organization_id" },
  artistAccess: { in: "body", field: "artistId" },
  strictBody: true,
  body: z.object({
    title: title.optional(),
    artistId: uuid.nullish().describe("The artist that the work is for"),
    organization_id: uuid
      .nullish()
      .describe("An organization that the caller is or is a member of"),
    ...ofChat,
    ...toolOptions.shape,
    sandbox: z.boolean().optional().describe("Whether to provision its sandbox as well"),
  }),
  responses: {
    201: { description: "The session and its chat", schema: z.object({ session, chat }) },
  },
  errors: ["not_found"],
});
export type NewSession = z.output<typeof createSessionContract.body>;

export const listSessionsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/sessions",
  runCredential: true,
  words: "chats",
  tool: true,
  summary: "List the caller's sessions, newest first",
  query: pageQuery,
  responses: listResponse(z.object({ sessions: z.array(session), next_cursor: nextCursor })),
  errors: [],
});

export const getSessionContract = contract({
  ...shared,
  method: "GET",
  path: "/api/sessions/{sessionId}",
  runCredential: true,
  words: "chats",
  tool: true,
  summary: "Read a session",
  params: sessionParams,
  responses: { 200: { description: "The session", schema: z.object({ session }) } },
  errors: ["not_found"],
});

export const updateSessionContract = contract({
  ...shared,
  method: "PATCH",
  path: "/api/sessions/{sessionId}",
  summary: "Rename a session",
  params: sessionParams,
  body: z.object({ title }),
  responses: { 200: { description: "The session", schema: z.object({ session }) } },
  errors: ["not_found"],
});

export const deleteSessionContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/sessions/{sessionId}",
  summary: "Delete a session with its chats, runs and sandbox",
  params: sessionParams,
  responses: successResponse("The session was deleted", {}),
  errors: ["not_found", "upstream_error"],
});

export const createChatContract = contract({
  ...shared,
  method: "POST",
  path: "/api/sessions/{sessionId}/chats",
  tool: true,
  summary: "Create a chat in a session",
  description:
    "A request with an `id` can be repeated: it returns the session's chat with that id.",
  params: sessionParams,
  strictBody: true,
  body: z.object({
    id: uuid.optional(),
    title: title.optional(),
    ...ofChat,
    ...runOptions.shape,
    ...chatInstructions,
    template_version: acceptedVersion,
  }),
  responses: { 201: { description: "The chat", schema: z.object({ chat }) } },
  errors: ["not_found", "conflict"],
});
export type NewChat = z.output<typeof createChatContract.body>;

export const listChatsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/sessions/{sessionId}/chats",
  runCredential: true,
  words: "chats",
  tool: true,
  summary: "List the chats of a session, newest first",
  params: sessionParams,
  query: pageQuery,
  responses: listResponse(z.object({ chats: z.array(chat), next_cursor: nextCursor })),
  errors: ["not_found"],
});

export const getChatContract = contract({
  ...shared,
  method: "GET",
  path: "/api/sessions/{sessionId}/chats/{chatId}",
  runCredential: true,
  words: "chats",
  tool: true,
  summary: "Read a chat with its messages and its streaming state",
  description: "While a turn is streaming, `GET /api/chat/{chatId}/stream` has its answer.",
  params: chatParams,
  query: z.object({
    include: commaList("include", CHAT_PARTS)
      .optional()
      .describe("What else to read with the chat, comma-separated"),
  }),
  responses: {
    200: {
      description: "The chat",
      schema: chatWithMessages.extend({
        branches: branches.optional().meta({ description: "Only if included" }),
        connectors: z.array(z.string()).optional().meta({ description: "Only if included" }),
        feedback: z.array(feedback).optional().meta({ description: "Only if included" }),
        model: z
          .object({ id: z.string(), name: z.string(), is_default: z.boolean() })
          .optional()
          .meta({ description: "The model that answers in the chat, only if included" }),
        queue: queuedMessages.shape.messages.optional().meta({
          description:
            "The messages that wait, only if included. One whose turn starts in the meantime may be in `messages`, too.",
        }),
      }),
    },
  },
  errors: ["not_found"],
});

export const exportChatContract = contract({
  ...shared,
  method: "GET",
  path: "/api/sessions/{sessionId}/chats/{chatId}/export",
  runCredential: true,
  words: "chats",
  summary: "Download a chat as a file",
  description:
    "Markdown has the texts and the names of tools, for people. JSON is the chat as `GET` reads it, with " +
    "everything. A download that fails midway is cut short.",
  params: chatParams,
  query: z.object({
    format: z.enum(["markdown", "json"]).default("markdown").describe("What the file is"),
  }),
  responses: {
    200: { description: "The file", bytes: ["text/markdown; charset=utf-8", "application/json"] },
  },
  errors: ["not_found"],
});

export const updateChatContract = contract({
  ...shared,
  method: "PATCH",
  path: "/api/sessions/{sessionId}/chats/{chatId}",
  tool: true,
  summary: "Rename, archive or pin a chat, choose its model or instruct its agent",
  description:
    "Omitted fields stay unchanged. A new model and new instructions apply from the next turn on. Empty `instructions`, an empty text as `templateId` or as an option, and empty `limits` remove the present value.",
  params: chatParams,
  strictBody: true,
  body: withAnyField(
    z.object({
      title: title.optional(),
      modelId: modelId.optional(),
      ...runOptionChanges.shape,
      ...chatInstructions,
      templateId: z
        .union([uuid, z.literal("")], { error: "templateId must be a valid UUID" })
        .optional()
        .meta({ description: chatInstructions.templateId.description }),
      template_version: acceptedVersion,
      archived: z.boolean().optional().meta({ description: "Whether the chat is put away" }),
      pinned: z.boolean().optional().meta({ description: "Whether the chat is kept at hand" }),
    }),
  ),
  responses: { 200: { description: "The chat", schema: z.object({ chat }) } },
  errors: ["not_found"],
});
export type ChatChanges = z.output<typeof updateChatContract.body>;

export const deleteChatContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/sessions/{sessionId}/chats/{chatId}",
  summary: "Delete a chat with its messages; its run is stopped",
  params: chatParams,
  responses: successResponse("The chat was deleted", {}),
  errors: ["not_found"],
});

export const listBranchesContract = contract({
  ...shared,
  method: "GET",
  path: "/api/sessions/{sessionId}/chats/{chatId}/branches",
  runCredential: true,
  words: "chats",
  summary: "List the branches of a chat",
  description:
    "A chat shows one path through its messages. This lists those of its messages that are not the only ones at their place, because a message was edited or an answer repeated with `parentId` of `POST /api/chat`.",
  params: chatParams,
  responses: successResponse("In the order of the chat; empty without branches", { branches }),
  errors: ["not_found"],
});

export const chooseBranchContract = contract({
  ...shared,
  method: "PUT",
  path: "/api/sessions/{sessionId}/chats/{chatId}/branch",
  summary: "Show another branch of a chat",
  description:
    "From now on the chat shows the path through this message, which goes on with the newest message after each. The next message follows it there.",
  params: chatParams,
  body: z.object({
    message_id: messageId.meta({ description: "A message of the chat, on any branch" }),
  }),
  responses: successResponse("The branches that are shown now", { branches }),
  errors: ["not_found", "conflict"],
});

export const listFeedbackContract = contract({
  ...shared,
  method: "GET",
  path: "/api/sessions/{sessionId}/chats/{chatId}/feedback",
  runCredential: true,
  words: "chats",
  summary: "List the ratings of a chat's answers",
  params: chatParams,
  responses: successResponse("Those of all branches, oldest first", {
    feedback: z.array(feedback),
  }),
  errors: ["not_found"],
});

export const rateMessageContract = contract({
  ...shared,
  method: "PUT",
  path: "/api/sessions/{sessionId}/chats/{chatId}/messages/{messageId}/feedback",
  summary: "Rate an answer",
  description: "Replaces an earlier rating of the answer together with its comment.",
  params: chatParams.extend({
    messageId: messageId.describe("The `id` of an assistant message of the chat"),
  }),
  body: z.object({
    rating: rating.nullable().meta({ description: "Null removes the rating" }),
    comment: z.string().trim().max(2000).optional(),
  }),
  responses: successResponse("The rating; null when it was removed", {
    feedback: feedback.nullable(),
  }),
  errors: ["not_found"],
});

export const apiTags = { Sessions: "A session owns chats and a sandbox." };
