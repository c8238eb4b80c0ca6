import type { Message } from "../session.ts";
import type { SharedMessage } from "./contract.ts";

/** Returns the shared part of a message, or null when there is none. */
export function sharedMessageOf({ role, parts }: Message): SharedMessage | null {
  const shown = parts.flatMap((part): SharedMessage["parts"] => {
    const { type, text } = part;
    if (type === "text") {
      return typeof text === "string" && text.trim() !== "" ? [{ type, text }] : [];
    }
    return type.startsWith("tool-") ? [{ type: "tool", name: type.slice("tool-".length) }] : [];
  });
  return shown.length === 0 ? null : { role, parts: shown };
}
