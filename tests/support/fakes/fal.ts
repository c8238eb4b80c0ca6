/**
 * fal's queue and storage on loopback. Each model accepts exactly the inputs of its published schema
 * and refuses others as fal does; its results are files of the requested size and length.
 */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { path as ffmpeg } from "@ffmpeg-installer/ffmpeg";
import { HttpResponse, http } from "msw";
import sharp from "sharp";
import { z } from "zod";
import { serveHandlers, type VendorServer } from "./vendor-server.ts";

interface Job {
  readonly model: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface FakeFal extends VendorServer {
  readonly key: string;
  /** The settings that make a server of the product use this API. */
  readonly env: Record<string, string>;
  /** What was submitted, oldest first. */
  readonly submitted: readonly Job[];
  /** The uploaded files by their URLs. */
  readonly uploads: ReadonlyMap<string, Uint8Array>;
  /** The ids of cancelled requests. */
  readonly cancelled: ReadonlySet<string>;
  /** Keeps requests in the queue; with false they are completed at once. */
  hold(isHeld: boolean): void;
  /** Sets the next output, for any model. */
  outputNext(output: unknown): void;
  /** Serves a file among the results, at `/results/name`. */
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
  const submitted: Job[] = [];
  const uploads = new Map<string, Uint8Array>();
  const cancelled = new Set<string>();
  const jobs = new Map<string, Job>();
  const results = new Map<string, Buffer>();
  const outputs: unknown[] = [];
  let isHeld = false;

  const keep = (bytes: Buffer, extension: string, origin: string) => {
    const name = `${randomUUID()}.${extension}`;
    results.set(name, bytes);
    return { url: `${origin}/results/${name}`, file_name: name, file_size: bytes.length };
  };
  const make = async ({ model, input }: Job, origin: string) => {
    if (!model.includes("nano-banana")) {
      return { video: keep(await film(input), "mp4", origin), seed: 1 };
    }
    const images = Array.from({ length: Number(input.num_images) }, (_, at) =>
      drawImage(input, at),
    );
    return {
      images: (await Promise.all(images)).map((bytes) => keep(bytes, "png", origin)),
      description: "",
    };
  };

  const server = await serveHandlers([
    http.get<{ name: string }>("/results/:name", ({ params }) => {
      const result = results.get(params.name);
      return new HttpResponse(result && new Uint8Array(result), { status: result ? 200 : 404 });
    }),
    http.put("/files/:name", async ({ request }) => {
      // Anyone with the URL may write: a key that is sent along would be given away.
      if (request.headers.has("authorization")) return HttpResponse.json({}, { status: 403 });
      uploads.set(request.url, Buffer.from(await request.arrayBuffer()));
      return new HttpResponse();
    }),
    http.all("*", ({ request }) => {
      if (request.headers.get("authorization") !== `Key ${key}`) return refuse(401, "no");
    }),
    http.post("/storage/upload/initiate", ({ request }) => {
      const target = `${new URL(request.url).origin}/files/${randomUUID()}`;
      return HttpResponse.json({ upload_url: target, file_url: target });
    }),
    http.post("*", async ({ request }) => {
      const { origin, pathname } = new URL(request.url);
      const model = pathname.slice(1);
      const schema = models[model];
      if (!schema) return refuse(404, `Application ${model} not found`);
      const input = (await request.json()) as Job["input"];
      if (!schema.safeParse(input).success) return invalid("value_error");
      submitted.push({ model, input });
      const id = randomUUID();
      jobs.set(id, { model, input });
      // The application's own path, without that of the endpoint.
      const place = `${origin}/${model.split("/").slice(0, 2).join("/")}/requests/${id}`;
      return HttpResponse.json({
        request_id: id,
        status: "IN_QUEUE",
        queue_position: 0,
        response_url: place,
        status_url: `${place}/status`,
        cancel_url: `${place}/cancel`,
      });
    }),
    http.put<{ id: string }>("*/requests/:id/cancel", ({ params }) => {
      if (!jobs.has(params.id)) return;
      cancelled.add(params.id);
      return HttpResponse.json({ status: "CANCELLATION_REQUESTED" }, { status: 202 });
    }),
    http.get<{ id: string }>("*/requests/:id/status", ({ params }) => {
      if (!jobs.has(params.id)) return;
      const status = isHeld ? "IN_QUEUE" : "COMPLETED";
      return HttpResponse.json({ status, request_id: params.id }, { status: isHeld ? 202 : 200 });
    }),
    http.get<{ id: string }>("*/requests/:id", async ({ request, params }) => {
      const job = jobs.get(params.id);
      if (!job) return;
      const unreadable = urlsOf(job.input).some(
        (one) => uploads.has(one) && !isMedia(uploads.get(one)),
      );
      if (unreadable) return invalid("file_download_error");
      const output = outputs.shift() ?? (await make(job, new URL(request.url).origin));
      return HttpResponse.json(output as object);
    }),
  ]);

  return {
    ...server,
    key,
    env: { FAL_KEY: key, FAL_BASE_URL: server.origin, FAL_STORAGE_URL: server.origin },
    submitted,
    uploads,
    cancelled,
    hold(next) {
      isHeld = next;
    },
    outputNext: (output) => void outputs.push(output),
    serve: (name, bytes) => void results.set(name, bytes),
  };
}

const refuse = (status: number, detail: string) => HttpResponse.json({ detail }, { status });

const invalid = (type: string) =>
  HttpResponse.json(
    { detail: [{ loc: ["body"], msg: "fal says no", type, url: "https://docs.fal.ai" }] },
    { status: 422 },
  );

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

/** Encodes each kind of film once. */
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
