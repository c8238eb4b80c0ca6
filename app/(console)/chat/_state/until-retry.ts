/** Longest wait between two attempts. */
const LONGEST_MS = 5_000;
const FIRST_MS = 250;

/**
 * In a browser: resolves when it is worth trying again. Each attempt waits twice as long as the one
 * before, with some chance in it, so that all the tabs of a service that restarts do not come back
 * at once; a network that comes back and a tab that is looked at again are tried at once.
 *
 * @throws the signal's reason when it aborts.
 */
export function untilRetry(attempt: number, signal: AbortSignal): Promise<void> {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt);
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      window.removeEventListener("online", end);
      document.removeEventListener("visibilitychange", whenVisible);
      signal.removeEventListener("abort", end);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const whenVisible = () => {
      if (document.visibilityState === "visible") end();
    };
    const timer = setTimeout(end, longest * (0.5 + Math.random() / 2));
    window.addEventListener("online", end);
    document.addEventListener("visibilitychange", whenVisible);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
