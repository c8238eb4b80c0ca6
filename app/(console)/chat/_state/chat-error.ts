import { describeError, unreachable } from "@/app/(console)/_api/describe-error.ts";
import { ApiError } from "@/packages/client/src/api-error.ts";

/** What a chat's page says about a failure. */
export interface ChatError {
  readonly text: string;
  readonly requestId: string | null;
  /** The page on which something can be done about it. */
  readonly link?: { readonly href: string; readonly label: string };
}

export const unreachableChat: ChatError = { text: unreachable, requestId: null };

export const outdatedPage: ChatError = {
  text: "A new version is available. Reload the page, then send your message.",
  requestId: null,
};

/** Refusals that mean more in a chat than elsewhere, by the beginning of the API's message. */
const REFUSALS: readonly (readonly [string, string])[] = [
  [
    "Too many active turns",
    "Too many chats are being answered at once. Wait for one to end, or stop one.",
  ],
  [
    "Too many messages wait",
    "Too many messages are waiting in this chat. Wait for one to be answered, or stop the chat.",
  ],
  [
    "The question has been answered",
    "This question has been answered already, maybe in another tab.",
  ],
  ["A response is streaming", "The agent is answering in this chat. Wait for its end, or stop it."],
];

/** What the error of a turn begins with that its budget has ended. */
const BUDGET_CODES: readonly string[] = ["budget_reached", "unpriced_model"];

/** Returns the text for a refused request, or for a turn that ended with an error. */
export function toChatError(error: Error): ChatError {
  if (!(error instanceof ApiError)) {
    const [code = ""] = error.message.split(":");
    if (BUDGET_CODES.includes(code)) {
      const text = describeError({ status: 402, code });
      return { text, requestId: null, link: { href: "/usage", label: "Open budget" } };
    }
    const isTooLong = error.message.startsWith("The conversation is too long");
    return {
      text: error.message.replace(/\.?$/, "."),
      requestId: null,
      ...(isTooLong && { link: { href: "/chat", label: "New chat" } }),
    };
  }
  const refusal = REFUSALS.find(([beginning]) => error.message.startsWith(beginning));
  return {
    text: refusal?.[1] ?? describeError(error),
    requestId: error.requestId,
    ...(error.code === "budget_reached" && { link: { href: "/settings", label: "Open settings" } }),
  };
}
