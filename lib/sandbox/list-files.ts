import { posix } from "node:path";
import type { z } from "zod";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import type { sandboxFile } from "./contract.ts";
import { type Look, lookIntoSandbox } from "./with-sandbox-files.ts";

const refusals = {
  not_found: appError("not_found", "Folder not found"),
  refused: appError("invalid_request", "path is not a folder"),
};

/** The entries of a folder, the home by default. Errors: 404, 400, 502. */
export async function listFiles({
  path = ".",
  ...where
}: Look & { readonly path?: string | undefined }): Promise<
  { path: string; entries: z.output<typeof sandboxFile>[]; truncated: boolean } | AppError
> {
  const listing = await lookIntoSandbox(where, (files) => files.listFolder(path), refusals);
  if (isAppError(listing)) return listing;
  const entries = listing.entries.map((entry) => ({
    ...entry,
    path: posix.join(listing.path, entry.name),
  }));
  return { path: listing.path, entries, truncated: listing.truncated };
}
