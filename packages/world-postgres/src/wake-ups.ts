/** Readers of streams that wait for a change, each under the name of its stream. */
export class WakeUps {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Wakes all readers that wait for `key`. */
  wake(key: string): void {
    const waiting = this.#waiting.get(key);
    if (!waiting) return;
    this.#waiting.delete(key);
    for (const wake of waiting) wake();
  }

  wakeAll(): void {
    for (const key of [...this.#waiting.keys()]) this.wake(key);
  }

  /**
   * Registers a reader. Register before the query: a change between the query and the wait then wakes the
   * reader. Afterwards call either `wait` or `forget`.
   */
  next(key: string, signal: AbortSignal) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting.add(wake));
    const forget = () => {
      waiting.delete(wake);
      if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
    };
    /** Resolves on a change, on abort, and after `limitMs`. */
    const wait = async (limitMs: number | undefined) => {
      const timer = limitMs === undefined ? undefined : setTimeout(wake, limitMs);
      signal.addEventListener("abort", wake);
      if (!signal.aborted) await promise;
      signal.removeEventListener("abort", wake);
      clearTimeout(timer);
      forget();
    };
    return { wait, forget };
  }
}
