/**
 * What an account gets that has used up a quota. 403, and neither 429 nor 507: clients and proxies
 * repeat those by themselves, and no repetition succeeds before something has been deleted.
 */
import { appError } from "./app-error.ts";

export const sandboxQuotaExceeded = appError(
  "quota_exceeded",
  "The account's sandboxes are full: delete files or sandboxes to make room",
);

export const mediaQuotaExceeded = appError(
  "quota_exceeded",
  "The account's media storage is full: delete media to make room",
);
