"use client";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** Pixels from the end within which scrolling down takes hold of it. */
const NEAR = 40;

/**
 * Keeps the end of a growing content in sight, as long as the person is there: scrolling up lets go,
 * coming back to the end takes hold again. A new message of the person's own always shows.
 */
export function useStickToEnd(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  newestOwn: string | undefined,
): { isAtEnd: boolean; jump: () => void } {
  const [isAtEnd, setAtEnd] = useState(true);
  const sticks = useRef(true);
  const before = useRef(0);

  const jump = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    sticks.current = true;
    setAtEnd(true);
    box.scrollTop = box.scrollHeight;
  }, [scroller]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new message is the reason
  useLayoutEffect(jump, [jump, newestOwn]);

  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (!box || !inner) return;
    const onScroll = () => {
      const left = box.scrollHeight - box.clientHeight - box.scrollTop;
      const isUp = box.scrollTop < before.current;
      before.current = box.scrollTop;
      // Content that gets shorter moves the place up as well, and ends at the end.
      sticks.current = isUp ? left <= 1 : sticks.current || left < NEAR;
      setAtEnd(sticks.current);
    };
    const grown = new ResizeObserver(() => {
      if (sticks.current) box.scrollTop = box.scrollHeight;
      else setAtEnd(box.scrollHeight - box.clientHeight - box.scrollTop <= 1);
    });
    grown.observe(inner);
    grown.observe(box);
    box.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      grown.disconnect();
      box.removeEventListener("scroll", onScroll);
    };
  }, [scroller, content]);

  return { isAtEnd, jump };
}
