import { continueTrace, inSpan } from "../platform/telemetry/spans.ts";
import type { GenerationJob } from "./generation-steps.ts";

/** Runs a durable step of a generation in the trace of the request that ordered it. */
export const traceGeneration = <T>(
  { runId, traceparent }: GenerationJob,
  step: "submit" | "collect" | "fail",
  work: () => Promise<T>,
): Promise<T> =>
  continueTrace(traceparent, () =>
    inSpan(`generation.${step}`, { isRoot: true, attributes: { "app.run.id": runId } }, work),
  );
