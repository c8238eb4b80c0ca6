/** Files of a session's sandbox, streamed. */
import { toApiError } from "./api-error.ts";
import type { Connection } from "./connection.ts";

export interface FileAddress {
  readonly sessionId: string;
  /** Absolute, or relative to the sandbox's home. */
  readonly path: string;
}

export interface WrittenFile {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  readonly modified_at: string;
}

/** Content that a request sends unchanged. */
export type FileContent = string | Blob | ArrayBuffer | Uint8Array | ReadableStream<Uint8Array>;

/** Writes a file with its folders, or replaces it at once. @throws ApiError */
export async function uploadFile(
  connection: Connection,
  baseUrl: string,
  file: FileAddress & { readonly content: FileContent; readonly signal?: AbortSignal },
): Promise<WrittenFile> {
  const { content, signal } = file;
  const init = {
    method: "PUT",
    body: content as BodyInit,
    headers: { "content-type": "application/octet-stream" },
    // Required for a stream; the type of `RequestInit` does not have it yet.
    ...(content instanceof ReadableStream ? { duplex: "half" } : {}),
    ...(signal ? { signal } : {}),
  };
  const response = await connection.send(new Request(addressOf(baseUrl, file), init));
  if (!response.ok) throw await toApiError(response);
  const body: { file: WrittenFile } = await response.json();
  return body.file;
}

/** Resolves to a response whose body is the file. @throws ApiError */
export async function downloadFile(
  connection: Connection,
  baseUrl: string,
  file: FileAddress & { readonly signal?: AbortSignal },
): Promise<Response> {
  const { signal } = file;
  const request = new Request(addressOf(baseUrl, file), signal ? { signal } : {});
  const response = await connection.send(request);
  if (!response.ok) throw await toApiError(response);
  return response;
}

function addressOf(baseUrl: string, { sessionId, path }: FileAddress): URL {
  const url = new URL("/api/sandbox/files/content", baseUrl);
  url.search = new URLSearchParams({ sessionId, path }).toString();
  return url;
}
