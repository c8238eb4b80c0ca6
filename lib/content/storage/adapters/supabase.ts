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
import { MEDIA_TYPES, type MediaKey, parseMediaKey } from "../media-name.ts";
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

  /** Returns null when the answer has the status that says that there is nothing to do. */
  async function send(
    path: string,
    init: RequestInit = {},
    noneStatus = 404,
  ): Promise<Response | null> {
    const headers = { apikey: secretKey, authorization: `Bearer ${secretKey}`, ...init.headers };
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const request = { ...init, headers, signal, cache: "no-store" } as const;
    const response = await vendorFetch("storage", new URL(path, api), request).catch((cause) => {
      throw new DatabaseUnavailable("Media storage did not answer", { cause });
    });
    if (response.ok) return response;
    // Storage answers 400 for a missing and for an existing file; the actual status is in the body.
    const body = fault.safeParse(await readJson(response).catch(() => null));
    const status = body.data?.statusCode ?? response.status;
    if (status === noneStatus) return null;
    throw new DatabaseUnavailable(`Media storage answered ${status}`);
  }

  /** A concurrent upload may have created it: 409. */
  const createBucket = () =>
    send(
      "bucket",
      {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          id: bucket,
          name: bucket,
          public: true,
          allowed_mime_types: MEDIA_TYPES,
        }),
      },
      409,
    );

  const pathOf = ({ accountId, name }: MediaKey) => `${bucket}/${accountId}/${name}`;

  return {
    name: "supabase",
    async store(key, file) {
      const upload = async () =>
        send(`object/${pathOf(key)}`, {
          method: "POST",
          // Caches must revalidate, because the file may be deleted at any time.
          headers: { "content-type": file.contentType, "cache-control": "no-cache" },
          body: await openAsBlob(file.path, { type: file.contentType }),
        });
      let response = await upload();
      if (!response) {
        await createBucket();
        response = await upload();
      }
      if (!response) throw new DatabaseUnavailable("Media storage has no bucket");
      await response.body?.cancel();
      await rm(file.path);
      return `${publicUrl}${key.accountId}/${key.name}`;
    },
    keyOf(url) {
      if (!url.href.startsWith(publicUrl)) return null;
      const location = url.origin + url.pathname;
      const [accountId = "", name = "", ...rest] = location.slice(publicUrl.length).split("/");
      return (rest.length === 0 && parseMediaKey(accountId, name)) || "malformed";
    },
    find: async () => null,
    async *filesOlderThan() {},
    async copyTo(key, path) {
      const response = await send(`object/${pathOf(key)}`);
      if (!response) return false;
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
    async sizeOf(key) {
      const response = await send(`object/info/${pathOf(key)}`);
      return response && objectInfo.parse(await response.json()).size;
    },
    async remove(key) {
      const response = await send(`object/${pathOf(key)}`, { method: "DELETE" });
      await response?.body?.cancel();
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
const fault = z.object({ statusCode: z.coerce.number() });
