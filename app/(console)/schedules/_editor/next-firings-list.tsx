import { isSchedule, nextRun } from "@/lib/tasks/next-run.ts";
import { formatInZone } from "../../_ui/format.ts";

/** The next five times of a schedule. It includes the cron parser, so pages load it on demand. */
export function NextFiringsList({ cron, timezone }: Readonly<{ cron: string; timezone: string }>) {
  const firings = nextFirings(cron, timezone, new Date());
  if (firings === null || firings.length === 0) {
    return (
      <p className="text-sm text-muted-foreground">
        {firings === null
          ? "No times yet: the expression is not valid."
          : "It has no time to come."}
      </p>
    );
  }
  return (
    <ol className="flex flex-col gap-1 text-sm tabular-nums">
      {firings.map((at) => (
        <li key={at.getTime()}>
          <time dateTime={at.toISOString()}>{formatInZone(at, timezone)}</time>
        </li>
      ))}
    </ol>
  );
}

const COUNT = 5;

/** Returns the next five times of a schedule, computed as the server does; null for one that it would refuse. */
function nextFirings(cron: string, timezone: string, after: Date): Date[] | null {
  if (!isSchedule(cron)) return null;
  const firings: Date[] = [];
  for (let at = nextRun(cron, timezone, after); at !== null && firings.length < COUNT; ) {
    firings.push(at);
    at = nextRun(cron, timezone, at);
  }
  return firings;
}
