/** Turns of a chat, their streams and their stop. */

import { clientTools } from "@platform/agent/tools/client-tools";
import { contract } from "@platform/endpoint/contract/contract";
import { queryInteger, uuid } from "@platform/endpoint/contract/fields";
import { turnOptions } from "@platform/endpoint/contract/run-options";
import { z } from "zod";

const chatId = uuid.meta({ description: "An existing chat of the session" });

/** Far more than a turn of 100 model calls has. Larger arrays are rejected before they are read. */
const MAX_PARTS = 10_000;

const part = z.looseObject({ type: z.string() });

/**
 * Documents the schema that `part` validates. The array's own check reports only the first invalid part,
 * where zod would collect an issue for each of ten thousand.
 */
const anyPart = z.custom<z.output<typeof part>>().meta({
  override: {
    type: "object",
    properties: { type: { type: "string" } },
    required: ["type"],
    additionalProperties: {},
  },
});

const parts = z
  .array(anyPart)
  .max(MAX_PARTS)
  .check(({ value, issues }) => {
    const invalid = value.findIndex((item) => !part.safeParse(item).success);
    if (invalid < 0) return;
    const given: unknown = value[invalid];
    const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
    issues.push({
      code: "invalid_type",
      expected: isObject ? "string" : "object",
      input: isObject ? Reflect.get(given, "type") : given,
      path: isObject ? [invalid, "type"] : [invalid],
    });
  });

export const entry = z.looseObject({
  id: z.string().min(1).max(128),
  role: z.enum(["user", "assistant"]).default("user"),
  content: z.string().optional(),
  parts: parts.optional(),
});

export type ChatEntry = z.output<typeof entry>;

const streamHeaders = ["x-workflow-run-id", "x-workflow-stream-tail-index"] as const;

const trigger = z.enum(["submit-message", "regenerate-message"]);

const onBusy = z.enum(["reject", "enqueue", "steer", "interrupt"]);
export type OnBusy = z.output<typeof onBusy>;

export const startTurnContract = contract({
  method: "POST",
  path: "/api/chat",
  tool: true,
  summary: "Send a message and stream the answer",
  description: `Starts a durable turn and streams it as the AI SDK's UI message stream over SSE. The \`id\` of each event is its index. The turn continues when the client disconnects; \`GET /api/chat/{chatId}/stream\` resumes its stream. The \`id\` of a message identifies it permanently. Repeating the request returns the same stream while the turn runs, and the stored answer once it has ended; an answer that failed or was stopped is generated again, on another branch. The same \`id\` with other content is 409.

The options of a run, such as \`model\` and \`approvals\`, apply to the turn of this message only, and to its continuation after a question or a call of \`client_tools\`, whose answer may name further ones. \`approvals\` and \`network\` only make the chat's stricter; the others replace the chat's. A repeated request may leave them out, and is 409 with options that its turn does not have, as is the answer to a request for an approval.`,
  tag: "Chat",
  family: "message",
  auth: "required",
  bodyLimit: 4 * 1024 * 1024,
  body: z
    .object({
      messages: z.array(entry).min(1).max(1000).meta({
        description:
          "A single entry follows the stored history. Several entries are the whole conversation. The last entry is the user's message, or the assistant's with its open question or calls of `client_tools` answered. A `file` part (`mediaType`, `filename`, `url`) is a data URL or an https URL, whose file is stored in `/home/agent/uploads` of the sandbox, or a file of the sandbox as `sandbox:/home/agent/…`; at most 20. A file that cannot be fetched is not requested again. The agent is told where the files are, and shown the images.",
      }),
      chatId: chatId.optional(),
      sessionId: uuid
        .meta({ description: "The session that owns the chat and the sandbox" })
        .optional(),
      id: z.string().min(1).max(128).optional().meta({
        description:
          "In place of `chatId` and `sessionId`, the client's own name for the chat, as `useChat` sends it. The chat, its session and its sandbox are created with the first message, and `location` is the chat's address. `GET /api/chat/{id}/stream` and `POST /api/chat/{id}/stop` take the name as well if it is a UUID. The `id` of an existing chat names that chat.",
      }),
      parentId: z.string().max(128).optional().meta({
        description:
          "The `id` of the message that the last entry follows; empty for none, and the chat's newest message when absent. What followed it before stays stored as another branch. A new message so replaces a later one, and a stored user message is answered once more. `GET /api/sessions/{sessionId}/chats/{chatId}/branches` lists the branches.",
      }),
      trigger: trigger.optional().meta({
        description:
          "`regenerate-message` asks for another answer to the last entry, which is stored as a branch beside the present one. `submit-message` is the default.",
      }),
      messageId: z.string().max(128).optional().meta({
        description:
          "With `regenerate-message`, the answer to replace. Repeating the request once another answer is shown returns that one.",
      }),
      onBusy: onBusy.default("reject").meta({
        description:
          "While another turn of the chat is active: `reject` answers 409. `enqueue` lets the message wait until the turns before it have ended; the stream then begins, without `x-workflow-run-id`. `steer` inserts it into the running turn before its next model call, after the tools in progress, and then streams that turn from its start: a `steering-message` part with its `id` shows where it took effect. One that comes too late for that turn starts the next one, and one with `parentId` or with options of its own, which a running turn cannot take, waits as with `enqueue`. `interrupt` stops the active turn and goes before those that wait. At most 10 messages wait in a chat, and its stop drops them; `GET /api/chat/{chatId}/queue` lists them. A client that loses the stream repeats the request, and one that repeats it with `interrupt` sends a message now that waits. An answer to a question is always rejected.",
      }),
      ...turnOptions.shape,
      client_tools: clientTools.optional().meta({
        description:
          "Tools that the client runs in this turn. A call of one ends the turn like a question to the user: the client sends the assistant's message back with the `output` of the tool part, or with its `errorText` and the state `output-error`, as `useChat` does after `addToolOutput`. A steered message has those of the running turn.",
      }),
      context: z
        .object({
          contextLimit: z.int().positive().max(10_000_000).optional().meta({
            description:
              "The tokens that a request to the model may have, with its instructions and tools. Above three quarters of it, or of the model's own context, results of tools are cleared and older messages condensed; the chat keeps them, and a `data-compaction` part says so.",
          }),
        })
        .optional(),
    })
    .check(({ value, issues }) => {
      const { id, chatId, sessionId } = value;
      if (id !== undefined && chatId === undefined && sessionId === undefined) return;
      for (const [field, given] of Object.entries({ chatId, sessionId })) {
        if (given !== undefined) continue;
        issues.push({
          code: "custom",
          input: given,
          path: [field],
          message: `${field} is required`,
        });
      }
    }),
  responses: {
    200: {
      description: "The turn's UI message stream",
      stream: true,
      headers: [...streamHeaders, "location"],
    },
  },
  errors: [
    "already_answered",
    "budget_reached",
    "chat_full",
    "message_differs",
    "message_id_taken",
    "messages_full",
    "not_found",
    "parent_differs",
    "parent_not_found",
    "queue_full",
    "run_stopped",
    "sandbox_missing",
    "sandboxes_full",
    "stream_active",
    "too_many_turns",
    "upstream_error",
  ],
});

export const resumeTurnContract = contract({
  method: "GET",
  path: "/api/chat/{chatId}/stream",
  summary: "Resume a turn's stream",
  description: `Streams each chunk of a turn exactly once, from \`startIndex\` on or after the \`Last-Event-ID\` header: of the turn that \`runId\` names, running or ended, or else of the running turn. A client that names its turn receives the last chunks even if the turn ended while it was disconnected.`,
  tag: "Chat",
  family: "message",
  auth: "required",
  params: z.object({ chatId }),
  query: z.object({
    startIndex: queryInteger({ min: 0, max: 999_999_999, default: 0 }).describe(
      "Index of the first chunk to send",
    ),
    runId: z
      .string()
      .max(200)
      .optional()
      .describe(
        "The turn's `x-workflow-run-id`. The stream is never that of another turn; 404 for a turn of another chat, and once the log of an ended turn is deleted (a day after its end by default)",
      ),
  }),
  headers: z.object({
    "last-event-id": z.string().optional().meta({
      description: "The `id` of the last event received, which browsers send when they reconnect",
    }),
  }),
  responses: {
    200: { description: "The rest of the stream", stream: true, headers: streamHeaders },
    204: { description: "No turn is running, and no `runId` was sent" },
  },
  errors: ["not_found"],
});

export const stopTurnContract = contract({
  method: "POST",
  path: "/api/chat/{chatId}/stop",
  tool: true,
  summary: "Stop the running turn",
  description:
    "Ends the running turn within two seconds and keeps what it has answered. A later turn is never affected.",
  tag: "Chat",
  family: "message",
  auth: "required",
  params: z.object({ chatId }),
  responses: {
    200: {
      description: "`stopped` says whether a turn was running",
      schema: z.object({ status: z.literal("success"), stopped: z.boolean() }),
    },
  },
  errors: ["not_found"],
});

export const apiTags = { Chat: "Turns of an agent, streamed, resumed and stopped; headless runs." };
