/**
 * Starts the OpenTelemetry SDK. instrumentation.ts imports this file only where an endpoint is set; the
 * SDK's packages read the rest from the standard `OTEL_*` variables themselves: the exporters' endpoint,
 * headers, timeout and compression, and the attributes of the resource.
 */
import { context, DiagLogLevel, diag } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPMetricExporter as JsonMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPMetricExporter as ProtobufMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter as JsonTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { log } from "@platform/kit/log";
import { providers } from "@platform/kit/telemetry/providers";
import { waitUntil } from "@vercel/functions";
import type { Config } from "../config.ts";
import { observeProcess } from "./observe-process.ts";

const NAME = "agent-platform-api";
/** Unsent telemetry must not hold up the end of a process for longer. */
const FLUSH_MS = 3_000;

/** Returns a function that flushes the telemetry when the process is about to exit. */
export function startTelemetry(settings: Config): () => Promise<void> {
  const report = (message: string) => log().warn({ message: message.slice(0, 500) }, "telemetry");
  const quiet = () => {};
  diag.setLogger(
    { error: report, warn: report, info: quiet, debug: quiet, verbose: quiet },
    DiagLogLevel.WARN,
  );
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const resource = defaultResource()
    .merge(resourceFromAttributes({ "service.name": NAME }))
    .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }));
  const known = providers();
  known.recordsContent = settings.OTEL_RECORD_CONTENT;
  const tracers = startTraces(settings, resource);
  const meters = startMetrics(settings, resource);
  known.tracer = tracers.getTracer(NAME);
  known.meter = meters.getMeter(NAME);
  observeProcess(settings.DATA_DIR);
  return () => within(FLUSH_MS, Promise.allSettled([tracers.forceFlush(), meters.forceFlush()]));
}

function startTraces(settings: Config, resource: Resource): TracerProvider {
  const isJson = settings.OTEL_EXPORTER_OTLP_PROTOCOL === "http/json";
  const batches = new BatchSpanProcessor({
    exporter: isJson ? new JsonTraceExporter() : new ProtobufTraceExporter(),
    scheduledDelayMillis: settings.SPANS_INTERVAL_MS,
  });
  return new TracerProvider({
    resource,
    sampler: new ParentBasedSampler({
      root: new TraceIdRatioBasedSampler(settings.OTEL_TRACES_SAMPLER_ARG),
    }),
    spanProcessors: settings.VERCEL ? [batches, flushAfterRequests(batches)] : [batches],
  });
}

function startMetrics(settings: Config, resource: Resource): MeterProvider {
  const isJson = settings.OTEL_EXPORTER_OTLP_PROTOCOL === "http/json";
  const exportIntervalMillis = settings.METRICS_INTERVAL_MS;
  const reader = new PeriodicExportingMetricReader({
    exporter: isJson ? new JsonMetricExporter() : new ProtobufMetricExporter(),
    exportIntervalMillis,
    exportTimeoutMillis: Math.min(exportIntervalMillis, 30_000),
  });
  return new MeterProvider({ resource, readers: [reader] });
}

/** On Vercel a function is frozen after its response, and spans that wait for a batch with it. */
function flushAfterRequests(batches: BatchSpanProcessor): SpanProcessor {
  return {
    onStart() {},
    onEnd({ parentSpanContext }: ReadableSpan) {
      const isFirst = parentSpanContext === undefined || parentSpanContext.isRemote === true;
      if (isFirst) waitUntil(batches.forceFlush());
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  };
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}
