import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import type { ZipEntry } from "@platform/kit/zip";
import {
  type FolderEntry,
  isSandboxError,
  MAX_TREE_ENTRIES,
  type SandboxFiles,
} from "@platform/sandbox/port";
import type { Parts } from "../parts.ts";
import type { SandboxRequest } from "./get-sandbox.ts";
import { withSandboxFiles } from "./sandbox-files.ts";

const refusals = {
  not_found: appError("not_found", "Folder not found"),
  refused: appError("invalid_request", "path is not a folder"),
  too_large: appError(
    "invalid_request",
    `The folder has more than ${MAX_TREE_ENTRIES} entries: ask for one of its folders`,
  ),
};

/**
 * Lists a folder of the session's sandbox, by default its home, and yields its files and folders as each
 * is read. Files that are deleted in the meantime are left out; a failure of the sandbox is thrown.
 * Errors: 400, 404, 502, 503.
 */
export async function folderEntries(
  app: Parts<"db" | "sandboxes">,
  { path = ".", ...request }: SandboxRequest & { readonly path?: string | undefined },
): Promise<AsyncIterable<ZipEntry> | AppError> {
  const found = await withSandboxFiles(
    app,
    request,
    async (files) => ({ files, entries: await files.listTree(path) }),
    refusals,
  );
  return isAppError(found) ? found : zipEntries(found.files, path, found.entries);
}

async function* zipEntries(
  files: SandboxFiles,
  folder: string,
  entries: readonly FolderEntry[],
): AsyncGenerator<ZipEntry> {
  for (const { path: name, type, modifiedAt } of entries) {
    const entry = { name, modifiedAt: new Date(modifiedAt) };
    if (type === "directory") yield { ...entry, content: null };
    else {
      const content = await open(files.readStream(`${folder}/${name}`));
      if (content) yield { ...entry, content };
    }
  }
}

/** Reads the first piece. Undefined for a file that is there no more, or cannot be read. */
async function open(
  content: AsyncIterable<Uint8Array>,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const pieces = content[Symbol.asyncIterator]();
  try {
    const first = await pieces.next();
    return withFirst(first, pieces);
  } catch (error) {
    if (isSandboxError(error) && ["not_found", "refused"].includes(error.code)) return undefined;
    throw error;
  }
}

async function* withFirst(
  first: IteratorResult<Uint8Array>,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let piece = first; !piece.done; piece = await rest.next()) yield piece.value;
  } finally {
    await rest.return?.();
  }
}
