/** Reads a model call of a run. Its request is assembled again, and compared with the recorded digests. */

import { instructionsFor } from "@platform/agent/call-model";
import { promptOf } from "@platform/agent/context";
import { leadingResults, unitsOf } from "@platform/agent/conversation";
import { describeTools, digestsOf, type RequestDigests } from "@platform/agent/sent-request";
import { showFiles } from "@platform/agent/show-files";
import { signedFor } from "@platform/agent/signed-parts";
import { toolSchemas } from "@platform/agent/tools";
import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { cutOutput } from "@platform/sandbox/cut-output";
import type { ModelMessage, UIMessage } from "ai";
import { withoutBytes } from "../context/chat-context.ts";
import { canReachWeb } from "../platform/config.ts";
import type { Database } from "../platform/database/port.ts";
import { reportId } from "../tools/run-subagent.ts";
import type { CallPlace, MessagePart, ReadCall } from "./model-call-contract.ts";
import { selectModelCall } from "./store/past-calls.ts";

const MAX_TEXT_CHARS = 20_000;
const MAX_CHARS = 400_000;

/** Errors: 404 `Run not found` and `Model call not found`. */
export async function readModelCall(
  db: Database,
  accountId: string,
  runId: string,
  place: CallPlace,
): Promise<ReadCall | AppError> {
  const found = await selectModelCall(db, accountId, runId, place);
  if (!found) return appError("not_found", "Run not found");
  const { steps, summary } = found;
  const step = steps.at(-1);
  const isSubagent = place.tool_call_id !== undefined;
  const index = isSubagent ? place.subagent_index : place.index;
  if (!step || steps.length !== index + 1) return appError("not_found", "Model call not found");

  const callId = `${place.index + 1} ${place.tool_call_id}`;
  const turn = {
    ...found.turn,
    ...(isSubagent && {
      ...{ subagent: {}, assistant_message_id: reportId(callId), steering: [] },
    }),
  };
  const history: UIMessage[] = isSubagent
    ? [{ id: callId, role: "user", parts: [{ type: "text", text: found.instructions ?? "" }] }]
    : turn.history.map((message) =>
        message.id === turn.assistant_message_id
          ? { ...message, parts: withoutLastSteps(message.parts, found.steps_since) }
          : message,
      );
  const earlier = steps.slice(0, -1);
  const results = leadingResults(step.messages);
  const tools = toolSchemas(turn, [...earlier.flatMap(({ messages }) => messages), ...results]);
  const shown = await showFiles(history, withoutBytes);
  const units = await unitsOf({ ...turn, history: shown }, earlier, results, tools);
  const { request: sent } = step;
  const messages = promptOf(units, {
    ...(sent?.clearedTo && { clearedTo: sent.clearedTo }),
    ...(sent?.reportsClearedTo && { reportsClearedTo: sent.reportsClearedTo }),
    ...(sent?.summarizedTo && { summary: { text: summary ?? "", to: sent.summarizedTo } }),
  });
  const instructions = instructionsFor(turn, canReachWeb());
  const digests = await digestsOf({ instructions, tools, messages });
  const isAsSent = (part: keyof RequestDigests) => (sent ? sent[part] === digests[part] : null);

  const model_id = step.modelId ?? step.trace?.modelId ?? turn.model_id;
  const cut = boundedTexts();
  const answer = signedFor(step.messages.slice(results.length), model_id).flatMap((message) =>
    partsOf(message, cut),
  );
  const parts: ReadCall["messages"] = [];
  const prompt = signedFor(messages, model_id);
  for (const message of prompt.toReversed()) {
    if (cut.isFull()) break;
    parts.unshift({ role: message.role, parts: partsOf(message, cut) });
  }
  return {
    ...{ status: "success", index, model_id, finish_reason: step.finishReason },
    as_sent: {
      instructions: isAsSent("instructions"),
      messages: isAsSent("messages"),
      tools: isAsSent("tools"),
    },
    instructions: boundedTexts().cut(instructions),
    omitted_messages: prompt.length - parts.length,
    messages: parts,
    answer,
    tools: (await describeTools(tools)).map(({ name, description, schema }) => ({
      name,
      description: cutOutput(description, MAX_TEXT_CHARS),
      input_schema: JSON.stringify(schema).length > MAX_TEXT_CHARS ? null : schema,
    })),
  };
}

/** A turn that answers a question continues the message that has it. */
function withoutLastSteps(parts: UIMessage["parts"], count: number): UIMessage["parts"] {
  const starts = [...parts.keys()].filter((place) => parts[place]?.type === "step-start");
  return count === 0 ? parts : parts.slice(0, starts.at(-count) ?? 0);
}

function boundedTexts() {
  let left = MAX_CHARS;
  return {
    isFull: () => left <= 0,
    cut(given: string) {
      const text = cutOutput(given, Math.min(MAX_TEXT_CHARS, Math.max(0, left)));
      left -= text.length;
      return { text, cut_chars: given.length - text.length };
    },
  };
}

function partsOf(
  { content }: ModelMessage,
  { cut }: ReturnType<typeof boundedTexts>,
): MessagePart[] {
  const part = (
    type: MessagePart["type"],
    text: string,
    call?: { readonly toolCallId: string; readonly toolName: string },
  ): MessagePart => ({
    ...{ type, ...cut(text) },
    tool_call_id: call?.toolCallId ?? null,
    tool_name: call?.toolName ?? null,
  });
  if (typeof content === "string") return [part("text", content)];
  return content.flatMap((each) => {
    switch (each.type) {
      case "text":
      case "reasoning":
        return [part(each.type, each.text)];
      case "tool-call":
        return [part("tool_call", JSON.stringify(each.input), each)];
      case "tool-result": {
        const { output } = each;
        const value = "value" in output ? output.value : output;
        return [
          part("tool_result", typeof value === "string" ? value : JSON.stringify(value), each),
        ];
      }
      case "file":
      case "image":
        return [part("file", each.mediaType ?? "image")];
      default:
        return [];
    }
  });
}
