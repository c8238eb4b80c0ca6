/** An OpenTelemetry collector on loopback, which keeps the received data (OTLP over HTTP). */
import { HttpResponse, http } from "msw";
import { z } from "zod";
import { serveHandlers } from "./vendor-server.ts";

const attributes = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) }))
  .default([])
  .transform((list) =>
    Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]])),
  );
const resource = z.object({ attributes });
const span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  attributes,
  events: z.array(z.unknown()).default([]),
  links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
  status: z.object({ code: z.number().optional(), message: z.string().optional() }),
});
const traces = z.object({
  resourceSpans: z.array(
    z.object({ resource, scopeSpans: z.array(z.object({ spans: z.array(span) })) }),
  ),
});
const point = z.object({
  attributes,
  asDouble: z.number().optional(),
  asInt: z.coerce.number().optional(),
  count: z.coerce.number().optional(),
});
const points = z.object({ dataPoints: z.array(point) }).optional();
const metric = z.object({ name: z.string(), sum: points, gauge: points, histogram: points });
const metrics = z.object({
  resourceMetrics: z.array(
    z.object({ resource, scopeMetrics: z.array(z.object({ metrics: z.array(metric) })) }),
  ),
});

export type ReceivedSpan = z.output<typeof span> & { readonly process: string };
export type FakeCollector = Awaited<ReturnType<typeof startFakeCollector>>;

const processOf = (from: z.output<typeof resource>) =>
  String(from.attributes["service.instance.id"]);

export async function startFakeCollector() {
  const spans: ReceivedSpan[] = [];
  /** The last export of each process; counters count from its start. */
  const latest = new Map<string, z.output<typeof metric>[]>();
  const bodies: string[] = [];
  const types = new Set<string | null>();

  const keep = async (request: Request): Promise<string> => {
    const type = request.headers.get("content-type");
    const body = Buffer.from(await request.arrayBuffer()).toString("latin1");
    types.add(type);
    bodies.push(body);
    return type === "application/json" ? Buffer.from(body, "latin1").toString() : "{}";
  };
  const server = await serveHandlers([
    http.post("/v1/traces", async ({ request }) => {
      const received = traces.safeParse(JSON.parse(await keep(request)));
      for (const { resource: from, scopeSpans } of received.data?.resourceSpans ?? []) {
        const process = processOf(from);
        spans.push(...scopeSpans.flatMap((one) => one.spans.map((each) => ({ ...each, process }))));
      }
      return HttpResponse.json({});
    }),
    http.post("/v1/metrics", async ({ request }) => {
      const received = metrics.safeParse(JSON.parse(await keep(request)));
      for (const { resource: from, scopeMetrics } of received.data?.resourceMetrics ?? []) {
        latest.set(
          processOf(from),
          scopeMetrics.flatMap((one) => one.metrics),
        );
      }
      return HttpResponse.json({});
    }),
  ]);
  return {
    /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
    url: server.origin,
    spans: spans as readonly ReceivedSpan[],
    /** The spans of one trace. */
    traceOf: (traceId: string) => spans.filter((one) => one.traceId === traceId),
    /** All that was received, as it was sent: in protobuf, texts are as they are. */
    received: () => bodies.join("\n"),
    /** The content types of the received requests. */
    types: types as ReadonlySet<string | null>,
    /** Names of the metrics that were received. */
    metricNames: () => new Set([...latest.values()].flat().map(({ name }) => name)),
    /** The sum over all processes of the points with these labels; observations of a histogram. */
    total(name: string, labels: Readonly<Record<string, unknown>> = {}): number {
      const found = [...latest.values()].flat().filter((one) => one.name === name);
      return found
        .flatMap(({ sum, gauge, histogram }) => (sum ?? gauge ?? histogram)?.dataPoints ?? [])
        .filter((one) =>
          Object.entries(labels).every(([key, value]) => one.attributes[key] === value),
        )
        .reduce((total, one) => total + (one.asInt ?? one.asDouble ?? one.count ?? 0), 0);
    },
    /** All labels of all metrics, as `name=value`. */
    labels: () =>
      new Set(
        [...latest.values()]
          .flat()
          .flatMap(({ sum, gauge, histogram }) => (sum ?? gauge ?? histogram)?.dataPoints ?? [])
          .flatMap((one) =>
            Object.entries(one.attributes).map(([key, value]) => `${key}=${value}`),
          ),
      ),
    close: server.close,
  };
}
