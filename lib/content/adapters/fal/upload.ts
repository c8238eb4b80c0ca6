/**
 * A file of this machine in fal's own storage, for inputs that fal could not fetch: two steps, a
 * place to write to and then the bytes.
 */
import { openAsBlob } from "node:fs";
import { z } from "zod";
import { readJson } from "../../../platform/outbound/read-text.ts";
import type { MediaFile } from "../../port.ts";

const place = z.object({ upload_url: z.url(), file_url: z.url() });

/** Null when it did not work; fal's URL of the file when it did. */
export async function upload(
  { key, storageUrl }: { readonly key: string; readonly storageUrl: string },
  { path, contentType }: MediaFile,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const asked = await fetch(
      new URL("/storage/upload/initiate?storage_type=fal-cdn-v3", storageUrl),
      {
        method: "POST",
        headers: { authorization: `Key ${key}`, "content-type": "application/json" },
        body: JSON.stringify({
          content_type: contentType,
          file_name: `input.${contentType.replace(/^.*\//, "")}`,
        }),
        redirect: "manual",
        signal,
      },
    );
    if (!asked.ok) return null;
    const { upload_url, file_url } = place.parse(await readJson(asked));
    // It bears its own permission: the key stays here.
    const written = await fetch(upload_url, {
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
