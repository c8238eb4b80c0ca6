import type { StoredMessage, TurnEvent } from "../stream-turn.ts";
import type { Output } from "./output.ts";

/** Prints a turn while it goes on: its text, and what it does as progress. Resolves to the exit code. */
export async function printTurn(events: AsyncIterable<TurnEvent>, out: Output): Promise<number> {
  let printed = "";
  let code = 0;
  for await (const event of events) {
    out.event(event);
    if (event.type === "message") {
      const whole = textOf(event.message);
      const rest = whole.startsWith(printed) ? whole.slice(printed.length) : `\n${whole}`;
      out.text(rest);
      printed = whole;
      continue;
    }
    const { chunk } = event;
    if (chunk.type === "text-delta") {
      out.text(String(chunk.delta));
      printed += String(chunk.delta);
    } else if (chunk.type === "tool-input-available") {
      out.progress(`${chunk.toolName} ${JSON.stringify(chunk.input).slice(0, 200)}`);
    } else if (chunk.type === "error") {
      out.error(String(chunk.errorText));
      code = 1;
    }
  }
  if (printed !== "") out.text("\n");
  return code;
}

/** Returns the text of a message without what tools said. */
export const textOf = ({ parts }: Pick<StoredMessage, "parts">): string =>
  parts.flatMap(({ type, text }) => (type === "text" ? [String(text)] : [])).join("");
