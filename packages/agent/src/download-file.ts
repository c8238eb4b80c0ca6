/**
 * Downloads files that a user's message names by URL. The SDK checks the URL and each redirect; the
 * dispatcher checks the addresses that they resolve to.
 */

import type { TurnPolicies } from "@platform/kit/network-policy";
import { hostRefusal } from "@platform/kit/outbound/network-policy";
import { publicOnly } from "@platform/kit/outbound/public-only";
import { vendorFetch } from "@platform/kit/outbound/vendor-fetch";
import { createDownload } from "ai";

const MAX_BYTES = 20 * 1024 * 1024;
const DEADLINE_MS = 30_000;

/** The message says which policy does not allow the host, and is safe to show. */
class HostRefused extends Error {
  override readonly name = "HostRefused";
}

/** Returns the message of a refusal by a policy, which the SDK has wrapped; null for other errors. */
export function refusalIn(error: unknown): string | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof HostRefused) return at.message;
  }
  return null;
}

/** The SDK requests each redirect with this `fetch`. */
const createFileDownload = (policies: TurnPolicies) =>
  createDownload({
    maxBytes: MAX_BYTES,
    fetch: async (input, init) => {
      const { hostname } = new URL(input instanceof Request ? input.url : input);
      const refusal = hostRefusal(policies, hostname);
      if (refusal !== null) throw new HostRefused(refusal);
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

/** For the AI SDK, whose own download would reach any address. */
export const downloadFile = createFileDownload([]);

/**
 * Returns a function that resolves to the bytes at a URL. All its downloads together take at most 30
 * seconds, because a turn waits for them, and end with `signal`.
 */
export function fileDownloader(
  signal: AbortSignal,
  policies: TurnPolicies = [],
): (url: URL) => Promise<Uint8Array> {
  const download = createFileDownload(policies);
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const abortSignal = AbortSignal.any([signal, deadline]);
  return async (url) => {
    const [file] = await download([{ url, isUrlSupportedByModel: false, abortSignal }]);
    if (!file) throw new Error("The download has no content");
    return file.data;
  };
}
