/** What may be rendered and probed on this machine at a time, shared fairly between accounts. */
import { config } from "../../../platform/config.ts";
import { FairQueue } from "../../../platform/fair-queue.ts";
import { processWide } from "../../../platform/process-wide.ts";

/** More than `CONTENT_AT_ONCE` admits, unless that limit is off. */
const MAX_WAITING_RENDERS_PER_ACCOUNT = 200;

/** Renderings use all the processor they are given: more at a time would only make each one later. */
export function renderQueue(): FairQueue {
  return processWide("renderings", () => {
    const { RENDERS_AT_ONCE: slots, RENDER_WAIT_MS: maxWaitMs } = config();
    return new FairQueue({ slots, waitersPerAccount: MAX_WAITING_RENDERS_PER_ACCOUNT, maxWaitMs });
  });
}

/** Renderings take minutes and probes moments, so a probe never waits for a rendering. */
export function probeQueue(): FairQueue {
  return processWide(
    "probes",
    () => new FairQueue({ slots: 4, waitersPerAccount: 100, maxWaitMs: 60_000 }),
  );
}
