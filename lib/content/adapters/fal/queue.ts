/**
 * fal's queue over plain HTTP: submits a request, polls its status until it completes, and cancels it
 * when the order is aborted. Failures are values that contain no text from fal.
 */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { requestJson } from "../../../platform/outbound/fetch-json.ts";

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
  | { readonly kind: "timeout" }
  | { readonly kind: "aborted" };

export type Done = { readonly kind: "done"; readonly output: unknown };

/** Bounds the attempts of one status or result request. The submitted work continues and is billed. */
const MAX_ATTEMPTS = 5;
const CANCEL_TIMEOUT_MS = 5_000;
/** Caps the wait that a `retry-after` header asks for. */
const MAX_RETRY_AFTER_SECONDS = 30;

/** Statuses worth a retry. Of the result, 500 is not: it means that the model itself failed. */
const retryable = { status: [429, 500, 502, 503, 504], result: [429, 502, 503, 504] } as const;

const submitted = z.object({
  status_url: z.url(),
  response_url: z.url(),
  cancel_url: z.url(),
});
const progress = z.object({
  status: z.enum(["IN_QUEUE", "IN_PROGRESS", "COMPLETED"]),
  error: z.unknown().optional(),
});
const refusal = z.object({ detail: z.array(z.object({ type: z.string() })) });

type Answer = { readonly kind: "json"; readonly body: unknown } | Fault;

/**
 * Runs one request to completion.
 *
 * @param deadline aborts the request with a `timeout`
 * @param signal aborts the request with `aborted`
 */
export async function runInQueue(
  settings: QueueSettings,
  model: string,
  input: object,
  deadline: AbortSignal,
  signal: AbortSignal,
): Promise<Done | Fault> {
  const either = AbortSignal.any([deadline, signal]);
  const interrupted = (): Fault => ({ kind: signal.aborted ? "aborted" : "timeout" });

  const ask = async (
    step: "submit" | "status" | "result",
    url: URL,
    body?: object,
  ): Promise<Answer> => {
    const timeout = AbortSignal.timeout(settings.requestTimeoutMs);
    const answer = await requestJson(url, {
      headers: { authorization: `Key ${settings.key}` },
      body,
      // A submission is not aborted, because without its answer it could not be cancelled.
      deadline: step === "submit" ? timeout : AbortSignal.any([either, timeout]),
    });
    if (answer.kind === "json") return answer;
    if (answer.kind === "refused") {
      const { status, retryAfter } = answer;
      const types = refusal.safeParse(answer.body).data?.detail.map(({ type }) => type) ?? [];
      return { kind: "refused", step, status, types, retryAfter };
    }
    if (either.aborted) return interrupted();
    return answer.kind === "timeout" ? { kind: "timeout" } : { kind: "broken", step };
  };

  /** Retries faults that may be transient. Both steps are safe to repeat. */
  const askWithRetries = async (step: "status" | "result", url: URL): Promise<Answer> => {
    for (let attempt = 1; ; attempt++) {
      const answer = await ask(step, url);
      if (either.aborted) return interrupted();
      const isTransient =
        answer.kind === "broken" ||
        answer.kind === "timeout" ||
        (answer.kind === "refused" && retryable[step].some((status) => status === answer.status));
      if (!isTransient || attempt === MAX_ATTEMPTS) return answer;
      // NaN for a date, which is not worth parsing here.
      const seconds = answer.kind === "refused" ? Number(answer.retryAfter ?? 0) : 0;
      const waitMs = Math.min(MAX_RETRY_AFTER_SECONDS, seconds || 0) * 1000;
      await delay(Math.max(settings.pollMs, waitMs), undefined, { signal: either }).catch(() => {});
    }
  };

  if (either.aborted) return interrupted();
  // Never retried: what is submitted twice is generated and billed twice.
  const submission = await ask(
    "submit",
    new URL(`${settings.baseUrl.replace(/\/+$/, "")}/${model}`),
    input,
  );
  if (submission.kind !== "json") return submission;
  const urls = submitted.safeParse(submission.body).data;
  const { origin } = new URL(settings.baseUrl);
  // The key is sent to these URLs.
  if (!urls || Object.values(urls).some((url) => new URL(url).origin !== origin)) {
    return { kind: "broken", step: "submit" };
  }
  const outcome = await awaitResult();
  if (either.aborted) await cancel(settings, new URL(urls.cancel_url));
  return outcome;

  async function awaitResult(): Promise<Done | Fault> {
    if (!urls) return { kind: "broken", step: "submit" };
    for (;;) {
      const answer = await askWithRetries("status", new URL(urls.status_url));
      if (answer.kind !== "json") return answer;
      const state = progress.safeParse(answer.body).data;
      if (!state) return { kind: "broken", step: "status" };
      if (state.status === "COMPLETED") break;
      await delay(settings.pollMs, undefined, { signal: either }).catch(() => {});
      if (either.aborted) return interrupted();
    }
    const answer = await askWithRetries("result", new URL(urls.response_url));
    if (answer.kind === "json") return { kind: "done", output: answer.body };
    return answer.kind === "refused" && answer.status >= 500 ? { kind: "failed" } : answer;
  }
}

/** Cancels on a best-effort basis: nobody waits for the result any more. */
async function cancel({ key }: QueueSettings, url: URL): Promise<void> {
  await fetch(url, {
    method: "PUT",
    headers: { authorization: `Key ${key}` },
    redirect: "manual",
    signal: AbortSignal.timeout(CANCEL_TIMEOUT_MS),
  })
    .then((response) => response.body?.cancel())
    .catch(() => {});
}
