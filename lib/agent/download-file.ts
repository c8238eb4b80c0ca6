/**
 * How the AI SDK gets a file that a user's message names by URL, where the model cannot fetch it
 * itself. The SDK checks the URL and each redirect; the connection checks what they lead to.
 */
import { createDownload } from "ai";
import { publicOnly } from "../platform/outbound/public-only.ts";

const MAX_BYTES = 20 * 1024 * 1024;
const DEADLINE_MS = 30_000;

export const downloadFile = createDownload({
  maxBytes: MAX_BYTES,
  fetch: (input, init) => {
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    const signal = init?.signal ? AbortSignal.any([init.signal, deadline]) : deadline;
    // Node's fetch takes a dispatcher; the type of the browser's does not know it.
    const request: RequestInit & { dispatcher: unknown } = {
      ...init,
      signal,
      dispatcher: publicOnly,
    };
    return fetch(input, request);
  },
});
