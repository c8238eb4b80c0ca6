/**
 * What tells a run whose process has died from one that takes long: the process says again and
 * again that it still works on it, and when it falls silent the run has crashed
 * (`crash_lost_task_runs` in supabase/migrations/…_task_runs.sql).
 */
import { log } from "../../../platform/log.ts";
import { processWide } from "../../../platform/process-wide.ts";
import { renewLeases } from "./store.ts";

/** Long enough that a busy process or a short outage of the database loses no run. */
export const LEASE_SECONDS = 20;
const BEAT_MS = 5_000;

interface HeldLeases {
  readonly runIds: Set<string>;
  timer: NodeJS.Timeout | undefined;
}
const heldLeases = () =>
  processWide("task run leases", (): HeldLeases => ({ runIds: new Set(), timer: undefined }));

/** From the start of a run, which has a lease already, until the function it returns is called. */
export function holdLease(runId: string): () => void {
  const held = heldLeases();
  held.runIds.add(runId);
  held.timer ??= setInterval(beat, BEAT_MS).unref();
  return () => {
    held.runIds.delete(runId);
    if (held.runIds.size > 0) return;
    clearInterval(held.timer);
    held.timer = undefined;
  };
}

function beat(): void {
  renewLeases([...heldLeases().runIds], LEASE_SECONDS).catch((error: unknown) => {
    log().warn({ err: error }, "The leases of task runs were not renewed");
  });
}
