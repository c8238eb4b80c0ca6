"use client";
import type { UIMessage } from "ai";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** Messages that are drawn at first, and so many more on the way up. */
const STEP = 40;

/** The last messages of a chat, and more of them on the way up, while what is read stays in place. */
export function useEarlier(
  messages: readonly UIMessage[],
  scroller: RefObject<HTMLElement | null>,
) {
  const [count, setCount] = useState(STEP);
  const marker = useRef<HTMLDivElement>(null);
  const heightBefore = useRef<number | null>(null);
  const first = Math.max(0, messages.length - count);

  const show = useCallback(
    (more: (shown: number) => number) => {
      heightBefore.current = scroller.current?.scrollHeight ?? null;
      setCount((shown) => shown + more(shown));
    },
    [scroller],
  );
  // Who asks for them wants to go far.
  const showEarlier = useCallback(() => show((shown) => shown), [show]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: after more were drawn
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box || heightBefore.current === null) return;
    box.scrollTop += box.scrollHeight - heightBefore.current;
    heightBefore.current = null;
  }, [count, scroller]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the marker is another one each time
  useEffect(() => {
    if (!marker.current) return;
    const near = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) show(() => STEP);
      },
      { root: scroller.current, rootMargin: "600px 0px 0px 0px" },
    );
    near.observe(marker.current);
    return () => near.disconnect();
  }, [first, scroller, show]);

  return { shown: messages.slice(first), hidden: first, marker, showEarlier };
}
