import pg from "pg";

/** Rows are short, and each chunk of a response has a cost of its own. */
const MIN_CHUNK_CHARS = 32_768;

/**
 * Runs a statement that returns texts in the column `answer`, and resolves with the stream of all texts as soon as
 * there is the first one, or to undefined when there is none. Releases the client at the end of the
 * statement, which does not wait for a slow reader.
 * @throws what the statement fails with before its first row; the stream fails with what comes later
 */
export function streamTexts(
  client: pg.PoolClient,
  statement: { readonly name: string; readonly text: string; readonly values: unknown[] },
): Promise<ReadableStream<Uint8Array> | undefined> {
  const encoder = new TextEncoder();
  const { promise, resolve, reject } = Promise.withResolvers<
    ReadableStream<Uint8Array> | undefined
  >();
  let chunk = "";
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const stream = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
    cancel() {
      controller = undefined;
    },
  });

  const end = (error: Error | null): void => {
    query.removeAllListeners("row");
    client.off("error", ignore);
    client.release(error ?? undefined);
    if (error) {
      reject(error);
      controller?.error(error);
    } else {
      resolve(undefined);
      if (chunk !== "") controller?.enqueue(encoder.encode(chunk));
      controller?.close();
    }
  };
  // Not as a listener: with a timeout, the client takes the query's errors for itself.
  const query = Object.assign(new pg.Query(statement), { callback: end });
  query.on("row", ({ answer }: { readonly answer: string }) => {
    resolve(stream);
    chunk += answer;
    if (chunk.length < MIN_CHUNK_CHARS) return;
    controller?.enqueue(encoder.encode(chunk));
    chunk = "";
  });
  // The query is told of it, too.
  client.on("error", ignore);
  client.query(query);
  return promise;
}

function ignore(): void {}
