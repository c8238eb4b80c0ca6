/** Stores media in a public bucket of the Supabase project, which serves them. */
import { rm } from "node:fs/promises";
import { requestJson } from "@platform/kit/outbound/fetch-json";
import { accepted, describeAnswer, describeStatus, type Probe } from "@platform/kit/outbound/probe";
import { z } from "zod";
import { MEDIA_TYPES, type MediaKey, parseMediaKey } from "../media-name.ts";
import type { ContentKey, ContentStorage, MediaStorage } from "../port.ts";
import { fault, openBucket } from "./supabase-bucket.ts";

/** Creates the bucket when the first file is stored. */
export function createSupabaseStorage(project: {
  readonly url: string;
  readonly secretKey: string;
  readonly bucket: string;
}): MediaStorage {
  const { secretKey, bucket } = project;
  const api = new URL("/storage/v1/", project.url);
  const publicUrl = new URL(`object/public/${bucket}/`, api).href;
  const objects = openBucket({ ...project, isPublic: true, types: MEDIA_TYPES });
  const pathOf = ({ accountId, name }: MediaKey) => `${accountId}/${name}`;

  return {
    name: "supabase",
    async store(key, file) {
      // Caches must revalidate, because the file may be deleted at any time.
      await objects.upload(pathOf(key), file, { "cache-control": "no-cache" });
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
    copyTo: (key, path) => objects.download(pathOf(key), path),
    sizeOf: (key) => objects.sizeOf(pathOf(key)),
    remove: (key) => objects.remove(pathOf(key)),
    check: async (deadline) => [
      await probeBucket(new URL(`bucket/${bucket}`, api), secretKey, deadline),
    ],
  };
}

/** Stores the contents of workspaces in a bucket that only this service can read. */
export function createSupabaseContents(project: {
  readonly url: string;
  readonly secretKey: string;
  readonly bucket: string;
}): ContentStorage {
  const contentType = "application/octet-stream";
  const objects = openBucket({ ...project, isPublic: false, types: [contentType] });
  const pathOf = ({ workspaceId, contentId }: ContentKey) => `${workspaceId}/${contentId}`;
  return {
    name: "supabase",
    async store(key, path) {
      // Two requests may store the same content at once.
      await objects.upload(pathOf(key), { path, contentType }, { "x-upsert": "true" });
      await rm(path);
    },
    read: (key) => objects.read(pathOf(key)),
    remove: (key) => objects.remove(pathOf(key)),
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
