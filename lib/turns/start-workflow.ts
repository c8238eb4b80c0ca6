import { TURN_WORKFLOW } from "../engine/workflow-names.ts";
import type { RunCredentialForm } from "../identity/keys/derive-run-credential.ts";
import { services } from "../platform/services.ts";
import { inSpan, traceparent } from "../platform/telemetry/spans.ts";

/**
 * Starts the durable run of a claimed turn, which continues the current trace.
 * @param credential the form of the credential that the turn's sandbox gets
 */
export function startWorkflow(turnId: string, credential: RunCredentialForm): Promise<string> {
  const trace = traceparent();
  const input = { turnId, credential, ...(trace !== undefined && { traceparent: trace }) };
  return inSpan("turn.start", { attributes: { "app.turn.id": turnId } }, () =>
    services().engine.startRun(TURN_WORKFLOW, input),
  );
}
