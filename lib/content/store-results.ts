import { stat } from "node:fs/promises";
import type { AppError } from "../contract/app-error.ts";
import { mediaQuotaExceeded } from "../contract/quota.ts";
import { config } from "../platform/config.ts";
import { services } from "../platform/services.ts";
import { recordGeneration, reserveMedia } from "./media-store.ts";
import type { GeneratedFile } from "./port.ts";
import { newMediaKey } from "./storage/media-name.ts";

export interface Origin {
  readonly accountId: string;
  readonly runId: string;
  readonly kind: "image" | "video";
  /** The model that has made the files. */
  readonly model: string;
  /** The id of the key that the generation was asked for with; null for a bearer. */
  readonly credentialId: string | null;
  /** How many files earlier orders of the run have made. */
  readonly earlier?: number;
}

/**
 * Counts the results of a run as usage, stores them and returns their URLs, in order. Quota is
 * reserved for all files or for none before the first one is stored, and stays reserved when the run
 * completes.
 *
 * Errors: 403 when the account has no room for them. @throws DatabaseUnavailable
 */
export async function storeResults(
  origin: Origin,
  files: readonly GeneratedFile[],
): Promise<readonly string[] | AppError> {
  const { accountId, runId } = origin;
  // Before they are stored, because they have been paid for.
  await recordFiles(origin, files.length);
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

async function recordFiles(
  { accountId, runId, kind, model, credentialId, earlier = 0 }: Origin,
  count: number,
): Promise<void> {
  const price = await filePrice(kind, model);
  await recordGeneration(accountId, runId, kind, credentialId, {
    ...{ step: earlier, tool: 0, call: 0, model_id: model },
    ...(kind === "image" ? { images: count } : { videos: count }),
    cost_usd: price === null ? null : price * count,
  });
}

/**
 * Returns the price of an image or a video in USD, or null when it is not known. Renderings on this
 * machine are free, unless `MODEL_PRICES` says otherwise.
 */
export async function filePrice(kind: Origin["kind"], model: string): Promise<number | null> {
  const { models, content } = services();
  return (await models.price(model))?.[kind] ?? (content?.name === "embedded" ? 0 : null);
}
