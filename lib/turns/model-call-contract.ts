/** A model call of a run: its request and its answer. */

import { contract } from "@platform/endpoint/contract/contract";
import { pathIndex, queryInteger } from "@platform/endpoint/contract/fields";
import { z } from "zod";

const count = z.int().nonnegative();
const cutChars = count.meta({ description: "The characters that were cut off the text's end" });

const messagePart = z
  .object({
    type: z.enum(["text", "reasoning", "tool_call", "tool_result", "file"]),
    text: z.string().meta({
      description: "The input of a tool call and the result of a tool as JSON; a file's media type",
    }),
    cut_chars: cutChars,
    tool_call_id: z.string().nullable(),
    tool_name: z.string().nullable(),
  })
  .meta({ id: "ModelMessagePart" });
export type MessagePart = z.output<typeof messagePart>;

const isAsSent = (part: string) =>
  z
    .boolean()
    .nullable()
    .meta({
      description: `Whether the ${part} have the digest that was recorded when the model was called. Null if none was`,
    });

export const modelCall = z
  .object({
    status: z.literal("success"),
    index: count,
    model_id: z.string().meta({ description: "The model that answered" }),
    finish_reason: z.string(),
    as_sent: z
      .object({
        instructions: isAsSent("instructions"),
        messages: isAsSent("messages"),
        tools: isAsSent("tools"),
      })
      .meta({
        description:
          "Requests are not stored: they are put together again from the chat. Where this is not true, the model may have been sent something else: messages that the client sent in place of the stored ones, tools of MCP servers after the run has ended, pages of PDFs, or what this version of the service says in another way.",
      }),
    instructions: z.object({ text: z.string(), cut_chars: cutChars }),
    omitted_messages: count.meta({
      description: "The oldest messages, which are left out of an answer that would be too long",
    }),
    messages: z
      .array(
        z.object({
          role: z.enum(["system", "user", "assistant", "tool"]),
          parts: z.array(messagePart),
        }),
      )
      .meta({ description: "Oldest first, without the bytes of files" }),
    answer: z.array(messagePart).meta({ description: "Empty if the call has failed" }),
    tools: z.array(
      z.object({
        name: z.string(),
        description: z.string(),
        input_schema: z.unknown().meta({ description: "Null for one of over 20,000 characters" }),
      }),
    ),
  })
  .meta({ id: "ModelCall" });
export type ReadCall = z.output<typeof modelCall>;

export const readModelCallContract = contract({
  method: "GET",
  path: "/api/chat/runs/{runId}/steps/{index}",
  runCredential: true,
  words: "chats",
  summary: "Read a model call of a run",
  description:
    "The request of a step of the trace, and the answer. Each text has at most 20,000 characters, and all of them 400,000. Model calls are kept as long as the trace of their run.",
  tag: "Chat",
  family: "error",
  auth: "required",
  params: z.object({
    runId: z.string().describe("The run's `runId`"),
    index: pathIndex.describe("The step's `index`"),
  }),
  query: z.object({
    tool_call_id: z.string().min(1).max(200).optional().meta({
      description:
        "The `id` of a call of `task` of this step, to read a model call of its subagent",
    }),
    subagent_index: queryInteger({ min: 0, max: 999_999, default: 0 }).describe(
      "The `index` of the subagent's step",
    ),
  }),
  responses: { 200: { description: "The model call", schema: modelCall } },
  errors: ["not_found"],
});
export type CallPlace = z.output<typeof readModelCallContract.query> & { readonly index: number };
