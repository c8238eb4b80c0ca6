/**
 * The lease of a task run distinguishes a process that has died from work that takes long: the process
 * sends heartbeats for the runs it executes, and a run whose lease expires becomes CRASHED
 * (`crash_lost_task_runs` in supabase/schemas/55_generations.sql).
 */
import { log } from "../platform/log.ts";
import { processWide } from "../platform/process-wide.ts";
import { continueTrace } from "../platform/telemetry/spans.ts";
import { renewLeases } from "./store.ts";

/** Long enough that a busy process or a short database outage does not lose a run. */
export const LEASE_SECONDS = 20;
const HEARTBEAT_MS = 5_000;

interface Heartbeat {
  readonly runIds: Set<string>;
  timer: NodeJS.Timeout | undefined;
}

const heartbeat = (): Heartbeat =>
  processWide("task leases", () => ({ runIds: new Set<string>(), timer: undefined }));

/** Renews the lease of a run that has just started. Returns the function that stops renewing it. */
export function holdLease(runId: string): () => void {
  const held = heartbeat();
  held.runIds.add(runId);
  // It may outlive the request that starts it, so it must not belong to its trace.
  held.timer ??= continueTrace(undefined, () => setInterval(beat, HEARTBEAT_MS).unref());
  return () => {
    held.runIds.delete(runId);
    if (held.runIds.size > 0) return;
    clearInterval(held.timer);
    held.timer = undefined;
  };
}

function beat(): void {
  renewLeases([...heartbeat().runIds], LEASE_SECONDS).catch((error: unknown) => {
    log().warn({ err: error }, "Task run leases could not be renewed");
  });
}
