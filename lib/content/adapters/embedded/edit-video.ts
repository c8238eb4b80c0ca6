/** Edits videos that a hosted model generated, with the renderer of this machine. */
import { realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { type FairQueue, isQueueRefusal } from "../../../platform/fair-queue.ts";
import type { EditStep } from "../../port.ts";
import { runJob } from "./render-process.ts";
import { canRender } from "./renderer.ts";

const TIMEOUT_MS = 600_000;

export interface Edit {
  readonly accountId: string;
  /** The path of the generated video. */
  readonly video: string;
  readonly steps: readonly EditStep[];
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * Returns the path of the edited video, a new file in the folder; null when the video could not be
 * edited, for example on a machine without the codecs.
 *
 * @param report receives the cause of a failure, for the operator's log only
 */
export async function editVideo(
  { accountId, video, steps, folder, signal }: Edit,
  queue: FairQueue,
  report: (cause: string) => void,
): Promise<string | null> {
  if (!canRender("videos")) {
    report("edit: the renderer is not installed");
    return null;
  }
  const dir = await realpath(folder);
  const [input, path] = [await realpath(video), join(dir, "edited.mp4")];
  const audio = steps.flatMap((step) => (step.kind === "audio" ? [realpath(step.audio.path)] : []));
  const inputs = [input, ...(await Promise.all(audio))];
  const request = { op: "edit", input, steps, path } as const;
  try {
    const outcome = await queue.run(accountId, signal, () =>
      runJob({ request, inputs, folder: dir, timeoutMs: TIMEOUT_MS, signal }),
    );
    if (outcome.op === "edit") return path;
    report(`edit: ${"reason" in outcome ? outcome.reason : outcome.op}`);
  } catch (error) {
    if (!isQueueRefusal(error) && !signal.aborted) throw error;
    report("edit: the render queue refused it, or the order was aborted");
  }
  await rm(path, { force: true });
  return null;
}
