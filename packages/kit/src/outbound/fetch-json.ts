/** Requests JSON from a web API with a deadline and without redirects. Failures are values. */
import { setTimeout as delay } from "node:timers/promises";
import type { Vendor } from "../telemetry/spans.ts";
import { readJson, vendorFetch } from "./vendor-fetch.ts";

export type UpstreamAnswer =
  | { readonly kind: "json"; readonly body: unknown }
  | Refusal
  /**
   * `broken`: no connection, an incomplete or too large body, or a success that is not JSON. The cause
   * is for the log only.
   */
  | { readonly kind: "broken"; readonly cause?: unknown }
  | { readonly kind: "timeout"; readonly cause?: unknown };

/** The provider responded with an error. */
export interface Refusal {
  readonly kind: "refused";
  readonly status: number;
  /** Seconds or a date (RFC 9110); null for anything else. */
  readonly retryAfter: string | null;
  /** The JSON of the response, for error codes; null when it is none. Its texts must not be shown. */
  readonly body: unknown;
}

export interface UpstreamQuestion {
  readonly vendor: Vendor;
  readonly headers: Readonly<Record<string, string>>;
  /** A form, or an object that is sent as JSON. */
  readonly body?: object | undefined;
  /** Default: POST for a request with a body, else GET. */
  readonly method?: "DELETE" | undefined;
  /** Bounds all attempts together, including the reading of the body. */
  readonly deadline: AbortSignal;
}

const RETRY_DELAY_MS = 150;

/** Sends the request, which must be safe to repeat whatever its method, and repeats it once. */
export async function fetchJson(url: URL, question: UpstreamQuestion): Promise<UpstreamAnswer> {
  const first = await requestJson(url, question);
  if (!isTransient(first)) return first;
  await delay(RETRY_DELAY_MS);
  return requestJson(url, question);
}

/** Returns whether a retry may succeed; after a timeout the deadline has passed. */
function isTransient(answer: UpstreamAnswer): boolean {
  if (answer.kind === "refused") return [500, 502, 503, 504].includes(answer.status);
  return answer.kind === "broken";
}

/** Sends the request once. */
export async function requestJson(
  url: URL | string,
  { vendor, headers, body, method, deadline }: UpstreamQuestion,
): Promise<UpstreamAnswer> {
  const isForm = body instanceof URLSearchParams;
  try {
    const response = await vendorFetch(vendor, url, {
      method: method ?? (body ? "POST" : "GET"),
      headers: {
        accept: "application/json",
        ...(body && !isForm ? { "content-type": "application/json" } : {}),
        ...headers,
      },
      ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
      // A redirect could carry the credential to another host.
      redirect: "manual",
      cache: "no-store",
      signal: deadline,
    });
    if (response.ok) return { kind: "json", body: await readJson(response) };
    return {
      kind: "refused",
      status: response.status,
      retryAfter: readRetryAfter(response.headers.get("retry-after")),
      body: await readJson(response).catch(() => null),
    };
  } catch (cause) {
    return { kind: deadline.aborted ? "timeout" : "broken", cause };
  }
}

export function readRetryAfter(text: string | null): string | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text)) return text;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date.toUTCString();
}
