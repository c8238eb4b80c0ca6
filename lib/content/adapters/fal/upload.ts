/**
 * Uploads an input to fal's storage because fal cannot fetch it by its own URL. It takes two requests:
 * one for a signed upload URL, and one with the bytes.
 */
import { openAsBlob } from "node:fs";
import { z } from "zod";
import { requestJson, type UpstreamQuestion } from "../../../platform/outbound/fetch-json.ts";
import { vendorFetch } from "../../../platform/outbound/vendor-fetch.ts";
import type { MediaFile } from "../../port.ts";

const initiated = z.object({ upload_url: z.url(), file_url: z.url() });

export interface StorageAccess {
  readonly key: string;
  readonly storageUrl: string;
}

/** Returns the request for a signed upload URL. */
export function initiateUpload(
  { key, storageUrl }: StorageAccess,
  contentType: string,
  deadline: AbortSignal,
): { readonly url: URL; readonly question: UpstreamQuestion } {
  return {
    url: new URL("/storage/upload/initiate?storage_type=fal-cdn-v3", storageUrl),
    question: {
      vendor: "fal",
      headers: { authorization: `Key ${key}` },
      body: { content_type: contentType, file_name: `input.${contentType.replace(/^.*\//, "")}` },
      deadline,
    },
  };
}

/** Returns fal's URL of the file; null when the upload failed. */
export async function upload(
  { key, storageUrl }: StorageAccess,
  { path, contentType }: MediaFile,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const { url, question } = initiateUpload({ key, storageUrl }, contentType, signal);
    const asked = await requestJson(url, question);
    if (asked.kind !== "json") return null;
    const { upload_url, file_url } = initiated.parse(asked.body);
    // The URL is signed, so the key is not sent.
    const written = await vendorFetch("fal", upload_url, {
      method: "PUT",
      headers: { "content-type": contentType },
      body: await openAsBlob(path),
      redirect: "manual",
      signal,
    });
    await written.body?.cancel();
    return written.ok ? file_url : null;
  } catch {
    return null;
  }
}
