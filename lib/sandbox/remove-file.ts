import { type AppError, appError } from "../contract/app-error.ts";
import { type FilesRequest, withSandboxFiles, writeFailed } from "./with-sandbox-files.ts";

const refusals = {
  not_found: appError("not_found", "File not found"),
  refused: appError("invalid_request", "path cannot be removed"),
};

/** Removes a file or folder of the session's sandbox. Errors: 400, 404, 502, 503. */
export const removeFile = ({
  path,
  ...request
}: FilesRequest & { readonly path: string }): Promise<null | AppError> =>
  withSandboxFiles(request, (files) => files.remove(path).then(() => null), refusals, writeFailed);
