/** POST /api/chat, its stream and its stop. Spec: POST /api/chat; decisions, section 5. */
import { z } from "zod";
import { contract } from "../http/contract.ts";
import { queryInteger, uuid } from "../http/fields.ts";

const chatId = uuid.meta({ description: "An existing chat of the session" });

const entry = z.looseObject({
  id: z.string().min(1).max(128),
  role: z.enum(["user", "assistant"]).default("user"),
  content: z.string().optional(),
  parts: z.array(z.looseObject({ type: z.string() })).optional(),
});

export type ChatEntry = z.output<typeof entry>;

const streamHeaders =
  "`x-workflow-run-id`: the durable run; `x-workflow-stream-tail-index`: index of the newest chunk.";

export const startTurnContract = contract({
  method: "POST",
  path: "/api/chat",
  summary: "Send a message and stream the answer",
  description: `Starts a durable turn and streams it as the AI SDK's UI message stream over SSE; each frame's \`id\` is its index. A client that goes away changes nothing: the turn goes on, and \`GET /api/chat/{chatId}/stream\` resumes it. The same request again, while its turn runs, gets the same stream. ${streamHeaders}`,
  tag: "Chat",
  family: "message",
  auth: "required",
  bodyLimit: 4 * 1024 * 1024,
  body: z.object({
    messages: z.array(entry).min(1).max(1000).meta({
      description:
        "One entry is the new turn, after the stored history. Several are the whole conversation as the client wants it. The last is the user's message, or the assistant's with an open question answered.",
    }),
    chatId,
    sessionId: uuid.meta({ description: "The session that owns the chat and the sandbox" }),
    context: z
      .object({
        contextLimit: z.int().positive().max(10_000_000).optional().meta({
          description: "Token budget for what the model is sent",
        }),
      })
      .optional(),
  }),
  responses: { 200: { description: "The turn's UI message stream", stream: true } },
  errors: ["not_found", "sandbox_missing", "stream_active", "conflict"],
});

export const resumeTurnContract = contract({
  method: "GET",
  path: "/api/chat/{chatId}/stream",
  summary: "Resume the running turn's stream",
  description: `The chunks of the running turn from \`startIndex\` on, or after the \`Last-Event-ID\` header, each exactly once. ${streamHeaders}`,
  tag: "Chat",
  family: "message",
  auth: "required",
  params: z.object({ chatId }),
  query: z.object({ startIndex: queryInteger({ min: 0, default: 0 }) }),
  responses: {
    200: { description: "The rest of the stream", stream: true },
    204: { description: "No turn is running" },
  },
  errors: ["not_found"],
});

export const stopTurnContract = contract({
  method: "POST",
  path: "/api/chat/{chatId}/stop",
  summary: "Stop the running turn",
  description:
    "Ends the turn that runs now within two seconds; what it has answered is kept. A later turn is never touched.",
  tag: "Chat",
  family: "message",
  auth: "required",
  params: z.object({ chatId }),
  responses: {
    200: {
      description: "`stopped` tells whether a turn was running",
      schema: z.object({ status: z.literal("success"), stopped: z.boolean() }),
    },
  },
  errors: ["not_found"],
});
