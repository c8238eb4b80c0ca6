"use client";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

const NEAR_END_PX = 40;

/**
 * Keeps the end of growing content in view. Scrolling up stops that; scrolling back to the end starts
 * it again. A new message of the user always scrolls to the end.
 */
export function useStickToEnd(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  sentMessageId: string | null,
  startsAtEnd: boolean,
): { isAtEnd: boolean; jump: () => void } {
  const [isAtEnd, setAtEnd] = useState(true);
  const sticks = useRef(startsAtEnd);
  const before = useRef(0);
  const knownMessageId = useRef(sentMessageId);

  const jump = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    sticks.current = true;
    setAtEnd(true);
    box.scrollTop = box.scrollHeight;
  }, [scroller]);

  // A new message of the user scrolls to the end.
  useLayoutEffect(() => {
    if (sticks.current || sentMessageId !== knownMessageId.current) jump();
    knownMessageId.current = sentMessageId;
  }, [jump, sentMessageId]);

  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (!box || !inner) return;
    const onScroll = () => {
      const left = box.scrollHeight - box.clientHeight - box.scrollTop;
      const isUp = box.scrollTop < before.current;
      before.current = box.scrollTop;
      // Content that gets shorter also moves the position up, but then ends exactly at the end.
      sticks.current = isUp ? left <= 1 : sticks.current || left < NEAR_END_PX;
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
