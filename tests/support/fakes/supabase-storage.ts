/**
 * The part of Supabase Storage that is used, on loopback: public buckets, upload, download, size,
 * deletion. In front of the embedded Supabase it makes a hosted project, with what Auth publishes.
 */
import type { Bucket, FileObjectV2 } from "@supabase/storage-js";
import { HttpResponse, http } from "msw";
import { z } from "zod";
import { serveHandlers } from "./vendor-server.ts";

export type FakeStorage = Awaited<ReturnType<typeof startFakeStorage>>;

const newBucket = z.object({
  id: z.string(),
  name: z.string(),
  public: z.boolean(),
  allowed_mime_types: z.array(z.string()),
});

const STORAGE = "/storage/v1";
type ObjectPath = { bucket: string; path: string };

interface Project {
  readonly url: string;
  readonly secretKey: string;
  readonly publishableKey: string;
}

/** @param project whose other services are reached through this server, with the same keys */
export async function startFakeStorage(project?: Project) {
  const secretKey = project?.secretKey ?? "sb_secret_fake_project";
  const buckets = new Map<string, { public: boolean; types: string[] }>();
  const objects = new Map<string, { bytes: ArrayBuffer; type: string; cache: string }>();

  const keyOf = ({ bucket, path }: ObjectPath) => `${bucket}/${path}`;
  const missing = ({ bucket }: ObjectPath) =>
    refuse(404, buckets.has(bucket) ? "Object not found" : "Bucket not found");
  const download = (path: ObjectPath) => {
    const object = objects.get(keyOf(path));
    if (!object) return missing(path);
    const headers = { "content-type": object.type, "cache-control": object.cache };
    return new HttpResponse(object.bytes, { headers });
  };

  const auth = { keys: [] as object[], issuer: "", mailer_autoconfirm: false };

  const server = await serveHandlers([
    http.get("/auth/v1/.well-known/jwks.json", () => HttpResponse.json({ keys: auth.keys })),
    http.get("/auth/v1/.well-known/openid-configuration", ({ request }) => {
      const issuer = auth.issuer || new URL("/auth/v1", request.url).href;
      return HttpResponse.json({ issuer, jwks_uri: `${issuer}/.well-known/jwks.json` });
    }),
    http.get("/auth/v1/settings", ({ request }) => {
      const known = [project?.publishableKey, secretKey];
      if (!known.includes(request.headers.get("apikey") ?? "none")) {
        return HttpResponse.json({ message: "Invalid API key" }, { status: 401 });
      }
      return HttpResponse.json({ mailer_autoconfirm: auth.mailer_autoconfirm });
    }),
    http.all("*", ({ request }) => {
      const { pathname } = new URL(request.url);
      if (project && !pathname.startsWith("/storage/")) return passOn(request, project.url);
    }),
    http.get<ObjectPath>(`${STORAGE}/object/public/:bucket/:path+`, ({ params }) => {
      if (buckets.get(params.bucket)?.public) return download(params);
    }),
    http.all("*", ({ request: { headers } }) => {
      const isKnown =
        headers.get("apikey") === secretKey &&
        headers.get("authorization") === `Bearer ${secretKey}`;
      if (!isKnown) return refuse(403, "Invalid Compact JWS");
    }),
    http.post(`${STORAGE}/bucket`, async ({ request }) => {
      const bucket = newBucket.parse(await request.json());
      if (buckets.has(bucket.id)) return refuse(409, "The resource already exists");
      buckets.set(bucket.id, { public: bucket.public, types: bucket.allowed_mime_types });
      return HttpResponse.json({ name: bucket.id });
    }),
    http.put<{ id: string }>(`${STORAGE}/bucket/:id`, async ({ request, params: { id } }) => {
      if (!buckets.has(id)) return refuse(404, "Bucket not found");
      const bucket = newBucket.pick({ public: true, allowed_mime_types: true });
      const { public: isPublic, allowed_mime_types: types } = bucket.parse(await request.json());
      buckets.set(id, { public: isPublic, types });
      return HttpResponse.json({ message: "Successfully updated" });
    }),
    http.get<{ id: string }>(`${STORAGE}/bucket/:id`, ({ params: { id } }) => {
      const bucket = buckets.get(id);
      if (!bucket) return refuse(404, "Bucket not found");
      const at = new Date().toISOString();
      const described: Bucket = {
        ...{ id, name: id, owner: "", public: bucket.public, allowed_mime_types: bucket.types },
        ...{ created_at: at, updated_at: at },
      };
      return HttpResponse.json(described);
    }),
    http.get<ObjectPath>(`${STORAGE}/object/info/:bucket/:path+`, ({ params }) => {
      const object = objects.get(keyOf(params));
      if (!object) return missing(params);
      const described: FileObjectV2 = {
        ...{ id: "1", version: "1", name: params.path, bucket_id: params.bucket },
        ...{ size: object.bytes.byteLength, content_type: object.type },
        ...{ cache_control: object.cache, created_at: new Date().toISOString() },
      };
      return HttpResponse.json(described);
    }),
    http.post<ObjectPath>(`${STORAGE}/object/:bucket/:path+`, async ({ request, params }) => {
      const key = keyOf(params);
      const bucket = buckets.get(params.bucket);
      if (!bucket) return missing(params);
      const replaces = request.headers.get("x-upsert") === "true";
      if (objects.has(key) && !replaces) return refuse(409, "The resource already exists");
      const type = request.headers.get("content-type") ?? "";
      if (!bucket.types.includes(type)) return refuse(415, "mime type not supported");
      const bytes = await request.arrayBuffer();
      const isMeasured = request.headers.get("content-length") === String(bytes.byteLength);
      if (!isMeasured) return refuse(411, "No length");
      objects.set(key, { bytes, type, cache: request.headers.get("cache-control") ?? "no-cache" });
      return HttpResponse.json({ Key: key, Id: "1" });
    }),
    http.delete<ObjectPath>(`${STORAGE}/object/:bucket/:path+`, ({ params }) =>
      objects.delete(keyOf(params))
        ? HttpResponse.json({ message: "Successfully deleted" })
        : missing(params),
    ),
    http.get<ObjectPath>(`${STORAGE}/object/:bucket/:path+`, ({ params }) => download(params)),
  ]);

  return {
    ...server,
    secretKey,
    bucketOf: (id: string) => buckets.get(id),
    /** Adds a bucket as the project's dashboard does. */
    addBucket: (id: string, isPublic: boolean) =>
      void buckets.set(id, { public: isPublic, types: [] }),
    /** Auth's published data: its keys, its issuer, and whether it accepts unconfirmed addresses. */
    auth,
  };
}

/** Refuses as the service does: the status of the response is 400, the real one is in the body. */
const refuse = (status: number, message: string) =>
  HttpResponse.json(
    { statusCode: String(status), error: message, message, code: message.replaceAll(" ", "") },
    { status: 400 },
  );

async function passOn(request: Request, project: string): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const headers = new Headers(request.headers);
  for (const name of ["host", "connection", "content-length"]) headers.delete(name);
  const response = await fetch(new URL(pathname + search, project), {
    method: request.method,
    headers,
    ...(request.method === "GET" ? {} : { body: await request.arrayBuffer() }),
  });
  // Fetch has decoded the body: of the headers only its type still holds.
  const type = response.headers.get("content-type") ?? "";
  return new Response(response.body, {
    status: response.status,
    headers: { "content-type": type },
  });
}
