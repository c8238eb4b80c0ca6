"use client";
import type { UIMessage } from "ai";
import { ArrowDown } from "lucide-react";
import { useRef } from "react";
import { Button } from "../../_ui/button.tsx";
import { ScrollBox } from "../../_ui/scroll-box.tsx";
import { useMessageActions } from "../_message/message-actions.ts";
import { type Answering, MessageView } from "../_message/message-view.tsx";
import { type FoundMessage, useEarlierMessages } from "./use-earlier-messages.ts";
import { useStickToEnd } from "./use-stick-to-end.ts";

/**
 * Only the messages near the view are laid out and painted, however many there are; searching the page
 * finds them all. The padding is what is painted around a message, such as the ring of a focus.
 */
const messageStyle =
  "-mx-2 px-2 py-1 [contain-intrinsic-block-size:auto_10rem] [content-visibility:auto]";

/** What follows moves into the space of a footer that is mostly invisible. Inside the message, that would cut it off. */
const pullUp = (message: UIMessage, last: UIMessage | undefined): string =>
  message.role === "user" ? " -mb-4" : message === last ? "" : " -mb-2";

/**
 * The messages of a chat, newest last. In a long chat, only the latest are rendered at first, and
 * earlier ones as one scrolls up.
 */
export function MessageList({
  label = "Conversation",
  messages,
  sentMessageId,
  isBusy,
  answering,
  found = null,
}: {
  readonly label?: string;
  readonly messages: readonly UIMessage[];
  /** A new one scrolls to the end. */
  readonly sentMessageId: string | null;
  readonly isBusy: boolean;
  /** Null while nothing can be answered. */
  readonly answering: Answering | null;
  readonly found?: FoundMessage | null;
}) {
  const scroller = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isFound = messages.some(({ id }) => id === found?.id);
  const { isAtEnd, jump } = useStickToEnd(scroller, content, sentMessageId, !isFound);
  const { shown, hidden, marker, showEarlier } = useEarlierMessages(messages, scroller, found);
  const last = messages.at(-1);
  const hasFooters = useMessageActions() !== null;
  return (
    <div className="relative min-h-0 flex-1">
      <ScrollBox
        ref={scroller}
        label={label}
        className="h-full overscroll-contain rounded-none focus-visible:-outline-offset-2"
      >
        <div ref={content} className="mx-auto flex max-w-3xl flex-col gap-5 px-4 py-5">
          {hidden > 0 && (
            <div ref={marker} className="flex justify-center">
              <Button variant="outline" size="sm" onClick={showEarlier}>
                Show earlier messages ({hidden.toLocaleString("en")})
              </Button>
            </div>
          )}
          {messages.length === 0 && !isBusy && (
            <p className="py-16 text-center text-muted-foreground">
              No messages yet. Send one to get started.
            </p>
          )}
          {shown.map((message) => (
            <div
              key={message.id}
              data-message={message.id}
              className={hasFooters ? messageStyle + pullUp(message, last) : messageStyle}
            >
              <MessageView
                message={message}
                isStreaming={isBusy && message === last && message.role === "assistant"}
                answering={message === last && !isBusy ? answering : null}
              />
            </div>
          ))}
          {isBusy && <TypingIndicator last={last} />}
        </div>
      </ScrollBox>
      {!isAtEnd && (
        <Button
          icon={ArrowDown}
          variant="outline"
          size="sm"
          className="absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full shadow-md"
          onClick={jump}
        >
          Jump to latest
        </Button>
      )}
    </div>
  );
}

/** Shows that the agent is working while its message shows no progress. It reserves the height of the message footer. */
function TypingIndicator({ last }: { readonly last: UIMessage | undefined }) {
  const part = last?.role === "assistant" ? last.parts.at(-1) : undefined;
  const isVisible =
    (part?.type === "text" && part.state === "streaming") || part?.type.startsWith("tool-");
  return (
    <div aria-hidden className="-mt-4 flex h-7 items-center gap-1">
      {!isVisible &&
        ["", "[animation-delay:150ms]", "[animation-delay:300ms]"].map((delay) => (
          <span
            key={delay}
            className={`size-1.5 animate-pulse rounded-full bg-muted-foreground ${delay}`}
          />
        ))}
    </div>
  );
}
