import { posix } from "node:path";
import type { z } from "zod";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import type { sandboxFile } from "./contract.ts";
import { type FilesRequest, withSandboxFiles } from "./with-sandbox-files.ts";

const refusals = {
  not_found: appError("not_found", "Folder not found"),
  refused: appError("invalid_request", "path is not a folder"),
};

/** Lists a folder of the session's sandbox, by default its home. Errors: 400, 404, 502, 503. */
export async function listFiles({
  path = ".",
  ...request
}: FilesRequest & { readonly path?: string | undefined }): Promise<
  { path: string; entries: z.output<typeof sandboxFile>[]; truncated: boolean } | AppError
> {
  const listing = await withSandboxFiles(request, (files) => files.listFolder(path), refusals);
  if (isAppError(listing)) return listing;
  const entries = listing.entries.map((entry) => ({
    ...entry,
    path: posix.join(listing.path, entry.name),
  }));
  return { path: listing.path, entries, truncated: listing.truncated };
}
