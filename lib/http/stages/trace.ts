/**
 * Measures each request, and makes it the first span of a trace. The trace of an incoming `traceparent`
 * is only linked: a caller that could name the trace would decide whether and where it is recorded.
 */
import { startTimer } from "../../platform/telemetry/metrics.ts";
import { inSpan } from "../../platform/telemetry/spans.ts";
import type { Exchange } from "../exchange.ts";

export function trace(
  { plan, request, requestId }: Exchange,
  answer: () => Promise<Response>,
): Promise<Response> {
  const { method, path } = plan.contract;
  const what = { "http.request.method": method, "http.route": path };
  const measure = startTimer("http.server.request.duration");
  return inSpan(
    `${method} ${path}`,
    {
      kind: "server",
      isRoot: true,
      linkTo: request.headers.get("traceparent"),
      attributes: { ...what, "app.request.id": requestId },
    },
    async (span) => {
      const response = await answer();
      const { status } = response;
      span.set({ "http.response.status_code": status });
      if (status >= 500) span.fail(String(status));
      measure({ ...what, "http.response.status_code": status });
      return response;
    },
  );
}
