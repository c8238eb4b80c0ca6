import { isUtf8 } from "node:buffer";
import { posix } from "node:path";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { MAX_FILE_BYTES } from "./port.ts";
import { type Look, lookIntoSandbox } from "./with-sandbox-files.ts";

const refusals = {
  not_found: appError("not_found", "File not found"),
  refused: appError("invalid_request", "path is not a file"),
  too_large: appError("invalid_request", `File is larger than ${MAX_FILE_BYTES} bytes`),
};

export interface FileContent {
  /** The last part of its path. */
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isText: boolean;
}

/** Errors: 404, 400, 502. */
export async function readFile({
  path,
  ...where
}: Look & { readonly path: string }): Promise<FileContent | AppError> {
  const read = await lookIntoSandbox(where, (files) => files.readFile(path), refusals);
  if (isAppError(read)) return read;
  const bytes = new Uint8Array(read);
  return { name: posix.basename(path), bytes, isText: isUtf8(bytes) && !bytes.includes(0) };
}
