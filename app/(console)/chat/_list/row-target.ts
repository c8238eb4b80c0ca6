/** The chat or session that a row of the sidebar shows and its menu acts on. */
export interface RowTarget {
  readonly title: string;
  readonly sessionId: string;
  /** Null for a session as a whole. */
  readonly chatId: string | null;
  readonly deletes: "session" | "chat";
  readonly isCurrent: boolean;
}
