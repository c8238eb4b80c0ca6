/** Stores media in a public bucket of the Supabase project, which serves them. */
import { openAsBlob } from "node:fs";
import { open, rm } from "node:fs/promises";
import { z } from "zod";
import { DatabaseUnavailable } from "../../../platform/database/unavailable.ts";
import { requestJson } from "../../../platform/outbound/fetch-json.ts";
import {
  accepted,
  describeAnswer,
  describeStatus,
  type Probe,
} from "../../../platform/outbound/probe.ts";
import { readJson, vendorFetch } from "../../../platform/outbound/vendor-fetch.ts";
import { MEDIA_TYPES, parseMediaKey } from "../media-name.ts";
import type { MediaStorage } from "../port.ts";

/** The deadline of one upload or download. */
const DEADLINE_MS = 120_000;

/** Creates the bucket when the first file is stored. */
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
      const signal = AbortSignal.timeout(DEADLINE_MS);
      return await vendorFetch("storage", new URL(path, api), {
        ...init,
        headers,
        signal,
        cache: "no-store",
      });
    } catch (cause) {
      throw new DatabaseUnavailable("Media storage did not answer", { cause });
    }
  }

  async function createBucket(): Promise<void> {
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
    // 409: a concurrent upload has created the bucket.
    if (!response.ok && status !== 409) throw refusal(status);
  }

  return {
    name: "supabase",
    async store(key, file) {
      const path = `${key.accountId}/${key.name}`;
      const upload = async () =>
        send(`object/${bucket}/${path}`, {
          method: "POST",
          // Caches must revalidate, because the file may be deleted at any time.
          headers: { "content-type": file.contentType, "cache-control": "no-cache" },
          body: await openAsBlob(file.path, { type: file.contentType }),
        });
      let response = await upload();
      let status = await statusOf(response);
      if (status === 404) {
        await createBucket();
        response = await upload();
        status = await statusOf(response);
      }
      if (!response.ok) throw refusal(status);
      await rm(file.path);
      return publicUrl + path;
    },
    keyOf(url) {
      if (!url.href.startsWith(publicUrl)) return null;
      const location = url.origin + url.pathname;
      const [accountId = "", name = "", ...rest] = location.slice(publicUrl.length).split("/");
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
        throw new DatabaseUnavailable("Media storage closed the connection", { cause });
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
    check: async (deadline) => [
      await probeBucket(new URL(`bucket/${bucket}`, api), secretKey, deadline),
    ],
  };
}

const access = { credentials: ["SUPABASE_SECRET_KEY"], address: ["SUPABASE_URL"] };
const bucketInfo = z.object({ public: z.boolean() });

async function probeBucket(url: URL, secretKey: string, deadline: AbortSignal): Promise<Probe> {
  const headers = { apikey: secretKey, authorization: `Bearer ${secretKey}` };
  const answer = await requestJson(url, { vendor: "storage", headers, deadline });
  if (answer.kind === "refused") {
    const status = fault.safeParse(answer.body).data?.statusCode ?? answer.status;
    if (status !== 404) return describeStatus(url, status, access);
    const detail = `${url.host} accepts the credentials; the first file creates the bucket`;
    return { ...accepted(url, access), detail };
  }
  if (answer.kind !== "json") return describeAnswer(url, answer, access);
  if (bucketInfo.safeParse(answer.body).data?.public !== false) return accepted(url, access);
  return {
    outcome: "address",
    detail: "the bucket of media is private, and its files cannot be opened",
    settings: ["SUPABASE_URL"],
    remedy: "Make the bucket public.",
  };
}

const objectInfo = z.object({ size: z.int().min(0) });

const refusal = (status: number) => new DatabaseUnavailable(`Media storage answered ${status}`);

/** Storage answers 400 for a missing and for an existing file; the actual status is in the body. */
const fault = z.object({ statusCode: z.coerce.number() });

async function statusOf(response: Response): Promise<number> {
  const body = fault.safeParse(await readJson(response).catch(() => null));
  return body.success ? body.data.statusCode : response.status;
}
