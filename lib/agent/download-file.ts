/**
 * Downloads files that a user's message names by URL. The SDK checks the URL and each redirect; the
 * dispatcher checks the addresses that they resolve to.
 */
import { createDownload } from "ai";
import { publicOnly } from "../platform/outbound/public-only.ts";
import { vendorFetch } from "../platform/outbound/vendor-fetch.ts";

const MAX_BYTES = 20 * 1024 * 1024;
const DEADLINE_MS = 30_000;

/** For the AI SDK, whose own download would reach any address. */
export const downloadFile = createDownload({
  maxBytes: MAX_BYTES,
  fetch: (input, init) => {
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    const signal = init?.signal ? AbortSignal.any([init.signal, deadline]) : deadline;
    // The DOM's type of a request lacks the dispatcher that Node's fetch accepts.
    const request: RequestInit & { dispatcher: unknown } = {
      ...init,
      signal,
      dispatcher: publicOnly,
    };
    return vendorFetch("web", input, request);
  },
});

/**
 * Returns a function that resolves to the bytes at a URL. All its downloads together take at most 30
 * seconds, because a turn waits for them, and end with `signal`.
 */
export function fileDownloader(signal: AbortSignal): (url: URL) => Promise<Uint8Array> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const abortSignal = AbortSignal.any([signal, deadline]);
  return async (url) => {
    const [file] = await downloadFile([{ url, isUrlSupportedByModel: false, abortSignal }]);
    if (!file) throw new Error("The download has no content");
    return file.data;
  };
}
