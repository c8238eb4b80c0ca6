/**
 * Spans of OpenTelemetry. Product code names its spans and attributes only here, so this file shows all
 * that leaves the service: ids, names from a fixed list, numbers and classes of errors, but no text of a
 * caller, a model, a tool or a vendor. Without `OTEL_EXPORTER_OTLP_ENDPOINT` the functions do nothing but
 * call the given work.
 */
import {
  type Attributes,
  context,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { providers } from "./providers.ts";

/** docs/operations.md describes each of them. */
export type SpanName =
  | `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`
  | `turn.${"claim" | "start" | "step" | "finish" | "end"}`
  | `generation.${"submit" | "collect" | "fail"}`
  | `chat ${string}`
  | `execute_tool ${string}`
  | `sandbox.${"run" | "read" | "write" | "list" | "remove" | "provision" | "status" | "destroy"}`
  | `vendor ${Vendor}`
  | `sql ${string}`;

/** The other end of an outbound request. `web` is a URL of a caller, a model or a document. */
export type Vendor =
  | "auth"
  | "catalog"
  | "composio"
  | "database"
  | "fal"
  | "identity"
  | "model"
  | "research"
  | "search"
  | "self"
  | "smtp"
  | "storage"
  | "trigger"
  | "web";

interface SpanAttributes {
  readonly "http.request.method"?: string;
  /** The path of the contract, with `{…}` for its parameters. */
  readonly "http.route"?: string;
  readonly "http.response.status_code"?: number;
  readonly "peer.service"?: Vendor;
  readonly "db.system.name"?: "postgresql";
  /** The name of a SQL function, or of a table. */
  readonly "db.operation.name"?: string;
  readonly "gen_ai.operation.name"?: "chat" | "execute_tool";
  readonly "gen_ai.provider.name"?: string;
  readonly "gen_ai.request.model"?: string;
  readonly "gen_ai.response.finish_reasons"?: string[];
  readonly "gen_ai.usage.input_tokens"?: number | undefined;
  readonly "gen_ai.usage.output_tokens"?: number | undefined;
  /** With `OTEL_RECORD_CONTENT` only. */
  readonly "gen_ai.input.messages"?: string;
  /** With `OTEL_RECORD_CONTENT` only. */
  readonly "gen_ai.output.messages"?: string;
  readonly "gen_ai.tool.name"?: string;
  readonly "app.request.id"?: string;
  readonly "app.turn.id"?: string;
  readonly "app.run.id"?: string;
  readonly "app.turn.status"?: string;
  /** The model calls of the turn that were committed before. */
  readonly "app.step.index"?: number;
  /** Counts from 1; more after a crash. */
  readonly "app.step.attempt"?: number;
  readonly "app.sandbox.exit_code"?: number;
  readonly "app.claim.outcome"?: string;
}

export interface SpanOptions {
  readonly kind?: "server" | "client";
  readonly attributes?: SpanAttributes;
  /**
   * Whether the span starts a trace where none is active. Others are recorded only within a trace, so
   * timers and polls start none.
   */
  readonly isRoot?: boolean;
  /** The `traceparent` header of an untrusted caller, whose trace is linked and not joined. */
  readonly linkTo?: string | null;
}

/** A span that the caller ends. */
export interface OpenSpan {
  set(attributes: SpanAttributes): void;
  /** Marks the span as failed. @param error an error, or the name of a class of failures */
  fail(error: unknown): void;
  /** Ends the span; further calls do nothing. */
  end(): void;
  /** Runs the work with this span as the parent of its spans. */
  run<T>(work: () => T): T;
}

/** @param operation the name of a SQL function or of a table */
export const sqlSpan = (operation: string): SpanOptions => ({
  kind: "client",
  attributes: { "db.system.name": "postgresql", "db.operation.name": operation },
});

const inert: OpenSpan = { set() {}, fail() {}, end() {}, run: (work) => work() };
const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT };

export function openSpan(name: SpanName, options: SpanOptions = {}): OpenSpan {
  const { tracer } = providers();
  if (!tracer) return inert;
  const { kind, attributes, isRoot, linkTo } = options;
  const parent = context.active();
  if (!isRoot && !trace.getSpanContext(parent)) return inert;
  const span = tracer.startSpan(
    name,
    {
      kind: kind ? kinds[kind] : SpanKind.INTERNAL,
      attributes: toAttributes(attributes),
      links: linksTo(linkTo),
    },
    parent,
  );
  return {
    set: (more) => void span.setAttributes(toAttributes(more)),
    fail: (error) => markFailed(span, error),
    end: () => span.end(),
    run: (work) => context.with(trace.setSpan(parent, span), work),
  };
}

/** Runs the work in a span, which fails when the work throws. */
export function inSpan<T>(
  name: SpanName,
  options: SpanOptions,
  work: (span: OpenSpan) => Promise<T>,
): Promise<T> {
  return providers().tracer ? recorded(openSpan(name, options), work) : work(inert);
}

async function recorded<T>(span: OpenSpan, work: (span: OpenSpan) => Promise<T>): Promise<T> {
  try {
    return await span.run(() => work(span));
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
}

/** Returns the active span as a W3C `traceparent`, with which another process continues its trace. */
export function traceparent(): string | undefined {
  const active = trace.getSpanContext(context.active());
  if (!active || !isSpanContextValid(active)) return undefined;
  return `00-${active.traceId}-${active.spanId}-${active.traceFlags.toString(16).padStart(2, "0")}`;
}

/** Runs the work in the trace of a `traceparent` that this service has made; else in none. */
export function continueTrace<T>(parent: string | undefined, work: () => T): T {
  if (!providers().tracer) return work();
  const found = parseTraceparent(parent);
  return context.with(found ? trace.setSpanContext(ROOT_CONTEXT, found) : ROOT_CONTEXT, work);
}

/** Returns the id of the active trace, for the log. */
export const currentTraceId = (): string | undefined =>
  providers().tracer && trace.getSpanContext(context.active())?.traceId;

/** Returns a class of failures without the texts of the error, which may quote content. */
export function errorType(error: unknown): string {
  if (typeof error === "string") return error;
  if (!(error instanceof Error)) return "unknown";
  return codeOf(error) ?? codeOf(error.cause) ?? (NAME.test(error.name) ? error.name : "Error");
}

const NAME = /^\w{1,64}$/;
/** Codes of Node and SQLSTATEs. */
const CODE = /^[A-Z0-9_]{2,64}$/;

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" && CODE.test(error.code) ? error.code : undefined;
}

function markFailed(span: Span, error: unknown): void {
  span.setAttribute("error.type", errorType(error));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

const toAttributes = (attributes: SpanAttributes = {}): Attributes => ({ ...attributes });

const linksTo = (header: string | null | undefined): Link[] => {
  const found = parseTraceparent(header);
  return found ? [{ context: found }] : [];
};

/** Version 00 of the W3C Trace Context. */
function parseTraceparent(text: string | null | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text ?? "") ?? [];
  if (!traceId || !spanId || !flags) return undefined;
  const found = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(found) ? found : undefined;
}
