/** A `fetch` for the SDKs of model vendors, which read responses of any size into memory. */
import { vendorFetch } from "@platform/kit/outbound/vendor-fetch";

/** The limit for a response, including the overhead of one event for each delta. */
const MAX_BYTES = 64 * 1024 * 1024;
/** The limit between two line feeds: for an event of a stream, or for a whole response. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** Works like `fetch`, but the body fails as soon as it exceeds a limit. */
export const boundFetch: typeof fetch = async (input, init) => {
  const response = await vendorFetch("model", input, init);
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(boundBytes()), { status, statusText, headers });
};

function boundBytes(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  let lineBytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      const last = chunk.lastIndexOf(LINE_FEED);
      lineBytes = last < 0 ? lineBytes + chunk.byteLength : chunk.byteLength - last - 1;
      if (bytes > MAX_BYTES || lineBytes > MAX_LINE_BYTES) {
        throw new Error("The model server's answer is too large");
      }
      controller.enqueue(chunk);
    },
  });
}
