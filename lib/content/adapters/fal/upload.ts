/**
 * Uploads an input to fal's storage because fal cannot fetch it by its own URL. It takes two requests:
 * one for a signed upload URL, and one with the bytes.
 */
import { openAsBlob } from "node:fs";
import { z } from "zod";
import { requestJson } from "../../../platform/outbound/fetch-json.ts";
import { vendorFetch } from "../../../platform/outbound/vendor-fetch.ts";
import type { MediaFile } from "../../port.ts";

const initiated = z.object({ upload_url: z.url(), file_url: z.url() });

/** Returns fal's URL of the file; null when the upload failed. */
export async function upload(
  { key, storageUrl }: { readonly key: string; readonly storageUrl: string },
  { path, contentType }: MediaFile,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const asked = await requestJson(
      new URL("/storage/upload/initiate?storage_type=fal-cdn-v3", storageUrl),
      {
        vendor: "fal",
        headers: { authorization: `Key ${key}` },
        body: {
          content_type: contentType,
          file_name: `input.${contentType.replace(/^.*\//, "")}`,
        },
        deadline: signal,
      },
    );
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
