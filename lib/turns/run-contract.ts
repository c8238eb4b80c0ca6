/** Runs as their account lists, watches and cancels them. */
import { z } from "zod";
import { contract } from "../contract/contract.ts";
import { instant, uuid } from "../contract/fields.ts";
import { pageQuery, pageResponse } from "../contract/pagination.ts";
import { run } from "./contract.ts";

const shared = { tag: "Chat", family: "error", auth: "required" } as const;
const params = z.object({ runId: z.string().describe("The run's `runId`") });

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

const { output, verdicts, ...runFields } = run.shape;

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
  tool: true,
  summary: "List the caller's runs, newest first",
  description: "The turns of chats, headless runs and scheduled prompts.",
  query: pageQuery.extend({
    status: run.shape.status.optional().meta({ description: "Runs of this status" }),
    kind: z.enum(RUN_KINDS).optional().meta({ description: "Runs of this kind" }),
    chat_id: uuid.optional().meta({ description: "Runs of this chat" }),
    artist_id: uuid.optional().meta({ description: "Runs for this artist" }),
    since: instant.optional().meta({ description: "Runs that were created at this time or later" }),
  }),
  responses: pageResponse("runs", runItem),
  errors: [],
});
export type RunFilters = Omit<z.output<typeof listRunsContract.query>, "limit" | "cursor">;

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
