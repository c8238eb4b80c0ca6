/**
 * One question to a web API, with a deadline, and asked once more where that is safe. What comes
 * back is a value: nothing of a provider's text gets further than this.
 */
import { setTimeout as delay } from "node:timers/promises";
import { readJson } from "./read-text.ts";

export type UpstreamAnswer =
  | { readonly kind: "json"; readonly body: unknown }
  /** It answered, but not with a success. */
  | { readonly kind: "refused"; readonly status: number; readonly retryAfter: string | null }
  /** No connection, a body cut short or too large, or a success that is no JSON. */
  | { readonly kind: "broken" }
  | { readonly kind: "timeout" };

export interface UpstreamQuestion {
  readonly method?: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: URLSearchParams;
  /** Ends all tries together, the reading of the body included. */
  readonly deadline: AbortSignal;
}

/** Milliseconds before the second try. */
const PAUSE = 150;

/** Whatever the method, the question must be one that may be asked twice. */
export async function fetchJson(url: URL, question: UpstreamQuestion): Promise<UpstreamAnswer> {
  const first = await ask(url, question);
  if (!mayPass(first)) return first;
  await delay(PAUSE);
  return ask(url, question);
}

/** Faults that are often gone a moment later; a timeout has used up the deadline already. */
function mayPass(answer: UpstreamAnswer): boolean {
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

/** Seconds, or a date (RFC 9110); anything else is not passed on. */
export function readRetryAfter(text: string | null): string | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text)) return text;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date.toUTCString();
}
