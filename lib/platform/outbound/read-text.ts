/**
 * Reads responses of other services within bounds: a vendor that is broken or compromised must not be
 * able to fill this server's memory or to block it.
 */
import { measureJson } from "../measure-json.ts";

/** Many times the size of a page of a catalog, a list of models or a result. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_DEPTH = 100;
const MAX_VALUES = 500_000;

/** Resolves to the whole body; null as soon as it exceeds the limit, which counts decompressed bytes. */
export async function readBytes(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the body.
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Resolves to the body as text. @throws Error when it is too large or incomplete */
export async function readText(response: Response): Promise<string> {
  const bytes = await readBytes(response.body, MAX_BYTES);
  if (!bytes) throw new Error("The answer is too large");
  return new TextDecoder().decode(bytes);
}

/**
 * Resolves to the body as JSON.
 * @throws Error as `readText` does, and when the text is invalid, too deep, or has too many values
 */
export async function readJson(response: Response): Promise<unknown> {
  const text = await readText(response);
  const { depth, values } = measureJson(text);
  if (depth > MAX_DEPTH || values > MAX_VALUES) throw new Error("The answer is too complex");
  return JSON.parse(text);
}
