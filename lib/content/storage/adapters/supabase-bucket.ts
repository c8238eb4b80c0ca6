/**
 * The requests to a bucket of the Supabase project. The first upload creates the bucket, and an upload
 * whose type the bucket refuses updates it.
 */
import { openAsBlob } from "node:fs";
import { open } from "node:fs/promises";
import { DatabaseUnavailable } from "@platform/kit/database-unavailable";
import { readJson, vendorFetch } from "@platform/kit/outbound/vendor-fetch";
import { z } from "zod";

/** The deadline of one upload or download. */
const DEADLINE_MS = 120_000;
/** The deadline of a download whose reader may be slow. */
const READ_DEADLINE_MS = 900_000;

export interface BucketOptions {
  readonly url: string;
  readonly secretKey: string;
  readonly bucket: string;
  readonly isPublic: boolean;
  readonly types: readonly string[];
}

/** Every function throws DatabaseUnavailable when the storage fails. Paths are those within the bucket. */
export function openBucket({ url, secretKey, bucket, isPublic, types }: BucketOptions) {
  const api = new URL("/storage/v1/", url);

  /** Returns null when the answer has the status that says that there is nothing to do. */
  async function send(
    path: string,
    init: RequestInit = {},
    { noneStatuses = [404], deadlineMs = DEADLINE_MS } = {},
  ): Promise<Response | null> {
    const headers = { apikey: secretKey, authorization: `Bearer ${secretKey}`, ...init.headers };
    const signal = AbortSignal.timeout(deadlineMs);
    const request = { ...init, headers, signal, cache: "no-store" } as const;
    const response = await vendorFetch("storage", new URL(path, api), request).catch((cause) => {
      throw new DatabaseUnavailable("Media storage did not answer", { cause });
    });
    if (response.ok) return response;
    // Storage answers 400 for a missing and for an existing file; the actual status is in the body.
    const body = fault.safeParse(await readJson(response).catch(() => null));
    const status = body.data?.statusCode ?? response.status;
    if (noneStatuses.includes(status)) return null;
    throw new DatabaseUnavailable(`Media storage answered ${status}`);
  }

  /** It may exist: created by a concurrent upload, or by a version that knew fewer types. */
  const prepareBucket = async () => {
    const settings = { public: isPublic, allowed_mime_types: types };
    const request = (method: string, body: object) => ({
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const created = request("POST", { id: bucket, name: bucket, ...settings });
    if (await send("bucket", created, { noneStatuses: [409] })) return;
    await send(`bucket/${bucket}`, request("PUT", settings));
  };

  return {
    async upload(
      path: string,
      file: { readonly path: string; readonly contentType: string },
      headers: Readonly<Record<string, string>>,
    ): Promise<void> {
      const upload = async () =>
        send(
          `object/${bucket}/${path}`,
          {
            method: "POST",
            headers: { ...headers, "content-type": file.contentType },
            body: await openAsBlob(file.path, { type: file.contentType }),
          },
          { noneStatuses: [404, 415] },
        );
      let response = await upload();
      if (!response) {
        await prepareBucket();
        response = await upload();
      }
      if (!response) throw new DatabaseUnavailable("Media storage does not take the file");
      await response.body?.cancel();
    },
    async *read(path: string): AsyncGenerator<Uint8Array> {
      const response = await send(`object/${bucket}/${path}`, {}, { deadlineMs: READ_DEADLINE_MS });
      if (!response) throw new Error(`Media storage has no object ${bucket}/${path}`);
      try {
        for await (const chunk of response.body ?? []) yield chunk;
      } catch (cause) {
        throw new DatabaseUnavailable("Media storage closed the connection", { cause });
      }
    },
    /** Writes the object to a new file. Resolves to false if it does not exist. */
    async download(path: string, target: string): Promise<boolean> {
      const response = await send(`object/${bucket}/${path}`);
      if (!response) return false;
      const file = await open(target, "wx");
      try {
        for await (const chunk of response.body ?? []) await file.writeFile(chunk);
      } catch (cause) {
        throw new DatabaseUnavailable("Media storage closed the connection", { cause });
      } finally {
        await file.close();
      }
      return true;
    },
    async sizeOf(path: string): Promise<number | null> {
      const response = await send(`object/info/${bucket}/${path}`);
      return response && objectInfo.parse(await response.json()).size;
    },
    async remove(path: string): Promise<void> {
      const response = await send(`object/${bucket}/${path}`, { method: "DELETE" });
      await response?.body?.cancel();
    },
  };
}

const objectInfo = z.object({ size: z.int().min(0) });
export const fault = z.object({ statusCode: z.coerce.number() });
