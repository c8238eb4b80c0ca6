/**
 * Renders images and videos on this machine: playable files of the requested codec, size and length,
 * made from the caller's inputs. It is not a generative model: an image shows its prompt as a title
 * over a gradient or over the reference; a video is the still image, one image after the other, or the
 * input video whose last frame is held. `lipsync` is the still image with the audio, and generated audio is
 * a quiet tone. The `model` of an order is ignored.
 *
 * A video has the requested length. `extend` appends that length to its input, like the hosted
 * models, and `lipsync` is as long as its audio.
 */
import { randomUUID } from "node:crypto";
import { copyFile, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type AppError, appError, isAppError } from "../../../contract/app-error.ts";
import { FairQueue, isQueueRefusal, queueRefused } from "../../../platform/fair-queue.ts";
import type { Isolation } from "../../../platform/isolation/isolation.ts";
import { log } from "../../../platform/log.ts";
import { runtimePath } from "../../../platform/runtime-path.ts";
import type {
  ContentProvider,
  GeneratedFile,
  ImageOrder,
  MediaFile,
  Ordered,
  Submission,
  VideoOrder,
} from "../../port.ts";
import type { RenderRequest } from "./protocol.ts";
import { type Outcome, runJob } from "./render-process.ts";
import { canRender } from "./renderer.ts";

export interface RenderSettings {
  /** The queue in which orders wait for a slot. */
  readonly queue: FairQueue;
  /** Milliseconds that one order may take, not counting its wait in the queue. */
  readonly timeoutMs: number;
  /** Receives the cause of a failed order, for the operator's log only. */
  readonly report: (cause: string) => void;
  /** How renderings are isolated; the strongest that the host supports by default. */
  readonly isolation?: Isolation | undefined;
}

const defaults: RenderSettings = {
  queue: new FairQueue({ name: "renderings", slots: 2, waitersPerAccount: 20, maxWaitMs: 900_000 }),
  // One minute of lipsync in 4k takes several minutes on two processors.
  timeoutMs: 600_000,
  report: (cause) => log().warn({ cause }, "Rendering failed"),
};

/** Renders orders. After `signal` is aborted, a result or an error is meaningless. */
export interface Renderer {
  video(
    order: Ordered<VideoOrder>,
    folder: string,
    signal: AbortSignal,
  ): Promise<GeneratedFile | AppError>;
  images(
    order: Ordered<ImageOrder>,
    folder: string,
    signal: AbortSignal,
  ): Promise<readonly GeneratedFile[] | AppError>;
}

export function createRenderer(settings: Partial<RenderSettings> = {}): Renderer {
  const { queue, timeoutMs, report, isolation } = { ...defaults, ...settings };

  /** Leaves none of the paths behind when the job fails. */
  const render = async (
    accountId: string,
    request: RenderRequest,
    folder: string,
    inputs: readonly (MediaFile | undefined)[],
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<Outcome | AppError> => {
    const work = async () => {
      const files = inputs.flatMap((file) => (file ? [realpath(file.path)] : []));
      const job = { request, inputs: await Promise.all(files), folder, timeoutMs, signal };
      return runJob({ ...job, isolation });
    };
    const outcome = await queue.run(accountId, signal, work).catch((error: unknown) => {
      if (isQueueRefusal(error)) return queueRefused(error);
      if (signal.aborted) return { op: "ended", why: "aborted" } as const;
      throw error;
    });
    if (isAppError(outcome) || outcome.op === request.op) return outcome;
    for (const path of paths) await rm(path, { force: true });
    return outcome;
  };

  return {
    async video({ accountId, ...order }, folder, signal) {
      const dir = await realpath(folder);
      const path = join(dir, "video.mp4");
      const inputs = [order.image, order.endImage, order.video, order.audio];
      const request = { op: "video", order, path } as const;
      const outcome = await render(accountId, request, dir, inputs, [path], signal);
      if (isAppError(outcome)) return outcome;
      if (outcome.op === "video") return { path, contentType: "video/mp4" };
      return describe(outcome, FAILED.video, report);
    },

    async images({ accountId, ...order }, folder, signal) {
      const dir = await realpath(folder);
      const paths = Array.from({ length: order.count }, (_, at) =>
        runtimePath(dir, `image-${at + 1}.png`),
      );
      const request = { op: "images", order, paths } as const;
      const outcome = await render(accountId, request, dir, order.references, paths, signal);
      if (isAppError(outcome)) return outcome;
      if (outcome.op === "images") return paths.map((path) => ({ path, contentType: "image/png" }));
      return describe(outcome, FAILED.images, report);
    },
  };
}

/** @param failed the message for every failure that the caller cannot correct */
function describe(outcome: Outcome, failed: string, report: (cause: string) => void): AppError {
  if (outcome.op === "unusable") {
    report(`unusable input: ${outcome.reason}`);
    return appError("invalid_request", outcome.message);
  }
  const isLate = outcome.op === "ended" && outcome.why === "deadline";
  report(
    outcome.op === "failed" ? outcome.reason : outcome.op === "ended" ? outcome.why : outcome.op,
  );
  return appError(isLate ? "upstream_timeout" : "upstream_error", failed);
}

const NAME = "embedded";
const FAILED = { video: "Video generation failed", images: "Image generation failed" } as const;
/** How long one collection waits for the files. */
const COLLECT_MS = 10_000;

const submitted = z.object({ kind: z.enum(["video", "images"]), id: z.uuid() });
type Kind = z.output<typeof submitted>["kind"];
const stored = <T>() => z.custom<T>((value) => typeof value === "object" && value !== null);

interface Rendering {
  readonly files: Promise<readonly GeneratedFile[] | AppError>;
  readonly abort: AbortController;
}

/**
 * Returns the provider that renders on this machine. An order waits in a folder of `root`. Any process of the
 * machine can render it after the first one has died.
 */
export function createEmbeddedContent(root: string, renderer: Renderer): ContentProvider {
  /** The orders that this process has started to render. */
  const renderings = new Map<string, Rendering>();
  const folderOf = (id: string) => runtimePath(root, `order-${id}`);
  const remove = async (id: string): Promise<void> => {
    renderings.get(id)?.abort.abort();
    renderings.delete(id);
    await rm(folderOf(id), { recursive: true, force: true });
  };

  const submit = async (
    kind: Kind,
    order: object,
    signal: AbortSignal,
  ): Promise<Submission | AppError> => {
    if (signal.aborted) return appError("upstream_error", FAILED[kind]);
    const id = randomUUID();
    await mkdir(folderOf(id), { recursive: true });
    const keep = async (value: unknown): Promise<unknown> => {
      if (Array.isArray(value)) return Promise.all(value.map(keep));
      if (!isFile(value)) return value;
      const path = runtimePath(folderOf(id), randomUUID());
      await copyFile(value.path, path);
      // A URL may grant access to its file.
      return { ...value, path, url: "" };
    };
    const kept = Object.entries(order).map(async ([name, value]) => [name, await keep(value)]);
    const text = JSON.stringify(Object.fromEntries(await Promise.all(kept)));
    await writeFile(runtimePath(folderOf(id), "order.json"), text);
    return { kind, id, model: NAME };
  };

  const render = async (id: string, kind: Kind, signal: AbortSignal) => {
    const text = await readFile(runtimePath(folderOf(id), "order.json"), "utf8");
    // One folder for each attempt, because a process that drains may still be rendering the same order.
    const folder = await mkdtemp(runtimePath(folderOf(id), "rendered-"));
    const order: unknown = JSON.parse(text);
    if (kind === "images") {
      return renderer.images(stored<Ordered<ImageOrder>>().parse(order), folder, signal);
    }
    const file = await renderer.video(stored<Ordered<VideoOrder>>().parse(order), folder, signal);
    return isAppError(file) ? file : [file];
  };

  const start = (id: string, kind: Kind): Rendering => {
    const abort = new AbortController();
    const files = render(id, kind, abort.signal).catch((error: unknown) => {
      log().warn({ err: error }, "An order could not be rendered");
      return appError("upstream_error", FAILED[kind]);
    });
    const rendering = { files, abort };
    renderings.set(id, rendering);
    return rendering;
  };

  return {
    name: NAME,
    makesVideos: canRender("videos"),
    videoModel: () => NAME,
    imageModel: () => NAME,
    submitVideo: (order, signal) => submit("video", order, signal),
    submitImages: (order, signal) => submit("images", order, signal),

    async collect(submission, folder, signal) {
      const { id, kind } = submitted.parse(submission);
      const { files } = renderings.get(id) ?? start(id, kind);
      const patience = delay(COLLECT_MS, null, { signal, ref: false }).catch(() => null);
      const done = await Promise.race([files, patience]);
      if (done === null) return null;
      if (isAppError(done)) return done;
      return Promise.all(
        done.map(async (file) => {
          const path = join(folder, basename(file.path));
          await copyFile(file.path, path);
          return { ...file, path };
        }),
      );
    },

    cancel: (submission) => remove(submitted.parse(submission).id),
    forget: (submission) => remove(submitted.parse(submission).id),
  };
}

const isFile = (value: unknown): value is MediaFile =>
  typeof value === "object" && value !== null && "path" in value && "contentType" in value;
