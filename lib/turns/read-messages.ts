/** Validates the `messages` that a client sends. */

import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { userAnswer } from "@platform/agent/tools/ask-user-question";
import { isServerTool } from "@platform/agent/tools/client-tools";
import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import { withoutHidden } from "@platform/kit/visible-name";
import {
  getStaticToolName,
  isStaticToolUIPart,
  isToolUIPart,
  type UIMessage,
  validateUIMessages,
} from "ai";
import type { ChatEntry } from "./contract.ts";

/** Parts that are validated before the event loop gets to other requests. */
const PARTS_PER_BATCH = 500;
const MAX_TITLE_CHARS = 80;
const FILE_URL = /^(?:data:[^,]*,|https:\/\/|sandbox:\/home\/agent\/.)/i;
const MAX_FILES = 20;
/** The title is taken from this many characters of the message at most. */
const MAX_TITLE_SOURCE_CHARS = 10_000;

/** Returns the entries as UI messages. Parts that only the service may write are rejected. */
export async function readMessages(entries: readonly ChatEntry[]): Promise<UIMessage[] | AppError> {
  const messages = entries.map(({ id, role, content, parts }) => ({
    id,
    role,
    parts: parts ?? (content === undefined ? [] : [{ type: "text", text: content }]),
  }));
  const empty = messages.findIndex((message) => message.parts.length === 0);
  if (empty >= 0) return invalid(`messages.${empty} must have content or parts`);
  const reserved = messages.findIndex(({ role, parts }) =>
    parts.some(({ type }) => isReserved(type, role)),
  );
  if (reserved >= 0) return invalid(`messages.${reserved}.parts has a part that is not allowed`);
  const checked: UIMessage[] = [];
  for (const [place, message] of messages.entries()) {
    const parts = await checkParts(message);
    if (parts === null) return invalid(`messages.${place}.parts must be valid UI message parts`);
    checked.push({ ...message, parts });
  }
  return checked;
}

/** The parts of an answer that are for its readers. No model is sent them. */
const DATA_OF_ANSWERS: readonly string[] = ["data-compaction", "data-outcome", "data-workspace"];

/** Clients send answers back as they have received them. */
const isReserved = (type: string, role: UIMessage["role"]): boolean =>
  role === "user"
    ? type === "steering-message" || type.startsWith("data-")
    : type.startsWith("data-") && !DATA_OF_ANSWERS.includes(type);

/** Returns null when a part is invalid. Yields to other requests after every batch. */
async function checkParts(message: {
  readonly id: string;
  readonly role: UIMessage["role"];
  readonly parts: readonly unknown[];
}): Promise<UIMessage["parts"] | null> {
  const checked: UIMessage["parts"] = [];
  for (let from = 0; from < message.parts.length; from += PARTS_PER_BATCH) {
    const parts = message.parts.slice(from, from + PARTS_PER_BATCH);
    const [valid] = await validateUIMessages({ messages: [{ ...message, parts }] }).catch(() => []);
    if (valid === undefined) return null;
    for (const part of valid.parts) checked.push(part);
    await setImmediate();
  }
  return checked;
}

/**
 * Keeps only texts and files, so a user message cannot pose as a tool's result.
 * @param name of the message in errors
 */
export function userParts(
  message: UIMessage,
  name = "The last message",
): UIMessage["parts"] | AppError {
  const parts = message.parts.filter((part) => part.type === "text" || part.type === "file");
  const files = parts.filter((part) => part.type === "file");
  if (!files.every(({ url }) => FILE_URL.test(url))) {
    return invalid(
      `A file of ${name.replace("The", "the")} must have a data, https or sandbox:/home/agent/ URL`,
    );
  }
  if (files.length > MAX_FILES) {
    return invalid(`${name} must have at most ${MAX_FILES} files`);
  }
  const blank = parts.every((part) => part.type === "text" && part.text.trim() === "");
  return blank ? invalid(`${name} must not be empty`) : parts;
}

/**
 * Returns the stored parts with the client's answers filled in: to questions, and to calls of its tools. Only
 * the answers are taken from the client; everything else comes from the database. A question that already has an
 * answer stays unchanged, so a retry finds the turn it started.
 */
export function answerQuestions(
  stored: UIMessage["parts"],
  sent: UIMessage["parts"],
): UIMessage["parts"] | AppError {
  const asked = stored.findLastIndex(isCallOfClient);
  if (asked < 0) {
    return invalid("The last message must be a user message or the answer to an open question");
  }
  if (stored.findLastIndex((part) => part.type === "step-start") > asked) {
    return appError("already_answered", "The question has been answered already");
  }
  const parts: UIMessage["parts"] = [];
  for (const part of stored) {
    if (!isCallOfClient(part) || part.state !== "input-available") {
      parts.push(part);
      continue;
    }
    const answer = sent.find(
      (candidate) => isToolUIPart(candidate) && candidate.toolCallId === part.toolCallId,
    );
    const result = resultIn(part, answer);
    if (!result) {
      return invalid(
        part.type === "tool-ask_user_question"
          ? "The open question must be answered with {answers} or {declined: true}"
          : `The call ${part.toolCallId.slice(0, 100)} must have an output or an errorText`,
      );
    }
    // The SDK's union of part states cannot be widened one state at a time.
    parts.push({ ...part, ...result } as Part);
  }
  return parts;
}

type Part = UIMessage["parts"][number];

/** Returns whether the part is a question to the user or a call of a tool that the client runs. */
const isCallOfClient = (part: Part): part is Extract<Part, { toolCallId: string }> =>
  isStaticToolUIPart(part) && !isServerTool(getStaticToolName(part));

/** Returns the fields that the client's part adds to the open call; undefined if it is not a result. */
function resultIn(call: Part, answer: Part | undefined) {
  if (!answer || !isToolUIPart(answer)) return undefined;
  if (call.type === "tool-ask_user_question") {
    const { data } = userAnswer.safeParse(answer.output);
    return data && { state: "output-available", output: data };
  }
  if (answer.state === "output-error") return { state: answer.state, errorText: answer.errorText };
  const isAnswered = answer.state === "output-available" && answer.output !== undefined;
  return isAnswered ? { state: answer.state, output: answer.output } : undefined;
}

/** Returns the first text of the user, on one line. */
export function titleOf(messages: readonly UIMessage[]): string {
  const text = messages
    .filter((message) => message.role === "user")
    .flatMap((message) => message.parts)
    .find((part) => part.type === "text" && part.text.trim() !== "");
  const start = text?.type === "text" ? text.text.trimStart().slice(0, MAX_TITLE_SOURCE_CHARS) : "";
  const line = start.replace(/\s+/g, " ").trim();
  return [...withoutHidden(line)].slice(0, MAX_TITLE_CHARS).join("").trim();
}

const invalid = (message: string): AppError => appError("invalid_request", message);

/**
 * Validates the initial messages of a headless run.
 * @returns the messages to store, the last of which is the user's. Errors: 400.
 */
export async function readConversation(
  given: { readonly prompt: string } | { readonly messages: readonly ChatEntry[] },
): Promise<UIMessage[] | AppError> {
  const entries: readonly ChatEntry[] =
    "prompt" in given
      ? [{ id: randomUUID(), role: "user", content: given.prompt }]
      : given.messages;
  const duplicate = entries.findIndex(
    (entry, place) => entries.findIndex(({ id }) => id === entry.id) < place,
  );
  if (duplicate >= 0) return invalid(`messages.${duplicate}.id must be unique`);
  const messages = await readMessages(entries);
  if (isAppError(messages)) return messages;
  if (messages.at(-1)?.role !== "user") return invalid("The last message must be a user message");

  const conversation: UIMessage[] = [];
  for (const [place, message] of messages.entries()) {
    if (message.role !== "user") {
      conversation.push(message);
      continue;
    }
    const parts = userParts(message, `messages.${place}`);
    if (isAppError(parts)) return parts;
    conversation.push({ ...message, parts });
  }
  return conversation;
}
