import { config, processShare } from "../../../platform/config.ts";
import { FairQueue } from "../../../platform/fair-queue.ts";
import { processWide } from "../../../platform/process-wide.ts";

/** More than `CONTENT_AT_ONCE` admits by default: an admitted run must not be refused here. */
const MAX_WAITING_RENDERS_PER_ACCOUNT = 200;

/** A rendering takes minutes, and waits longer than a command or a model call. */
const RENDER_WAITS = 2;

/**
 * Returns the queue that shares this process's renderings fairly between accounts. A rendering uses all
 * available processor time, so more of them at a time would only delay each one.
 */
export function renderQueue(): FairQueue {
  return processWide("renderings", () => {
    const settings = config();
    const slots = processShare(settings, settings.RENDERS_AT_ONCE, 1);
    const maxWaitMs = RENDER_WAITS * settings.QUEUE_WAIT_MS;
    return new FairQueue({
      name: "renderings",
      slots,
      waitersPerAccount: MAX_WAITING_RENDERS_PER_ACCOUNT,
      maxWaitMs,
    });
  });
}
