import { createParser, type EventSourceMessage } from "eventsource-parser";

/**
 * The events of a response, as they come; ends where the connection ends.
 *
 * @param longestSilenceMs without a byte for so long, the connection counts as dead: a computer
 * that slept or changed its network may hold one that will never say anything again.
 * @throws DOMException `TimeoutError` then; TypeError when the connection breaks.
 */
export async function* readServerEvents(
  response: Response,
  longestSilenceMs: number,
): AsyncGenerator<EventSourceMessage> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  try {
    for (;;) {
      const { done, value } = await withDeadline(reader.read(), longestSilenceMs);
      if (done) return;
      parser.feed(value);
      const complete = events;
      events = [];
      yield* complete;
    }
  } finally {
    // Of a connection that broke there is nothing to cancel.
    await reader.cancel().catch(() => {});
  }
}

function withDeadline<T>(promise: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new DOMException("The connection is silent", "TimeoutError")),
      ms,
    );
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
