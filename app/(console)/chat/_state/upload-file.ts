/** The upload of one file to a chat, to a workspace, or as media with a URL. */
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

/** Returns null when the file is stored, or the sentence to show. */
export async function uploadFile(upload: Upload): Promise<string | null> {
  let answer = await sendSignedIn("PUT", upload);
  if (codeOf(answer) === "sandbox_missing") {
    await api("/api/sandbox", { body: { sessionId: upload.sessionId } });
    answer = await sendSignedIn("PUT", upload);
  }
  return failureOf(answer);
}

/** Uploads an image, a video or audio. Returns its URL, or the sentence to show. */
export async function uploadMedia(file: File): Promise<{ url: string } | { failure: string }> {
  const answer = await sendSignedIn("POST", { address: "/api/media", file, onProgress() {} });
  const failure = failureOf(answer, {
    invalid_request: "Choose an image, a video or an audio file.",
    payload_too_large: "Choose a file of at most 64 MB.",
  });
  return failure === null ? JSON.parse(answer.responseText) : { failure };
}

function failureOf(request: XMLHttpRequest, texts = TEXTS): string | null {
  const { status } = request;
  const code = codeOf(request);
  if (status === 200 || status === 201) return null;
  if (status === 0) return "The upload was interrupted. Check your connection.";
  return texts[code] ?? describeError({ status, code });
}

const codeOf = (request: XMLHttpRequest): string => request.getResponseHeader("x-error-code") ?? "";

const TEXTS: Readonly<Record<string, string>> = {
  payload_too_large: "Files can have at most 100 MB.",
  quota_exceeded: "Your storage is full. Delete files you no longer need.",
  invalid_request: "The service could not read this file.",
  upstream_error: "This file could not be stored.",
};

async function sendSignedIn(method: "PUT" | "POST", upload: Upload): Promise<XMLHttpRequest> {
  const answer = await send(method, upload, await accessToken());
  return answer.status === 401 ? send(method, upload, await renewToken()) : answer;
}

/** `fetch` reports no upload progress. Without a response, the status is 0. */
function send(method: string, upload: Upload, token: string | null): Promise<XMLHttpRequest> {
  const { address, file, onProgress, signal } = upload;
  const request = new XMLHttpRequest();
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(request);
    signal?.addEventListener("abort", () => request.abort());
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onloadend = () => resolve(request);
    request.open(method, address);
    request.setRequestHeader("content-type", "application/octet-stream");
    if (token !== null) request.setRequestHeader("authorization", `Bearer ${token}`);
    request.send(file);
  });
}
