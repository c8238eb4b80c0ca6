import type { UIMessage } from "ai";
import type { z } from "zod";
import type { getChatContract } from "@/lib/sessions/contract.ts";

/** A chat as the API stores it. */
export type StoredChat = z.output<(typeof getChatContract)["responses"][200]["schema"]>;

/**
 * Returns the stored messages. A message that did not change stays the same object, so that nothing
 * is rendered again for it.
 */
export function reuseUnchanged(
  current: readonly UIMessage[],
  stored: StoredChat["messages"],
): UIMessage[] {
  const byId = new Map(current.map((message) => [message.id, message]));
  return stored.map(({ createdAt: _, ...rest }) => {
    // The service checked these parts with the SDK's own validator.
    const message = rest as UIMessage;
    const before = byId.get(message.id);
    return before && serialize(before) === serialize(message) ? before : message;
  });
}

const serialize = ({ id, role, parts, metadata }: UIMessage): string =>
  JSON.stringify([id, role, parts, metadata]);

/** Returns true for a question of the agent that nobody has answered yet. */
export function isOpenQuestion(part: UIMessage["parts"][number]): boolean {
  return (
    part.type === "tool-ask_user_question" && "state" in part && part.state === "input-available"
  );
}
