import { createParser, type EventSourceMessage } from "eventsource-parser";

/**
 * Yields the server-sent events of a response until the connection ends.
 *
 * @param maxSilenceMs the connection counts as dead after this time without a byte. A computer that
 * slept or changed its network may hold a connection on which nothing will ever arrive.
 * @throws DOMException `TimeoutError` after that time; TypeError if the connection breaks.
 */
export async function* readServerEvents(
  response: Response,
  maxSilenceMs: number,
): AsyncGenerator<EventSourceMessage> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  try {
    for (;;) {
      const { done, value } = await withDeadline(reader.read(), maxSilenceMs);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      const complete = events;
      events = [];
      yield* complete;
    }
  } finally {
    // A broken connection cannot be cancelled.
    await reader.cancel().catch(() => {});
  }
}

function withDeadline<T>(promise: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new DOMException("The connection timed out", "TimeoutError")),
      ms,
    );
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
