import type { StoredMessage, TurnEvent } from "../stream-turn.ts";
import type { Output } from "./output.ts";

/** Prints a turn while it runs: its text, and its actions as progress. Resolves to the exit code. */
export async function printTurn(events: AsyncIterable<TurnEvent>, out: Output): Promise<number> {
  let printed = "";
  /** Whether the next text is the first of its part. */
  let isNewPart = false;
  /** The run of a turn that waits for an approval. */
  let asking: string | undefined;
  let code = 0;
  for await (const event of events) {
    out.event(event);
    if (event.type === "message") {
      const whole = textOf(event.message);
      const rest = whole.startsWith(printed) ? whole.slice(printed.length) : `\n${whole}`;
      out.text(rest);
      printed = whole;
      isNewPart = false;
      asking = undefined;
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
    } else if (chunk.type === "tool-approval-request") {
      asking = String(Object(chunk.approvalDescriptor).run_id);
    } else if (chunk.type === "finish") {
      asking = undefined;
    } else if (chunk.type === "error") {
      out.error(String(chunk.errorText));
      code = 1;
    }
  }
  if (printed !== "") out.text("\n");
  if (asking === undefined) return code;
  out.error(`The agent asks for an approval. Answer it with: agent-platform runs get ${asking}`);
  return 4;
}

/** Between two texts of an answer, such as those before and after a tool call. */
const PART_BREAK = "\n\n";

/** Returns the texts of a message, without the output of tools. */
export const textOf = ({ parts }: Pick<StoredMessage, "parts">): string =>
  parts
    .flatMap(({ type, text }) => (type === "text" && text !== "" ? [String(text)] : []))
    .join(PART_BREAK);
