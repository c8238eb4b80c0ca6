/** The common part of backup and restore. */

/** @throws Error when the database is not the embedded one. */
export function refuseHosted(): void {
  if (!process.env.SUPABASE_URL) return;
  throw new Error(
    "SUPABASE_URL names a hosted project, which has backups of its own: see docs/deploy.md, Backup.",
  );
}

/** Aborts `signal` when this process is to end: nothing unfinished may be left behind. */
export function interruption(): { signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const abort = () => controller.abort(new Error("Interrupted."));
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of signals) process.on(name, abort);
  return {
    signal: controller.signal,
    end: () => {
      for (const name of signals) process.off(name, abort);
    },
  };
}
