import { stat } from "node:fs/promises";
import type { AppError } from "../contract/app-error.ts";
import { mediaQuotaExceeded } from "../contract/quota.ts";
import { config } from "../platform/config.ts";
import { services } from "../platform/services.ts";
import { reserveMedia } from "./media-store.ts";
import type { GeneratedFile } from "./port.ts";
import { newMediaKey } from "./storage/media-name.ts";

/**
 * Stores the results of a run and returns their URLs, in order. Quota is reserved for all files or for
 * none before the first one is stored, and stays reserved when the run completes.
 *
 * Errors: 403 when the account has no room for them. @throws DatabaseUnavailable
 */
export async function storeResults(
  accountId: string,
  runId: string,
  files: readonly GeneratedFile[],
): Promise<readonly string[] | AppError> {
  const results = await Promise.all(
    files.map(async (file) => ({
      file,
      key: newMediaKey(accountId, file.contentType),
      bytes: (await stat(file.path)).size,
    })),
  );
  const fits = await reserveMedia(accountId, runId, results, config().ACCOUNT_MEDIA_BYTES);
  if (!fits) return mediaQuotaExceeded;
  const storage = services().media;
  return Promise.all(results.map(({ key, file }) => storage.store(key, file)));
}
