/** Supabase Storage on loopback, as far as it is used: a public bucket, upload, download, size, deletion. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

export interface FakeStorage {
  readonly origin: string;
  readonly secretKey: string;
  bucketOf(id: string): { readonly public: boolean; readonly types: readonly string[] } | undefined;
  /** From now on, whatever is asked. */
  failWith(status: number): void;
  stop(): Promise<void>;
}

const newBucket = z.object({
  id: z.string(),
  name: z.string(),
  public: z.boolean(),
  allowed_mime_types: z.array(z.string()),
});

/** @param project whose other parts are reached through it, under the same key */
export async function startFakeStorage(project?: {
  readonly url: string;
  readonly secretKey: string;
}): Promise<FakeStorage> {
  const secretKey = project?.secretKey ?? "sb_secret_fake_project";
  const buckets = new Map<string, { public: boolean; types: string[] }>();
  const objects = new Map<string, { bytes: Buffer; type: string; cache: string }>();
  let failure = 0;

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "", url = "", headers } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    if (project && !url.startsWith("/storage/")) {
      const { host: _, connection: __, "content-length": ___, ...kept } = headers;
      const passed = await fetch(new URL(url, project.url), {
        method,
        headers: Object.entries(kept).map(([name, value]) => [name, String(value)]),
        ...(method === "GET" ? {} : { body }),
      });
      const types = { "content-type": passed.headers.get("content-type") ?? "" };
      response.writeHead(passed.status, types).end(Buffer.from(await passed.arrayBuffer()));
      return;
    }
    // As the service does it: the status of the answer is 400, the real one is in the body.
    const refuse = (status: number, message: string) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ statusCode: String(status), error: message, message }));
    };
    const succeed = (value: unknown) => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    };
    if (failure) return void response.writeHead(failure).end("<h1>trouble</h1>");
    const opened = /^\/storage\/v1\/object\/public\/([^/?]+)\/([^?]+)/.exec(url);
    const isPublic = opened !== null && buckets.get(opened[1] ?? "")?.public === true;
    const isKnown = headers.apikey === secretKey && headers.authorization === `Bearer ${secretKey}`;
    if (!isPublic && !isKnown) return refuse(403, "Invalid Compact JWS");
    if (method === "POST" && url === "/storage/v1/bucket") {
      const bucket = newBucket.parse(JSON.parse(body.toString()));
      if (buckets.has(bucket.id)) return refuse(409, "The resource already exists");
      buckets.set(bucket.id, { public: bucket.public, types: bucket.allowed_mime_types });
      return succeed({ name: bucket.id });
    }
    const [, bucket = "", path = ""] =
      opened ?? /^\/storage\/v1\/object\/(?:info\/)?([^/?]+)\/([^?]+)/.exec(url) ?? [];
    const key = `${bucket}/${path}`;
    if (!buckets.has(bucket)) return refuse(404, "Bucket not found");
    if (method === "POST") {
      if (objects.has(key)) return refuse(409, "The resource already exists");
      const type = headers["content-type"] ?? "";
      if (!buckets.get(bucket)?.types.includes(type)) return refuse(415, "mime type not supported");
      if (headers["content-length"] !== String(body.byteLength)) return refuse(411, "No length");
      objects.set(key, { bytes: body, type, cache: headers["cache-control"] ?? "no-cache" });
      return succeed({ Key: key, Id: "1" });
    }
    const object = objects.get(key);
    if (!object) return refuse(404, "Object not found");
    const { type, cache, bytes } = object;
    if (url.startsWith("/storage/v1/object/info/")) return succeed({ size: bytes.byteLength });
    if (method === "DELETE") {
      objects.delete(key);
      return succeed({ message: "Successfully deleted" });
    }
    response.writeHead(200, { "content-type": type, "cache-control": cache }).end(bytes);
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(418).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    secretKey,
    bucketOf: (id) => buckets.get(id),
    failWith: (status) => {
      failure = status;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
