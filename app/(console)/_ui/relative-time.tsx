import { useClock } from "../_hooks/use-clock.ts";
import { formatAge, formatDateTime } from "./format.ts";

/** The age of a date, kept up to date, with the exact time as its tooltip. */
export function RelativeTime({ date, className }: Readonly<{ date: string; className?: string }>) {
  const now = useClock(true, 20_000);
  return (
    <time dateTime={date} title={formatDateTime(date)} className={className}>
      {formatAge(date, now)}
    </time>
  );
}
