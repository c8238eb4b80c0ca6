import { realpath, rm } from "node:fs/promises";
import { type AppError, appError } from "../../../contract/app-error.ts";
import { config } from "../../../platform/config.ts";
import { FairQueue, isQueueRefusal } from "../../../platform/fair-queue.ts";
import type { Isolation } from "../../../platform/isolation/isolation.ts";
import { log } from "../../../platform/log.ts";
import { processShare } from "../../../platform/process-share.ts";
import { processWide } from "../../../platform/process-wide.ts";
import { queueRefused } from "../../../platform/queue-refused.ts";
import { runtimePath } from "../../../platform/runtime-path.ts";
import { type GeneratedFile, generationFailed } from "../../port.ts";
import { namesOf, type RenderRequest, runJob } from "./render-process.ts";

/** More than `CONTENT_AT_ONCE` admits by default: an admitted run must not be refused here. */
const MAX_WAITING_RENDERS_PER_ACCOUNT = 200;
/** A rendering takes minutes, and waits longer than a command or a model call. */
const RENDER_WAITS = 2;

/**
 * Returns the queue that shares this process's renderings fairly between accounts. A rendering uses all
 * available processor time, so more of them at a time would only delay each one.
 */
function renderQueue(): FairQueue {
  return processWide("renderings", () => {
    const settings = config();
    return new FairQueue({
      name: "renderings",
      slots: processShare(settings, settings.RENDERS_AT_ONCE, 1),
      waitersPerAccount: MAX_WAITING_RENDERS_PER_ACCOUNT,
      maxWaitMs: RENDER_WAITS * settings.QUEUE_WAIT_MS,
    });
  });
}

export interface RenderSettings {
  /** The queue in which orders wait for a slot. */
  readonly queue?: FairQueue;
  /** Milliseconds that one order may take, not counting its wait in the queue. */
  readonly timeoutMs?: number;
  /** Receives the cause of a failed order, for the operator's log only. */
  readonly report?: (cause: string) => void;
  /** How renderings are isolated; the strongest that the host supports by default. */
  readonly isolation?: Isolation;
}

/** Renders and edits media on this machine, within the account's fair share of it. */
export class Renderer {
  readonly #settings: RenderSettings;

  constructor(settings: RenderSettings = {}) {
    this.#settings = settings;
  }

  /**
   * Writes the files of a request into the folder, or none. After `signal` is aborted, a result or an error is
   * meaningless.
   */
  async render(
    accountId: string,
    request: RenderRequest,
    workFolder: string,
    signal: AbortSignal,
  ): Promise<readonly GeneratedFile[] | AppError> {
    // One minute of lipsync in 4k takes several minutes on two processors.
    const { queue = renderQueue(), timeoutMs = 600_000, isolation } = this.#settings;
    const folder = await realpath(workFolder);
    const kind = request.op === "image" ? "image" : "video";
    const job = { request, folder, timeoutMs, isolation, signal };
    try {
      const outcome = await queue.run(accountId, signal, () => runJob(job));
      const paths = namesOf(request).map((name) => runtimePath(folder, name));
      if (outcome.op === "done") {
        return paths.map((path) => ({
          path,
          contentType: kind === "video" ? "video/mp4" : "image/png",
        }));
      }
      for (const path of paths) await rm(path, { force: true });
      this.#report(`${request.op}: ${outcome.op}: ${outcome.reason}`);
      if (outcome.op === "unusable") return appError("invalid_request", outcome.message);
      const failed = generationFailed(kind);
      return outcome.reason === "deadline" ? { ...failed, code: "upstream_timeout" } : failed;
    } catch (error) {
      if (isQueueRefusal(error)) return queueRefused(error);
      if (signal.aborted) return generationFailed(kind);
      throw error;
    }
  }

  #report(cause: string): void {
    if (this.#settings.report) this.#settings.report(cause);
    else log().warn({ cause }, "Rendering failed");
  }
}
