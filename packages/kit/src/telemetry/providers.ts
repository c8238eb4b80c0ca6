/** The providers of the SDK, and prompts and answers in spans where the operator asks for them. */
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
  /** The instruments of metrics by name, each of which the meter makes once. */
  readonly instruments: Map<string, object>;
}

/** Returns whether spans or metrics are recorded. */
export function isObserved(): boolean {
  const { tracer, meter } = providers();
  return tracer !== undefined || meter !== undefined;
}

/** Returns the providers of this process. */
export const providers = (): Providers =>
  processWide("telemetry", () => ({
    tracer: undefined,
    meter: undefined,
    recordsContent: false,
    instruments: new Map(),
  }));

const MAX_CHARS = 128 * 1024;
/** API keys and the tokens of runs, which a conversation may contain. */
const CREDENTIAL = /\b(?:ap|rt)_[0-9A-Za-z]{49}\b/g;

/** Returns whether spans may contain content (`OTEL_RECORD_CONTENT`). */
export const recordsContent = (): boolean => providers().recordsContent;

/** Returns the value as a JSON text for a span, bounded and without this service's credentials. */
export function toContent(value: unknown): string {
  return JSON.stringify(value).replaceAll(CREDENTIAL, "[redacted]").slice(0, MAX_CHARS);
}
