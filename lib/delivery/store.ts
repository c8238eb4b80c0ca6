/**
 * Deliveries and their addresses (supabase/schemas/87_deliveries.sql). The functions of the API take the account;
 * the worker's functions serve all accounts.
 * @throws DatabaseUnavailable from every function here.
 */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import {
  type Page,
  type PageRequest,
  pageArguments,
  pageOf,
} from "@platform/endpoint/contract/pagination";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { z } from "zod";
import { rowOf } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { type DeliveryAddress, delivery, deliveryAddress, ownDelivery } from "./contract.ts";
import { deliveryReason, MAX_MAILS_A_DAY } from "./reasons.ts";

const MAX_ADDRESSES = 100;
const MAX_CONFIRMATIONS_A_DAY = 20;
/** To one address, from all accounts. */
const MAX_CONFIRMATIONS_OF_ADDRESS = 5;

const storedAddress = rowOf(deliveryAddress);
const error = deliveryReason.optional();
const storedDelivery = rowOf(delivery.extend({ error }));

const added = z.object({
  address: storedAddress,
  mail: z.boolean(),
  account: z.string().nullable(),
});
const refusal = refusalOf({
  full: appError(
    "quota_exceeded",
    `The account has ${MAX_ADDRESSES} delivery addresses: delete one to make room`,
  ),
  limited: appError("rate_limited", "The account has sent too many confirmations today", {
    headers: { "retry-after": "3600" },
  }),
});

/** Errors: 403 for too many addresses, 429. */
export function insertAddress(db: Database, accountId: string, address: string, tokenHash: string) {
  const args = {
    accountId,
    address,
    tokenHash,
    max: MAX_ADDRESSES,
    maxADay: MAX_CONFIRMATIONS_A_DAY,
    maxMailsADay: MAX_CONFIRMATIONS_OF_ADDRESS,
  };
  return call(db, "add_delivery_address", args, z.union([added, refusal]));
}

export function selectAddresses(
  db: Database,
  accountId: string,
  page: PageRequest,
): Promise<Page<DeliveryAddress>> {
  const args = { accountId, ...pageArguments(page) };
  return call(db, "list_delivery_addresses", args, pageOf(storedAddress, page));
}

/** Errors: 404. */
export async function removeAddress(
  db: Database,
  accountId: string,
  id: string,
): Promise<AppError | undefined> {
  const isDeleted = await call(db, "delete_delivery_address", { accountId, id });
  return isDeleted ? undefined : appError("not_found", "Address not found");
}

const link = z.object({ address: z.string(), account: z.string() }).nullable();

/** Returns the subject of a confirmation link; null if it is used, void or expired. */
export const openConfirmation = (db: Database, tokenHash: string): Promise<z.output<typeof link>> =>
  call(db, "open_delivery_confirmation", { tokenHash }, link);

/** Confirms once. Returns null for a link that is used, void or expired. */
export const confirmAddress = (db: Database, tokenHash: string): Promise<z.output<typeof link>> =>
  call(db, "confirm_delivery_address", { tokenHash }, link);

export async function unsubscribeAddress(
  db: Database,
  accountId: string,
  address: string,
): Promise<void> {
  await call(db, "unsubscribe_address", { accountId, address });
}

export async function resubscribeAddress(
  db: Database,
  accountId: string,
  address: string,
): Promise<void> {
  await call(db, "resubscribe_address", { accountId, address });
}

const faults = z.array(z.object({ address: z.string(), fault: deliveryReason }));

/** Returns the addresses that the account may not send results to. */
export function findRecipientFaults(db: Database, accountId: string, addresses: readonly string[]) {
  return call(db, "recipient_faults", { accountId, addresses }, faults);
}

/** Errors: 404. */
export async function selectRunDeliveries(db: Database, accountId: string, runId: string) {
  const args = { accountId, runId };
  const found = await call(db, "list_run_deliveries", args, z.array(storedDelivery).nullable());
  return found ?? appError("not_found", "Run not found");
}

/** Of all runs of the account. */
export function selectDeliveries(db: Database, accountId: string, page: PageRequest) {
  const args = { accountId, ...pageArguments(page) };
  return call(db, "list_deliveries", args, pageOf(rowOf(ownDelivery.extend({ error })), page));
}

const common = {
  id: z.string(),
  leaseId: z.string(),
  accountId: z.string(),
  recipient: z.string(),
  runId: z.string(),
  /** Counts from 1. */
  attempt: z.int(),
  /** Why it can no longer be sent. */
  fault: z.string().nullable(),
  /** Null once the run is deleted. */
  sessionId: z.string().nullable(),
  /** The account, as people know it. */
  sender: z.string().nullable(),
  title: z.string(),
  /** In Markdown. */
  answer: z.string(),
};
const result = z.object({
  ...common,
  kind: z.literal("email"),
  entry: z.object({
    subject: z.string().optional(),
    attach: z.array(z.string()).optional(),
    format: z.enum(["full", "summary"]).optional(),
  }),
});
const notice = z.object({
  ...common,
  kind: z.literal("notice"),
  entry: z.object({
    reason: deliveryReason,
    /** Results of the same task that were withheld after the notice before. */
    earlier: z.int(),
  }),
});
const waiting = z.object({ ...common, kind: z.literal("waiting") });
const job = z.discriminatedUnion("kind", [result, notice, waiting]);
export type DeliveryJob = z.output<typeof job>;
export type ResultJob = z.output<typeof result>;
export type NoticeJob = z.output<typeof notice>;
export type WaitingJob = z.output<typeof waiting>;

/** Leases deliveries that are due. @param leaseSeconds after this long the process counts as dead */
export function claimDeliveries(
  db: Database,
  limit: number,
  leaseSeconds: number,
): Promise<DeliveryJob[]> {
  const args = { limit, leaseSeconds, maxADay: MAX_MAILS_A_DAY };
  return call(db, "claim_deliveries", args, z.array(job));
}

const permission = z.object({ granted: z.boolean(), fault: z.string().nullable() });

/**
 * Records that the content of the mail is about to be sent. From then on, a crash leaves its outcome unknown.
 * @returns neither granted nor with a fault, if another process has taken the delivery over
 */
export function beginSending(db: Database, { id, leaseId }: DeliveryJob, leaseSeconds: number) {
  const args = { id, leaseId, leaseSeconds, maxADay: MAX_MAILS_A_DAY };
  return call(db, "begin_sending", args, permission);
}

export interface DeliveryEnd {
  /** `retry`: the mail certainly did not arrive. `bounced`: the address is refused for good. */
  readonly outcome: "sent" | "retry" | "failed" | "bounced" | "unknown";
  readonly error: string | null;
}

/** Returns false if another process has taken the delivery over. */
export function endDelivery(
  db: Database,
  { id, leaseId }: DeliveryJob,
  { outcome, error }: DeliveryEnd,
  retrySeconds: number,
): Promise<boolean> {
  return call(db, "end_delivery", { id, leaseId, outcome, error, retrySeconds });
}
