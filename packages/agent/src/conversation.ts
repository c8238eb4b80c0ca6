/** A conversation as the units of which a model gets all, or something shorter. */
import { setImmediate } from "node:timers/promises";
import {
  convertToModelMessages,
  type Experimental_SteeringMessageUIPart,
  isToolUIPart,
  type ModelMessage,
  type ToolSet,
  type UIMessage,
} from "ai";
import { z } from "zod";
import { factsLine, type TurnFacts, turnFacts, withoutFacts } from "./facts.ts";
import type { StepResult } from "./step-result.ts";
import { showResult } from "./tool-results.ts";

/**
 * A step of a message, counted from 0. A message of a user is one step, and so are the messages that steered
 * an answer between two of its model calls.
 */
export interface Place {
  readonly messageId: string;
  readonly step: number;
}

/** The part of a conversation that is compacted as a whole: a user's message, or an answer with its tool results. */
export interface Unit extends Place {
  readonly role: "user" | "assistant";
  readonly messages: readonly ModelMessage[];
}

/** A message of the user that a running turn has taken. */
export interface SteeringMessage {
  readonly id: string;
  /** The model call of the turn before which it was taken. */
  readonly step: number;
  readonly parts: Experimental_SteeringMessageUIPart["parts"];
  /** The parts as the model gets them, if they differ. */
  readonly shown?: UIMessage["parts"];
}

const MESSAGES_PER_BATCH = 20;

/** The model calls of a turn in this process share its history, which is converted once. */
const unitsOfHistories = new WeakMap<readonly UIMessage[], Promise<readonly Unit[]>>();

export interface Messages {
  /** The messages before this turn, and the one that it answers. */
  readonly history: readonly UIMessage[];
  /** The message that the turn writes. */
  readonly assistant_message_id: string;
  /** The messages that the turn has taken, in their order. */
  readonly steering: readonly SteeringMessage[];
  /** The facts at the start of the turn; null or absent for a turn of an earlier version. */
  readonly facts?: TurnFacts | null;
}

/**
 * Divides a conversation into units.
 * @param steps the results of the turn's model calls
 * @param results what follows the last of them: the results of its tools, and a note of the platform, if any
 */
export async function unitsOf(
  turn: Messages,
  steps: readonly StepResult[],
  results: readonly ModelMessage[],
  tools: ToolSet,
): Promise<readonly Unit[]> {
  const { history, assistant_message_id: messageId, steering } = turn;
  let converting = unitsOfHistories.get(history);
  if (!converting) {
    converting = convertHistory(withFacts(turn), tools);
    unitsOfHistories.set(history, converting);
  }
  const earlier = await converting;
  let step = earlier.filter((unit) => unit.messageId === messageId).length;
  const own: Unit[] = [];
  for (let index = 0; index <= steps.length; index++) {
    const taken = steering.filter((one) => one.step === index);
    if (taken.length > 0) {
      const given = taken.map(({ shown, parts }) => ({
        role: "user" as const,
        parts: shown ?? parts,
      }));
      const messages = await convertToModelMessages(given);
      own.push({ messageId, step: step++, role: "user", messages });
    }
    const result = steps[index];
    if (!result) continue;
    const { messages } = result;
    const next = index + 1 < steps.length ? leadingResults(steps[index + 1]?.messages) : results;
    const answer = messages.slice(leadingResults(messages).length);
    own.push({ messageId, step: step++, role: "assistant", messages: [...answer, ...next] });
  }
  return [...earlier, ...own];
}

/** Returns the messages of a step that were sent after the previous answer, without the step's own answer. */
export function leadingResults(messages: readonly ModelMessage[] = []): readonly ModelMessage[] {
  const first = messages.findIndex(({ role }) => role === "assistant");
  return first < 0 ? messages : messages.slice(0, first);
}

/**
 * Returns the history with the facts of each turn before the text of the user that it has answered. Those before the
 * newest never change, because they are in the cache of providers.
 */
function withFacts({ history, facts }: Messages): readonly UIMessage[] {
  const newest = history.findLastIndex(({ role }) => role === "user");
  return history.map((message, place) => {
    const own = place === newest ? facts : turnFacts.safeParse(Reflect.get(message, "facts")).data;
    if (!own || message.role !== "user") return message;
    const [first, ...others] = message.parts;
    const line = `${factsLine(own)}\n\n`;
    const parts: UIMessage["parts"] =
      first?.type === "text"
        ? [{ ...first, text: line + first.text }, ...others]
        : [{ type: "text", text: line }, ...message.parts];
    return { ...message, parts };
  });
}

async function convertHistory(history: readonly UIMessage[], tools: ToolSet): Promise<Unit[]> {
  const units: Unit[] = [];
  for (const [place, message] of history.entries()) {
    // Other requests get their turn while a long conversation is converted.
    if (place % MESSAGES_PER_BATCH === MESSAGES_PER_BATCH - 1) await setImmediate();
    const { id: messageId, role } = message;
    const converted = await convertToModelMessages(closeOpenCalls(message, history[place + 1]), {
      tools,
    });
    if (role === "user") {
      if (converted.length > 0) units.push({ messageId, step: 0, role, messages: converted });
      continue;
    }
    const steps: { role: Unit["role"]; messages: ModelMessage[] }[] = [];
    for (const each of converted) {
      // A message that has steered the answer.
      const isUsers = each.role === "user";
      if (isUsers && each.content.length === 0) continue;
      const last = steps.at(-1);
      const continues = isUsers ? last?.role === "user" : each.role === "tool";
      const message = each.role === "tool" ? withShownResults(each) : each;
      if (last && continues) last.messages.push(message);
      else steps.push({ role: isUsers ? "user" : "assistant", messages: [message] });
    }
    for (const [step, unit] of steps.entries()) units.push({ messageId, step, ...unit });
  }
  return units;
}

const withShownResults = (message: Extract<ModelMessage, { role: "tool" }>): ModelMessage => ({
  ...message,
  content: message.content.map((part) =>
    part.type === "tool-result" ? { ...part, output: showResult(part).output } : part,
  ),
});

/**
 * Returns the message with a result for every tool call that has none, because models reject such a
 * conversation; nothing for an empty one. An open call in a stored conversation is a question that the user has
 * answered in the next message, or ignored, or a call that was cut off.
 */
function closeOpenCalls(message: UIMessage, next: UIMessage | undefined): UIMessage[] {
  const isEmpty = message.parts.every(({ type }) => type === "step-start");
  return isEmpty ? [] : [{ ...message, parts: message.parts.map((part) => closed(part, next)) }];
}

type Part = UIMessage["parts"][number];

function closed(part: Part, next: UIMessage | undefined): Part {
  if (!isToolUIPart(part)) return part;
  if (part.state === "output-available" || part.state === "output-error") return part;
  const result =
    part.type === "tool-ask_user_question"
      ? { state: "output-available", output: answersIn(part.input, next) }
      : { state: "output-error", errorText: "Not run" };
  // The SDK's union of part states cannot be changed one state at a time.
  return { ...part, ...result } as Part;
}

const asked = z.object({
  questions: z.array(
    z.object({ question: z.string(), options: z.array(z.object({ label: z.string() })) }),
  ),
});

/** Returns the answer to questions that the user has given as an ordinary message. */
function answersIn(input: unknown, next: UIMessage | undefined) {
  const { questions = [] } = asked.safeParse(input).data ?? {};
  const parts = next?.role === "user" ? next.parts : [];
  const text = parts
    .map((part) => (part.type === "text" ? withoutFacts(part.text) : ""))
    .join("\n");
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return { declined: true };
  const answers = questions.flatMap(({ question, options }, place) => {
    if (questions.length === 1) return [[question, text.trim()]];
    if (lines.length === questions.length) return [[question, lines[place] ?? ""]];
    const named = options.filter(({ label }) => text.toLowerCase().includes(label.toLowerCase()));
    return named.length === 1 ? [[question, named[0]?.label ?? ""]] : [];
  });
  return answers.length > 0
    ? { answers: Object.fromEntries(answers) }
    : { answers: {}, note: "The user has answered with the next message" };
}
