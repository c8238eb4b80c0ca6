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
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import { log } from "@platform/kit/log";
import { runtimePath } from "@platform/kit/runtime-path";
import { z } from "zod";
import {
  type GeneratedFile,
  generationFailed,
  type ImageOrder,
  type MediaProvider,
  type Ordered,
  type Submission,
  type VideoOrder,
} from "../../port.ts";
import {
  canRender,
  mapFiles,
  type RenderRequest,
  type RenderSettings,
  render,
} from "./render-process.ts";

const NAME = "embedded";
/** How long one collection waits for the files. */
const COLLECT_MS = 10_000;

const submitted = z.object({ op: z.enum(["video", "image"]), id: z.uuid() });
/** This file has written it. */
const storedOrder = z.object({
  accountId: z.string(),
  request: z.custom<RenderRequest>((value) => typeof value === "object"),
});

interface Rendering {
  readonly files: Promise<readonly GeneratedFile[] | AppError>;
  readonly abort: AbortController;
}

/** An order waits in a folder of `root`. Any process of the machine can render it after the first one has died. */
export class EmbeddedMedia implements MediaProvider {
  readonly name = NAME;
  readonly notice =
    "Made by the renderer of this installation, which is no generative model: it draws the prompt over a gradient or over the input. The operator can set FAL_KEY.";
  readonly makesVideos = canRender("videos");
  readonly videoModel = () => NAME;
  readonly imageModel = () => NAME;
  readonly #root: string;
  readonly #settings: RenderSettings;
  /** The orders that this process has started to render. */
  readonly #renderings = new Map<string, Rendering>();

  constructor(root: string, settings: RenderSettings) {
    this.#root = root;
    this.#settings = settings;
  }

  submitVideo(ordered: Ordered<VideoOrder>, signal: AbortSignal): Promise<Submission | AppError> {
    const { accountId, ...order } = ordered;
    return this.#submit("video", { accountId, request: { op: "video", order } }, signal);
  }

  submitImages(ordered: Ordered<ImageOrder>, signal: AbortSignal): Promise<Submission | AppError> {
    const { accountId, ...order } = ordered;
    return this.#submit("image", { accountId, request: { op: "image", order } }, signal);
  }

  async collect(submission: Submission, folder: string, signal: AbortSignal) {
    const { op, id } = submitted.parse(submission);
    const { files } = this.#renderings.get(id) ?? this.#start(op, id);
    const patience = delay(COLLECT_MS, null, { signal, ref: false }).catch(() => null);
    const done = await Promise.race([files, patience]);
    if (done === null || isAppError(done)) return done;
    return Promise.all(
      done.map(async (file) => {
        const path = join(folder, basename(file.path));
        await copyFile(file.path, path);
        return { ...file, path };
      }),
    );
  }

  async cancel(submission: Submission): Promise<void> {
    const { id } = submitted.parse(submission);
    this.#renderings.get(id)?.abort.abort();
    this.#renderings.delete(id);
    await rm(this.#folderOf(id), { recursive: true, force: true });
  }

  forget(submission: Submission): Promise<void> {
    return this.cancel(submission);
  }

  async #submit(
    op: "video" | "image",
    order: z.output<typeof storedOrder>,
    signal: AbortSignal,
  ): Promise<Submission | AppError> {
    if (signal.aborted) return generationFailed(op);
    const id = randomUUID();
    await mkdir(this.#folderOf(id), { recursive: true });
    const copies: Promise<void>[] = [];
    const text = mapFiles(order, ({ contentType, path: source }) => {
      const path = runtimePath(this.#folderOf(id), randomUUID());
      copies.push(copyFile(source, path));
      // A URL may grant access to its file.
      return { contentType, path, url: "" };
    });
    await Promise.all(copies);
    await writeFile(runtimePath(this.#folderOf(id), "order.json"), text);
    return { op, id, model: NAME };
  }

  #start(op: "video" | "image", id: string): Rendering {
    const abort = new AbortController();
    const files = this.#render(id, abort.signal).catch((error: unknown) => {
      log().warn({ err: error }, "An order could not be rendered");
      return generationFailed(op);
    });
    const rendering = { files, abort };
    this.#renderings.set(id, rendering);
    return rendering;
  }

  async #render(id: string, signal: AbortSignal) {
    const text = await readFile(runtimePath(this.#folderOf(id), "order.json"), "utf8");
    // One folder for each attempt, because a process that drains may still be rendering the same order.
    const folder = await mkdtemp(runtimePath(this.#folderOf(id), "rendered-"));
    const { accountId, request } = storedOrder.parse(JSON.parse(text));
    return render(accountId, request, folder, signal, this.#settings);
  }

  #folderOf(id: string): string {
    return runtimePath(this.#root, `order-${id}`);
  }
}
