import { createContext, type RefObject, useContext } from "react";
import type { Marks, MessageBranches } from "../_state/message-branches.ts";

interface MessageActions extends Marks {
  readonly branches: Pick<MessageBranches, "edit" | "regenerate" | "choose" | "rate">;
  /** While a turn is read, messages are neither changed nor repeated. */
  readonly isBusy: boolean;
  readonly lastMessageId: string | undefined;
  /** Chooses a model for the chat, and answers again with it. */
  readonly tryModel: (modelId: string, messageId: string) => Promise<void>;
  /** The arrow that gets the focus as soon as its message, on another branch, is shown. */
  readonly nextArrow: RefObject<{ messageId: string; direction: -1 | 1 } | null>;
}

/** A context, so that a new rating renders the footers only. Null outside of a chat. */
export const MessageActionsContext = createContext<MessageActions | null>(null);

export const useMessageActions = (): MessageActions | null => useContext(MessageActionsContext);

/** Moves the focus to the conversation, because what has it is about to disappear. */
export const focusConversation = (from: Element): void =>
  from.closest<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true });
