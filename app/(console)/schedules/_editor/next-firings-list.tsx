import { formatInZone } from "@/app/(console)/_ui/format-time.ts";
import { nextFirings } from "@/app/(console)/schedules/_state/next-firings.ts";

/** The next five times of a schedule. It has the cron parser with it, so that pages load it when it is shown. */
export function NextFiringsList({
  cron,
  timezone,
}: {
  readonly cron: string;
  readonly timezone: string;
}) {
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
