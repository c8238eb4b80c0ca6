/**
 * fal's queue over plain HTTP: a request is put in line, asked after until it is done, and taken
 * back when nobody wants it any more. What comes back is a value; no text of the provider's is in it.
 */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { readRetryAfter } from "../../../platform/outbound/fetch-json.ts";
import { parseJsonOf, readText } from "../../../platform/outbound/read-text.ts";

export interface QueueSettings {
  readonly key: string;
  readonly baseUrl: string;
  /** Milliseconds that one HTTP request may take. */
  readonly requestTimeoutMs: number;
  /** Milliseconds between two questions whether it is done. */
  readonly pollMs: number;
}

export type Fault =
  | {
      readonly kind: "refused";
      readonly step: "submit" | "status" | "result";
      readonly status: number;
      /** fal's own names of what is wrong with an input: `content_policy_violation`, … */
      readonly types: readonly string[];
      readonly retryAfter: string | null;
    }
  /** No connection, no JSON, or JSON of another shape. */
  | { readonly kind: "broken"; readonly step: string }
  /** The provider says that it tried and failed. */
  | { readonly kind: "failed" }
  | { readonly kind: "timeout" }
  | { readonly kind: "aborted" };

export type Done = { readonly kind: "done"; readonly output: unknown };

/** How often in a row asking may fail: what was submitted goes on meanwhile, and costs. */
const PATIENCE = 5;
const CANCEL_TIMEOUT_MS = 5_000;
/** Seconds; a wait that is longer is not worth it. */
const LONGEST_WAIT = 30;

/** Of the result, 500 is the model's own failure. */
const passing = { status: [429, 500, 502, 503, 504], result: [429, 502, 503, 504] } as const;

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
 * @param deadline ends everything; of the two, `signal` says that nobody waits any more
 */
export async function runInQueue(
  settings: QueueSettings,
  model: string,
  input: object,
  deadline: AbortSignal,
  signal: AbortSignal,
): Promise<Done | Fault> {
  const either = AbortSignal.any([deadline, signal]);
  const over = (): Fault => ({ kind: signal.aborted ? "aborted" : "timeout" });

  const ask = async (
    step: "submit" | "status" | "result",
    url: URL,
    body?: object,
  ): Promise<Answer> => {
    const patience = AbortSignal.timeout(settings.requestTimeoutMs);
    try {
      const response = await fetch(url, {
        method: body ? "POST" : "GET",
        headers: {
          authorization: `Key ${settings.key}`,
          accept: "application/json",
          ...(body ? { "content-type": "application/json" } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        // A redirect could carry the key to another host.
        redirect: "manual",
        cache: "no-store",
        // Who submits waits for the answer in any case: without it nothing can be taken back.
        signal: step === "submit" ? patience : AbortSignal.any([either, patience]),
      });
      const text = await readText(response);
      if (response.ok) return { kind: "json", body: parseJsonOf(text) };
      const types = refusal.safeParse(parseJson(text)).data?.detail.map(({ type }) => type) ?? [];
      const retryAfter = readRetryAfter(response.headers.get("retry-after"));
      return { kind: "refused", step, status: response.status, types, retryAfter };
    } catch {
      if (either.aborted) return over();
      return patience.aborted ? { kind: "timeout" } : { kind: "broken", step };
    }
  };

  /** Asks again where that is safe and may help. */
  const insist = async (step: "status" | "result", url: URL): Promise<Answer> => {
    for (let tries = 1; ; tries++) {
      const answer = await ask(step, url);
      if (either.aborted) return over();
      const mayPass =
        answer.kind === "broken" ||
        answer.kind === "timeout" ||
        (answer.kind === "refused" && passing[step].some((status) => status === answer.status));
      if (!mayPass || tries === PATIENCE) return answer;
      const asked = answer.kind === "refused" ? Number(answer.retryAfter ?? 0) : 0;
      const wait = Math.min(LONGEST_WAIT, asked || 0) * 1000;
      await delay(Math.max(settings.pollMs, wait), undefined, { signal: either }).catch(() => {});
    }
  };

  if (either.aborted) return over();
  // Once only: what is submitted twice is made and paid twice.
  const place = await ask(
    "submit",
    new URL(`${settings.baseUrl.replace(/\/+$/, "")}/${model}`),
    input,
  );
  if (place.kind !== "json") return place;
  const urls = submitted.safeParse(place.body).data;
  const own = new URL(settings.baseUrl).origin;
  // The key goes to these URLs.
  if (!urls || Object.values(urls).some((url) => new URL(url).origin !== own)) {
    return { kind: "broken", step: "submit" };
  }
  const outcome = await awaitResult();
  if (either.aborted) await cancel(settings, new URL(urls.cancel_url));
  return outcome;

  async function awaitResult(): Promise<Done | Fault> {
    if (!urls) return { kind: "broken", step: "submit" };
    for (;;) {
      const answer = await insist("status", new URL(urls.status_url));
      if (answer.kind !== "json") return answer;
      const state = progress.safeParse(answer.body).data;
      if (!state) return { kind: "broken", step: "status" };
      if (state.status === "COMPLETED") break;
      await delay(settings.pollMs, undefined, { signal: either }).catch(() => {});
      if (either.aborted) return over();
    }
    const answer = await insist("result", new URL(urls.response_url));
    if (answer.kind === "json") return { kind: "done", output: answer.body };
    return answer.kind === "refused" && answer.status >= 500 ? { kind: "failed" } : answer;
  }
}

/** As well as it goes: whoever waited is gone already. */
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

function parseJson(text: string): unknown {
  try {
    return parseJsonOf(text);
  } catch {
    return null;
  }
}
