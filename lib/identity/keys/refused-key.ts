import { type AppError, appError } from "../../contract/app-error.ts";
import type { Raised } from "../../platform/database/query.ts";

/** Returns the error of a key that the database has refused to create or to replace. */
export function refusedKey({ status, message }: Raised): AppError {
  switch (status) {
    case 403:
      return appError("quota_exceeded", message);
    case 409:
      return appError("conflict", message);
    default:
      return appError("not_found", message);
  }
}
