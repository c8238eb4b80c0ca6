/** What a client sent as `messages`, checked. Spec: POST /api/chat; decisions, section 5. */
import { isToolUIPart, type UIMessage, validateUIMessages } from "ai";
import { userAnswer } from "../agent/tools/index.ts";
import { type AppError, appError } from "../contract/app-error.ts";
import type { ChatEntry } from "./contract.ts";

/** Longest title made from a message. */
const TITLE_LENGTH = 80;

/** @returns the entries as UI messages; only what a user or an assistant may say passes. */
export async function readMessages(entries: readonly ChatEntry[]): Promise<UIMessage[] | AppError> {
  const messages = entries.map(({ id, role, content, parts }) => ({
    id,
    role,
    parts: parts ?? (content === undefined ? [] : [{ type: "text", text: content }]),
  }));
  const empty = messages.findIndex((message) => message.parts.length === 0);
  if (empty >= 0) return invalid(`messages.${empty} must have content or parts`);
  const foreign = messages.findIndex((message) =>
    message.parts.some((part) => part.type === "steering-message" || part.type.startsWith("data-")),
  );
  if (foreign >= 0) return invalid(`messages.${foreign}.parts has a part that is not allowed`);
  try {
    return await validateUIMessages({ messages });
  } catch {
    const broken = await firstInvalid(messages);
    return invalid(`messages.${broken}.parts must be valid UI message parts`);
  }
}

async function firstInvalid(messages: readonly unknown[]): Promise<number> {
  for (const [place, message] of messages.entries()) {
    try {
      await validateUIMessages({ messages: [message] });
    } catch {
      return place;
    }
  }
  return 0;
}

/** A user message has texts and files; nothing in it can pose as a tool's result. */
export function userParts(message: UIMessage): UIMessage["parts"] | AppError {
  const parts = message.parts.filter((part) => part.type === "text" || part.type === "file");
  if (parts.some((part) => part.type === "file" && !/^(data:|https:\/\/)/i.test(part.url))) {
    return invalid("A file of the last message must have an https or data URL");
  }
  const blank = parts.every((part) => part.type === "text" && part.text.trim() === "");
  return blank ? invalid("The last message must not be empty") : parts;
}

/**
 * The stored parts with the client's answers put in. Of what the client sent only the answers
 * count; everything else stays as it was stored. Questions that have this answer already change
 * nothing, so that a retry can find the turn it started.
 */
export function answerQuestions(
  stored: UIMessage["parts"],
  sent: UIMessage["parts"],
): UIMessage["parts"] | AppError {
  if (!stored.some((part) => part.type === "tool-ask_user_question")) {
    return invalid("The last message must be a user message or the answer to an open question");
  }
  const asked = stored.findLastIndex((part) => part.type === "tool-ask_user_question");
  if (stored.findLastIndex((part) => part.type === "step-start") > asked) {
    return appError("conflict", "The question has been answered already");
  }
  const parts: UIMessage["parts"] = [];
  for (const part of stored) {
    const isOpen = part.type === "tool-ask_user_question" && isToolUIPart(part);
    if (!isOpen || part.state !== "input-available") {
      parts.push(part);
      continue;
    }
    const answer = sent.find(
      (candidate) => isToolUIPart(candidate) && candidate.toolCallId === part.toolCallId,
    );
    const output = answer && "output" in answer ? userAnswer.safeParse(answer.output) : undefined;
    if (!output?.success) {
      return invalid("The open question must be answered with {answers} or {declined: true}");
    }
    // The SDK's union of part states cannot be widened one state at a time.
    parts.push({ ...part, state: "output-available", output: output.data } as Part);
  }
  return parts;
}

type Part = UIMessage["parts"][number];

/** The first user text on one line. */
export function titleOf(messages: readonly UIMessage[]): string {
  const text = messages
    .filter((message) => message.role === "user")
    .flatMap((message) => message.parts)
    .find((part) => part.type === "text" && part.text.trim() !== "");
  const line = text?.type === "text" ? text.text.replace(/\s+/g, " ").trim() : "";
  return [...line].slice(0, TITLE_LENGTH).join("").trim();
}

const invalid = (message: string): AppError => appError("invalid_request", message);
