import { ApiError } from "@/packages/client/src/api-error.ts";
import { describeError, describeTurnError, unreachable } from "../../_api/describe-error.ts";

export interface ChatError {
  readonly text: string;
  readonly requestId: string | null;
  readonly link?: { readonly href: string; readonly label: string };
  /** Whether a turn has failed, whose stored answer says so, too. */
  readonly isOfTurn?: true;
}

export const unreachableChat: ChatError = { text: unreachable, requestId: null };

export const outdatedPage: ChatError = {
  text: "A new version is available. Reload the page, then send your message.",
  requestId: null,
};

/** Returns the text for a refused request, or for a turn that ended with an error. */
export function toChatError(error: Error): ChatError {
  if (!(error instanceof ApiError)) {
    return { text: describeTurnError(error.message).text, requestId: null, isOfTurn: true };
  }
  const isBusy = error.code === "conflict";
  return {
    text: isBusy
      ? "The agent is answering in this chat. Wait for its end, or stop it."
      : describeError(error),
    requestId: error.requestId,
    ...(error.code === "budget_reached" && { link: { href: "/settings", label: "Open settings" } }),
  };
}
