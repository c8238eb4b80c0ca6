/** The queries of a chat's branches, and of the ratings of its answers. Each throws DatabaseUnavailable. */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import {
  type ChatAddress,
  chatArguments,
  chatErrors,
} from "@platform/endpoint/contract/chat-address";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { z } from "zod";
import { rowOf, timestamp } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { type Branch, branch, type Feedback, feedback } from "./session.ts";

const missing = refusalOf(
  { ...chatErrors, message: appError("not_found", "Message not found") },
  "missing",
);
const busy = z
  .object({ busy: z.literal(true) })
  .transform(() =>
    appError("conflict", "A response is streaming for this chat: wait for its end, or stop it"),
  );
const branches = z.object({ branches: z.array(branch) });
const rating = rowOf(feedback);

/** Errors: 404 for the session and the chat. */
export const selectBranches = (
  db: Database,
  address: ChatAddress,
): Promise<{ branches: Branch[] } | AppError> =>
  call(db, "list_branches", chatArguments(address), z.union([branches, missing]));

/** Errors: 404 for the session, the chat and the message; 409 while a turn is active or waits. */
export const chooseBranch = (
  db: Database,
  address: ChatAddress,
  messageId: string,
): Promise<{ branches: Branch[] } | AppError> =>
  call(
    db,
    "choose_branch",
    { ...chatArguments(address), messageId },
    z.union([branches, busy, missing]),
  );

/** Errors: 404 for the session and the chat. */
export const selectFeedback = (
  db: Database,
  address: ChatAddress,
): Promise<{ feedback: Feedback[] } | AppError> =>
  call(
    db,
    "list_feedback",
    chatArguments(address),
    z.union([z.object({ feedback: z.array(rating) }), missing]),
  );

/** Errors: 404 for the session, the chat and the message, which must be an assistant's. */
export const rateMessage = (
  db: Database,
  address: ChatAddress & { readonly messageId: string },
  given: {
    readonly rating: Feedback["rating"] | null;
    readonly comment?: string | undefined;
  },
): Promise<{ feedback: Feedback | null } | AppError> =>
  call(
    db,
    "rate_message",
    {
      ...chatArguments(address),
      messageId: address.messageId,
      rating: given.rating,
      comment: given.comment || null,
    },
    z.union([z.object({ feedback: rating.nullable() }), missing]),
  );

const hiddenMessage = z.looseObject({ created_at: timestamp });

/**
 * Returns the parts that the body of a chat leaves out: the messages of its other branches, the ratings,
 * and its selections.
 */
export const exportBranches = (db: Database, accountId: string, chatId: string) =>
  call(
    db,
    "export_branches",
    { accountId, chatId },
    z.object({
      messages: z.array(hiddenMessage),
      feedback: z.array(rating),
      choices: z.looseObject({}).nullable(),
    }),
  );
