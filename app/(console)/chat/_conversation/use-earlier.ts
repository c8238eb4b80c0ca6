"use client";
import type { UIMessage } from "ai";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** Messages that are drawn at first, and so many more on the way up. */
const STEP = 40;

/**
 * The last messages of a chat, and more of them on the way up, while what is read stays in place. New
 * ones come to those that are drawn: none of them goes.
 */
export function useEarlier(
  messages: readonly UIMessage[],
  scroller: RefObject<HTMLElement | null>,
) {
  const [count, setCount] = useState(STEP);
  const [known, setKnown] = useState(messages.length);
  const marker = useRef<HTMLDivElement>(null);
  const heightBefore = useRef<number | null>(null);
  const first = Math.max(0, messages.length - count);

  if (messages.length !== known) {
    setKnown(messages.length);
    // Not those of a chat that was just loaded.
    if (known > 0 && messages.length > known) setCount(count + messages.length - known);
  }

  const show = useCallback(
    (more: number) => {
      heightBefore.current = scroller.current?.scrollHeight ?? null;
      setCount((drawn) => drawn + more);
    },
    [scroller],
  );
  // Who asks for them wants to go far.
  const showEarlier = useCallback(() => show(count), [show, count]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: after more were drawn
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box || heightBefore.current === null) return;
    box.scrollTop += box.scrollHeight - heightBefore.current;
    heightBefore.current = null;
  }, [first, scroller]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the marker is another one each time
  useEffect(() => {
    if (!marker.current) return;
    const near = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) show(STEP);
      },
      { root: scroller.current, rootMargin: "600px 0px 0px 0px" },
    );
    near.observe(marker.current);
    return () => near.disconnect();
  }, [first, scroller, show]);

  return { shown: messages.slice(first), hidden: first, marker, showEarlier };
}
