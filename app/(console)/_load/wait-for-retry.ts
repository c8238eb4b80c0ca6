const MAX_DELAY_MS = 5_000;
const FIRST_DELAY_MS = 250;

/**
 * Resolves when a request should be retried: after an exponential delay with jitter, so that clients
 * do not all return at once after a restart, or as soon as the browser is online or the tab visible.
 *
 * @throws the reason of the signal if it aborts.
 */
export function waitForRetry(attempt: number, signal: AbortSignal): Promise<void> {
  const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
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
    const timer = setTimeout(end, delay * (0.5 + Math.random() / 2));
    window.addEventListener("online", end);
    document.addEventListener("visibilitychange", whenVisible);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
