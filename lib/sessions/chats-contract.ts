/** All chats of an account, whatever their session. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { queryBoolean, uuid } from "@platform/endpoint/contract/fields";
import { pageQuery, pageResponse } from "@platform/endpoint/contract/pagination";
import { z } from "zod";
import { foundChat } from "./session.ts";

const shared = { tag: "Sessions", family: "error", auth: "required" } as const;

export const listAccountChatsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/chats",
  runCredential: true,
  words: "chats",
  tool: true,
  summary: "List and search all chats of the account, newest first",
  query: pageQuery.extend({
    q: z.string().trim().min(1).max(250).optional().meta({
      description:
        "Finds chats with this text in the title, or with all of its words in one message; the last word may be the beginning of one. If there are none, words with typing errors are replaced by similar ones of the account's chats",
    }),
    artist_id: uuid.optional().meta({ description: "Only chats of sessions for this artist" }),
    archived: queryBoolean.optional().meta({ description: "Only chats that are archived, or not" }),
    pinned: queryBoolean.optional().meta({ description: "Only chats that are pinned, or not" }),
    pinned_first: queryBoolean.optional().meta({
      description:
        "`true` for pinned chats first, and archived ones last, each newest first; `pinned` then does not apply",
    }),
    waiting: queryBoolean.optional().meta({
      description:
        "`true` for chats of the last 30 days that end with a question to the user, or a call of a client tool without a result",
    }),
  }),
  responses: pageResponse("chats", foundChat),
  errors: [],
});
export type ChatQuery = z.output<typeof listAccountChatsContract.query>;

export const deleteChatsContract = contract({
  ...shared,
  method: "POST",
  path: "/api/chats/delete",
  summary: "Delete many chats at once",
  description:
    "Deletes each chat with its messages, after its run has been stopped, and each session that has no " +
    "chat then, with its sandbox. Can be repeated: ids of chats that do not exist are ignored.",
  body: z.object({
    ids: z.array(uuid).min(1).max(100).describe("The `id`s of the chats, of any sessions"),
  }),
  responses: successResponse("The chats are deleted", {
    deleted: z.array(uuid).meta({ description: "The chats that this call has deleted" }),
  }),
  errors: [],
});
