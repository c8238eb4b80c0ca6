/**
 * fal's queue and storage on loopback. Each model accepts exactly the inputs of its published schema
 * and refuses others as fal does; its results are files of the requested size and length.
 */
import { randomUUID } from "node:crypto";
import type { QueueStatus, ValidationErrorInfo } from "@fal-ai/client";
import type {
  BytedanceOmnihumanV15Input,
  BytedanceOmnihumanV15Output,
  ImageFile,
  NanoBanana2EditInput,
  NanoBanana2Input,
  NanoBanana2Output,
  Veo31ExtendVideoInput,
  Veo31FirstLastFrameToVideoInput,
  Veo31ImageToVideoInput,
  Veo31ImageToVideoOutput,
  Veo31ReferenceToVideoInput,
} from "@fal-ai/client/endpoints";
import { HttpResponse, http } from "msw";
import sharp from "sharp";
import { z } from "zod";
import { encode, H264, TONE } from "../fixtures/encoded-media.ts";
import { requireHeader, serveHandlers } from "./vendor-server.ts";

interface Job {
  readonly model: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export type FakeFal = Awaited<ReturnType<typeof startFakeFal>>;

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

/** The type is Veo 3's, which has no 4k: https://fal.ai/models/fal-ai/veo3.1/image-to-video/api */
type AnimateInput = Omit<Veo31ImageToVideoInput, "resolution"> & { readonly resolution?: string };

const models: Readonly<Record<string, z.ZodType>> = {
  "fal-ai/veo3.1/image-to-video": veo.extend({
    image_url: file,
  }) satisfies z.ZodType<AnimateInput>,
  "fal-ai/veo3.1/first-last-frame-to-video": veo.extend({
    first_frame_url: file,
    last_frame_url: file,
  }) satisfies z.ZodType<Veo31FirstLastFrameToVideoInput>,
  "fal-ai/veo3.1/reference-to-video": veo.omit({ negative_prompt: true, seed: true }).extend({
    aspect_ratio: z.enum(["16:9", "9:16"]),
    duration: z.literal("8s"),
    image_urls: z.array(file).min(1),
  }) satisfies z.ZodType<Veo31ReferenceToVideoInput>,
  "fal-ai/veo3.1/extend-video": veo.extend({
    video_url: file,
    duration: z.literal("7s"),
    resolution: z.literal("720p"),
  }) satisfies z.ZodType<Veo31ExtendVideoInput>,
  "fal-ai/bytedance/omnihuman/v1.5": z.strictObject({
    image_url: file,
    audio_url: file,
    resolution: z.enum(["720p", "1080p"]),
    prompt: z.string().optional(),
  }) satisfies z.ZodType<BytedanceOmnihumanV15Input>,
  "fal-ai/nano-banana-2": image satisfies z.ZodType<NanoBanana2Input>,
  "fal-ai/nano-banana-2/edit": image.extend({
    image_urls: z.array(file).min(1),
  }) satisfies z.ZodType<NanoBanana2EditInput>,
};

export async function startFakeFal() {
  const key = `fal-${randomUUID()}`;
  const submitted: Job[] = [];
  const uploads = new Map<string, Buffer>();
  const cancelled = new Set<string>();
  const jobs = new Map<string, Job>();
  const results = new Map<string, Buffer>();
  const outputs: unknown[] = [];
  let isHeld = false;

  const keep = (bytes: Buffer, extension: string, origin: string): ImageFile => {
    const name = `${randomUUID()}.${extension}`;
    results.set(name, bytes);
    return { url: `${origin}/results/${name}`, file_name: name, file_size: bytes.length };
  };
  const make = async (
    { model, input }: Job,
    origin: string,
  ): Promise<Veo31ImageToVideoOutput | BytedanceOmnihumanV15Output | NanoBanana2Output> => {
    if (!model.includes("nano-banana")) {
      const video = keep(await encodeVideo(input), "mp4", origin);
      return model.includes("omnihuman") ? { video, duration: secondsOf(input) } : { video };
    }
    const drawn = Array.from({ length: Number(input.num_images) }, (_, at) => drawImage(input, at));
    const images = (await Promise.all(drawn)).map((bytes) => keep(bytes, "png", origin));
    return { images, description: "" };
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
    requireHeader("authorization", `Key ${key}`, () => refuse(401, "no")),
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
      return HttpResponse.json(inQueue(id, model, origin));
    }),
    http.put<{ id: string }>("*/requests/:id/cancel", ({ params }) => {
      if (!jobs.has(params.id)) return;
      cancelled.add(params.id);
      return HttpResponse.json({ status: "CANCELLATION_REQUESTED" }, { status: 202 });
    }),
    http.get<{ id: string }>("*/requests/:id/status", ({ request, params }) => {
      const job = jobs.get(params.id);
      if (!job) return refuse(404, "Request not found");
      const queued = inQueue(params.id, job.model, new URL(request.url).origin);
      if (isHeld) return HttpResponse.json(queued, { status: 202 });
      const { queue_position: _, ...urls } = queued;
      return HttpResponse.json({ ...urls, status: "COMPLETED", logs: [] } satisfies QueueStatus);
    }),
    http.get<{ id: string }>("*/requests/:id", async ({ request, params }) => {
      const job = jobs.get(params.id);
      if (!job) return;
      const files = urlsOf(job.input).flatMap((url) => uploads.get(url) ?? []);
      if (!files.every(isMedia)) return invalid("file_download_error");
      const output = outputs.shift() ?? (await make(job, new URL(request.url).origin));
      return HttpResponse.json(output as object);
    }),
  ]);

  return {
    ...server,
    key,
    /** The settings that make a server of the product use this API. */
    env: { FAL_KEY: key, FAL_BASE_URL: server.origin, FAL_STORAGE_URL: server.origin },
    /** The submitted requests, oldest first. */
    submitted,
    /** The uploaded files by their URLs. */
    uploads,
    /** The ids of cancelled requests. */
    cancelled,
    /** Keeps requests in the queue; with false they are completed at once. */
    hold(next: boolean) {
      isHeld = next;
    },
    /** Sets the next output, for any model. */
    outputNext: (output: unknown) => void outputs.push(output),
    /** Serves a file among the results, at `/results/name`. */
    serve: (name: string, bytes: Buffer) => void results.set(name, bytes),
  };
}

const refuse = (status: number, detail: string) => HttpResponse.json({ detail }, { status });

const invalid = (type: string) => {
  const error: ValidationErrorInfo = { loc: ["body"], msg: "fal says no", type };
  return HttpResponse.json({ detail: [error] }, { status: 422 });
};

function inQueue(id: string, model: string, origin: string) {
  // The path of the application, without the endpoint.
  const url = `${origin}/${model.split("/").slice(0, 2).join("/")}/requests/${id}`;
  const urls = { response_url: url, status_url: `${url}/status`, cancel_url: `${url}/cancel` };
  return { request_id: id, status: "IN_QUEUE", queue_position: 0, ...urls } satisfies QueueStatus;
}

const urlsOf = (input: Job["input"]): string[] =>
  Object.values(input)
    .flat()
    .filter((value): value is string => typeof value === "string" && value.startsWith("http"));

const isMedia = (bytes: Buffer): boolean =>
  /^(\x89PNG|\xff\xd8\xff|RIFF|ID3|....ftyp)/s.test(bytes.toString("latin1", 0, 12));

function drawImage(input: Job["input"], at: number): Promise<Buffer> {
  const [width, height] = input.aspect_ratio === "9:16" ? [768, 1376] : [1376, 768];
  const background = { r: 60 * at, g: 90, b: 200 - 40 * at };
  return sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();
}

const secondsOf = (input: Job["input"]) => Number.parseInt(String(input.duration ?? "3"), 10);

const videos = new Map<string, Promise<Buffer>>();

/** Encodes each kind of video once. */
function encodeVideo(input: Job["input"]): Promise<Buffer> {
  const seconds = secondsOf(input);
  const size = input.aspect_ratio === "9:16" ? "720x1280" : "1280x720";
  const sound = input.generate_audio || input.audio_url ? [...TONE, "-c:a", "aac"] : [];
  // Few frames a second, because only this fake pays for them.
  const options = ["-f", "lavfi", "-i", `testsrc=size=${size}:rate=6`, ...sound, ...H264];
  const name = [seconds, ...options].join(" ");
  const video = videos.get(name) ?? encode("mp4", seconds, [...options, "-movflags", "+faststart"]);
  videos.set(name, video);
  return video;
}
