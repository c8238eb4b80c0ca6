/**
 * Requests JSON from a web API with a deadline and one retry. Failures are values without any text
 * from the provider.
 */
import { setTimeout as delay } from "node:timers/promises";
import { readJson } from "./read-text.ts";

export type UpstreamAnswer =
  | { readonly kind: "json"; readonly body: unknown }
  /** The provider responded with an error. */
  | { readonly kind: "refused"; readonly status: number; readonly retryAfter: string | null }
  /** No connection, an incomplete or too large body, or a success that is not JSON. */
  | { readonly kind: "broken" }
  | { readonly kind: "timeout" };

export interface UpstreamQuestion {
  readonly method?: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: URLSearchParams;
  /** Bounds all attempts together, including the reading of the body. */
  readonly deadline: AbortSignal;
}

const RETRY_DELAY_MS = 150;

/** Sends the request, which must be safe to repeat whatever its method. */
export async function fetchJson(url: URL, question: UpstreamQuestion): Promise<UpstreamAnswer> {
  const first = await ask(url, question);
  if (!isTransient(first)) return first;
  await delay(RETRY_DELAY_MS);
  return ask(url, question);
}

/** Returns whether a retry may succeed; after a timeout the deadline has passed. */
function isTransient(answer: UpstreamAnswer): boolean {
  if (answer.kind === "refused") return [500, 502, 503, 504].includes(answer.status);
  return answer.kind === "broken";
}

async function ask(url: URL, question: UpstreamQuestion): Promise<UpstreamAnswer> {
  const { method = "GET", headers, body, deadline } = question;
  try {
    const response = await fetch(url, {
      method,
      headers: { accept: "application/json", ...headers },
      ...(body ? { body } : {}),
      // A redirect could carry the credential to another host.
      redirect: "manual",
      cache: "no-store",
      signal: deadline,
    });
    if (!response.ok) {
      await response.body?.cancel();
      const retryAfter = readRetryAfter(response.headers.get("retry-after"));
      return { kind: "refused", status: response.status, retryAfter };
    }
    return { kind: "json", body: await readJson(response) };
  } catch {
    return { kind: deadline.aborted ? "timeout" : "broken" };
  }
}

/** Returns seconds or a date (RFC 9110); null for anything else. */
export function readRetryAfter(text: string | null): string | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text)) return text;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date.toUTCString();
}
