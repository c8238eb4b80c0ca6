/**
 * Outbound requests in spans, which end when the headers arrive and have nothing of the URL. No
 * `traceparent` is sent: a vendor gets only the data that its API needs.
 */
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
