/** The chat that a row of the sidebar shows and its menu acts on. */
export interface RowTarget {
  readonly title: string;
  readonly sessionId: string;
  readonly chatId: string;
  readonly isPinned: boolean;
  readonly isArchived: boolean;
  readonly isCurrent: boolean;
}

export const pathOf = ({ sessionId, chatId }: Pick<RowTarget, "sessionId" | "chatId">): string =>
  `/api/sessions/${sessionId}/chats/${chatId}`;
