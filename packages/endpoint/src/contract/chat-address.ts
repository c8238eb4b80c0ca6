import { appError } from "./app-error.ts";

/** A chat as a request names it. */
export interface ChatAddress {
  readonly accountId: string;
  readonly sessionId: string;
  readonly chatId: string;
}

/** Returns the arguments of a SQL function that works on one chat. */
export const chatArguments = ({ accountId, sessionId, chatId }: ChatAddress) => ({
  accountId,
  sessionId,
  chatId,
});

/** The errors of such a function, by its `missing` value. */
export const chatErrors = {
  session: appError("not_found", "Session not found"),
  chat: appError("not_found", "Chat not found"),
};

/** Returns the path at which the chat is read. */
export const chatPath = ({ sessionId, chatId }: Omit<ChatAddress, "accountId">): string =>
  `/api/sessions/${sessionId}/chats/${chatId}`;
