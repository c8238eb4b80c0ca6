import { isUtf8 } from "node:buffer";
import { posix } from "node:path";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { MAX_FILE_BYTES } from "./port.ts";
import { type FilesRequest, withSandboxFiles } from "./with-sandbox-files.ts";

const refusals = {
  not_found: appError("not_found", "File not found"),
  refused: appError("invalid_request", "path is not a file"),
  too_large: appError("invalid_request", `File is larger than ${MAX_FILE_BYTES} bytes`),
};

export interface FileContent {
  /** The last segment of the path. */
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isText: boolean;
}

/** Reads a file of the session's sandbox. Errors: 400, 404, 502, 503. */
export async function readFile({
  path,
  ...request
}: FilesRequest & { readonly path: string }): Promise<FileContent | AppError> {
  const read = await withSandboxFiles(request, (files) => files.readFile(path), refusals);
  if (isAppError(read)) return read;
  const bytes = new Uint8Array(read);
  return { name: posix.basename(path), bytes, isText: isUtf8(bytes) && !bytes.includes(0) };
}
