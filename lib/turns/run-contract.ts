/**
 * Headless runs, and all runs as their account lists, watches and cancels them. This file is long because they
 * share the fields of a run.
 */

import { clientTools } from "@platform/agent/tools/client-tools";
import { contract } from "@platform/endpoint/contract/contract";
import {
  commaList,
  instant,
  instructions,
  uuid,
  withoutTags,
} from "@platform/endpoint/contract/fields";
import { listResponse, nextCursor, pageQuery } from "@platform/endpoint/contract/pagination";
import { outputSchema, runOptions, skillName } from "@platform/endpoint/contract/run-options";
import { z } from "zod";
import { chosenConnectors } from "../connectors/contract.ts";
import { deliver } from "../delivery/contract.ts";
import { run } from "../running-turn/run.ts";
import { acceptedVersion } from "../templates/template.ts";
import { endpointUrl } from "../webhooks/contract.ts";
import { entry } from "./contract.ts";

const shared = { tag: "Chat", family: "error", auth: "required" } as const;
const params = z.object({ runId: z.string().describe("The run's `runId`") });

export const startRunContract = contract({
  method: "POST",
  path: "/api/chat/runs",
  tool: true,
  summary: "Start a headless run",
  description:
    "Provisions a session, a chat and a sandbox, and starts a turn in them without waiting for its end. `location` is the URL of the run's status. `GET /api/chat/{chatId}/stream` streams the run, `POST /api/chat/{chatId}/stop` cancels it.",
  tag: "Chat",
  family: "message",
  auth: "required",
  idempotent: true,
  artistAccess: { in: "body", field: "artistId" },
  bodyLimit: 4 * 1024 * 1024,
  strictBody: true,
  body: z
    .object({
      prompt: withoutTags(z.string()).nullish().meta({ description: "The user's message" }),
      messages: z.array(entry).max(1000).nullish().meta({
        description: "A conversation whose last entry is the user's message to answer",
      }),
      artistId: uuid.nullish(),
      model: z.string().trim().min(1).max(200).nullish().meta({
        description: "The `id` of a model in `GET /api/models`; its `default` when absent",
      }),
      ...runOptions.shape,
      deliver: deliver.nullish(),
      template_id: uuid.nullish().meta({
        description:
          "An agent template that the caller can see: its prompt instructs the agent of the run's chat",
      }),
      template_version: acceptedVersion,
      instructions: instructions.nullish().meta({
        description: "Instructions to the agent of the run's chat, after those of the template",
      }),
      connectors: chosenConnectors.nullish().meta({
        description:
          "Connectors whose actions the run's sandbox may use with the account's connections; none when absent",
      }),
      output_schema: outputSchema.nullish(),
      client_tools: clientTools.nullish().meta({
        description:
          "Tools that the caller runs. When the agent calls one, the run becomes `requires_action` and waits for up to seven days, without a process, until `POST /api/chat/runs/{runId}/tool_results` has the results; then the calls have failed, and the agent continues.",
      }),
      webhook_url: endpointUrl.nullish().meta({
        description:
          "Told of the end of this run, and when it requires action, besides the account's webhooks. Signed if a webhook of the account has the same URL, with its secret; else unsigned.",
      }),
    })
    .refine((body) => !body.prompt?.trim() !== !body.messages?.length, {
      error: "Exactly one of prompt or messages must be provided",
    }),
  responses: {
    202: {
      description: "The run was accepted",
      headers: ["location", "retry-after"],
      schema: z.object({
        runId: z.string(),
        chatId: uuid.meta({ description: "The chat that the run writes to" }),
        sessionId: uuid.meta({ description: "The session that was provisioned for the run" }),
      }),
    },
  },
  errors: [
    "budget_reached",
    "conflict",
    "messages_full",
    "not_found",
    "sandboxes_full",
    "too_many_turns",
    "upstream_error",
  ],
});

export const getRunContract = contract({
  method: "GET",
  path: "/api/chat/runs/{runId}",
  runCredential: true,
  words: "chats",
  tool: true,
  summary: "Read the status of a run",
  description:
    "Until the run has ended, `retry-after` says in how many seconds to poll again. The run's answer is in the messages of its chat.",
  tag: "Chat",
  family: "message",
  auth: "required",
  params,
  responses: { 200: { description: "The run", headers: ["retry-after"], schema: run } },
  errors: ["not_found"],
});

const count = z.int().nonnegative();
const usage = z
  .object({
    input_tokens: count,
    cached_input_tokens: count
      .default(0)
      .meta({ description: "Those of `input_tokens` that the provider had cached" }),
    output_tokens: count,
    total_tokens: count,
  })
  .meta({ id: "TokenUsage" });
const cost = z.number().nonnegative().nullable();

const RUN_KINDS = ["chat", "headless", "task"] as const;

const { output, verdicts, required_action, skills, delivery, delivery_reason, ...runFields } =
  run.shape;

export const runItem = z
  .object({
    ...runFields,
    kind: z.enum(RUN_KINDS).meta({
      description: "A message of a chat, `POST /api/chat/runs`, or a scheduled prompt",
    }),
    title: z.string().meta({ description: "The title of the chat" }),
    artist_id: uuid.nullable().meta({ description: "The artist that the work is for" }),
    model_id: z.string().meta({
      description: "The model that was asked for; the steps name the models that answered",
    }),
    usage: usage.meta({ description: "Of all model calls of the run, subagents included" }),
    cost_usd: cost.meta({
      description: "In USD, without the unpriced calls; null when there are no others",
    }),
    unpriced_calls: count.meta({ description: "Model calls of the run without a known price" }),
    duration_ms: count.nullable().meta({ description: "Null until the run has ended" }),
  })
  .meta({ id: "RunItem" });
export type RunItem = z.output<typeof runItem>;

export const listRunsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/chat/runs",
  runCredential: true,
  words: "chats",
  tool: true,
  summary: "List the caller's runs, newest first",
  description: "The turns of chats, headless runs and scheduled prompts.",
  query: pageQuery.extend({
    status: run.shape.status.optional().meta({ description: "Runs of this status" }),
    kind: z.enum(RUN_KINDS).optional().meta({ description: "Runs of this kind" }),
    chat_id: uuid.optional().meta({ description: "Runs of this chat" }),
    artist_id: uuid.optional().meta({ description: "Runs for this artist" }),
    since: instant.optional().meta({ description: "Runs that were created at this time or later" }),
    skill: skillName.optional().meta({ description: "Runs that have loaded this skill" }),
    include: commaList("include", ["waiting"]).optional().describe("What else to read"),
  }),
  responses: listResponse(
    z.object({
      status: z.literal("success"),
      runs: z.array(runItem),
      waiting: z.int().optional().meta({
        description:
          "How many runs and chats wait for a person or a client, at most 150; only if included",
      }),
      next_cursor: nextCursor,
    }),
  ),
  errors: [],
});
export type RunFilters = Omit<
  z.output<typeof listRunsContract.query>,
  "limit" | "cursor" | "include"
>;

export const cancelRunContract = contract({
  ...shared,
  method: "POST",
  path: "/api/chat/runs/{runId}/cancel",
  tool: true,
  summary: "Cancel a run",
  description:
    "Ends the run within two seconds and keeps what it has answered. It may be repeated; a run that has ended stays as it is.",
  params,
  responses: {
    200: {
      description:
        "`cancelled` says whether the run is cancelled, by this request or an earlier one",
      schema: z.object({ status: z.literal("success"), cancelled: z.boolean() }),
    },
  },
  errors: ["not_found"],
});

const toolResult = z
  .object({
    id: z.string().min(1).max(200).meta({ description: "The `id` of the call" }),
    output: z.unknown().optional().meta({ description: "Any JSON" }),
    error: z.string().min(1).max(10_000).optional().meta({ description: "Why the call failed" }),
  })
  .refine((result) => (result.output === undefined) !== (result.error === undefined), {
    error: "Exactly one of output or error must be provided",
  });

export const sendToolResultsContract = contract({
  ...shared,
  method: "POST",
  path: "/api/chat/runs/{runId}/tool_results",
  tool: true,
  summary: "Send the results of client tools to a run",
  description:
    "A run that is `requires_action` continues when all of its open calls have a result. Results may be sent one by one, and the same result may be repeated until the run has ended. The answer is the run.",
  bodyLimit: 4 * 1024 * 1024,
  params,
  strictBody: true,
  body: z.object({
    results: z
      .array(toolResult)
      .min(1)
      .max(100)
      .refine((results) => new Set(results.map(({ id }) => id)).size === results.length, {
        error: "results must have different ids",
      }),
  }),
  responses: { 200: { description: "The run", headers: ["retry-after"], schema: run } },
  errors: ["already_answered", "not_found", "too_many_turns"],
});

export const plainCall = z.object({
  id: z.string(),
  name: z.string(),
  state: z.enum(["pending", "running", "completed", "failed"]).meta({
    description: "A call is `pending` until it starts, and a question until it is answered",
  }),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  duration_ms: count.nullable(),
  error: z.string().nullable(),
});

const stepFields = {
  index: count,
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  model_id: z.string().meta({ description: "The model that answered" }),
  finish_reason: z.string().nullable(),
  usage: usage.meta({ description: "Of the step's own model call, without subagents" }),
  cost_usd: cost.meta({ description: "In USD; null when the price is not known" }),
  attempts: count.meta({ description: "How often the model was called for this step" }),
};

export const subagentStep = z
  .object({ ...stepFields, tool_calls: z.array(plainCall) })
  .meta({ id: "SubagentStep" });
export type SubagentStep = z.output<typeof subagentStep>;

export const toolCall = plainCall.extend({
  steps: z.array(subagentStep).optional().meta({
    description: "Of a call of `task`: the steps of its subagent, without the one in progress",
  }),
});

export const runStep = z
  .object({ ...stepFields, tool_calls: z.array(toolCall) })
  .meta({ id: "RunStep" });
export type RunStep = z.output<typeof runStep>;

export const runDetail = runItem
  .extend({
    output,
    verdicts,
    required_action,
    prompt: z.string().nullable().meta({
      description:
        "The text of the message that the run answers, at most 10,000 characters; null when it has none or is gone",
    }),
  })
  .meta({ id: "RunDetail" });
export const runTrace = z.object({ run: runDetail, steps: z.array(runStep) });
export type RunTrace = z.output<typeof runTrace>;

export const listRunStepsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/chat/runs/{runId}/steps",
  runCredential: true,
  words: "chats",
  tool: true,
  summary: "Read the trace of a run",
  description:
    "A step is a model call with the tool calls it asked for. A running run has the steps that are complete. Traces are kept for `RUN_TRACE_RETENTION_DAYS`, and are empty afterwards.",
  params,
  responses: {
    200: {
      description: "The run, and its steps in their order",
      schema: z.object({ status: z.literal("success"), ...runTrace.shape }),
    },
  },
  errors: ["not_found"],
});
