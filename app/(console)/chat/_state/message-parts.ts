import type { FileUIPart, UIMessage } from "ai";

/** Returns the parts of a message: its files, then its text. */
export const toParts = (text: string, files: readonly FileUIPart[]): UIMessage["parts"] => [
  ...files,
  ...(text === "" ? [] : [{ type: "text", text } as const]),
];

/** Returns what the message box gets back of messages that were not sent. */
export function toReturned(parts: UIMessage["parts"]): {
  readonly returnedText: string;
  readonly returnedFiles: readonly FileUIPart[];
} {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return {
    returnedText: texts.join("\n\n"),
    returnedFiles: parts.filter((part) => part.type === "file"),
  };
}
