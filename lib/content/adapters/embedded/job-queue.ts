/** What may be rendered and probed on this machine at a time, shared fairly between accounts. */
import { config } from "../../../platform/config.ts";
import { FairQueue } from "../../../platform/fair-queue.ts";

declare global {
  // Shared by all routes, which Next may load separately.
  var agentPlatformRenders: FairQueue | undefined;
  var agentPlatformProbes: FairQueue | undefined;
}

/** More than `CONTENT_AT_ONCE` lets in, unless that limit is off. */
const WAITING_RENDERS_OF_ACCOUNT = 200;

/** Renderings use all the processor they are given: more at a time would only make each one later. */
export function renderQueue(): FairQueue {
  const { RENDERS_AT_ONCE: slots, RENDER_WAIT_MS: maxWaitMs } = config();
  const limits = { slots, waitersPerAccount: WAITING_RENDERS_OF_ACCOUNT, maxWaitMs };
  globalThis.agentPlatformRenders ??= new FairQueue(limits);
  return globalThis.agentPlatformRenders;
}

/** Renderings take minutes and probes moments, so a probe never waits for a rendering. */
export function probeQueue(): FairQueue {
  globalThis.agentPlatformProbes ??= new FairQueue({
    slots: 4,
    waitersPerAccount: 100,
    maxWaitMs: 60_000,
  });
  return globalThis.agentPlatformProbes;
}
