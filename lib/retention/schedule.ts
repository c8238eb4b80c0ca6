import { config } from "../platform/config.ts";
import { log } from "../platform/log.ts";
import { processWide } from "../platform/process-wide.ts";
import { runRetention } from "./run-retention.ts";

/** Starts the retention job's timer in this process, unless the settings turn it off. */
export function scheduleRetention(): void {
  const intervalSeconds = config().RETENTION_INTERVAL_SECONDS;
  if (intervalSeconds === 0) return;
  processWide("retention timer", () => {
    let isRunning = false;
    return setInterval(async () => {
      if (isRunning) return;
      isRunning = true;
      await runRetention(intervalSeconds).catch((error: unknown) =>
        log().warn({ err: error }, "the retention job could not run"),
      );
      isRunning = false;
    }, intervalSeconds * 1_000).unref();
  });
}
