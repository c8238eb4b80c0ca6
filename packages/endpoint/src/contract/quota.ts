/**
 * The errors of an account that has used up a quota or its budget. The status of a stored quota is 403, not
 * 429 or 507: clients and proxies retry those by themselves, and no retry succeeds until something has
 * been deleted.
 */
import { z } from "zod";
import { type AppError, appError } from "./app-error.ts";

/** The account already has `ACCOUNT_ACTIVE_TURNS` active turns. */
export const tooManyTurns = appError(
  "too_many_turns",
  "Too many active turns: wait for one to end, or stop one",
  { headers: { "retry-after": "5" } },
);

/** The account has spent its budget of the month. */
export const budgetReached = appError("budget_reached", "Monthly budget reached");

/** The account has a budget, which cannot count usage without a price. */
export const unpricedModel = appError(
  "unpriced_model",
  "The price of this model is not known, so it cannot count against the monthly budget: choose another model, or allow unpriced models in the account's settings (allow_unpriced_models)",
);

export const sandboxQuotaExceeded = appError(
  "sandboxes_full",
  "The account's sandboxes are full: delete files or sandboxes to make room",
);

export const messageQuotaExceeded = appError(
  "messages_full",
  "The account's messages take all the room that it has: delete chats or sessions to make room",
);

export const chatFull = appError("chat_full", "The chat is full: start a new one");

export const mediaQuotaExceeded = appError(
  "media_full",
  "The account's media storage is full: delete media to make room",
);

/**
 * Returns the schema of the outcome of a reservation for a model call: undefined, or the error.
 * @param superseded the error if the lease of the work was lost
 */
export const reservation = (superseded: AppError) =>
  z.enum(["reserved", "budget_reached", "unpriced_model", "superseded"]).transform(
    (outcome): AppError | undefined =>
      ({
        reserved: undefined,
        budget_reached: budgetReached,
        unpriced_model: unpricedModel,
        superseded,
      })[outcome],
  );
