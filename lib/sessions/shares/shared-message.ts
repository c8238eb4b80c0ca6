import type { Message } from "../session.ts";
import type { SharedMessage } from "./contract.ts";

/** Returns what others may see of a message, or null when that is nothing. */
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
