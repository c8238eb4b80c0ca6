/** Media in a public bucket of the Supabase project, which serves it itself. */
import { openAsBlob } from "node:fs";
import { open, rm } from "node:fs/promises";
import { z } from "zod";
import { DatabaseUnavailable } from "../../../platform/database/unavailable.ts";
import { readJson } from "../../../platform/outbound/read-text.ts";
import { MEDIA_TYPES, parseMediaKey } from "../media-name.ts";
import type { MediaStorage } from "../port.ts";

/** Milliseconds for one file, there or back. */
const DEADLINE = 120_000;

/** The bucket is made when the first file comes. */
export function createSupabaseStorage(project: {
  readonly url: string;
  readonly secretKey: string;
  readonly bucket: string;
}): MediaStorage {
  const { secretKey, bucket } = project;
  const api = new URL("/storage/v1/", project.url);
  const publicUrl = new URL(`object/public/${bucket}/`, api).href;

  async function send(path: string, init: RequestInit): Promise<Response> {
    const headers = { apikey: secretKey, authorization: `Bearer ${secretKey}`, ...init.headers };
    try {
      const signal = AbortSignal.timeout(DEADLINE);
      return await fetch(new URL(path, api), { ...init, headers, signal, cache: "no-store" });
    } catch (cause) {
      throw new DatabaseUnavailable("media storage: no answer", { cause });
    }
  }

  async function makeBucket(): Promise<void> {
    const response = await send("bucket", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        id: bucket,
        name: bucket,
        public: true,
        allowed_mime_types: MEDIA_TYPES,
      }),
    });
    const status = await statusOf(response);
    // Two first files may come at once: the other's bucket will do.
    if (!response.ok && status !== 409) throw refusal(status);
  }

  return {
    name: "supabase",
    async store(key, file) {
      const path = `${key.accountId}/${key.name}`;
      const upload = async () =>
        send(`object/${bucket}/${path}`, {
          method: "POST",
          // A file may be deleted: what a cache has of it must be asked about again.
          headers: { "content-type": file.contentType, "cache-control": "no-cache" },
          body: await openAsBlob(file.path, { type: file.contentType }),
        });
      let response = await upload();
      let status = await statusOf(response);
      if (status === 404) {
        await makeBucket();
        response = await upload();
        status = await statusOf(response);
      }
      if (!response.ok) throw refusal(status);
      await rm(file.path);
      return publicUrl + path;
    },
    keyOf(url) {
      if (!url.href.startsWith(publicUrl)) return null;
      const place = url.origin + url.pathname;
      const [accountId = "", name = "", ...rest] = place.slice(publicUrl.length).split("/");
      return (rest.length === 0 && parseMediaKey(accountId, name)) || "malformed";
    },
    find: async () => null,
    async *filesOlderThan() {},
    async copyTo({ accountId, name }, path) {
      const response = await send(`object/${bucket}/${accountId}/${name}`, {});
      if (!response.ok) {
        const status = await statusOf(response);
        if (status === 404) return false;
        throw refusal(status);
      }
      const file = await open(path, "wx");
      try {
        for await (const chunk of response.body ?? []) await file.writeFile(chunk);
      } catch (cause) {
        throw new DatabaseUnavailable("media storage: a cut answer", { cause });
      } finally {
        await file.close();
      }
      return true;
    },
    async sizeOf({ accountId, name }) {
      const response = await send(`object/info/${bucket}/${accountId}/${name}`, {});
      if (response.ok) return objectInfo.parse(await response.json()).size;
      const status = await statusOf(response);
      if (status === 404) return null;
      throw refusal(status);
    },
    async remove({ accountId, name }) {
      const response = await send(`object/${bucket}/${accountId}/${name}`, { method: "DELETE" });
      const status = await statusOf(response);
      if (!response.ok && status !== 404) throw refusal(status);
    },
  };
}

const objectInfo = z.object({ size: z.int().min(0) });

const refusal = (status: number) => new DatabaseUnavailable(`media storage: ${status}`);

/** Storage answers 400 for what is missing or there already, and says which in the body. */
const fault = z.object({ statusCode: z.coerce.number() });

async function statusOf(response: Response): Promise<number> {
  const body = fault.safeParse(await readJson(response).catch(() => null));
  return body.success ? body.data.statusCode : response.status;
}
