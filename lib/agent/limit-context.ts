/**
 * Limits the context of a model call. Old tool results are omitted first, then old turns, but never
 * the system prompt or the newest user message. A token is estimated as four characters of JSON.
 */
import type { ModelMessage, ToolModelMessage } from "ai";

const CHARS_PER_TOKEN = 4;
const IMAGE_CHARS = 6_000;
export const OMITTED = "[result omitted to save context]";

export function estimateTokens(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + tokensOf(message), 0);
}

/**
 * Returns the messages unchanged when they fit or there is no limit. Otherwise it replaces tool results
 * by a note, oldest first, then drops whole turns, oldest first; a tool call never loses its result. A
 * context that is still too large is not reduced further.
 */
export function limitContext(messages: ModelMessage[], tokens: number | undefined): ModelMessage[] {
  if (tokens === undefined) return messages;
  let excess = estimateTokens(messages) - tokens;
  if (excess <= 0) return messages;
  const lighter = messages.map((message) => {
    if (excess <= 0 || message.role !== "tool") return message;
    const { message: emptied, saved } = emptyResults(message, excess);
    excess -= saved;
    return emptied;
  });
  const isSystem = (message: ModelMessage): boolean => message.role === "system";
  const turns = splitTurns(lighter.filter((message) => !isSystem(message)));
  while (excess > 0 && turns.length > 1) excess -= estimateTokens(turns.shift() ?? []);
  return [...lighter.filter(isSystem), ...turns.flat()];
}

/**
 * Replaces only results that are longer than the note, and no more of them than necessary. Each is
 * measured once, because a message can have ten thousand.
 */
function emptyResults(message: ToolModelMessage, excess: number) {
  const before = charsOf(message);
  let chars = before;
  const savedSoFar = () => tokensIn(before) - tokensIn(chars);
  const content = message.content.map((part) => {
    if (part.type !== "tool-result" || savedSoFar() >= excess) return part;
    const note = { ...part, output: { type: "text" as const, value: OMITTED } };
    const shorter = charsOf(part) - charsOf(note);
    if (shorter <= 0) return part;
    chars -= shorter;
    return note;
  });
  return { message: { ...message, content }, saved: savedSoFar() };
}

/** Splits before every user message. Messages before the first one form a separate turn. */
function splitTurns(messages: readonly ModelMessage[]): ModelMessage[][] {
  const turns: ModelMessage[][] = [];
  for (const message of messages) {
    const current = turns.at(-1);
    if (message.role === "user" || current === undefined) turns.push([message]);
    else current.push(message);
  }
  return turns;
}

const tokensIn = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN);
const tokensOf = (message: ModelMessage): number => tokensIn(charsOf(message));
const charsOf = (value: unknown): number => JSON.stringify(value, withoutImages).length;
/** Models count an image by its size on a screen, not by its bytes. */
const withoutImages = (_: string, value: unknown): unknown =>
  typeof value === "string" && value.startsWith("data:image/")
    ? value.slice(0, IMAGE_CHARS)
    : value;
