/** Chats that are shared by a read-only link. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import {
  dateTime,
  MAX_PATH_CHARS,
  pathIndex,
  queryInteger,
  uuid,
} from "@platform/endpoint/contract/fields";
import { nextCursor } from "@platform/endpoint/contract/pagination";
import { z } from "zod";
import { chat, session } from "../session.ts";

const MAX_FILES = 20;

const sharedFile = z
  .object({ name: z.string(), size: z.int().meta({ description: "In bytes" }) })
  .meta({ id: "SharedFile" });
export const ownSharedFile = sharedFile.extend({
  path: z.string().meta({ description: "Of the file in the sandbox that was copied" }),
});
export type OwnSharedFile = z.output<typeof ownSharedFile>;

const share = z
  .object({
    id: uuid,
    chat_id: uuid,
    url: z.url().meta({ description: "The page that anyone who has the link can read" }),
    title: z.string(),
    message_count: z.int(),
    created_at: dateTime,
    updated_at: dateTime.meta({ description: "When the messages and files were copied" }),
    files: z.array(ownSharedFile),
  })
  .meta({ id: "Share" });

/** The shared parts of a message: never reasoning, attachments, or a tool's input and output. */
export const sharedPart = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("tool"), name: z.string() }),
]);
export const sharedMessage = z
  .object({ role: z.enum(["user", "assistant"]), parts: z.array(sharedPart) })
  .meta({ id: "SharedMessage" });
export type SharedMessage = z.output<typeof sharedMessage>;

export const sharedChat = z.object({
  title: z.string(),
  message_count: z.int(),
  updated_at: dateTime.meta({ description: "When the messages and files were copied" }),
  files: z.array(sharedFile).meta({
    description: "Read one by its place in this list: `GET /api/shares/{token}/files/{index}`",
  }),
});

const shared = { tag: "Sessions", family: "error", auth: "required" } as const;
const path = "/api/sessions/{sessionId}/chats/{chatId}/share";
const params = z.object({
  sessionId: uuid.describe("The session's `id`"),
  chatId: uuid.describe("The chat's `id`"),
});

export const shareChatContract = contract({
  ...shared,
  method: "PUT",
  path,
  summary: "Share a chat by a read-only link",
  description:
    "Copies the texts of the chat as they are now, with the names of the tools that were used; messages " +
    "that follow are not shared. Another call renews the copy under the same link. Of the session's files, those " +
    "that `files` names are copied; anyone who has the link can save them. Reasoning, other files, and " +
    "inputs and outputs of tools are not shared. The files of all shares of an account take at most 100 MiB.",
  params,
  body: z.object({
    files: z
      .array(z.string().min(1).max(MAX_PATH_CHARS))
      .max(MAX_FILES)
      .refine((paths) => new Set(paths).size === paths.length, {
        error: "files must name each file once",
      })
      .default([])
      .meta({
        description:
          "Paths of files in the session's sandbox, absolute or relative to its home: at most 10 MiB in total. Default: none, also for a share that had some",
        examples: [["reports/q3.xlsx"]],
      }),
  }),
  responses: successResponse("The share", { share }),
  errors: ["not_found", "payload_too_large", "quota_exceeded", "sandbox_missing", "upstream_error"],
});

export const getShareContract = contract({
  ...shared,
  method: "GET",
  path,
  summary: "Read whether a chat is shared",
  params,
  responses: successResponse("The share", {
    share: share.nullable().meta({ description: "Null unless the chat is shared" }),
  }),
  errors: ["not_found"],
});

export const revokeShareContract = contract({
  ...shared,
  method: "DELETE",
  path,
  summary: "Stop sharing a chat",
  description:
    "Its link stops working at once, for good: sharing the chat again makes another one.",
  params,
  responses: successResponse("Revoked", {}),
  errors: ["not_found"],
});

const byToken = z.object({ token: z.string().describe("The last segment of the share's `url`") });

export const readShareContract = contract({
  method: "GET",
  path: "/api/shares/{token}",
  tag: "Sessions",
  family: "error",
  auth: "none",
  addressLimit: true,
  summary: "Read a shared chat",
  description: "Needs no credential: the link is enough. Limited by address.",
  params: byToken,
  query: z.object({
    limit: queryInteger({ min: 1, max: 100, default: 100 }).describe(
      "How many messages a page has",
    ),
    cursor: z
      .string()
      .regex(/^\d{1,9}$/, "cursor is invalid")
      .transform(Number)
      .optional()
      .meta({ description: "`next_cursor` of the page before", override: { type: "string" } }),
  }),
  responses: successResponse("The messages, oldest first", {
    share: sharedChat,
    messages: z.array(sharedMessage),
    next_cursor: nextCursor,
  }),
  errors: ["not_found", "rate_limited"],
});

export const readSharedFileContract = contract({
  method: "GET",
  path: "/api/shares/{token}/files/{index}",
  tag: "Sessions",
  family: "error",
  auth: "none",
  addressLimit: true,
  summary: "Read a file of a shared chat",
  description:
    "As an attachment that browsers do not execute. Needs no credential: the link is enough. Limited by address.",
  params: byToken.extend({ index: pathIndex.describe("Its place in `share.files`, from 0") }),
  responses: { 200: { description: "The file's bytes", bytes: ["application/octet-stream"] } },
  errors: ["not_found", "rate_limited"],
});

export const continueShareContract = contract({
  ...shared,
  method: "POST",
  path: "/api/shares/{token}/chats",
  summary: "Continue a shared chat in a new chat",
  description:
    "Copies the texts of the share into a new session with one chat. They are untrusted content there: the agent may read them, and asks before effects as after a web page.",
  params: byToken,
  responses: {
    201: { description: "The session and its chat", schema: z.object({ session, chat }) },
  },
  errors: ["not_found", "messages_full"],
});
