"use client";
import { useEffect, useState } from "react";
import { formatAge, formatDateTime } from "./format.ts";

/** The age of a date, kept up to date, with the exact time as its tooltip. */
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
    <time dateTime={date} title={formatDateTime(date)} className={className}>
      {formatAge(date, now)}
    </time>
  );
}
