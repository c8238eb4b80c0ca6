import { createContext, useContext } from "react";
import type { Conversation } from "../_state/conversation.ts";
import type { Marks } from "../_state/message-branches.ts";

interface MessageActions extends Marks {
  readonly conversation: Conversation;
  /** While a turn is read, messages are neither changed nor repeated. */
  readonly isBusy: boolean;
  readonly lastMessageId: string | undefined;
}

/** A context: a new rating renders only the footers. Null outside of a chat. */
export const MessageActionsContext = createContext<MessageActions | null>(null);

export const useMessageActions = (): MessageActions | null => useContext(MessageActionsContext);

/** Moves the focus to the conversation, because the element that has it is about to disappear. */
export const focusConversation = (from: Element): void =>
  from.closest<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true });
