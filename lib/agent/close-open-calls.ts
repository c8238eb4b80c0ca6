import { isToolUIPart, type UIMessage } from "ai";

/**
 * A tool call without a result makes the model refuse the conversation. In a stored conversation
 * such a call is a question the user passed over, or was cut off; the model is told so.
 */
export function closeOpenCalls(messages: readonly UIMessage[]): UIMessage[] {
  return messages
    .map((message) => ({ ...message, parts: message.parts.map(closed) }))
    .filter((message) => message.parts.some((part) => part.type !== "step-start"));
}

type Part = UIMessage["parts"][number];

function closed(part: Part): Part {
  if (!isToolUIPart(part)) return part;
  if (part.state === "output-available" || part.state === "output-error") return part;
  const result =
    part.type === "tool-ask_user_question"
      ? { state: "output-available", output: { declined: true } }
      : { state: "output-error", errorText: "Not run" };
  // The SDK's union of part states cannot be changed one state at a time.
  return { ...part, ...result } as Part;
}
