import { useEffect, useRef } from "react";

/**
 * Calls `work` again and again while `isActive` and the tab is in sight, and at once when the tab
 * comes back into sight. `isActive` is false while the last call is under way, so that a slow answer
 * is waited for.
 */
export function usePoll(work: () => void, isActive: boolean, milliseconds = 2_500): void {
  const latest = useRef(work);
  useEffect(() => {
    latest.current = work;
  }, [work]);
  useEffect(() => {
    if (!isActive) return;
    const look = () => {
      if (document.visibilityState === "visible") latest.current();
    };
    const timer = setInterval(look, milliseconds);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [isActive, milliseconds]);
}
