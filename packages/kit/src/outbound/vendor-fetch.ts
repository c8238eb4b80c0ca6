/**
 * Requests to other services, in spans that end when the headers arrive and have nothing of the URL. No
 * `traceparent` is sent: a vendor gets only the data that its API needs. Responses are read within bounds:
 * a vendor that is broken or compromised must not be able to fill this server's memory or to block it.
 */
import { measureJson } from "../measure-json.ts";
import { startTimer } from "../telemetry/metrics.ts";
import { errorType, inSpan, type Vendor } from "../telemetry/spans.ts";

/** Works like `fetch`. */
export function vendorFetch(
  vendor: Vendor,
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  const method = init.method ?? (input instanceof Request ? input.method : "GET");
  return traceRequest(vendor, method, () => fetch(input, init));
}

export async function traceRequest<R extends { readonly status: number }>(
  vendor: Vendor,
  method: string,
  send: () => Promise<R>,
): Promise<R> {
  const measure = startTimer("http.client.request.duration");
  const labels = { "peer.service": vendor, "http.request.method": method };
  try {
    const options = { kind: "client", attributes: labels } as const;
    return await inSpan(`vendor ${vendor}`, options, async (span) => {
      const response = await send();
      const { status } = response;
      span.set({ "http.response.status_code": status });
      const hasFailed = status >= 400;
      if (hasFailed) span.fail(String(status));
      const failure = hasFailed && { "error.type": String(status) };
      measure({ ...labels, "http.response.status_code": status, ...failure });
      return response;
    });
  } catch (error) {
    measure({ ...labels, "error.type": errorType(error) });
    throw error;
  }
}

/** Many times the size of a page of a catalog, a list of models or a result. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_DEPTH = 100;
const MAX_VALUES = 500_000;

/** Resolves to the whole body; null as soon as it exceeds the limit, which counts decompressed bytes. */
export async function readBytes(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<Buffer<ArrayBuffer> | null> {
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
