/**
 * Returns a stream that reads each piece only when its reader takes it, and ends the generator when it is
 * cancelled. Texts are encoded as UTF-8.
 */
export function streamOf(pieces: AsyncGenerator<Uint8Array | string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
      },
      cancel: async () => void (await pieces.return(undefined)),
    },
    { highWaterMark: 0 },
  );
}
