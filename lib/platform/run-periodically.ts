import { drain } from "./drain.ts";
import { log } from "./log.ts";
import { processWide } from "./process-wide.ts";

/**
 * Repeats work in this process, never twice at a time and not once the process drains. A failure is
 * logged, and the next time comes as planned.
 * @param intervalSeconds 0 starts nothing
 */
export function runPeriodically(
  name: string,
  intervalSeconds: number,
  work: () => Promise<unknown>,
): void {
  if (intervalSeconds === 0) return;
  processWide(`${name} timer`, () => {
    let isRunning = false;
    return setInterval(async () => {
      if (isRunning || drain().hasBegun) return;
      isRunning = true;
      await work().catch((error: unknown) => log().warn({ err: error }, `${name} failed`));
      isRunning = false;
    }, intervalSeconds * 1_000).unref();
  });
}
