/**
 * fal's queue and storage on loopback. Each model takes exactly the inputs that its published schema
 * has and refuses others as fal does; what it makes are files of the size and length it was asked for.
 */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { path as ffmpeg } from "@ffmpeg-installer/ffmpeg";
import sharp from "sharp";
import { z } from "zod";
import { type FaultyServer, startFaultyServer } from "./faulty-server.ts";

export interface FakeFal extends FaultyServer {
  readonly key: string;
  /** What was submitted, the newest last. */
  readonly submitted: readonly {
    readonly model: string;
    readonly input: Readonly<Record<string, unknown>>;
  }[];
  /** What has been uploaded, by the URL that it got. */
  readonly uploads: ReadonlyMap<string, Uint8Array>;
  /** Requests that were cancelled. */
  readonly cancelled: ReadonlySet<string>;
  /** From now on requests stay in line, or with false they are made at once. */
  hold(isHeld: boolean): void;
  /** The next output is this, whatever the model. */
  outputNext(output: unknown): void;
  /** Puts a file where results are: `/results/name`. */
  serve(name: string, bytes: Buffer): void;
}

const aspect = z.enum(["auto", "16:9", "9:16"]);
const veo = z.strictObject({
  prompt: z.string().min(1),
  aspect_ratio: aspect,
  duration: z.enum(["4s", "6s", "8s"]),
  negative_prompt: z.string().optional(),
  resolution: z.enum(["720p", "1080p", "4k"]),
  generate_audio: z.boolean(),
  seed: z.int(),
});
const file = z.url();
const image = z.strictObject({
  prompt: z.string().min(1),
  num_images: z.int().min(1).max(4),
  aspect_ratio: aspect,
  resolution: z.enum(["1K", "2K", "4K"]),
  output_format: z.enum(["jpeg", "png", "webp"]),
  seed: z.int(),
});

const models: Readonly<Record<string, z.ZodType>> = {
  "fal-ai/veo3.1/image-to-video": veo.extend({ image_url: file }),
  "fal-ai/veo3.1/first-last-frame-to-video": veo.extend({
    first_frame_url: file,
    last_frame_url: file,
  }),
  "fal-ai/veo3.1/reference-to-video": veo.omit({ negative_prompt: true, seed: true }).extend({
    aspect_ratio: z.enum(["16:9", "9:16"]),
    duration: z.literal("8s"),
    image_urls: z.array(file).min(1),
  }),
  "fal-ai/veo3.1/extend-video": veo.extend({
    video_url: file,
    duration: z.literal("7s"),
    resolution: z.literal("720p"),
  }),
  "fal-ai/bytedance/omnihuman/v1.5": z.strictObject({
    image_url: file,
    audio_url: file,
    resolution: z.enum(["720p", "1080p"]),
    prompt: z.string().optional(),
  }),
  "fal-ai/nano-banana-2": image,
  "fal-ai/nano-banana-2/edit": image.extend({ image_urls: z.array(file).min(1) }),
};

export async function startFakeFal(): Promise<FakeFal> {
  const key = `fal-${randomUUID()}`;
  const submitted: { model: string; input: Record<string, unknown> }[] = [];
  const uploads = new Map<string, Uint8Array>();
  const cancelled = new Set<string>();
  const requests = new Map<string, { model: string; input: Record<string, unknown> }>();
  const results = new Map<string, Buffer>();
  const outputs: unknown[] = [];
  let isHeld = false;

  const send = (response: ServerResponse, status: number, body: unknown) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const invalid = (response: ServerResponse, type: string) =>
    send(response, 422, {
      detail: [{ loc: ["body"], msg: "fal says no", type, url: "https://docs.fal.ai" }],
    });

  const server: FaultyServer = await startFaultyServer(async (request, url, response) => {
    const path = url.pathname.slice(1);
    const body = await buffer(request);
    const place = `${server.origin}/files/`;
    if (request.method === "GET" && path.startsWith("results/")) {
      const result = results.get(path);
      return void response.writeHead(result ? 200 : 404).end(result);
    }
    if (request.method === "PUT" && path.startsWith("files/")) {
      // Whoever has the URL may write: a key that comes along would be given away.
      if (request.headers.authorization) return void send(response, 403, {});
      uploads.set(place + path.slice(6), body);
      return void response.writeHead(200).end();
    }
    if (request.headers.authorization !== `Key ${key}`)
      return void send(response, 401, { detail: "no" });
    if (path === "storage/upload/initiate") {
      const target = place + randomUUID();
      return void send(response, 200, { upload_url: target, file_url: target });
    }
    const [, model = "", id = "", action] =
      /^(.*)\/requests\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
    const known = requests.get(id);
    if (model === "" && request.method === "POST") return submit(path, body, response);
    if (!known) return void send(response, 404, { detail: "no such request" });
    if (action === "cancel" && request.method === "PUT") {
      cancelled.add(id);
      return void send(response, 202, { status: "CANCELLATION_REQUESTED" });
    }
    if (action === "status") {
      return void send(response, isHeld ? 202 : 200, {
        status: isHeld ? "IN_QUEUE" : "COMPLETED",
        request_id: id,
      });
    }
    const unreadable = urlsOf(known.input).find(
      (one) => uploads.has(one) && !isMedia(uploads.get(one)),
    );
    if (unreadable) return void invalid(response, "file_download_error");
    send(response, 200, outputs.shift() ?? (await make(known.model, known.input)));
  });

  function submit(model: string, body: Buffer, response: ServerResponse): void {
    const schema = models[model];
    if (!schema) return void send(response, 404, { detail: `Application ${model} not found` });
    const input: Record<string, unknown> = JSON.parse(body.toString());
    if (!schema.safeParse(input).success) return void invalid(response, "value_error");
    submitted.push({ model, input });
    const id = randomUUID();
    requests.set(id, { model, input });
    // The application's own path, without that of the endpoint.
    const place = `${server.origin}/${model.split("/").slice(0, 2).join("/")}/requests/${id}`;
    send(response, 200, {
      request_id: id,
      status: "IN_QUEUE",
      queue_position: 0,
      response_url: place,
      status_url: `${place}/status`,
      cancel_url: `${place}/cancel`,
    });
  }

  async function make(model: string, input: Record<string, unknown>): Promise<unknown> {
    if (model.includes("nano-banana")) {
      const images = Array.from({ length: Number(input.num_images) }, (_, at) =>
        drawImage(input, at),
      );
      return {
        images: (await Promise.all(images)).map((bytes) => keep(bytes, "png")),
        description: "",
      };
    }
    return { video: keep(await film(input), "mp4"), seed: 1 };
  }

  const keep = (bytes: Buffer, extension: string) => {
    const path = `results/${randomUUID()}.${extension}`;
    results.set(path, bytes);
    return { url: `${server.origin}/${path}`, file_name: path, file_size: bytes.length };
  };

  return {
    ...server,
    key,
    submitted,
    uploads,
    cancelled,
    hold(next) {
      isHeld = next;
    },
    outputNext: (output) => void outputs.push(output),
    serve: (name, bytes) => void results.set(`results/${name}`, bytes),
  };
}

const urlsOf = (input: Readonly<Record<string, unknown>>): string[] =>
  Object.values(input)
    .flat()
    .filter((value): value is string => typeof value === "string" && value.startsWith("http"));

const isMedia = (bytes: Uint8Array | undefined): boolean =>
  /^(\x89PNG|\xff\xd8\xff|RIFF|ID3|....ftyp)/s.test(
    Buffer.from(bytes ?? []).toString("latin1", 0, 12),
  );

function drawImage(input: Readonly<Record<string, unknown>>, at: number): Promise<Buffer> {
  const isTall = input.aspect_ratio === "9:16";
  const [long, short] = [1376, 768];
  const size = isTall ? { width: short, height: long } : { width: long, height: short };
  const background = { r: 60 * at, g: 90, b: 200 - 40 * at };
  return sharp({ create: { ...size, channels: 3, background } })
    .png()
    .toBuffer();
}

const films = new Map<string, Promise<Buffer>>();

/** Encoded once for all requests that ask for the same. */
function film(input: Readonly<Record<string, unknown>>): Promise<Buffer> {
  const isTall = input.aspect_ratio === "9:16";
  const isHeard = Boolean(input.generate_audio || input.audio_url);
  const seconds = Number.parseInt(String(input.duration ?? "3"), 10);
  const name = JSON.stringify([isTall, isHeard, seconds]);
  const found = films.get(name) ?? encode(isTall, isHeard, seconds);
  films.set(name, found);
  return found;
}

async function encode(isTall: boolean, isHeard: boolean, seconds: number): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "agent-platform-fal-"));
  try {
    const path = join(folder, "made.mp4");
    const sound = ["-f", "lavfi", "-i", "sine=frequency=330:sample_rate=48000"];
    await promisify(execFile)(ffmpeg, [
      ...["-loglevel", "error", "-f", "lavfi"],
      ...["-i", `testsrc=size=${isTall ? "720x1280" : "1280x720"}:rate=24`],
      ...(isHeard ? [...sound, "-c:a", "aac"] : []),
      ...["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"],
      ...["-t", String(seconds), "-movflags", "+faststart", path],
    ]);
    return await readFile(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
