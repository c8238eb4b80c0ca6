import { config } from "../platform/config.ts";
import { runPeriodically } from "../platform/run-periodically.ts";
import { runRetention } from "./run-retention.ts";

/** Starts the retention job's timer in this process, unless the settings turn it off. */
export function scheduleRetention(): void {
  const intervalSeconds = config().RETENTION_INTERVAL_SECONDS;
  runPeriodically("retention", intervalSeconds, () => runRetention(intervalSeconds));
}
