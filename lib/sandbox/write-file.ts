import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { sandboxQuotaExceeded } from "../contract/quota.ts";
import { MAX_STREAMED_BYTES, SandboxError, type WrittenFile } from "./port.ts";
import { type FilesRequest, withSandboxFiles, writeFailed } from "./with-sandbox-files.ts";

const tooLarge = appError("payload_too_large", "Request body too large");
const unwritable = appError("invalid_request", "path cannot be written");
const refusals = {
  // A parent of the path is a file.
  not_found: unwritable,
  refused: unwritable,
  no_space: sandboxQuotaExceeded,
  too_large: tooLarge,
  incomplete: appError("invalid_request", "The request body is incomplete"),
};

/**
 * Writes a file of the session's sandbox from the body of a request, at most `MAX_STREAMED_BYTES`.
 * Errors: 400, 403 for a full account, 404, 413, 502, 503.
 */
export async function writeFile({
  path,
  request: { body, headers },
  ...place
}: FilesRequest & { readonly path: string; readonly request: Request }): Promise<
  WrittenFile | AppError
> {
  if (Number(headers.get("content-length") ?? 0) > MAX_STREAMED_BYTES) return tooLarge;
  const written = await withSandboxFiles(
    place,
    (files) => files.writeStream(path, boundedContent(body)),
    refusals,
    writeFailed,
  );
  // Otherwise the connection would stay open for the rest of the body.
  if (isAppError(written)) await body?.cancel().catch(() => {});
  return written;
}

async function* boundedContent(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  const reader = body?.getReader();
  try {
    for (;;) {
      const piece = await reader?.read().catch(incomplete);
      if (!piece || piece.done) return;
      size += piece.value.byteLength;
      if (size > MAX_STREAMED_BYTES) throw new SandboxError("too_large", "The body is too large");
      yield piece.value;
    }
  } finally {
    reader?.releaseLock();
  }
}

function incomplete(): never {
  throw new SandboxError("incomplete", "The client did not send all of the body");
}

/** Returns the response to a file that was written. */
export function describeWrittenFile({ path, size, modifiedAt, isNew }: WrittenFile) {
  const file = { path, size, modified_at: modifiedAt };
  const body = { status: "success", file } as const;
  return isNew ? ({ status: 201, body } as const) : ({ status: 200, body } as const);
}
