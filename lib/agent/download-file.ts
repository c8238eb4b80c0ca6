/**
 * Downloads files for the AI SDK that a user's message names by URL and the model cannot fetch. The
 * SDK checks the URL and each redirect; the dispatcher checks the addresses that they resolve to.
 */
import { createDownload } from "ai";
import { publicOnly } from "../platform/outbound/public-only.ts";
import { vendorFetch } from "../platform/outbound/vendor-fetch.ts";

const MAX_BYTES = 20 * 1024 * 1024;
const DEADLINE_MS = 30_000;

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
