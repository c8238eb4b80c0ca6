"use client";
import type { UIMessage } from "ai";
import { ArrowDown } from "lucide-react";
import { useCallback, useRef } from "react";
import { Button } from "../../_ui/button.tsx";
import { MessageView } from "../_message/message-view.tsx";
import { ScrollBox } from "../_message/scroll-box.tsx";
import { useEarlier } from "./use-earlier.ts";
import { useStickToEnd } from "./use-stick-to-end.ts";
import { WaitingMark } from "./waiting-mark.tsx";

/**
 * The messages, the newest at the foot. Of a long chat the last ones are drawn at first, and earlier
 * ones as one scrolls up to them.
 */
export function MessageList({
  messages,
  isBusy,
  onAnswer,
}: {
  readonly messages: readonly UIMessage[];
  readonly isBusy: boolean;
  readonly onAnswer: (toolCallId: string, output: unknown) => void;
}) {
  const scroller = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const newestOwn = messages.findLast((message) => message.role === "user")?.id;
  const { isAtEnd, jump } = useStickToEnd(scroller, content, newestOwn);
  const { shown, hidden, marker, showEarlier } = useEarlier(messages, scroller);
  const last = messages.at(-1);
  const answerable = useCallback(
    (message: UIMessage) => (message === last && !isBusy ? onAnswer : null),
    [last, isBusy, onAnswer],
  );
  return (
    <div className="relative min-h-0 flex-1">
      <ScrollBox
        ref={scroller}
        label="Conversation"
        className="h-full overflow-y-auto overscroll-contain [overflow-anchor:none] focus-visible:-outline-offset-2"
      >
        <div ref={content} className="mx-auto flex max-w-3xl flex-col gap-7 px-4 py-6">
          {hidden > 0 && (
            <div ref={marker} className="flex justify-center">
              <Button variant="outline" size="sm" onClick={showEarlier}>
                Show earlier messages ({hidden.toLocaleString("en")})
              </Button>
            </div>
          )}
          {messages.length === 0 && !isBusy && (
            <p className="py-16 text-center text-muted-foreground">
              Nothing was said here yet. Write the first message.
            </p>
          )}
          {shown.map((message) => (
            <MessageView
              key={message.id}
              message={message}
              isGrowing={isBusy && message === last && message.role === "assistant"}
              onAnswer={answerable(message)}
            />
          ))}
          {isBusy && <WaitingMark last={last} />}
        </div>
      </ScrollBox>
      {!isAtEnd && (
        <Button
          variant="outline"
          size="sm"
          className="absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full shadow-md"
          onClick={jump}
        >
          <ArrowDown aria-hidden />
          Jump to latest
        </Button>
      )}
    </div>
  );
}
