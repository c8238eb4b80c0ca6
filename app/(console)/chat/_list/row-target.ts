import type { FoundChat } from "@/lib/sessions/session.ts";

export interface RowTarget {
  readonly title: string;
  readonly sessionId: string;
  readonly chatId: string;
  /** Absent where it is not known. */
  readonly isPinned?: boolean;
  readonly isArchived?: boolean;
  readonly isCurrent: boolean;
}

export const pathOf = ({ sessionId, chatId }: Pick<RowTarget, "sessionId" | "chatId">): string =>
  `/api/sessions/${sessionId}/chats/${chatId}`;

export const hrefOf = ({ sessionId, id }: Pick<FoundChat, "sessionId" | "id">): string =>
  `/chat/${sessionId}/${id}`;

/** Returns the address of a chat at the message that a search has found. */
export function hrefOfFound(chat: FoundChat): string {
  const { message_id: message, matched: find = "" } = chat;
  return hrefOf(chat) + (message === undefined ? "" : `?${new URLSearchParams({ message, find })}`);
}
