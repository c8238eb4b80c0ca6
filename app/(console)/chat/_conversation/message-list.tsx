import type { UIMessage } from "ai";
import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from "react";
import { loadModule } from "../../_load/load-module.ts";
import { Button } from "../../_ui/button.tsx";
import { ArrowDown } from "../../_ui/icons.tsx";
import { ScrollBox } from "../../_ui/scroll-box.tsx";
import { TypingIndicator } from "../_message/message.tsx";
import { useMessageActions } from "../_message/message-actions.ts";
import { type Answering, MessageView } from "../_message/message-view.tsx";

/**
 * Only the messages near the view are laid out and painted, but searching the page finds them all.
 * The padding makes room for parts that extend beyond a message, such as focus rings.
 */
const messageStyle =
  "-mx-2 px-2 py-1 [contain-intrinsic-block-size:auto_10rem] [content-visibility:auto]";

/**
 * The next message moves up into the mostly invisible footer. Inside the message, `contain` would
 * clip the footer.
 */
const pullUp = (message: UIMessage, last: UIMessage | undefined): string =>
  message.role === "user" ? " -mb-4" : message === last ? "" : " -mb-2";

interface MessageListProps {
  readonly messages: readonly UIMessage[];
  /** A new one scrolls to the end. */
  readonly sentMessageId: string | null;
  readonly isBusy: boolean;
  /** Null while nothing can be answered. */
  readonly answering: Answering | null;
  readonly found?: FoundMessage | null;
}

/**
 * The messages of a chat, newest last. In a long chat, only the latest are rendered at first, and
 * earlier ones as one scrolls up.
 */
export function MessageList(props: MessageListProps) {
  const { messages, sentMessageId, isBusy, answering, found = null } = props;
  const isFound = messages.some(({ id }) => id === found?.id);
  const { scroller, content, onScroll, isAtEnd, jump } = useStickToEnd(sentMessageId, !isFound);
  const { shown, hidden, marker, showEarlier } = useEarlierMessages(messages, scroller, found);
  const last = messages.at(-1);
  const hasFooters = useMessageActions() !== null;
  return (
    <div className="relative min-h-0 flex-1">
      <ScrollBox
        ref={scroller}
        label="Conversation"
        onScroll={onScroll}
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
          {isBusy && <TypingIndicator isHidden={showsProgress(last)} />}
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

/** Whether a message shows by itself that the agent is working. */
function showsProgress(last: UIMessage | undefined): boolean {
  const part = last?.role === "assistant" ? last.parts.at(-1) : undefined;
  if (part === undefined) return false;
  return (part.type === "text" && part.state === "streaming") || part.type.startsWith("tool-");
}

const PAGE_SIZE = 40;
/** The messages above one that was found. */
const CONTEXT_SIZE = 5;

/** A message that a search has found, and the words to mark in it. */
type FoundMessage = Readonly<{ id: string; words: string }>;

/**
 * Returns the latest messages of a chat, and earlier ones as the user scrolls up, without moving the view.
 * New messages are added; a displayed one is never removed. A search result is shown and scrolled to.
 */
function useEarlierMessages(
  messages: readonly UIMessage[],
  scroller: { readonly current: HTMLElement | null },
  found: FoundMessage | null,
) {
  const [firstId, setFirstId] = useState("");
  const marker = useRef<HTMLDivElement>(null);
  const placeBefore = useRef<{ readonly id: string; readonly top: number } | null>(null);
  const foundAt = messages.findIndex(({ id }) => id === found?.id);
  const isFound = foundAt >= 0;
  const known = messages.findIndex(({ id }) => id === firstId);
  const newest = Math.max(0, messages.length - PAGE_SIZE);
  const needed = isFound ? Math.max(0, foundAt - CONTEXT_SIZE) : messages.length;
  const first = Math.min(needed, known >= 0 ? known : newest);
  const place = messages[first]?.id ?? "";
  if (place !== firstId) setFirstId(place);

  useEffect(() => {
    const message =
      found &&
      isFound &&
      scroller.current?.querySelector(`[data-message="${CSS.escape(found.id)}"]`);
    if (!(message instanceof HTMLElement)) return;
    const left = new AbortController();
    loadModule(() => import("./show-match.ts")).then(
      ({ showMatch }) => showMatch(message, found?.words ?? "", left.signal),
      () => {},
    );
    return () => left.abort();
  }, [found, isFound, scroller]);

  const show = (more: number) => {
    const top = scroller.current?.querySelector("[data-message]")?.getBoundingClientRect().top;
    placeBefore.current = top === undefined ? null : { id: place, top };
    setFirstId(messages[Math.max(0, first - more)]?.id ?? "");
  };
  const showPage = useEffectEvent(() => show(PAGE_SIZE));
  // The button doubles the number: a long chat is reached in few clicks.
  const showEarlier = () => show(messages.length - first);

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after more messages were rendered
  useLayoutEffect(() => {
    const box = scroller.current;
    const before = placeBefore.current;
    placeBefore.current = null;
    if (!box || !before) return;
    const moved = box.querySelector(`[data-message="${CSS.escape(before.id)}"]`);
    if (moved) box.scrollTop += moved.getBoundingClientRect().top - before.top;
  }, [first, scroller]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the marker is a new element each time
  useEffect(() => {
    if (!marker.current) return;
    const near = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) showPage();
      },
      { root: scroller.current, rootMargin: "600px 0px 0px 0px" },
    );
    near.observe(marker.current);
    return () => near.disconnect();
  }, [first, scroller]);

  return { shown: messages.slice(first), hidden: first, marker, showEarlier };
}

const NEAR_END_PX = 40;

/**
 * Keeps the end of growing content in view. Scrolling up stops that; scrolling back to the end starts
 * it again. A new message of the user always scrolls to the end.
 */
function useStickToEnd(sentMessageId: string | null, startsAtEnd: boolean) {
  const scroller = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const sticks = useRef(startsAtEnd);
  const before = useRef(0);
  const knownMessageId = useRef(sentMessageId);

  const jump = () => {
    const box = scroller.current;
    if (!box) return;
    sticks.current = true;
    setAtEnd(true);
    box.scrollTop = box.scrollHeight;
  };
  const follow = useEffectEvent(jump);

  // A new message of the user scrolls to the end.
  useLayoutEffect(() => {
    if (sticks.current || sentMessageId !== knownMessageId.current) follow();
    knownMessageId.current = sentMessageId;
  }, [sentMessageId]);

  const onScroll = ({ currentTarget: box }: { readonly currentTarget: Element }) => {
    const left = box.scrollHeight - box.clientHeight - box.scrollTop;
    const isUp = box.scrollTop < before.current;
    before.current = box.scrollTop;
    // Content that gets shorter also moves the position up, but then ends exactly at the end.
    sticks.current = isUp ? left <= 1 : sticks.current || left < NEAR_END_PX;
    setAtEnd(sticks.current);
  };

  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (!box || !inner) return;
    const grown = new ResizeObserver(() => {
      if (sticks.current) box.scrollTop = box.scrollHeight;
      else setAtEnd(box.scrollHeight - box.clientHeight - box.scrollTop <= 1);
    });
    grown.observe(inner);
    grown.observe(box);
    return () => grown.disconnect();
  }, []);

  return { scroller, content, onScroll, isAtEnd, jump };
}
