import type { FileUIPart, UIMessage } from "ai";

/** What a person writes: one message, or several that came back together. */
export interface WrittenMessage {
  readonly text: string;
  readonly files: readonly FileUIPart[];
}

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
