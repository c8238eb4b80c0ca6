/**
 * The errors of an account that has used up a quota or its budget. The status of a quota is 403, not
 * 429 or 507: clients and proxies retry those by themselves, and no retry succeeds until something has
 * been deleted.
 */
import { appError } from "./app-error.ts";

/** The account has spent its budget of the month. */
export const budgetReached = appError("budget_reached", "Monthly budget reached");

export const sandboxQuotaExceeded = appError(
  "quota_exceeded",
  "The account's sandboxes are full: delete files or sandboxes to make room",
);

export const mediaQuotaExceeded = appError(
  "quota_exceeded",
  "The account's media storage is full: delete media to make room",
);
