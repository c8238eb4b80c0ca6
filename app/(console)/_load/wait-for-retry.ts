const MAX_DELAY_MS = 5_000;
const FIRST_DELAY_MS = 250;

/**
 * Resolves when a request should be retried: after an exponential delay with jitter, or as soon as the
 * browser is online or the tab visible. The jitter spreads the clients that return after a restart.
 *
 * @throws the reason of the signal if it aborts.
 */
export function waitForRetry(attempt: number, signal: AbortSignal): Promise<void> {
  const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
  return new Promise((resolve, reject) => {
    const listening = new AbortController();
    const end = () => {
      clearTimeout(timer);
      listening.abort();
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const whenVisible = () => document.visibilityState === "visible" && end();
    const timer = setTimeout(end, delay * (0.5 + Math.random() / 2));
    window.addEventListener("online", end, { signal: listening.signal });
    document.addEventListener("visibilitychange", whenVisible, { signal: listening.signal });
    signal.addEventListener("abort", end, { signal: listening.signal });
    if (signal.aborted) end();
  });
}
