"use client";
import { useEffect, useState } from "react";
import { describeAge } from "@/app/(console)/_hooks/describe-time.ts";

/** How long ago; the exact time is its tooltip. It keeps up with the clock. */
export function RelativeTime({
  date,
  className,
}: {
  readonly date: string;
  readonly className?: string;
}) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 20_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={date} title={new Date(date).toLocaleString()} className={className}>
      {describeAge(date, now)}
    </time>
  );
}
