/**
 * One attempt at a delivery, as Standard Webhooks says. The endpoint is a caller's and hostile: only
 * public addresses are connected to, redirects are not followed, and little of the answer is read.
 */

import { codeOf } from "@platform/kit/outbound/probe";
import { AddressRefused, isLoopback } from "@platform/kit/outbound/public-address";
import { anywhere, publicOnly } from "@platform/kit/outbound/public-only";
import { traceRequest } from "@platform/kit/outbound/vendor-fetch";
import { Webhook } from "standardwebhooks";
import { fetch, type Response } from "undici";
import { allowsLoopback, config } from "../platform/config.ts";
import { faultOfEndpoint } from "./check-endpoint.ts";
import { openSecret } from "./secret.ts";
import type { Attempt, ClaimedDelivery } from "./store.ts";

/** The maximum of the response; the rest is not read. */
const MAX_RESPONSE_BYTES = 2_000;
const MAX_RESPONSE_CHARS = 500;

export async function sendEvent(delivery: ClaimedDelivery): Promise<Attempt> {
  const attemptedAt = new Date();
  const failed = (error: string): Attempt => ({
    outcome: "failed",
    attemptedAt,
    statusCode: null,
    durationMs: Date.now() - attemptedAt.getTime(),
    error,
    response: null,
  });
  const url = new URL(delivery.url);
  const fault = faultOfEndpoint(url);
  if (fault !== null) return failed(`The URL ${fault}`);
  const deadline = AbortSignal.timeout(config().WEBHOOK_TIMEOUT_MS);
  try {
    const signed = signEvent(delivery, attemptedAt);
    if (signed === null) return failed("The secret could not be read: rotate it");
    const response = await traceRequest("web", "POST", () =>
      fetch(url, {
        method: "POST",
        headers: { ...signed.headers, "user-agent": "agent-platform" },
        body: signed.body,
        redirect: "manual",
        signal: deadline,
        dispatcher: allowsLoopback("webhooks") && isLoopback(url) ? anywhere : publicOnly,
      }),
    );
    const { status } = response;
    return {
      outcome: response.ok ? "delivered" : status === 410 ? "gone" : "failed",
      attemptedAt,
      statusCode: status,
      durationMs: Date.now() - attemptedAt.getTime(),
      error: status >= 300 && status < 400 ? "Redirects are not followed" : null,
      response: await readBeginning(response),
    };
  } catch (error) {
    return failed(deadline.aborted ? "The endpoint did not answer in time" : describe(error));
  }
}

/** Returns null when a secret cannot be opened. */
function signEvent(
  { id, type, createdAt, data, webhookId, secrets }: ClaimedDelivery,
  now: Date,
): { headers: Record<string, string>; body: string } | null {
  const body = JSON.stringify({ type, timestamp: createdAt, data });
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
  };
  if (webhookId === null) return { headers, body };
  try {
    headers["webhook-signature"] = secrets
      .map((sealed) => new Webhook(openSecret(webhookId, sealed)).sign(id, now, body))
      .join(" ");
  } catch {
    return null;
  }
  return { headers, body };
}

/** A status has been received, so an answer that stalls or breaks off changes nothing. */
async function readBeginning(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      const piece: Uint8Array = chunk;
      chunks.push(piece);
      bytes += piece.byteLength;
      // Leaving the loop cancels the body.
      if (bytes >= MAX_RESPONSE_BYTES) break;
    }
  } catch {
    // The received part is kept.
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES));
  // PostgreSQL stores neither NUL nor lone surrogates.
  return text.slice(0, MAX_RESPONSE_CHARS).replaceAll("\0", "\uFFFD").toWellFormed() || null;
}

/** Reveals nothing else about names and addresses that are not public. */
function describe(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof AddressRefused) return "The URL must have a public address";
  const code = codeOf(error);
  return code ? `The connection failed (${code})` : "The connection failed";
}
