/** The endpoints of approvals: the requests of agents, their answers, and remembered approvals. */

import {
  APPROVAL_CATEGORIES,
  callEffect,
  untrustedSource,
} from "@platform/endpoint/contract/approvals";
import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { dateTime, uuid } from "@platform/endpoint/contract/fields";
import { pageQuery, pageResponse } from "@platform/endpoint/contract/pagination";
import { z } from "zod";
import { run } from "../running-turn/run.ts";

const shared = { tag: "Approvals", family: "error", auth: "required" } as const;

const STATES = ["requested", "approved", "denied", "expired", "cancelled"] as const;

export const approval = z
  .object({
    id: uuid,
    run_id: z.string(),
    chat_id: uuid,
    session_id: uuid,
    title: z.string().meta({ description: "The title of the chat" }),
    tool_call_id: z.string(),
    tool: z.string(),
    category: z.enum(APPROVAL_CATEGORIES),
    effect: callEffect,
    input: z.unknown().meta({ description: "The input of the call; an approval covers no other" }),
    sources: z.array(untrustedSource).meta({
      description: "The content of strangers in the context of the agent; empty for none",
    }),
    is_memorable: z.boolean().meta({
      description: "False for a call that is asked for each time, such as a destructive action",
    }),
    state: z.enum(STATES).meta({
      description: "`cancelled` if its turn ended before an answer",
    }),
    reason: z.string().nullable().meta({ description: "Why it was denied" }),
    rule_id: uuid.nullable().meta({ description: "The remembered approval that has answered" }),
    answered_by: uuid.nullable().meta({ description: "The account that has answered" }),
    created_at: dateTime,
    expires_at: dateTime,
    answered_at: dateTime.nullable(),
  })
  .meta({ id: "Approval" });
export type Approval = z.output<typeof approval>;

export const approvalRule = z
  .object({
    id: uuid,
    chat_id: uuid.nullable(),
    task_id: uuid.nullable(),
    tool: z.string(),
    fields: z.record(z.string(), z.unknown()).meta({
      description: "The fields that a call must have in common with the approved one",
    }),
    approval_id: uuid.meta({ description: "The approval that was remembered" }),
    created_at: dateTime,
  })
  .meta({ id: "ApprovalRule" });
export type ApprovalRule = z.output<typeof approvalRule>;

export const answerApprovalContract = contract({
  ...shared,
  method: "POST",
  path: "/api/chat/runs/{runId}/approvals/{approvalId}",
  summary: "Approve or deny a call of an agent",
  description:
    "The run continues when all that it has asked for is answered. The same answer may be repeated. A chat can also be answered by the message part, as `useChat` does with `addToolApprovalResponse`. The answer is the run.",
  params: z.object({
    runId: z.string().meta({ description: "The run's `runId`" }),
    approvalId: uuid.meta({ description: "The `id` of the approval" }),
  }),
  strictBody: true,
  body: z.object({
    approved: z.boolean(),
    reason: z.string().trim().min(1).max(1_000).optional().meta({
      description: "Why it is denied; the agent is told",
    }),
    remember: z.enum(["chat", "task"]).optional().meta({
      description:
        "Approves calls of the tool that are equal but for their texts, such as the body of a mail, for the rest of the chat or for all runs of the task. 400 unless `is_memorable`",
    }),
  }),
  responses: { 200: { description: "The run", headers: ["retry-after"], schema: run } },
  errors: ["already_answered", "not_found", "run_stopped", "too_many_turns"],
});

export const listApprovalsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/approvals",
  summary: "List the requests of the caller's agents for approval, newest first",
  query: pageQuery.extend({
    state: z.enum(STATES).optional().meta({
      description: "Approvals of this state: `requested` for requests that wait for an answer",
    }),
  }),
  responses: pageResponse("approvals", approval),
  errors: [],
});

export const listApprovalRulesContract = contract({
  ...shared,
  method: "GET",
  path: "/api/approval-rules",
  summary: "List the remembered approvals, newest first",
  query: pageQuery,
  responses: pageResponse("rules", approvalRule),
  errors: [],
});

export const deleteApprovalRuleContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/approval-rules/{id}",
  summary: "Forget a remembered approval",
  description: "Later calls are asked for again.",
  params: z.object({ id: uuid.meta({ description: "The `id` of the remembered approval" }) }),
  responses: successResponse("The approval is forgotten", {}),
  errors: ["not_found"],
});

export const apiTags = { Approvals: "Calls that agents ask for before they make them." };
