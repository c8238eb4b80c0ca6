/** The endpoints of proposals for a memory that is nearly full. A run cannot decide what later ones remember. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { dateTime, uuid } from "@platform/endpoint/contract/fields";
import { pageQuery, pageResponse } from "@platform/endpoint/contract/pagination";
import { z } from "zod";

export const memoryProposal = z
  .object({
    id: uuid,
    artist_id: uuid.nullable().meta({ description: "Null for the workspace of the account" }),
    base_version: z.int().meta({ description: "The version of `MEMORY.md` that it shortens" }),
    text: z.string().meta({ description: "The text that replaces the version" }),
    diff: z.string().meta({ description: "The changes as a unified diff" }),
    state: z.enum(["proposed", "accepted", "rejected", "stale"]).meta({
      description: "`stale` when `MEMORY.md` has another version by now, which stays",
    }),
    created_at: dateTime,
  })
  .meta({ id: "MemoryProposal" });
export type MemoryProposal = z.output<typeof memoryProposal>;

const shared = { tag: "Workspace", family: "error", auth: "required" } as const;
const decided = { proposal: memoryProposal };
const params = z.object({ id: uuid.meta({ description: "The `id` of the proposal" }) });

export const listMemoryProposalsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/workspace/memory/proposals",
  artistAccess: { in: "query", field: "artist_id" },
  summary: "List the proposals for a memory, newest first",
  description:
    "A version of `MEMORY.md` with more than 6,000 of its 8,000 characters gets a proposal: a shorter text that a model writes, in the name of the account that has written the version. Texts above 32,000 characters get none.",
  query: pageQuery.extend({
    artist_id: uuid.optional().meta({
      description: "The artist whose memory it is. Default: the memory of the account",
    }),
  }),
  responses: pageResponse("proposals", memoryProposal),
  errors: [],
});

export const acceptMemoryProposalContract = contract({
  ...shared,
  method: "POST",
  path: "/api/workspace/memory/proposals/{id}/accept",
  summary: "Replace MEMORY.md by a proposal",
  description:
    "The text becomes the newest version; the earlier ones stay. 409 if `MEMORY.md` has another version by now. Accepting it again changes nothing.",
  params,
  responses: successResponse("It is accepted", decided),
  errors: ["not_found", "quota_exceeded", "conflict"],
});

export const rejectMemoryProposalContract = contract({
  ...shared,
  method: "POST",
  path: "/api/workspace/memory/proposals/{id}/reject",
  summary: "Reject a proposal",
  description: "`MEMORY.md` stays as it is. Its next version that is nearly full gets a new one.",
  params,
  responses: successResponse("It is rejected", decided),
  errors: ["not_found", "conflict"],
});
