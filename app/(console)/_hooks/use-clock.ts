import { useEffect, useState } from "react";

/** Returns the current time in milliseconds, updated at an interval while `isTicking` is true. */
export function useClock(isTicking: boolean, intervalMs = 1_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isTicking) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [isTicking, intervalMs]);
  return now;
}
