/** A run, as its account sees it. */

import {
  APPROVAL_CATEGORIES,
  callEffect,
  untrustedSource,
} from "@platform/endpoint/contract/approvals";
import { dateTime, uuid } from "@platform/endpoint/contract/fields";
import { SKILL_SOURCES } from "@platform/skills/skill";
import { z } from "zod";
import { deliveryFields } from "../delivery/contract.ts";

export const verdict = z
  .object({
    iteration: z.int().positive().meta({ description: "1 for the first verdict" }),
    verdict: z.enum(["satisfied", "unsatisfied", "not_judged"]).meta({
      description: "`not_judged` if the judge has failed or contradicted itself",
    }),
    missing: z.array(z.string()).meta({ description: "What is missing; empty unless unsatisfied" }),
  })
  .meta({ id: "Verdict" });
export type Verdict = z.output<typeof verdict>;

const requiredAction = z
  .object({
    tool_calls: z
      .array(z.object({ id: z.string(), name: z.string(), input: z.unknown() }))
      .meta({ description: "The calls of `client_tools` that have no result yet" }),
    approvals: z
      .array(
        z.object({
          id: uuid,
          tool_call_id: z.string(),
          tool: z.string(),
          category: z.enum(APPROVAL_CATEGORIES),
          effect: callEffect,
          input: z.unknown(),
          sources: z.array(untrustedSource),
          is_memorable: z.boolean(),
          expires_at: dateTime,
        }),
      )
      .meta({ description: "The calls that the agent has asked for and nobody has answered" }),
  })
  .meta({ id: "RequiredAction" });

const usedSkill = z
  .object({
    name: z.string(),
    source: z.enum(SKILL_SOURCES),
    version: z.int().nullable().meta({
      description: "Null for a skill without versions: a built-in one, or one of the sandbox",
    }),
    sha256: z.string().nullable().meta({ description: "Of its files, where they are known" }),
  })
  .meta({ id: "UsedSkill" });

export const run = z
  .object({
    runId: z.string(),
    status: z
      .enum(["queued", "running", "requires_action", "completed", "failed", "cancelled"])
      .meta({ description: "`requires_action` while it waits for its client" }),
    chatId: uuid,
    sessionId: uuid,
    template_id: uuid.nullable().meta({
      description:
        "The agent template that instructs the agent; null for none, and until it starts",
    }),
    template_version: z.int().positive().nullable().meta({ description: "Its version" }),
    createdAt: dateTime,
    finishedAt: dateTime.nullable().meta({ description: "Null until the run has ended" }),
    error: z.string().nullable().meta({ description: "Why the run failed" }),
    output: z.unknown().meta({
      description:
        "The JSON that the run has submitted, valid under its `output_schema`; null for a run without one, and until it has completed",
    }),
    verdicts: z.array(verdict).meta({
      description: "Of its `outcome`, oldest first; empty without one, and until the run has ended",
    }),
    required_action: requiredAction.nullable().meta({
      description: "What the client is to do; null unless the run is `requires_action`",
    }),
    skills: z.array(usedSkill).meta({ description: "The skills that the run has loaded" }),
    ...deliveryFields,
  })
  .meta({ id: "Run" });
export type Run = z.output<typeof run>;
