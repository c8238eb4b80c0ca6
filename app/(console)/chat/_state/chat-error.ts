import { describeError, unreachable } from "@/app/(console)/_api/describe-error.ts";
import { ChatRequestError } from "./chat-request-error.ts";

/** What a chat's page says about a failure. */
export interface ChatError {
  readonly text: string;
  readonly requestId: string | null;
}

export const unreachableChat: ChatError = { text: unreachable, requestId: null };

/** Returns the text for a refused request, or for a turn that ended with an error. */
export function toChatError(error: Error): ChatError {
  if (!(error instanceof ChatRequestError)) return { text: error.message, requestId: null };
  return { text: describeError(error), requestId: error.requestId };
}
