/** A conversation as the units of which a model gets all, or something shorter. */
import { setImmediate } from "node:timers/promises";
import {
  convertToModelMessages,
  isToolUIPart,
  type ModelMessage,
  type ToolSet,
  type UIMessage,
} from "ai";
import type { StepResult } from "./step-result.ts";
import { showResult } from "./tool-results.ts";

/** A step of a message, counted from 0. A message of a user is one step. */
export interface Place {
  readonly messageId: string;
  readonly step: number;
}

/** The part of a conversation that is compacted as a whole: a user's message, or an answer with its tool results. */
export interface Unit extends Place {
  readonly role: "user" | "assistant";
  readonly messages: readonly ModelMessage[];
}

const MESSAGES_PER_BATCH = 20;

/** The model calls of a turn in this process share its history, which is converted once. */
const unitsOfHistories = new WeakMap<readonly UIMessage[], Promise<readonly Unit[]>>();

export interface Messages {
  /** The messages before this turn, and the one that it answers. */
  readonly history: readonly UIMessage[];
  /** The message that the turn writes. */
  readonly assistant_message_id: string;
}

/**
 * Divides a conversation into units.
 * @param steps the results of the turn's model calls
 * @param results of the tools that the last of them called, and a note after them, if any
 */
export async function unitsOf(
  { history, assistant_message_id: messageId }: Messages,
  steps: readonly StepResult[],
  results: readonly ModelMessage[],
  tools: ToolSet,
): Promise<readonly Unit[]> {
  let converting = unitsOfHistories.get(history);
  if (!converting) {
    converting = convertHistory(history, tools);
    unitsOfHistories.set(history, converting);
  }
  const earlier = await converting;
  const before = earlier.filter((unit) => unit.messageId === messageId).length;
  const own = steps.map(({ messages }, index): Unit => {
    const next = index + 1 < steps.length ? leadingResults(steps[index + 1]?.messages) : results;
    const answer = messages.slice(leadingResults(messages).length);
    return { messageId, step: before + index, role: "assistant", messages: [...answer, ...next] };
  });
  return [...earlier, ...own];
}

function leadingResults(messages: readonly ModelMessage[] = []): readonly ModelMessage[] {
  const first = messages.findIndex(({ role }) => role === "assistant");
  return first < 0 ? messages : messages.slice(0, first);
}

async function convertHistory(history: readonly UIMessage[], tools: ToolSet): Promise<Unit[]> {
  const units: Unit[] = [];
  for (const [place, message] of history.entries()) {
    // Other requests get their turn while a long conversation is converted.
    if (place % MESSAGES_PER_BATCH === MESSAGES_PER_BATCH - 1) await setImmediate();
    const { id: messageId, role } = message;
    const converted = await convertToModelMessages(closeOpenCalls(message), { tools });
    if (role === "user") {
      if (converted.length > 0) units.push({ messageId, step: 0, role, messages: converted });
      continue;
    }
    const steps: ModelMessage[][] = [];
    for (const each of converted) {
      if (each.role === "assistant" || steps.length === 0) steps.push([]);
      steps.at(-1)?.push(each.role === "tool" ? withShownResults(each) : each);
    }
    for (const [step, messages] of steps.entries()) {
      units.push({ messageId, step, role: "assistant", messages });
    }
  }
  return units;
}

const withShownResults = (message: Extract<ModelMessage, { role: "tool" }>): ModelMessage => ({
  ...message,
  content: message.content.map((part) =>
    part.type === "tool-result"
      ? { ...part, output: showResult(part.toolCallId, part.output).output }
      : part,
  ),
});

/**
 * Returns the message with a result for every tool call that has none, because models reject such a
 * conversation; nothing for an empty one. An open call in a stored conversation is a question that the user
 * ignored, or a call that was cut off.
 */
function closeOpenCalls(message: UIMessage): UIMessage[] {
  const isEmpty = message.parts.every(({ type }) => type === "step-start");
  return isEmpty ? [] : [{ ...message, parts: message.parts.map(closed) }];
}

type Part = UIMessage["parts"][number];

function closed(part: Part): Part {
  if (!isToolUIPart(part)) return part;
  if (part.state === "output-available" || part.state === "output-error") return part;
  const result =
    part.type === "tool-ask_user_question"
      ? { state: "output-available", output: { declined: true } }
      : { state: "output-error", errorText: "Not run" };
  // The SDK's union of part states cannot be changed one state at a time.
  return { ...part, ...result } as Part;
}
