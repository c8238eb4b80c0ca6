/**
 * fal's queue over plain HTTP: submits a request, asks for its result, and cancels it. Failures are
 * values that contain no text from fal.
 */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { requestJson } from "../../../platform/outbound/fetch-json.ts";
import { vendorFetch } from "../../../platform/outbound/vendor-fetch.ts";

export interface QueueSettings {
  readonly key: string;
  readonly baseUrl: string;
  /** Milliseconds that one HTTP request may take. */
  readonly requestTimeoutMs: number;
  /** Milliseconds between two status requests. */
  readonly pollMs: number;
}

export type Fault =
  | {
      readonly kind: "refused";
      readonly step: "submit" | "status" | "result";
      readonly status: number;
      /** fal's error types, such as `content_policy_violation`. */
      readonly types: readonly string[];
      readonly retryAfter: string | null;
    }
  /** There was no connection, no JSON, or JSON of an unexpected shape. */
  | { readonly kind: "broken"; readonly step: string }
  /** The model itself failed. */
  | { readonly kind: "failed" }
  | { readonly kind: "timeout" };

export type Done = { readonly kind: "done"; readonly output: unknown };

/** Bounds the attempts of one status or result request. The submitted work continues and is billed. */
const MAX_ATTEMPTS = 5;
const CANCEL_TIMEOUT_MS = 5_000;
/** Caps the wait that a `retry-after` header asks for. */
const MAX_RETRY_AFTER_SECONDS = 30;

/** Statuses worth a retry. Of the result, 500 is not: it means that the model itself failed. */
const retryable = { status: [429, 500, 502, 503, 504], result: [429, 502, 503, 504] } as const;

/** Where a submitted request is asked for. */
export const queuedRequest = z.object({
  status_url: z.url(),
  response_url: z.url(),
  cancel_url: z.url(),
});
export type QueuedRequest = z.output<typeof queuedRequest>;
const progress = z.object({
  status: z.enum(["IN_QUEUE", "IN_PROGRESS", "COMPLETED"]),
  error: z.unknown().optional(),
});
const refusal = z.object({ detail: z.array(z.object({ type: z.string() })) });

type Answer = { readonly kind: "json"; readonly body: unknown } | Fault;

/** Never retried: a second submission is generated and billed again. */
export async function submit(
  settings: QueueSettings,
  model: string,
  input: object,
): Promise<{ readonly kind: "submitted"; readonly request: QueuedRequest } | Fault> {
  const url = new URL(`${settings.baseUrl.replace(/\/+$/, "")}/${model}`);
  const answer = await ask(settings, "submit", url, input);
  if (answer.kind !== "json") return answer;
  const request = queuedRequest.safeParse(answer.body).data;
  const { origin } = new URL(settings.baseUrl);
  // The key is sent to these URLs.
  if (!request || Object.values(request).some((text) => new URL(text).origin !== origin)) {
    return { kind: "broken", step: "submit" };
  }
  return { kind: "submitted", request };
}

/** Asks for the result until `patience` aborts, but at least once. */
export async function awaitResult(
  settings: QueueSettings,
  request: QueuedRequest,
  patience: AbortSignal,
): Promise<Done | { readonly kind: "pending" } | Fault> {
  for (;;) {
    const answer = await askWithRetries(settings, "status", new URL(request.status_url));
    if (answer.kind !== "json") return answer;
    const state = progress.safeParse(answer.body).data;
    if (!state) return { kind: "broken", step: "status" };
    if (state.status === "COMPLETED") break;
    if (patience.aborted) return { kind: "pending" };
    await delay(settings.pollMs, undefined, { signal: patience }).catch(() => {});
  }
  const answer = await askWithRetries(settings, "result", new URL(request.response_url));
  if (answer.kind === "json") return { kind: "done", output: answer.body };
  return answer.kind === "refused" && answer.status >= 500 ? { kind: "failed" } : answer;
}

/** Returns whether the same request may be answered later. */
export function mayPass(fault: Fault): boolean {
  if (fault.kind === "broken" || fault.kind === "timeout") return true;
  if (fault.kind === "failed" || fault.step === "submit") return false;
  return retryable[fault.step].some((status) => status === fault.status);
}

/** Retries faults that may be transient. Both steps are safe to repeat. */
async function askWithRetries(
  settings: QueueSettings,
  step: "status" | "result",
  url: URL,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await ask(settings, step, url);
    if (answer.kind === "json" || !mayPass(answer) || attempt === MAX_ATTEMPTS) return answer;
    // NaN for a date, which is not worth parsing here.
    const seconds = answer.kind === "refused" ? Number(answer.retryAfter ?? 0) : 0;
    const waitMs = Math.min(MAX_RETRY_AFTER_SECONDS, seconds || 0) * 1000;
    await delay(Math.max(settings.pollMs, waitMs));
  }
}

async function ask(
  { key, requestTimeoutMs }: QueueSettings,
  step: "submit" | "status" | "result",
  url: URL,
  body?: object,
): Promise<Answer> {
  const answer = await requestJson(url, {
    vendor: "fal",
    headers: { authorization: `Key ${key}` },
    body,
    deadline: AbortSignal.timeout(requestTimeoutMs),
  });
  if (answer.kind === "json") return answer;
  if (answer.kind === "refused") {
    const { status, retryAfter } = answer;
    const types = refusal.safeParse(answer.body).data?.detail.map(({ type }) => type) ?? [];
    return { kind: "refused", step, status, types, retryAfter };
  }
  return answer.kind === "timeout" ? { kind: "timeout" } : { kind: "broken", step };
}

/** Cancels on a best-effort basis: the result is no longer needed. */
export async function cancel({ key }: QueueSettings, request: QueuedRequest): Promise<void> {
  await vendorFetch("fal", request.cancel_url, {
    method: "PUT",
    headers: { authorization: `Key ${key}` },
    redirect: "manual",
    signal: AbortSignal.timeout(CANCEL_TIMEOUT_MS),
  })
    .then((response) => response.body?.cancel())
    .catch(() => {});
}
