import { useEffect, useRef } from "react";

/**
 * Calls `poll` at an interval while `isActive` is true and the tab is visible, and at once when the
 * tab becomes visible again. Pass `isActive` as false during a request, so that requests never overlap.
 */
export function usePoll(poll: () => void, isActive: boolean, intervalMs = 2_500): void {
  const latest = useRef(poll);
  useEffect(() => {
    latest.current = poll;
  }, [poll]);
  useEffect(() => {
    if (!isActive) return;
    const pollIfVisible = () => {
      if (document.visibilityState === "visible") latest.current();
    };
    const timer = setInterval(pollIfVisible, intervalMs);
    document.addEventListener("visibilitychange", pollIfVisible);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", pollIfVisible);
    };
  }, [isActive, intervalMs]);
}
