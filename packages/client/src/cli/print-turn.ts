import type { StoredMessage, TurnEvent } from "../stream-turn.ts";
import type { Output } from "./output.ts";

/** Prints a turn while it runs: its text, and its actions as progress. Resolves to the exit code. */
export async function printTurn(events: AsyncIterable<TurnEvent>, out: Output): Promise<number> {
  let printed = "";
  /** Whether the next text is the first of its part. */
  let isNewPart = false;
  let code = 0;
  for await (const event of events) {
    out.event(event);
    if (event.type === "message") {
      const whole = textOf(event.message);
      const rest = whole.startsWith(printed) ? whole.slice(printed.length) : `\n${whole}`;
      out.text(rest);
      printed = whole;
      isNewPart = false;
      continue;
    }
    const { chunk } = event;
    if (chunk.type === "text-start") {
      isNewPart = true;
    } else if (chunk.type === "text-delta") {
      const delta = String(chunk.delta);
      const text = isNewPart && printed !== "" && delta !== "" ? PART_BREAK + delta : delta;
      if (delta !== "") isNewPart = false;
      out.text(text);
      printed += text;
    } else if (chunk.type === "tool-input-available") {
      out.progress(`${chunk.toolName} ${JSON.stringify(chunk.input).slice(0, 200)}`);
    } else if (chunk.type === "steering-message") {
      out.progress(`> ${textOf({ parts: chunk.parts as StoredMessage["parts"] })}`);
    } else if (chunk.type === "error") {
      out.error(String(chunk.errorText));
      code = 1;
    }
  }
  if (printed !== "") out.text("\n");
  return code;
}

/** Between two texts of an answer, such as those before and after a tool call. */
const PART_BREAK = "\n\n";

/** Returns the texts of a message, without the output of tools. */
export const textOf = ({ parts }: Pick<StoredMessage, "parts">): string =>
  parts
    .flatMap(({ type, text }) => (type === "text" && text !== "" ? [String(text)] : []))
    .join(PART_BREAK);
