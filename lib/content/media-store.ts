/**
 * Generated files: their ledger in the database (supabase/schemas/65_content.sql), and the storage of results.
 * @throws DatabaseUnavailable from every function here.
 */

import { stat } from "node:fs/promises";
import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { mediaQuotaExceeded } from "@platform/endpoint/contract/quota";
import type { GeneratedFile } from "@platform/media/port";
import { z } from "zod";
import type { Parts } from "../parts.ts";
import { config } from "../platform/config.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { endRemoval } from "./removals.ts";
import { newMediaKey, parseMediaKey } from "./storage/media-name.ts";

interface Origin {
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
 * Counts the results of a run as usage, once, stores them and returns their URLs, in order. Quota is
 * reserved for all files or for none before the first one is stored, and stays reserved when the run
 * completes.
 *
 * Errors: 403 when the account has no room for them. @throws Error when the run is no longer active
 */
export async function storeResults(
  app: Parts<"db" | "mediaProvider" | "mediaStorage" | "models">,
  { accountId, runId, kind, model, credentialId, earlier = 0 }: Origin,
  files: readonly GeneratedFile[],
): Promise<readonly string[] | AppError> {
  const run = { accountId, runId };
  const price = await filePrice(app, kind, model);
  const usage = {
    ...{ step: earlier, tool: 0, call: 0, model_id: model },
    ...(kind === "image" ? { images: files.length } : { videos: files.length }),
    cost_usd: price === null ? null : price * files.length,
  };
  // Before they are stored, because they have been paid for.
  const recorded = { ...run, kind, credentialId, call: usage };
  await call(app.db, "record_generation", recorded);
  const results = files.map((file) => ({ file, key: newMediaKey(accountId, file.contentType) }));
  const sizes = results.map(async ({ file, key: { name } }) => ({
    name,
    bytes: (await stat(file.path)).size,
  }));
  const limit = config().ACCOUNT_MEDIA_BYTES;
  const reserved = { ...run, files: await Promise.all(sizes), limitBytes: limit };
  const outcome = await call(
    app.db,
    "reserve_media",
    reserved,
    z.enum(["reserved", "full", "ended"]),
  );
  if (outcome === "ended") throw new Error(`The task run ${runId} has lost its lease`);
  if (outcome === "full") return mediaQuotaExceeded;
  return Promise.all(results.map(({ key, file }) => app.mediaStorage.store(key, file)));
}

/**
 * Returns the price of an image or a video in USD, or null when it is not known. Renderings on this
 * machine are free, unless `MODEL_PRICES` says otherwise.
 */
export async function filePrice(
  { mediaProvider, models }: Parts<"mediaProvider" | "models">,
  kind: Origin["kind"],
  model: string,
): Promise<number | null> {
  return (await models.price(model))?.[kind] ?? (mediaProvider?.name === "embedded" ? 0 : null);
}

/**
 * Releases the reservation of an attempt at storing the results of a run, and the files that it may have
 * stored.
 *
 * @param urls of the results that stay
 */
export async function discardTornMedia(
  db: Database,
  accountId: string,
  runId: string,
  urls: readonly string[],
): Promise<void> {
  const names = urls.map((url) => url.slice(url.lastIndexOf("/") + 1));
  await call(db, "discard_run_media", { accountId, runId, kept: names });
}

/**
 * Deletes a generated file. When the storage fails after the row is deleted, the request can be
 * repeated, and the retention job removes the file otherwise.
 *
 * Errors: 404 `Media not found`, which also covers accounts that the caller may not act for.
 * @throws DatabaseUnavailable
 */
export async function deleteMedia(
  { db, mediaStorage }: Parts<"db" | "mediaStorage">,
  callerId: string,
  accountId: string,
  name: string,
): Promise<AppError | undefined> {
  const key = parseMediaKey(accountId, name);
  const args = { caller: callerId, accountId, name };
  if (!key || !(await call(db, "delete_media", args))) {
    return appError("not_found", "Media not found");
  }
  await mediaStorage.remove(key);
  await endRemoval(db, "media", { ownerId: key.accountId, name });
  return undefined;
}
