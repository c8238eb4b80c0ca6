/** Downloads a caller's URL, which is untrusted and may respond without end, into a file. */
import { open } from "node:fs/promises";
import type { TurnPolicies } from "@platform/kit/network-policy";
import { fetchPublic } from "@platform/kit/outbound/fetch-public";
import type { Response } from "undici";

export interface DownloadLimits {
  readonly maxBytes: number;
  /** Covers the connection, the redirects and the whole body. */
  readonly deadlineMs: number;
  readonly allowLoopback: boolean;
  /** The network policies of the run that has named the URL. Default: none */
  readonly policies?: TurnPolicies | undefined;
}

/**
 * Returns null when the whole content is in a new file at `path`; otherwise the end of a sentence that
 * says why not, without revealing more about names and addresses that are not public.
 */
export async function download(
  url: URL,
  path: string,
  limits: DownloadLimits,
  signal: AbortSignal,
): Promise<string | null> {
  const deadline = AbortSignal.timeout(limits.deadlineMs);
  try {
    const either = AbortSignal.any([signal, deadline]);
    const response = await fetchPublic(url, limits.allowLoopback, either, limits.policies);
    if (!response) return "could not be fetched";
    const isWhole = await save(response, path, limits.maxBytes);
    return isWhole ? null : `must be at most ${limits.maxBytes / 1024 / 1024} MiB`;
  } catch {
    return deadline.aborted
      ? `could not be fetched within ${limits.deadlineMs / 1000} seconds`
      : "could not be fetched";
  }
}

/** Returns false as soon as the body exceeds the limit, which counts decompressed bytes. */
async function save(response: Response, path: string, maxBytes: number): Promise<boolean> {
  const file = await open(path, "wx");
  try {
    let size = 0;
    for await (const chunk of response.body ?? []) {
      const bytes: Uint8Array = chunk;
      size += bytes.byteLength;
      if (size > maxBytes) return false;
      await file.writeFile(bytes);
    }
    return true;
  } finally {
    await file.close();
  }
}
