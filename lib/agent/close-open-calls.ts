import { isToolUIPart, type UIMessage } from "ai";

/**
 * Adds a result to every tool call that has none, because models reject such a conversation. An
 * open call in a stored conversation is a question that the user ignored, or a call that was cut
 * off.
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
