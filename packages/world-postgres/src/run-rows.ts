/**
 * Translates between the rows of the engine's tables and the Workflow SDK's entities. The entities are
 * wide unions and only this engine writes the rows, so the types assert the content of the schema.
 */
import { WorkflowWorldError } from "@workflow/errors";
import {
  type Event,
  EventSchema,
  type Hook,
  SPEC_VERSION_SUPPORTS_CBOR_QUEUE_TRANSPORT,
  type Step,
  type WorkflowRun,
} from "@workflow/world";
import type { Row } from "./database.ts";
import { decodeEventData } from "./event-data.ts";

/** The format of the entities that this World writes. An SDK that knows only newer ones refuses the World at its start. */
export const SPEC_VERSION = SPEC_VERSION_SUPPORTS_CBOR_QUEUE_TRANSPORT;

export interface StructuredError {
  readonly message: string;
  readonly stack?: string | undefined;
  readonly code?: string | undefined;
}

export function toStructuredError(data: {
  readonly error: unknown;
  readonly stack?: string;
  readonly errorCode?: string;
}): StructuredError {
  const { error } = data;
  const hasMessage = typeof error === "object" && error !== null && "message" in error;
  const message = String(hasMessage ? error.message : error);
  return { message, stack: data.stack, code: data.errorCode };
}

/** Asserts that the SDK has serialized a value. Throws a WorkflowWorldError otherwise. */
export function toBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new WorkflowWorldError("Run state must be serialized by the Workflow SDK");
}

/** Returns the data of an event or of the request for one, which some kinds do not have. */
export const dataOf = (event: object): unknown =>
  "eventData" in event ? event.eventData : undefined;

export function toRun(row: Row): WorkflowRun {
  return {
    runId: row.run_id,
    status: row.status,
    deploymentId: row.deployment_id,
    workflowName: row.workflow_name,
    specVersion: row.spec_version,
    executionContext: row.execution_context ?? undefined,
    input: row.input,
    output: row.output ?? undefined,
    error: row.error ?? undefined,
    createdAt: row.created_at,
    startedAt: row.started_at,
    completedAt: row.completed_at ?? undefined,
    updatedAt: row.updated_at,
  } as WorkflowRun;
}

export function toStep(row: Row): Step {
  return {
    runId: row.run_id,
    stepId: row.step_id,
    stepName: row.name,
    status: row.status,
    input: row.input,
    output: row.output ? decodeEventData(row.output) : undefined,
    attempt: row.attempt,
    error: row.error ?? undefined,
    retryAfter: row.retry_after ?? undefined,
    createdAt: row.created_at,
    startedAt: row.started_at,
    completedAt: row.completed_at ?? undefined,
    updatedAt: row.updated_at,
    specVersion: SPEC_VERSION,
  } as Step;
}

export function toHook(row: Row): Hook {
  const hook: unknown = {
    runId: row.run_id,
    hookId: row.hook_id,
    token: row.token,
    // Hooks are found by their tokens alone: there is one owner, project and environment.
    ownerId: "postgres",
    projectId: "postgres",
    environment: "postgres",
    metadata: row.metadata ?? undefined,
    isWebhook: row.is_webhook,
    createdAt: row.created_at,
    specVersion: SPEC_VERSION,
  };
  return hook as Hook;
}

/** The schema turns the dates in an event's data, which were stored as texts, into dates again. */
export const toEvent = (row: Row): Event =>
  EventSchema.parse({
    runId: row.run_id,
    eventId: row.event_id,
    eventType: row.type,
    correlationId: row.correlation_id ?? undefined,
    eventData: row.data === null ? undefined : decodeEventData(row.data),
    createdAt: row.created_at,
    specVersion: SPEC_VERSION,
  });

export function createEvent(fields: Row): Event {
  const event: unknown = { ...fields, specVersion: SPEC_VERSION };
  return event as Event;
}
