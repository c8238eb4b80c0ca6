import type { Meter, Tracer } from "@opentelemetry/api";
import { processWide } from "../process-wide.ts";

/**
 * The providers of the SDK once it has started. The SDK is not registered with `@opentelemetry/api`,
 * because the spans that Next, the Workflow SDK and the AI SDK would then add contain URLs and the
 * messages of errors.
 */
interface Providers {
  tracer: Tracer | undefined;
  meter: Meter | undefined;
  /** Whether spans may contain prompts and answers (`OTEL_RECORD_CONTENT`). */
  recordsContent: boolean;
}

/** Returns whether spans or metrics are recorded. */
export function isObserved(): boolean {
  const { tracer, meter } = providers();
  return tracer !== undefined || meter !== undefined;
}

export const providers = (): Providers =>
  processWide("telemetry", () => ({
    tracer: undefined,
    meter: undefined,
    recordsContent: false,
  }));
