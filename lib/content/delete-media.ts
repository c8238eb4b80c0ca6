import { type AppError, appError } from "../contract/app-error.ts";
import { services } from "../platform/services.ts";
import { deleteMediaRow, settleRemoval } from "./media-store.ts";
import { parseMediaKey } from "./storage/media-name.ts";

/**
 * Deletes a generated file. When the storage fails after the row is deleted, the request can be
 * repeated, and the retention job removes the file otherwise.
 *
 * Errors: 404 `Media not found`, also when the caller may not act for the account.
 * @throws DatabaseUnavailable
 */
export async function deleteMedia(
  callerId: string,
  accountId: string,
  name: string,
): Promise<AppError | undefined> {
  const key = parseMediaKey(accountId, name);
  if (!key || !(await deleteMediaRow(callerId, key))) {
    return appError("not_found", "Media not found");
  }
  await services().media.remove(key);
  await settleRemoval(key);
  return undefined;
}
