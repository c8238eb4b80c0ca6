/**
 * Returns the stream, and reports its parts.
 * @param watch.part is called with each part before it is passed on
 * @param watch.map returns the replacement of a part
 * @param watch.end is called once when the stream has ended, has failed or is cancelled
 */
export function watchStream<T>(
  stream: ReadableStream<T>,
  watch: {
    readonly part?: (part: T) => void;
    readonly map?: (part: T) => T;
    readonly end: (error?: unknown) => void;
  },
): ReadableStream<T> {
  const reader = stream.getReader();
  return new ReadableStream<T>({
    async pull(controller) {
      const next = await reader.read().catch((error: unknown) => {
        watch.end(error);
        throw error;
      });
      if (!next.done) {
        watch.part?.(next.value);
        return controller.enqueue(watch.map ? watch.map(next.value) : next.value);
      }
      watch.end();
      controller.close();
    },
    async cancel(reason) {
      watch.end(reason ?? "cancelled");
      await reader.cancel(reason);
    },
  });
}

/**
 * Returns `end`, which is also called with "aborted" when the signal aborts: a caller that aborts may leave the
 * stream unread. Once a call has ended, nothing of it is left on the signal, because Node.js keeps a signal of
 * `AbortSignal.any` for as long as it has listeners.
 */
export function endWith(
  signal: AbortSignal | undefined,
  end: (error?: unknown) => void,
): (error?: unknown) => void {
  const abort = () => ended("aborted");
  const ended = (error?: unknown) => {
    signal?.removeEventListener("abort", abort);
    end(error);
  };
  signal?.addEventListener("abort", abort);
  return ended;
}
