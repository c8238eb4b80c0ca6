/** Deliveries as the worker sees them. @throws DatabaseUnavailable from every function here. */
import { z } from "zod";
import { call } from "../platform/database/query.ts";

const claimed = z.array(
  z.object({
    id: z.string(),
    accountId: z.string(),
    leaseId: z.string(),
    /** Null for the `webhook_url` of a run that is not the URL of a webhook. */
    webhookId: z.string().nullable(),
    url: z.string(),
    type: z.string(),
    data: z.record(z.string(), z.unknown()),
    createdAt: z.string(),
    /** Counts from 1. */
    attempt: z.int(),
    /** Sealed, the newest first; none without a webhook. */
    secrets: z.array(z.string()),
  }),
);
export type ClaimedDelivery = z.output<typeof claimed>[number];

export interface ClaimLimits {
  /** Only accounts whose ids follow this one are considered, so all have their turn. */
  readonly afterAccountId: string;
  readonly limit: number;
  /** The maximum of deliveries in flight for one account, in all processes. */
  readonly perAccount: number;
  /** After this long the process counts as dead, and the delivery is due again. */
  readonly leaseSeconds: number;
}

/** Leases deliveries that are due, in the order of their accounts' ids. */
export function claimDeliveries(limits: ClaimLimits): Promise<ClaimedDelivery[]> {
  const args = {
    p_after: limits.afterAccountId,
    p_limit: limits.limit,
    p_per_account: limits.perAccount,
    p_lease_seconds: limits.leaseSeconds,
  };
  return call("claim_webhook_deliveries", args, claimed);
}

export interface Attempt {
  /** `gone`: the endpoint wants no more deliveries. */
  readonly outcome: "delivered" | "failed" | "gone";
  readonly attemptedAt: Date;
  readonly statusCode: number | null;
  readonly durationMs: number;
  readonly error: string | null;
  /** The first part of the answer. */
  readonly response: string | null;
}

/** Ends a leased attempt. Returns false when another process has taken the delivery over. */
export function recordAttempt(
  { id, leaseId }: ClaimedDelivery,
  attempt: Attempt,
  retrySeconds: number,
): Promise<boolean> {
  const args = {
    p_id: id,
    p_lease_id: leaseId,
    p_attempt: {
      attempted_at: attempt.attemptedAt.toISOString(),
      status_code: attempt.statusCode,
      duration_ms: attempt.durationMs,
      error: attempt.error,
      response: attempt.response,
    },
    p_outcome: attempt.outcome,
    p_retry_seconds: retrySeconds,
  };
  return call("record_webhook_attempt", args, z.boolean());
}

/** Deletes deliveries that ended more than so many days ago, and returns their number. */
export const sweepDeliveries = (batch: number, days: number): Promise<number> =>
  call("sweep_webhook_deliveries", { p_batch: batch, p_days: days }, z.int());
