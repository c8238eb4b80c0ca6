/**
 * Proposals for memories that are nearly full (supabase/schemas/37_workspace.sql). The functions of the API take the
 * account; the worker's functions serve all accounts.
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
import { CONTENT_GONE, type WorkspacePlace } from "../workspace/store.ts";
import { MAX_VERSIONS } from "../workspace/workspace-file.ts";
import { type MemoryProposal, memoryProposal } from "./contract.ts";

/** Of one version; a process that dies uses one up. */
const MAX_ATTEMPTS = 5;

export const staleProposal = appError(
  "conflict",
  "MEMORY.md has changed since the proposal: list the proposals again, its newest version gets one of its own if it is nearly full",
);
const storedProposal = rowOf(memoryProposal);
const proposal = z.object({ proposal: storedProposal }).transform((row) => row.proposal);
const refusal = refusalOf({
  missing: appError("not_found", "Proposal not found"),
  accepted: appError(
    "conflict",
    "The proposal is accepted: restore the earlier version of MEMORY.md",
  ),
  rejected: appError(
    "conflict",
    "The proposal was rejected: edit MEMORY.md, or wait for the next one",
  ),
  changed: staleProposal,
  content: CONTENT_GONE,
});

export function selectProposals(
  db: Database,
  { accountId, artistId }: WorkspacePlace,
  page: PageRequest,
): Promise<Page<MemoryProposal>> {
  const args = { accountId, artistId, ...pageArguments(page) };
  return call(db, "list_memory_proposals", args, pageOf(storedProposal, page));
}

const byId =
  (name: "find_memory_proposal" | "reject_memory_proposal") =>
  (db: Database, accountId: string, id: string): Promise<MemoryProposal | AppError> =>
    call(db, name, { accountId, id }, z.union([proposal, refusal]));

/** Errors: 404. */
export const findProposal = byId("find_memory_proposal");

/** Errors: 404; 409 for a proposal that is accepted. */
export const rejectProposal = byId("reject_memory_proposal");

/** @param contentId the text of the proposal in the storage. Errors: 404, 409; `CONTENT_GONE`. */
export function recordAcceptance(
  db: Database,
  accountId: string,
  id: string,
  contentId: string,
): Promise<MemoryProposal | AppError> {
  const args = { accountId, id, contentId, maxVersions: MAX_VERSIONS };
  return call(db, "accept_memory_proposal", args, z.union([proposal, refusal]));
}

const job = z.object({
  id: z.string(),
  leaseId: z.string(),
  accountId: z.string(),
  artistId: z.string().nullable(),
  /** Counts from 1. */
  attempt: z.int(),
  /** The memory. */
  base: z.string(),
  /** The proposal that is to be accepted; null if it is to be written. */
  text: z.string().nullable(),
});
export type MemoryJob = z.output<typeof job>;

/** Leases proposals that are due. @param leaseSeconds after this long the process counts as dead */
export function claimProposals(
  db: Database,
  limit: number,
  leaseSeconds: number,
): Promise<MemoryJob[]> {
  const args = { limit, leaseSeconds, maxAttempts: MAX_ATTEMPTS };
  return call(db, "claim_memory_proposals", args, z.array(job));
}

export interface ProposalEnd {
  /** Null where no usable text was written. */
  readonly written: { readonly text: string; readonly diff: string } | null;
  /** Whether it may be accepted automatically. */
  readonly mayAccept: boolean;
  /** Null if it is not to be tried again. */
  readonly retrySeconds: number | null;
}

/** @param usage of the model calls, as `record_usage` takes it */
export async function endProposal(
  db: Database,
  { id, leaseId, accountId, artistId }: MemoryJob,
  { written, mayAccept, retrySeconds }: ProposalEnd,
  usage: readonly object[],
): Promise<void> {
  await call(db, "end_memory_proposal", {
    accountId,
    id,
    leaseId,
    artistId,
    text: written?.text ?? null,
    diff: written?.diff ?? null,
    mayAccept,
    retrySeconds,
    usage,
  });
}
