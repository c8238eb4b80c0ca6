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
import { realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { type AppError, appError, isAppError } from "../../../contract/app-error.ts";
import { FairQueue, isQueueRefusal } from "../../../platform/fair-queue.ts";
import type { Isolation } from "../../../platform/isolation/isolation.ts";
import { log } from "../../../platform/log.ts";
import { queueRefused } from "../../../platform/queue-refused.ts";
import { runtimePath } from "../../../platform/runtime-path.ts";
import type { EditStep, MediaFile, RenderingProvider } from "../../port.ts";
import type { RenderRequest } from "./protocol.ts";
import { type Outcome, runJob } from "./render-process.ts";
import { canRender } from "./renderer.ts";

export interface EmbeddedSettings {
  /** The queue in which orders wait for a slot. */
  readonly queue: FairQueue;
  /** Milliseconds that one order may take, not counting its wait in the queue. */
  readonly timeoutMs: number;
  /** Receives the cause of a failed order, for the operator's log only. */
  readonly report: (cause: string) => void;
  /** How renderings are isolated; the strongest that the host supports by default. */
  readonly isolation?: Isolation | undefined;
}

const defaults: EmbeddedSettings = {
  queue: new FairQueue({ name: "renderings", slots: 2, waitersPerAccount: 20, maxWaitMs: 900_000 }),
  // One minute of lipsync in 4k takes several minutes on two processors.
  timeoutMs: 600_000,
  report: (cause) => log().warn({ cause }, "Rendering failed"),
};

export function createEmbeddedContent(settings: Partial<EmbeddedSettings> = {}): RenderingProvider {
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
    kind: "rendering",
    name: "embedded",
    makesVideos: canRender("videos"),

    async video({ accountId, ...order }, folder, signal) {
      const dir = await realpath(folder);
      const path = join(dir, "video.mp4");
      const own = [order.image, order.endImage, order.video, order.audio];
      const inputs = [...own, ...audioFilesOf(order.edit ?? [])];
      const request = { op: "video", order, path } as const;
      const outcome = await render(accountId, request, dir, inputs, [path], signal);
      if (isAppError(outcome)) return outcome;
      if (outcome.op === "video") return { path, contentType: "video/mp4" };
      return describe(outcome, "Video generation failed", report);
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
      return describe(outcome, "Image generation failed", report);
    },
  };
}

const audioFilesOf = (steps: readonly EditStep[]): MediaFile[] =>
  steps.flatMap((step) => (step.kind === "audio" ? [step.audio] : []));

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
