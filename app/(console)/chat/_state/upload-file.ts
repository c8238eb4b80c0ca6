/** The upload of one file to a chat or a workspace. */
import { describeError } from "../../_api/describe-error.ts";
import { api } from "../../_api/request.ts";
import { accessToken, renewToken } from "../../_session/auth.ts";

/** The API's own limit for a file that is streamed. */
export const MAX_FILE_BYTES = 100 * 1024 * 1024;

export interface Upload {
  /** The path of the API for the content of the file; its folders are created. */
  readonly address: string;
  /** The session of a file of a chat, whose sandbox is provisioned if it is missing. */
  readonly sessionId?: string;
  readonly file: File;
  readonly onProgress: (sentBytes: number) => void;
  readonly signal?: AbortSignal;
}

interface Answer {
  /** 0 when there is no response. */
  readonly status: number;
  readonly code: string;
}

/** Returns null when the file is stored, or the sentence to show. */
export async function uploadFile(upload: Upload): Promise<string | null> {
  let answer = await put(upload, await accessToken());
  if (answer.status === 401) answer = await put(upload, await renewToken());
  if (answer.code === "sandbox_missing") {
    await api("/api/sandbox", { body: { sessionId: upload.sessionId } });
    answer = await put(upload, await accessToken());
  }
  if (answer.status === 200 || answer.status === 201) return null;
  if (answer.status === 0) return "The upload was interrupted. Check your connection.";
  return TEXTS[answer.code] ?? describeError(answer);
}

const TEXTS: Readonly<Record<string, string>> = {
  payload_too_large: "Files can have at most 100 MB.",
  quota_exceeded: "Your storage is full. Delete files you no longer need.",
  invalid_request: "The service could not read this file.",
  upstream_error: "This file could not be stored.",
};

/** `fetch` does not tell how much of a body was sent. */
function put({ address, file, onProgress, signal }: Upload, token: string | null): Promise<Answer> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    const end = () => {
      signal?.removeEventListener("abort", abort);
      resolve({ status: request.status, code: request.getResponseHeader("x-error-code") ?? "" });
    };
    const abort = () => request.abort();
    if (signal?.aborted) return resolve({ status: 0, code: "" });
    signal?.addEventListener("abort", abort);
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onloadend = end;
    request.open("PUT", address);
    request.setRequestHeader("content-type", "application/octet-stream");
    if (token !== null) request.setRequestHeader("authorization", `Bearer ${token}`);
    request.send(file);
  });
}
