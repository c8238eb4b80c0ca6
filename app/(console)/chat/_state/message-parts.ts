import type { FileUIPart, UIMessage } from "ai";
import type { getChatContract } from "@/lib/sessions/contract.ts";
import type { Answer } from "../../_api/request.ts";

/** The text and files of a person: one message, or several that came back together. */
export type WrittenMessage = Readonly<{ text: string; files: readonly FileUIPart[] }>;

/** Returns the parts of a message: its files, then its text. */
export const toParts = (text: string, files: readonly FileUIPart[]): UIMessage["parts"] => [
  ...files,
  ...(text === "" ? [] : [{ type: "text", text } as const]),
];

/** Returns the texts, with a blank line between two of them, and the files of a message. */
export function fromParts(parts: UIMessage["parts"]): WrittenMessage {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return { text: texts.join("\n\n"), files: parts.filter((part) => part.type === "file") };
}

export type StoredChat = Answer<typeof getChatContract>;

/** Returns the stored messages, as the same objects where nothing has changed and is to be rendered. */
export function reuseUnchanged(current: readonly UIMessage[], stored: StoredChat["messages"]) {
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

/** Returns whether the messages contain one with this id, also within an answer that it has steered. */
export const hasMessage = (
  messages: readonly Pick<UIMessage, "id" | "parts">[] | StoredChat["messages"],
  id: string,
): boolean =>
  messages.some(
    (message) =>
      message.id === id ||
      message.parts.some((part) => part.type === "steering-message" && part.id === id),
  );

/** Returns the path of the run of a message that waits for an approval; null for any other message. */
export function askingRun(message: UIMessage | undefined): string | null {
  for (const part of message?.parts ?? []) {
    if (!("state" in part) || part.state !== "approval-requested") continue;
    return `/api/chat/runs/${encodeURIComponent(Object(part.approval.descriptor).run_id)}`;
  }
  return null;
}

/** Returns true for a question of the agent that has no answer yet. */
export const isOpenQuestion = (part: UIMessage["parts"][number]): boolean =>
  part.type === "tool-ask_user_question" && "state" in part && part.state === "input-available";
