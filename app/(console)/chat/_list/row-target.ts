/** The chat that a menu acts on. */
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
