import { isSchedule, nextRun } from "@/lib/schedules/next-run.ts";

const COUNT = 5;

/** Returns the next five times of a schedule, computed as the server does; null for one that it would refuse. */
export function nextFirings(cron: string, timezone: string, after: Date): Date[] | null {
  if (!isSchedule(cron)) return null;
  const firings: Date[] = [];
  for (let at = nextRun(cron, timezone, after); at !== null && firings.length < COUNT; ) {
    firings.push(at);
    at = nextRun(cron, timezone, at);
  }
  return firings;
}
